"""A number that probably stands for missing is told, and no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.logs.places import as_csv, as_sqlite
from truant.logs.read import read


def told(values: list[Any], role: str = "outcome", **words: Any) -> list[float | None]:
    rows: dict[str, Any] = {"arm": [0, 1] * (len(values) // 2) + [0] * (len(values) % 2), "v": values}
    rows["z"] = [i % 3 for i in range(len(values))]
    columns = {"outcome": "v"} if role == "outcome" else {"outcome": "z", "mediator": "v:3"}
    log = read(rows, arm="arm", **columns, **words)
    return [warning.value for warning in log.warnings if warning.code == "sentinel"]


REAL = np.round(np.random.default_rng(1).normal(5, 1, 60), 3).tolist()


@pytest.mark.parametrize("role", ["outcome", "mediator"])
@pytest.mark.parametrize(
    ("values", "sentinels"),
    [
        ([*REAL, -99, -99], [-99]),
        ([*REAL, 999, 999, 999], [999]),
        ([*REAL, -99, -99, -88, -88], [-99, -88]),
        ([*REAL, -99, -99, 999, 999], [-99, 999]),
        ([*REAL, 97, 98, 98, 99], [97, 98, 99]),
        ([*REAL, -999, -998, -998], [-999, -998]),
        ([*REAL, -99], []),  # once
        ([*REAL, -98, -98], []),  # no typical one
        (REAL, []),
        ([value * 50 for value in REAL] + [999, 999], []),  # not far
        ([-value * 50 for value in REAL] + [-99, -99], []),
        ([*range(90, 130), 99, 99], []),
    ],
)
def test_far_typical_and_repeated(values, sentinels, role):
    assert told(values, role) == sentinels


@pytest.mark.parametrize(
    ("values", "sentinels"),
    [
        ([0, 1, 1, 0, 9, 9], [9]),
        ([0, 1, 1, 0, -9, -9], [-9]),
        ([0, 1, 1, -99, -99, -99], [-99]),
        ([1, 2, 3, 4, 5, 99, 99], [99]),
        ([1, 2, 3, 4, 5, 9, 9], [9]),
        ([1, 2, 3, 4, 5, 8, 9], [8, 9]),
        ([1, 2, 3, 4, 5, 6, 7, 9, 9], []),
        ([*range(1, 10)] * 2, []),
        ([1, 2, 3, 4, 5, 9, 10] * 2, []),
        ([1, 2, 4, 9, 9, 1], []),  # a scale of which not all was seen
        ([1, 2, 3, 4, 5, 97, 98, 98, 99], [97, 98, 99]),
        ([1, 2, 3, 4, 5, 997, 998, 999], [997, 998, 999]),
        ([1, 2, 3, 4, 5, 97, 97, 98], []),  # without 99
        ([1, 2, 3, 88, 88, 99], [88, 99]),
        ([0, 1, 1, 0, -1, -1], [-1]),
        ([1, 2, 3, -1, -1, 2], [-1]),
        ([0, 1, 2, -1, -1, 2], []),
        ([19, 29, 99, 99, 19, 29], []),
        ([9.99, 19.99, 99, 99, 9.99], []),
        ([0, 99, 0, 99, 0, 99], []),  # a price
        ([0, 49, 99, 99, 0, 49], []),
        ([-1, 0, 1, -1, 0, 1], [-1]),
        ([-2, -1, 0, 1, 2, 0], []),
    ],
)
def test_of_few_values(values, sentinels):
    assert told(values) == sentinels


def test_the_sentence_and_who_has_said_enough(tmp_path):
    log = read({"arm": [0, 1] * 3, "v": [0, 1, 1, -99, -99, 0]}, arm="arm", outcome="v")
    assert log.warnings[0].message == (
        "'v' is -99 in 2 rows and 0 to 1 in all others: if -99 stands for missing, say missing_values=[-99] "
        "(--missing-values=-99)."
    )
    values = [0, 1, 1, -99, -99, 0]
    assert told(values, missing_values=[-99]) == []
    assert told(values, levels=(-99, 0, 1)) == []
    assert told([*REAL, -99, -99], range=(-100, 100)) == []
    table = pd.DataFrame({"arm": ["a", "b"] * 31, "v": [*REAL, -99, -99], "z": [0, 1] * 31})
    for place in (as_csv, as_sqlite):
        log = read(place(table, tmp_path), arm="arm", outcome="z", mediator="v:3")
        assert [warning.value for warning in log.warnings] == [-99]
