"""Panels of regret: one y axis for all, a reference line, and pictures with a title."""

import numpy as np
import pyarrow as pa
import pytest
from research.reproduction.charts import looks_of_lines, panel_charts, panels_picture

from truant.charts import SHADES
from truant.charts.regret import NAIVE, RegretPanel


def panel(title, top, reference=None):
    rounds = np.array([1, 50, 100])
    mean = top * rounds / 100
    curves = {"policy": ["a"] * 3, "round": rounds, "mean": mean, "low": 0.9 * mean, "high": 1.1 * mean}
    line = None if reference is None else {"policy": ["bound"] * 3, "round": rounds, "mean": [reference] * 3}
    looks = looks_of_lines({"a": "mar-ucb"})
    return RegretPanel(title, pa.table(curves), looks, None if line is None else pa.table(line))


def domain(chart):
    spec = chart.to_dict()
    return next(
        layer["encoding"]["y"]["scale"]["domain"]
        for layer in spec["layer"]
        if layer["mark"]["type"] == "line"
    )


def test_all_panels_have_the_same_axis_references_included():
    charts = panel_charts([panel("One", 10.0), panel("Two", 100.0, 500.0)], log=False, width=300, height=200)
    assert [chart.to_dict()["title"]["text"] for chart in charts] == ["One", "Two"]
    assert domain(charts[0]) == domain(charts[1]) == [0, pytest.approx(1.05 * 500)]
    assert "bound" in str(charts[1].to_dict()["datasets"])


def test_a_logarithmic_axis_begins_after_the_steep_first_rounds():
    foot, top = domain(panel_charts([panel("One", 100.0)], log=True, width=300, height=200)[0])
    assert foot == pytest.approx(50 / 1.5)  # the mean after 50 rounds, and not 1 after the first
    assert top > 110


def test_a_picture_of_one_panel_bears_the_title_and_several_stand_below_it():
    words = {"title": "Figure", "subtitle": ["Policies", "Dotted: a bound"], "log": False}
    one = panels_picture([panel("One", 10.0)], **words).to_dict()
    assert one["title"]["text"] == "Figure"
    assert one["title"]["subtitle"] == ["One. Policies", "Dotted: a bound"]
    two = panels_picture([panel("One", 10.0), panel("Two", 10.0)], **words).to_dict()
    assert two["title"]["text"] == "Figure"
    assert two["title"]["subtitle"] == ["Policies", "Dotted: a bound"]
    assert [part["title"]["text"] for part in two["concat"]] == ["One", "Two"]


def test_lines_of_one_policy_are_shades_and_others_have_the_look_of_their_name():
    shades = looks_of_lines({"γ = 1": "paper-mcar", "γ = 0.5": "paper-mcar"})
    assert [look.colour for look in shades.values()] == [SHADES[0], SHADES[2]]
    assert len({look.dash for look in shades.values()}) == 2
    assert looks_of_lines({"naive-ucb": "naive-ucb", "mar-ucb": "mar-ucb"})["naive-ucb"] == NAIVE
