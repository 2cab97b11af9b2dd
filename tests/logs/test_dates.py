"""Dates are no outcomes and cannot be cut; as names of arms and levels they will do."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest

from tests.logs.places import as_csv, as_sqlite
from truant.errors import InvalidValue
from truant.logs.read import read

REMEDY = (
    "compute a number from it first, such as days until the event; a column that says when a row happened can be "
    "named with time='when' (--time when)."
)
TEXTS = [
    "2024-01-31",
    "2024-01-31 10:20:30",
    "2024-01-31T10:20:30Z",
    "31.01.2024",
    "1/31/2024",
    "1/31/24 10:20",
    "10:20",
    "10:20:30.5",
    "31-Jan-2024",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("place", [as_csv, as_sqlite])
def test_dates_in_texts_are_refused(text, place, tmp_path):
    table = pd.DataFrame({"arm": ["a", "b"] * 3, "when": [text] * 5 + [None], "y": [0, 1, 1, 0, 1, 0]})
    where = place(table, tmp_path)
    for words in ({"outcome": "when"}, {"outcome": "y", "mediator": "when:2"}):
        with pytest.raises(InvalidValue) as refusal:
            read(where, arm="arm", **words)
        assert str(refusal.value) == (
            f"Column 'when' must be numbers, it holds dates or times such as {text!r}; {REMEDY}"
        )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (datetime.date(2024, 1, 31), "date"),
        (datetime.datetime(2024, 1, 31, 10, 20), "timestamp(6)"),
        (datetime.time(10, 20), "time"),
        (datetime.timedelta(days=3), "interval('us')"),
    ],
)
def test_dates_of_tables_are_refused(value, kind):
    table = {"arm": ["a", "b"] * 3, "when": [value] * 6, "y": [0, 1, 1, 0, 1, 0]}
    for words in ({"outcome": "when"}, {"outcome": "y", "mediator": "when:2"}):
        with pytest.raises(InvalidValue) as refusal:
            read(table, arm="arm", **words)
        assert str(refusal.value) == f"Column 'when' must be numbers, got {kind}; {REMEDY}"


def test_dates_name_arms_and_levels():
    days = [datetime.date(2024, 1, 30), datetime.date(2024, 1, 31)]
    log = read({"arm": days * 3, "m": days[::-1] * 3, "y": [0, 1] * 3}, arm="arm", mediator="m", outcome="y")
    assert [str(arm) for arm in log.arms] == ["2024-01-30", "2024-01-31"]
    assert log.mediators == ("2024-01-30", "2024-01-31")
