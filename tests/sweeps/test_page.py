"""The summary page: its sentences and tables are those of the sweep, it stands alone, and a browser draws it."""

import json
import re

import altair as alt
import pandas as pd
import pytest

import truant
from tests.browser import drawn_page, needs_browser
from truant.report.document import spec_of
from truant.sweeps.words import verdict

HOSTILE = "</script><img src=x onerror=alert(1)>"
STUDY = {
    "title": HOSTILE,
    "description": "A & B",
    "runs": 100,
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
    assert list(result.charts()) == [
        "world-1-curves",
        "world-1-winners",
        "world-1-maps",
        "world-2-level",
        "world-3-curves",
        "world-4-policies",
    ]
    assert HOSTILE not in page
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page
    assert "A &amp; B" in page
    assert re.findall(r"https?://(?!vega|www.w3.org|github)[^\s\"']+", page.split("<script>")[0]) == []
    rows = re.findall(r"<tr>.*?</tr>", page.split("<script>")[0], flags=re.DOTALL)
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
    spec = result.charts()["world-1-curves"].to_dict()
    assert len(spec["concat"]) == 4
    titles = [part["title"]["text"] for part in spec["concat"]]
    assert titles == ["K = 2, sd = 0.5", "K = 2, sd = 1", "K = 3, sd = 0.5", "K = 3, sd = 1"]
    line = next(part for part in spec["concat"][1]["layer"] if part["mark"]["type"] == "line")
    drawn = {(r["policy"], r["x"]): r["mean"] for r in spec["datasets"][line["data"]["name"]]}
    rows = table[(table["world"] == "mar") & (table["K"] == 2) & (table["sd"] == 1.0)]
    assert drawn == {(r.policy, r.gamma): r.regret_mean for r in rows.itertuples()}
    assert {x for _, x in drawn} == {"0.2", "0.5–1"}


def test_the_map_says_who_wins_by_how_much_and_who_is_as_good(result):
    table = result.table().to_pandas()
    spec = result.charts()["world-1-winners"].to_dict()
    assert len(spec["concat"]) == 2  # sd
    letters = {"naive-ucb": "A", "mar-ucb": "B"}
    for sd, part in zip((0.5, 1.0), spec["concat"], strict=True):
        cells = {(c["x"], c["y"]): c for c in spec["datasets"][part["data"]["name"]]}
        assert len(cells) == 4
        for (gamma, K), cell in cells.items():
            rows = table[(table["gamma"] == gamma) & (table["K"] == int(K)) & (table["sd"] == sd)]
            contest = rows[rows["behind_mean"].notna()].sort_values("regret_mean").to_dict("records")
            winner, other = contest
            assert cell["winner"] == winner["policy"]
            assert cell["margin"] == f"×{other['regret_mean'] / winner['regret_mean']:.3g}"
            named = [winner["policy"]] + [other["policy"]] * other["as_good"]
            assert cell["letters"] == "≈".join(letters[policy] for policy in named)
            assert cell["clear"] is not other["as_good"]
    assert table[table["block"] == 1]["as_good"].sum() > 8  # some are


def test_policies_along_their_own_parameter(result):
    spec = result.charts()["world-2-level"].to_dict()
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
    spec = result.charts()["world-1-level"].to_dict()
    line = next(part for part in spec["layer"] if part["mark"]["type"] == "line")
    drawn = {(r["policy"], r["x"]): r["mean"] for r in spec["datasets"][line["data"]["name"]]}
    assert drawn == {
        (f"mar-ucb:first_pulls={r['policy_first_pulls']}", r["policy_level"]): r["regret_mean"]
        for r in result.rows
    }


def test_worlds_of_one_point_stand_side_by_side(tmp_path):
    study = {
        "runs": 100,
        "horizon": 100,
        "policies": ["naive-ucb", "mar-ucb"],
        "worlds": ["mar", "confounded"],
    }
    result = truant.sweep(study, out=tmp_path)
    (name,) = result.charts()
    spec = result.charts()[name].to_dict()
    cells = next(iter(spec["datasets"].values()))
    assert name == "overview"
    assert [(cell["x"], cell["y"]) for cell in cells] == [
        (world, policy) for policy in ("naive-ucb", "mar-ucb") for world in ("mar", "confounded")
    ]
    assert sum("★" in cell["words"] for cell in cells) == 2


def test_many_combinations_are_thinned_and_it_says_so(tmp_path):
    vary = {"gamma": [0.2, 0.4, 0.6, 0.8], "sd": [0.5, 1.0, 2.0], "arms": [2, 3, 4]}
    study = {"runs": 2, "horizon": 20, "policies": ["naive-ucb"], "worlds": [{"name": "mcar", "vary": vary}]}
    result = truant.sweep(study, out=tmp_path)
    assert len(result.charts()["world-1-curves"].to_dict()["concat"]) == 6
    assert "Drawn are 6 of 9 combinations." in result.page.read_text(encoding="utf-8")


def test_many_values_are_thinned_and_it_says_so(tmp_path):
    vary = {"gamma": {"from": 0.1, "to": 1.0, "steps": 100}}
    study = {"runs": 1, "horizon": 5, "policies": ["naive-ucb"], "worlds": [{"name": "mcar", "vary": vary}]}
    result = truant.sweep(study, out=tmp_path)
    assert len(result.rows) == 100
    spec = result.charts()["world-1-curves"].to_dict()
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
    assert len(re.findall("<tr>", page.split("<script>")[0])) == 1 + 200
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
    assert "11 more rows: see <code>.table()</code>." in text
    assert result.rows[0]["policy"] in text


def test_more_rows_than_altair_takes_unasked():
    chart = alt.Chart(pd.DataFrame({"x": range(5_001)})).mark_point().encode(x="x:Q")
    assert len(next(iter(spec_of(chart)["datasets"].values()))) == 5_001


@pytest.mark.filterwarnings("error")
def test_one_run_has_no_standard_error(tmp_path):
    world = {"name": "mcar", "vary": {"gamma": [0.5, 1.0]}}
    study = {"runs": 1, "horizon": 20, "policies": ["naive-ucb", "zero-ucb"], "worlds": [world]}
    result = truant.sweep(study, out=tmp_path)
    kept = json.loads((tmp_path / "summary.json").read_text())
    assert [row["regret_se"] for row in kept["rows"]] == [None] * 4
    assert all(row["as_good"] for row in kept["rows"])
    assert result.page.exists()


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_it_without_network(result, tmp_path, scheme):
    dom = drawn_page(result.page, tmp_path, scheme)
    assert len(re.findall(r"<svg[^>]*class=\"marks\"", dom)) == 6
