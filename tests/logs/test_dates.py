"""Dates are no outcomes and cannot be cut; as names of arms and levels they will do."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest

from tests.logs.places import as_csv, as_duckdb, as_parquet, as_sqlite, in_postgres
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
        (datetime.datetime(2024, 1, 31, 10, 20), "timestamp"),
        (datetime.time(10, 20), "time"),
        (datetime.timedelta(days=3), "interval"),
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


# Dates with the day or the month first, where a column says when a row was

DAYS = [datetime.date(2026, 9, 20) + datetime.timedelta(days=i) for i in range(40)]


def dated(form: str, days: list[datetime.date] = DAYS) -> pd.DataFrame:
    """Two rows of each day; whose outcome is 1 on the first of a month."""
    texts = [day.strftime(form) for day in days for _ in "ab"]
    ones = [float(day.day == 1) for day in days for _ in "ab"]
    return pd.DataFrame({"arm": ["a", "b"] * len(days), "when": texts, "y": ones})


DATE_FORMS = {
    "%d.%m.%Y": "'when': 01.10.2026 was read as October 1, 2026, the day first",
    "%d.%m.%Y 18:30": "'when': 01.10.2026 was read as October 1, 2026, the day first",
    "%m/%d/%Y": "'when': 09/20/2026 was read as September 20, 2026, the month first",
    "%d/%m/%Y": "'when': 13/10/2026 was read as October 13, 2026, the day first",
    "%m/%d/%Y 18:30:00": "'when': 09/20/2026 was read as September 20, 2026, the month first",
}


@pytest.mark.parametrize("form", DATE_FORMS)
@pytest.mark.parametrize("place", [as_csv, as_parquet, as_sqlite, as_duckdb, "postgres"])
def test_dates_of_other_forms_are_those_of_iso(form, place, tmp_path, request):
    table = dated(form)
    if place == "postgres":
        where = in_postgres(request.getfixturevalue("postgres"), table, "other_dates")
    else:
        where = place(table, tmp_path)
    has_time = ":" in form
    iso = dated("%Y-%m-%d" + form[8:] if has_time else "%Y-%m-%d")
    for condition, kept in (
        ("when >= '2026-10-01'", lambda day: day >= datetime.date(2026, 10, 1)),
        ("when = '2026-10-10'", lambda day: day == datetime.date(2026, 10, 10)),
        ("when between '2026-09-30' and '2026-10-02'", lambda day: abs((day - DAYS[11]).days) <= 1),
        ("not when in ('2026-10-01', '2026-11-01')", lambda day: day != DAYS[11]),
    ):
        log = read(where, arm="arm", outcome="y", levels=(0, 1), where=condition)
        assert log.rows == 2 * sum(map(kept, DAYS)), condition
        assert log.notes[0] == DATE_FORMS[form]
    log = read(where, arm="arm", outcome="y", time="when", where="when < '2026-10-28'")
    plain = read(iso, arm="arm", outcome="y", time="when", where="when < '2026-10-28'")
    assert log.over_time == plain.over_time
    assert log.notes == (DATE_FORMS[form],)
    assert not plain.notes


def test_slashes_that_nothing_decides_are_read_with_the_month_first(tmp_path):
    days = [datetime.date(2026, month, day) for month in (1, 2, 3) for day in (3, 4)]
    table = as_csv(dated("%m/%d/%Y", days), tmp_path)
    log = read(table, arm="arm", outcome="y", levels=(0, 1), time="when")
    assert log.notes == (
        "'when': 01/03/2026 was read as January 3, 2026, the month first, since no part is above 12; if the day comes "
        "first, write dates as 2024-03-01",
    )
    assert [one.start for one in log.over_time.periods[:2]] == ["2026-01-03"] * 2
    assert read(table, arm="arm", outcome="y", levels=(0, 1), where="when < '2026-02-01'").rows == 4


def test_forms_beside_each_other():
    """With dots and ISO each date says what it is; slashes in two orders do not."""
    rows = {"arm": ["a", "b"] * 3, "y": [0, 1, 1, 0, 0, 1]}
    when = ["2026-10-01", "02.10.2026", "10/03/2026", " 04.10.2026 ", "NA", "10/13/2026"]
    log = read(rows | {"when": when}, arm="arm", outcome="y", where="when <= '2026-10-04'")
    assert log.rows == 4
    assert log.notes[0] == (
        "'when': 02.10.2026 was read as October 2, 2026, the day first; 10/13/2026 was read as October 13, 2026, "
        "the month first"
    )
    with pytest.raises(InvalidValue) as refusal:
        read(rows | {"when": [*when[:4], "13/10/2026", "10/13/2026"]}, arm="arm", outcome="y", time="when")
    assert str(refusal.value) == (
        "Column 'when' mixes dates with the day first, such as '13/10/2026', and with the month first, such as "
        "'10/13/2026'; write them as 2024-03-01."
    )


@pytest.mark.parametrize(
    "stray", ["1.10.2026", "10/1/2026", "30.02.2026", "13/13/2026", "01.10.26", "01-10-2026"]
)
def test_what_is_no_day_or_has_no_leading_zeros_is_refused(stray):
    rows = {
        "arm": ["a", "b"] * 2,
        "y": [0, 1, 1, 0],
        "when": ["01.10.2026", "02.10.2026", "2026-10-03", stray],
    }
    for words, said in (({"time": "when"}, "it holds"), ({"where": "when > '2026-10-01'"}, "it also holds")):
        with pytest.raises(InvalidValue) as refusal:
            read(rows, arm="arm", outcome="y", **words)
        assert f"{said} " in str(refusal.value)
        assert repr(stray) in str(refusal.value)
