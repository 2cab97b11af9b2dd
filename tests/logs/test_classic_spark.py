"""Spark itself, with Java: one test, since a start takes long; Sail, which has the same dialect, is tried with more."""

from __future__ import annotations

import pandas as pd

from tests.logs.places import as_spark, check_everything, frame
from tests.logs.test_engines import check_dirty, dirty
from tests.logs.test_moments import check_texts, texts
from tests.logs.test_where import EVERYTHING, check_like, everything, expected, kept, texts_to_fit
from truant.logs.read import read


def test_spark_itself(classic_spark, tmp_path):
    for discrete in (False, True):
        table = frame(discrete=discrete)
        check_everything(as_spark(table, tmp_path, classic_spark), table)
    assert kept(as_spark(table, tmp_path, classic_spark), EVERYTHING) == expected(table, everything)

    times = pd.date_range("2024-03-01", periods=40, freq="h").as_unit("us").repeat(10)
    table = frame(400).assign(
        local=times, instant=times.tz_localize("UTC"), iso=times.strftime("%Y-%m-%dT%H:%M")
    )
    place = as_spark(table, tmp_path, classic_spark)
    for column in ("local", "instant", "iso"):
        course = read(place, arm="arm", outcome="y", time=column).over_time
        assert (course.length, course.periods[3].start) == ("4 hours", "2024-03-01 04:00:00")
        assert kept(place, f"{column} < '2024-03-02'")[0] == 240
    check_texts(as_spark(texts(), tmp_path, classic_spark))
    check_like(as_spark(texts_to_fit(), tmp_path, classic_spark))
    dirty_table, clean = dirty()
    in_spark = check_dirty(as_spark(dirty_table, tmp_path, classic_spark), clean)
    assert in_spark == check_dirty(dirty_table, clean)
