"""The course over time: the same in every place, with warnings that are rare where nothing changes."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from tests.logs.places import ENGINES, KINDS, as_csv, as_duckdb, as_sqlite, frame
from truant.cli import cli
from truant.errors import InvalidValue, TruantError
from truant.evidence.course import ArmPeriod, OverTime
from truant.logs.read import read


def check_place(place, table, period):
    """Rows, observed outcomes and means by period and arm, as pandas finds them."""
    course = read(place, arm="arm", outcome="y", time="when").over_time
    kept = table.assign(period=period)[table["arm"].notna()]
    assert course.left_out == kept["period"].isna().sum()
    cells = kept.groupby(["period", "arm"])["y"].agg(["size", "count", "mean"])
    totals = kept.groupby("period").size()
    assert len(course.periods) == 3 * len(course.starts)
    for one in course.periods:
        size, count, mean = cells.loc[(one.period, one.arm)]
        assert (one.rows, one.observed) == (size, count)
        assert one.mean == pytest.approx(mean)
        assert one.share == pytest.approx(size / totals[one.period])
        assert one.missing_share == pytest.approx(1 - count / size)
    return course


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_in_every_place(kind, put):
    table = frame(600).assign(when=np.arange(600) % 40 + 100.0)
    table.loc[7, "when"] = np.nan
    course = check_place(put(kind, table), table, (table["when"] - 100) // 4)
    assert course.starts == tuple(100.0 + 4 * i for i in range(10))


@pytest.mark.parametrize("kind", [as_csv, as_duckdb, *ENGINES])
@pytest.mark.parametrize("text", [True, False])
def test_days_as_texts_and_as_moments(kind, text, put):
    days = pd.Series(pd.date_range("2024-02-20", periods=25).astype("datetime64[us]")[np.arange(600) % 25])
    table = frame(600).assign(when=days.dt.strftime("%Y-%m-%d") if text else days)
    course = check_place(put(kind, table), table, np.arange(600) % 25 // 3)
    assert [one.start for one in course.periods[::3]][:5] == [
        "2024-02-20",
        "2024-02-23",
        "2024-02-26",
        "2024-02-29",
        "2024-03-03",
    ]
    assert course.length == "3 days"


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_hours(kind, zone, put):
    moments = pd.date_range("2024-03-01", periods=40, freq="h", tz=zone).as_unit("us")
    table = frame(600).assign(when=moments[np.arange(600) % 40])
    course = read(put(kind, table), arm="arm", outcome="y", time="when").over_time
    assert (course.length, course.periods[3].start) == ("4 hours", "2024-03-01 04:00:00")


def test_fractions():
    course = read(
        frame(600).assign(when=np.linspace(0, 1, 600)), arm="arm", outcome="y", time="when"
    ).over_time
    assert len(course.starts) == 10


# Warnings


def course_of(rng, rows=2000, periods=10, share=lambda t: 0.5, missing=lambda t: 0.3):
    """Two arms whose shares and missing shares are functions of the period."""
    found = []
    for t in range(periods):
        n = rng.multinomial(rows // periods, [share(t), 1 - share(t)])
        for arm, number in zip("ab", n, strict=True):
            seen = rng.binomial(number, 1 - missing(t))
            found.append(
                ArmPeriod(t, f"{t}", arm, int(number), number / sum(n), int(seen), 1 - seen / number, 0.0)
            )
    return OverTime("day", "1", True, 0, tuple(map(float, range(periods))), tuple(found))


@pytest.mark.parametrize("rows", [300, 2000, 200_000])
def test_where_nothing_changes_warnings_are_rare(rows):
    """At most one in a thousand each: of 1,000 courses at most 5, which chance exceeds once in 1,600 times."""
    rng = np.random.default_rng(1)
    codes = [w.code for _ in range(1000) for w in course_of(rng, rows).warnings()]
    assert codes.count("shares-move") <= 5
    assert codes.count("recent-missing") <= 5


def test_an_adaptive_log_is_found():
    rng = np.random.default_rng(2)
    found = [course_of(rng, share=lambda t: 0.5 + 0.04 * t).warnings() for _ in range(50)]
    assert all([w.code for w in warnings] == ["shares-move"] for warnings in found)
    assert "the log looks adaptive" in found[0][0].message


def test_outcomes_that_may_be_pending_are_found_from_the_right_period_on():
    rng = np.random.default_rng(3)
    for first in (6, 9):
        courses = [course_of(rng, missing=lambda t: 0.2 + 0.4 * (t >= first)) for _ in range(50)]  # noqa: B023
        found = [warning.message for course in courses for warning in course.warnings()]
        assert len(found) == 50
        assert all(f"From {first} on" in text and f"with where: day < {first}." in text for text in found)


def test_copies_of_rows_give_no_alarm():
    """A course of 100 rows, each 30 times: with rows as copies of each other nothing is sure."""
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(100):
        course = course_of(rng, rows=200)
        many = [
            ArmPeriod(
                p.period, p.start, p.arm, 30 * p.rows, p.share, 30 * p.observed, p.missing_share, p.mean
            )
            for p in course.periods
        ]
        copied = OverTime(course.column, course.length, True, 0, course.starts, tuple(many))
        assert not copied.warnings(alike=30.0)
        alarms += bool(copied.warnings())
    assert alarms > 50


# What it says


@pytest.fixture(scope="module")
def late():
    rng = np.random.default_rng(5)
    day = rng.integers(0, 60, 3000)
    y = np.where(rng.random(3000) < np.where(day < 54, 0.8, 0.2), rng.integers(0, 2, 3000), np.nan)
    days = np.datetime_as_string(np.datetime64("2024-01-01") + day)
    table = pd.DataFrame({"arm": rng.choice(["a", "b"], 3000), "y": y, "the day": days})
    return table.assign(country=rng.choice(["DE", "FR"], 3000), unit=np.arange(3000) // 2)


def test_the_filter_that_is_named_ends_the_warning(late, tmp_path):
    options = ["analyze", str(as_csv(late, tmp_path)), "--arm=arm", "--outcome=y", "--time=the day"]
    shown = CliRunner().invoke(cli, options)
    assert "leave them out with where: \"the day\" < '2024-02-24'. [recent-missing]" in " ".join(
        shown.output.split()
    )
    document = json.loads(CliRunner().invoke(cli, [*options, "--json"]).stdout)
    assert document["over_time"]["length"] == "6 days"
    assert document["warnings"][0]["code"] == "recent-missing"
    filtered = CliRunner().invoke(cli, [*options, "--where", "\"the day\" < '2024-02-24'"])
    assert "recent-missing" not in filtered.output


def test_with_by_and_unit(late):
    result = truant.analyze(late, arm="arm", outcome="y", time="the day", by="country", unit="unit")
    for label, group in result.groups.items():
        assert sum(one.rows for one in group.over_time.periods) == (late["country"] == label).sum()
        assert "recent-missing" in [w.code for w in group.warnings]


def test_the_page_draws_both_charts(late, tmp_path):
    page = truant.analyze(late, arm="arm", outcome="y", time="the day").report(tmp_path / "page.html")
    dom = page.read_text(encoding="utf-8")
    assert "By the day: each dot is a period of 6 days, drawn where it starts." in dom
    for chart in ("course-share", "course-missing"):
        part = dom.partition(f'id="{chart}"')[2]
        assert "<svg" in part.partition("</figure>")[0]


def test_refusals():
    table = frame(100)
    for times, message in (
        (
            ["soon"] + ["2024-01-01"] * 99,
            "must hold times such as 2024-03-01 or .*, or numbers; it holds 'soon'",
        ),
        (["2024-01-01"] * 100, "needs at least two times, column 'when' has the same time in every row"),
        ([None] * 100, "needs at least two times, column 'when' has no time in any row"),
        ([True, False] * 50, "must hold dates, times or numbers, got boolean"),
    ):
        with pytest.raises(InvalidValue, match=message):
            read(table.assign(when=pd.Series(times)), arm="arm", outcome="y", time="when")
    with pytest.raises(TruantError, match="Unknown column 'wen'; did you mean 'when'"):
        read(table.assign(when=1), arm="arm", outcome="y", time="wen")


@pytest.mark.parametrize("values", [["1", "inf"], ["1", "-inf"], ["-1e308", "1e308"]])
def test_times_without_end_are_refused(values):
    for column in (values, [float(value) for value in values]):
        data = {"arm": list("ab") * 20, "t": column * 20, "y": [0, 1, 1, 0] * 10}
        with pytest.raises(InvalidValue, match=r"Column 't' must hold times within ±"):
            read(data, arm="arm", outcome="y", time="t")


@pytest.mark.parametrize("stray", ["5.1.2024", "2024-02-30", "2023-02-29"])
def test_dates_that_are_none_are_named(tmp_path, stray):
    table = pd.DataFrame({"arm": list("ab") * 20, "d": ["2024-01-05", stray] * 20, "y": [0.0, 1, 1, 0] * 10})
    places = [as_csv(table, tmp_path), as_sqlite(table, tmp_path)]
    with sqlite3.connect(tmp_path / "log.db") as shop:
        shop.execute("CREATE TABLE dates (arm TEXT, d DATE, y REAL)")
        shop.execute("INSERT INTO dates SELECT arm, d, y FROM visits")
    shop.close()
    for place in (*places, places[1].replace("::visits", "::dates")):
        with pytest.raises(InvalidValue, match=rf"Column 'd' must hold times such as .* it holds '{stray}'"):
            read(place, arm="arm", outcome="y", time="d")


def test_zones_of_texts_count(tmp_path):
    times = [f"2024-01-{day:02}T00:30:00+02{colon}00" for day in range(2, 22) for colon in (":", "")]
    table = pd.DataFrame({"arm": list("ab") * 20, "t": times, "y": [0.0, 1, 1, 0] * 10})
    starts = []
    for place in (as_csv(table, tmp_path), as_sqlite(table, tmp_path)):
        log = read(place, arm="arm", outcome="y", time="t")
        assert log.over_time.left_out == 0
        starts.append(log.over_time.periods[0].start)
    assert starts == ["2024-01-01", "2024-01-01"]


@pytest.mark.parametrize("numeric", [False, True])
def test_the_advice_on_recent_rows_can_be_followed(tmp_path, numeric):
    rng = np.random.default_rng(3)
    seconds = 1_700_000_000 + 600 * np.arange(4000)
    times = (
        1000.0 * seconds + 123 if numeric else pd.to_datetime(seconds, unit="s").strftime("%Y-%m-%dT%H:%M:%S")
    )
    outcome = np.where(
        (np.arange(4000) >= 3600) & (rng.random(4000) < 0.8), np.nan, rng.random(4000).round(2)
    )
    place = as_csv(pd.DataFrame({"arm": rng.choice(["a", "b"], 4000), "t": times, "y": outcome}), tmp_path)
    result = truant.analyze(place, arm="arm", outcome="y", time="t")
    (warning,) = (w for w in result.warnings if w.code == "recent-missing")
    text = warning.message.partition("with where: ")[2].removesuffix(".")
    kept = truant.analyze(place, arm="arm", outcome="y", time="t", where=text)
    start = text.partition("< ")[2].strip("'")
    assert kept.rows == int((pd.Series(times) < (float(start) if numeric else start)).sum())
