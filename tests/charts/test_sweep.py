"""Charts of a sweep: what is drawn where."""

import json

import pandas as pd
import pytest

from tests.charts.tables import LINES, WINNERS
from truant.charts import COLOURS
from truant.charts.sweep import parameter_chart, regret_heatmap, regret_span, winner_map
from truant.errors import InvalidValue


def layer(chart, mark):
    spec = chart.to_dict()
    found = next(part for part in spec["layer"] if part["mark"]["type"] == mark)
    data = found.get("data") or spec["data"]  # layers that share their rows have them above
    return spec["datasets"][data["name"]], found["encoding"]


def test_lines_show_the_table():
    rows, encoding = layer(parameter_chart(LINES, parameter="gamma"), "line")
    assert [(r["policy"], r["round"], r["height"]) for r in rows] == [
        (r.policy, r.x, r.mean) for r in LINES.itertuples()
    ]
    assert encoding["x"]["title"] == "gamma"
    assert encoding["x"]["axis"]["values"] == [1, 2, 4]
    low, high = encoding["x"]["scale"]["domain"]
    assert low < 1 < 4 < high
    assert encoding["y"]["scale"]["type"] == "linear"
    rows, encoding = layer(parameter_chart(LINES, parameter="gamma"), "area")
    assert [r["low"] for r in rows] == list(LINES["low"])
    assert encoding["y2"]["field"] == "high"
    labels, _ = layer(parameter_chart(LINES, parameter="gamma"), "text")
    assert [r["label"] for r in labels] == ["a\N{EN SPACE}19", "b\N{EN SPACE}99"]


def test_wide_spans_are_logarithmic():
    wide = LINES.assign(
        x=LINES["x"].map({1: 1, 2: 10, 4: 100}), mean=LINES["mean"] ** 2, high=LINES["mean"] ** 2
    )
    _, encoding = layer(parameter_chart(wide, parameter="K"), "line")
    assert encoding["x"]["scale"]["type"] == encoding["y"]["scale"]["type"] == "log"
    _, narrow = layer(parameter_chart(LINES, parameter="K"), "line")
    assert narrow["x"]["scale"]["type"] == narrow["y"]["scale"]["type"] == "linear"


def test_texts_are_places_in_their_order():
    texts = LINES.assign(x=LINES["x"].map({1: "0.1–1", 2: 'quo"ted', 4: "last"}))
    rows, encoding = layer(parameter_chart(texts, parameter="gamma"), "line")
    assert [r["round"] for r in rows] == [0, 1, 2, 0, 1, 2]
    names = json.loads(encoding["x"]["axis"]["labelExpr"].removeprefix("(").removesuffix(")[datum.value]"))
    assert names == ["0.1–1", 'quo"ted', "last"]


def test_a_common_span():
    assert regret_span(LINES) == (10.0, pytest.approx(99 * 1.1))
    _, encoding = layer(parameter_chart(LINES, parameter="K", span=(1, 1000)), "line")
    assert encoding["y"]["scale"]["domain"] == [pytest.approx(1 / 1.15), pytest.approx(1150)]
    with pytest.raises(InvalidValue, match="at least one row"):
        parameter_chart(LINES[:0], parameter="K")


def test_a_heat_map_has_the_figures_and_the_best():
    cells = pd.DataFrame(
        {
            "x": ["2", "5"] * 2,
            "y": ["a", "a", "b", "b"],
            "mean": [1.0, 10.0, 100.0, 1234.0],
            "best": [True] + [False] * 3,
        }
    )
    cells["best"] = [True, False, False, False]
    rows, encoding = layer(regret_heatmap(cells, x="K", y="policy"), "rect")
    assert [r["words"] for r in rows] == ["1 ★", "10", "100", "1,234"]
    assert [r["shade"] for r in rows] == pytest.approx([0, 0.3235, 0.6470, 1], abs=1e-3)  # by logarithms
    assert [r["dark"] for r in rows] == [False, False, True, True]
    assert encoding["x"]["sort"] == ["2", "5"]
    assert encoding["y"]["sort"] == ["a", "b"]
    same, _ = layer(regret_heatmap(cells.assign(mean=3.0), x="K", y=""), "rect")
    assert {r["shade"] for r in same} == {0.0}
    shared, _ = layer(regret_heatmap(cells[:1], x="K", y="", span=(0.1, 10)), "rect")
    assert shared[0]["shade"] == pytest.approx(0.5)


def test_a_map_of_winners():
    policies = ["naive-ucb", "mar-thompson", "mar-ucb"]
    rows, encoding = layer(winner_map(WINNERS, x="K", y="", policies=policies), "rect")
    assert [r["letters"] for r in rows] == ["C", "A≈C", "C"]
    assert [r["margin"] for r in rows] == ["×1.5", "×1.01", ""]
    assert [r["clear"] for r in rows] == [True, False, True]
    # colours belong to the policies that took part, not to those that won
    assert encoding["color"]["scale"] == {
        "domain": ["naive-ucb", "mar-ucb"],
        "range": [COLOURS[0], COLOURS[2]],
    }
    assert '"mar-ucb": "C  mar-ucb"' in encoding["color"]["legend"]["labelExpr"]
