"""Charts of an analysis: what stands in the table is what is drawn."""

import pandas as pd
import pytest

from tests.charts.tables import CELLS, CURVE, ESTIMATES
from truant.charts import COLOURS, DARK, estimates_chart, missing_heatmap, save_chart, tipping_chart
from truant.charts.analysis import TippingPoint
from truant.charts.style import FAINT, GRID, INK, NEUTRAL
from truant.errors import InvalidValue


def layers(spec, mark):
    found = [layer for layer in spec["layer"] if layer["mark"]["type"] == mark]
    return [(spec["datasets"][layer.get("data", spec.get("data"))["name"]], layer) for layer in found]


def test_estimates_are_dots_with_whiskers_in_rows_below_their_arm():
    spec = estimates_chart(ESTIMATES, label="{:.2f}".format).to_dict()
    (rows, layer), *_ = layers(spec, "point")
    assert [(r["arm"], r["assumption"], r["mean"]) for r in rows] == list(
        ESTIMATES[["arm", "assumption", "mean"]].itertuples(index=False, name=None)
    )
    assert [r["row"] for r in rows] == [1, 2, 4, 5]  # 0 and 3 are the arms' own
    assert layer["encoding"]["color"]["scale"] == {"domain": ["naive", "mar"], "range": [NEUTRAL, COLOURS[0]]}
    assert len(set(layer["encoding"]["shape"]["scale"]["range"])) == 2
    assert [(r["low"], r["high"]) for r in rows][2:] == [(0.3, 0.4), (0.2, 0.2)]  # unknown limits: none drawn
    assert rows[0]["text"] == "0.30"


def test_the_winner_of_each_assumption_has_a_star():
    spec = estimates_chart(ESTIMATES).to_dict()
    rows, _ = layers(spec, "point")[0]
    assert [(r["arm"], r["assumption"]) for r in rows if r["best"]] == [("a", "mar"), ('b"]', "naive")]
    alone = estimates_chart(ESTIMATES[ESTIMATES["arm"] == "a"]).to_dict()
    assert not any(r["best"] for r in layers(alone, "point")[0][0])  # nothing to win against


def test_bounds_are_a_bar_behind_the_rows_of_an_arm():
    bounds = pd.DataFrame([{"arm": "a", "low": 0.1, "high": 0.8}])
    spec = estimates_chart(ESTIMATES, bounds).to_dict()
    assert spec["layer"][0]["mark"]["type"] == "rect"
    rows, _ = layers(spec, "rect")[0]
    assert rows == [{"arm": "a", "first": 1, "last": 2, "low": 0.1, "high": 0.8}]
    low, high = layers(spec, "rule")[0][1]["encoding"]["x"]["scale"]["domain"]
    assert low < 0.1
    assert high > 0.8


def test_heat_map_says_percent_and_n_and_missing_mediators_come_last():
    spec = missing_heatmap(CELLS).to_dict()
    rows, layer = layers(spec, "text")[0]
    assert [(r["share"], r["size"]) for r in rows] == [
        ("50.0%", "n = 10"),
        ("25.0%", "n = 4"),
        ("–", ""),
        ("10.0%", "n = 1,200"),
        ("100.0%", "n = 7"),
    ]
    columns = layer["encoding"]["x"]["sort"]
    assert [name.strip() for name in columns] == ["low", "missing", "missing"]
    assert len(set(columns)) == 3  # a level called "missing" is not the missing mediator
    assert len(layers(spec, "rect")[0][0]) == 4  # nothing is painted where there are no pulls


def test_tipping_point_is_marked_in_outcome_units_and_sd():
    spec = tipping_chart(CURVE, TippingPoint("a", "b", shift=0.5, shift_in_sd=1.25)).to_dict()
    rows, _ = layers(spec, "point")[0]
    assert rows == [{"shift": 0.5, "at": 0.5, "text": "0.5 (1.25 sd)"}]
    names = [row["text"] for row in layers(spec, "text")[0][0]]
    assert names == ["a", "b"]
    assert not layers(spec, "rect")


def test_what_cannot_happen_is_shaded():
    spec = tipping_chart(CURVE, TippingPoint("a", "b", shift=0.5, worst=0.3)).to_dict()
    rows, _ = layers(spec, "rect")[0]
    assert rows[0]["start"] == pytest.approx(1.5)
    assert rows[0]["stop"] == 2.0
    spec = tipping_chart(CURVE, TippingPoint("a", "b", shift=0.5, worst=0.1)).to_dict()
    assert not layers(spec, "rect")


def test_charts_can_be_drawn_and_names_survive(tmp_path):
    text = save_chart(estimates_chart(ESTIMATES), tmp_path / "a.svg").read_text()
    assert "b&quot;]" in text or 'b"]' in text
    assert "NaN" not in text
    assert "NaN" not in save_chart(missing_heatmap(CELLS), tmp_path / "b.svg").read_text()
    flat = CURVE.assign(value=0.5, low=0.5, high=0.5)
    chart = tipping_chart(flat, TippingPoint("a", "b", shift=None, worst=0.4))
    assert "NaN" not in save_chart(chart, tmp_path / "c.svg").read_text()


def test_tables_without_what_is_needed_are_refused():
    with pytest.raises(InvalidValue, match="columns arm, assumption, mean, low, high; low is missing"):
        estimates_chart(ESTIMATES.drop(columns="low"))
    with pytest.raises(InvalidValue, match="at least one row of cells"):
        missing_heatmap(CELLS[:0])


def _contrast(one, other):
    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_read_on_light_and_dark_ground():
    for letters in (INK, FAINT, NEUTRAL):
        assert _contrast(letters, "#FFFFFF") >= 4.5
        assert _contrast(DARK[letters], "#1A1F26") >= 4.5
    assert all(_contrast(DARK[colour], "#1A1F26") >= 4.5 for colour in COLOURS)
    assert GRID in DARK
