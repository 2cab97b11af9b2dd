"""The summary page: its sentences and tables are those of the sweep, it stands alone, and a browser draws it."""

import json
import re

import altair as alt
import pandas as pd
import pytest

import truant
from tests.browser import faults, needs_axe
from truant.charts.style import themed_svg
from truant.documents.sweep import verdict

HOSTILE = "</script><img src=x onerror=alert(1)>"
STUDY = {
    "title": HOSTILE,
    "description": "A & B",
    "runs": 25,
    "horizon": 300,
    "policies": ["naive-ucb", "mar-ucb", "oracle-ucb"],
    "worlds": [
        {
            "name": "mar",
            "set": {"arms": 3},
            "vary": {"gamma": [0.2, [0.5, 1.0]], "K": [2, 3], "sd": [0.5, 1.0]},
        },
        {
            "name": "confounded",
            "policies": ["naive-ucb", {"name": "mar-ucb", "vary": {"level": [0.5, 1, 2]}}],
        },
        {"name": "mcar", "policies": ["mcar-ucb"], "horizon": [100, 300]},
        {"name": "mcar", "title": "alone", "policies": ["oracle-ucb"]},
    ],
}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return truant.sweep(STUDY, out=tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def page(result):
    return result.page.read_text(encoding="utf-8")


def test_it_shows_what_there_is(result, page):
    assert list(result.charts()) == ["world-1", "world-2", "world-3"]  # nothing varies in the fourth
    assert HOSTILE not in page
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page
    assert "A &amp; B" in page
    assert re.findall(r"https?://(?!vega|www.w3.org|github)[^\s\"']+", page) == []
    rows = re.findall(r"<tr>.*?</tr>", page, flags=re.DOTALL)
    assert len(rows) == 1 + len(result.rows) == 1 + 8 * 3 + 4 + 2 + 1
    assert sum("★" in row for row in rows) == 8 + 1 + 2


def test_the_verdict_counts_wins(result):
    table = result.table().to_pandas()
    contest = table[table["behind_mean"].notna()]
    wins = contest[contest["best"]]["policy"].value_counts()
    sentence = verdict(result.rows)
    first = wins.index[0]
    good = int(contest[contest["policy"] == first]["as_good"].sum())
    assert sentence.startswith(
        f"{first} has the lowest mean regret at {wins[first]} of 11 points "
        f"(at {good} no policy is better by more than two standard errors)"
    )


def test_panels_hold_the_right_rows(result):
    table = result.table().to_pandas()
    spec = result.charts()["world-1"].to_dict()
    assert len(spec["concat"]) == 4
    titles = [part["title"]["text"] for part in spec["concat"]]
    assert titles == ["K = 2, sd = 0.5", "K = 2, sd = 1", "K = 3, sd = 0.5", "K = 3, sd = 1"]
    line = next(part for part in spec["concat"][1]["layer"] if part["mark"]["type"] == "line")
    drawn = {(r["policy"], r["x"]): r["mean"] for r in spec["datasets"][line["data"]["name"]]}
    rows = table[(table["world"] == "mar") & (table["K"] == 2) & (table["sd"] == 1.0)]
    assert drawn == {(r.policy, r.gamma): r.regret_mean for r in rows.itertuples()}
    assert {x for _, x in drawn} == {"0.2", "0.5–1"}


def test_policies_along_their_own_parameter(result):
    spec = result.charts()["world-2"].to_dict()
    line = next(part for part in spec["layer"] if part["mark"]["type"] == "line")
    drawn = [(r["policy"], r["x"], r["mean"]) for r in spec["datasets"][line["data"]["name"]]]
    rows = {r["policy"]: r["regret_mean"] for r in result.rows if r["world"] == "confounded"}
    naive = rows["naive-ucb"]
    expected = {("naive-ucb", 0.5, naive), ("naive-ucb", 2.0, naive)}
    expected |= {("mar-ucb", level, rows[f"mar-ucb:level={level:g}"]) for level in (0.5, 1.0, 2.0)}
    assert set(drawn) == expected


def test_a_line_for_each_value_of_what_else_varies_in_a_policy(tmp_path):
    entry = {"name": "mar-ucb", "vary": {"level": [0.5, 1, 2], "first_pulls": [1, 5]}}
    study = {"runs": 2, "horizon": 50, "policies": [entry], "worlds": ["mar"]}
    result = truant.sweep(study, out=tmp_path)
    spec = result.charts()["world-1"].to_dict()
    line = next(part for part in spec["layer"] if part["mark"]["type"] == "line")
    drawn = {(r["policy"], r["x"]): r["mean"] for r in spec["datasets"][line["data"]["name"]]}
    assert drawn == {
        (f"mar-ucb:first_pulls={r['policy_first_pulls']}", r["policy_level"]): r["regret_mean"]
        for r in result.rows
    }


def test_worlds_of_one_point_stand_side_by_side(tmp_path):
    study = {
        "runs": 10,
        "horizon": 100,
        "policies": ["naive-ucb", "mar-ucb"],
        "worlds": ["mar", "confounded"],
    }
    result = truant.sweep(study, out=tmp_path)
    (name,) = result.charts()
    spec = result.charts()[name].to_dict()
    dots = next(part for part in spec["layer"] if part["mark"]["type"] == "circle")
    cells = spec["datasets"][(dots.get("data") or spec["data"])["name"]]
    assert name == "overview"
    assert [(cell["x"], cell["policy"]) for cell in cells] == [
        (world, policy) for world in ("mar", "confounded") for policy in ("naive-ucb", "mar-ucb")
    ]


def test_many_combinations_are_thinned_and_it_says_so(tmp_path):
    vary = {"gamma": [0.2, 0.4, 0.6, 0.8], "sd": [0.5, 1.0, 2.0], "arms": [2, 3, 4]}
    study = {"runs": 2, "horizon": 20, "policies": ["naive-ucb"], "worlds": [{"name": "mcar", "vary": vary}]}
    result = truant.sweep(study, out=tmp_path)
    assert len(result.charts()["world-1"].to_dict()["concat"]) == 6
    assert "Drawn are 6 of 9 combinations." in result.page.read_text(encoding="utf-8")


def test_many_values_are_thinned_and_it_says_so(tmp_path):
    vary = {"gamma": {"from": 0.1, "to": 1.0, "steps": 100}}
    study = {"runs": 1, "horizon": 5, "policies": ["naive-ucb"], "worlds": [{"name": "mcar", "vary": vary}]}
    result = truant.sweep(study, out=tmp_path)
    assert len(result.rows) == 100
    spec = result.charts()["world-1"].to_dict()
    line = next(part for part in spec["layer"] if part["mark"]["type"] == "line")
    xs = [row["x"] for row in spec["datasets"][line["data"]["name"]]]
    assert (len(xs), xs[0], xs[-1]) == (60, 0.1, 1.0)
    page = result.page.read_text(encoding="utf-8")
    assert "Drawn are 60 of 100 values of gamma." in page
    assert "more rows are in summary.json" not in page


def test_the_table_of_a_large_study_says_how_much_is_left_out(tmp_path):
    vary = {"gamma": {"from": 0.1, "to": 1.0, "steps": 103}}
    policies = ["naive-ucb", "zero-ucb"]
    study = {"runs": 1, "horizon": 5, "policies": policies, "worlds": [{"name": "mcar", "vary": vary}]}
    page = truant.sweep(study, out=tmp_path).page.read_text(encoding="utf-8")
    assert len(re.findall("<tr>", page)) == 1 + 200
    assert "6 more rows are in summary.json" in page


def test_the_table_has_the_rows_with_the_same_types_in_every_study(result, tmp_path):
    table = result.table()
    assert table.to_pylist() == result.rows
    assert table.column_names == list(result.rows[0])
    world = {"name": "mcar", "vary": {"gamma": [0.5, 1]}}
    alone = {"runs": 1, "horizon": 20, "policies": ["oracle-ucb"], "worlds": [world]}
    other = truant.sweep(alone, out=tmp_path).table()
    assert set(other["behind_mean"].to_pylist()) == set(other["regret_se"].to_pylist()) == {None}
    for name in set(table.column_names) & set(other.column_names) - {"gamma"}:
        assert other.schema.field(name).type == table.schema.field(name).type


def test_a_notebook_shows_the_first_rows(result):
    text = result._repr_html_()
    assert HOSTILE not in text
    assert "<script" not in text
    assert len(re.findall("<tr>", text)) == 1 + 20
    assert "11 more rows: see .table()." in text
    assert result.rows[0]["policy"] in text


def test_more_rows_than_altair_takes_unasked():
    chart = alt.Chart(pd.DataFrame({"x": range(5_001)})).mark_rect().encode(x="x:Q")
    assert themed_svg(chart, name="a", alternative="many").count("<path") > 5_000


def test_the_terminal_says_its_size_its_verdict_and_its_files(tmp_path):
    study = {"title": "A [b]study[/b]", "runs": 1, "horizon": 5, "policies": ["zero-ucb"], "worlds": ["mcar"]}
    result = truant.sweep(study, out=tmp_path)
    lines = [line for line in str(result).splitlines() if line]
    assert lines == [
        "A [b]study[/b]  1 point, 1 run of each policy",
        verdict(result.rows),
        f"Every run: {result.results}",
        f"Page: {result.page}",
    ]


@pytest.mark.filterwarnings("error")
def test_one_run_has_no_standard_error(tmp_path):
    world = {"name": "mcar", "vary": {"gamma": [0.5, 1.0]}}
    study = {"runs": 1, "horizon": 20, "policies": ["naive-ucb", "zero-ucb"], "worlds": [world]}
    result = truant.sweep(study, out=tmp_path)
    kept = json.loads((tmp_path / "summary.json").read_text())
    assert [row["regret_se"] for row in kept["rows"]] == [None] * 4
    assert all(row["as_good"] for row in kept["rows"])
    assert result.page.exists()


@needs_axe
def test_a_browser_draws_it_and_everyone_can_read_it(result, page, tmp_path):
    assert faults({"sweep": result.page}, tmp_path) == []
    assert page.count("<svg viewBox") == 3
