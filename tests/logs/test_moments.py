"""Dates and times as texts and as values are the same seconds in every engine."""

from __future__ import annotations

from contextlib import closing

import pandas as pd
import pytest

from tests.logs.places import ENGINES, as_sqlite
from truant.logs.moments import is_iso, seconds, seconds_of
from truant.logs.source import find

TEXTS = [
    "1969-12-31",
    "2024-02-29",
    "2024-02-29 18:30",
    "2024-02-29T18:30",
    "2024-02-29T18:30:05",
    "2024-02-29 18:30:05.25",
    "1969-12-31T23:59:59.999999",
    "2024-03-01T00:30Z",
    "2024-03-01 00:30:15Z",
    "2024-03-01T00:30+05:30",
    "2024-03-01T00:30-0930",
    "2024-03-01T00:30:15.5-09:30",
    "2024-03-10 02:30",  # an hour that New York did not have
    "9999-12-31",
]


def seconds_in(place, columns):
    """What the engine makes of the columns, in the order of `id`."""
    with closing(find(place)) as source:
        rows = source.pick({name: source.columns.index(name) for name in ("id", *columns)})
        values = {name: seconds(rows.columns[name], source.dialect) for name in columns}
        found = source.run(rows.taking({"id": rows.columns["id"], **values}).select)
        found.sort(key=lambda row: int(row["id"]))  # in SQLite all is text
        return {name: [row[name] for row in found] for name in columns}


def check_texts(place):
    found = seconds_in(place, ["when"])["when"]
    assert found.pop() is None
    assert found == pytest.approx([seconds_of(text) for text in TEXTS], rel=0, abs=1e-9)


def texts():
    assert all(map(is_iso, TEXTS))
    return pd.DataFrame({"id": range(len(TEXTS) + 1), "when": [*TEXTS, None]})


@pytest.mark.parametrize("kind", ENGINES)
def test_texts(kind, put):
    check_texts(put(kind, texts()))


@pytest.mark.parametrize(
    "kind", [kind for kind in ENGINES if kind is not as_sqlite]
)  # which has no types of time
def test_days_and_moments(kind, put):
    local = pd.DatetimeIndex(
        [pd.Timestamp("1969-12-31 23:59:59.5"), pd.Timestamp("2024-03-10 02:30"), pd.NaT]
    ).as_unit("us")
    table = pd.DataFrame({"id": range(3), "local": local, "instant": local.tz_localize("UTC")})
    expected = [-0.5, 1710037800.0, None]
    assert seconds_in(put(kind, table), ["local", "instant"]) == {"local": expected, "instant": expected}
