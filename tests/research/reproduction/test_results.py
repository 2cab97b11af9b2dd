"""Numbers of lines: the lower bound of the theory, and the regret of the two halves of the rounds."""

import math

import numpy as np
import pytest
from research.reproduction.catalogue import FIGURES
from research.reproduction.figure import Line, Scene
from research.reproduction.results import Results

import truant
from tests.research.reproduction.made import simulation
from truant import theory


def test_the_lower_bound_is_that_of_the_theory(small):
    worlds = [truant.lab.simulate.plan_of("mar", "mar-ucb", 10_000, 5, {}).instance(run) for run in range(3)]
    expected = np.mean([theory.mar_lower_bound(world, 10_000) for world in worlds])
    bounds = [curve["lower_bound"] for curve in small.summary["curves"] if curve["version"] != "published"]
    assert bounds == pytest.approx([expected] * 7)
    scene = FIGURES["mar-known-p"].truant[0].lines[0].scene
    results = Results({scene: truant.simulate("mar", ["naive-ucb"], horizon=10_000, runs=3, seed=5)})
    line = results.reference(FIGURES["mar-known-p"].truant[0])
    early = np.mean([theory.mar_lower_bound(world, 1000) for world in worlds])
    assert np.interp(1000, line["round"], line["mean"]) == pytest.approx(early, rel=1e-3)


def test_the_mcar_bound_is_known_in_closed_form():
    scene = Scene("mcar:gamma=0.5", bound="mcar")
    results = Results({scene: truant.simulate("mcar:gamma=0.5", "naive-ucb", horizon=400, runs=2)})
    assert results.bound(scene) == pytest.approx(math.sqrt(10 * 400 / 0.5))
    assert results.bound(Scene("mnar")) is None


def test_the_ratio_of_the_halves():
    scene = Scene("mar")
    results = Results({scene: simulation("mar", line=[10.0, 30.0], flat=[5.0, 7.0], nothing_flat=[0.0, 0.0])})
    assert results.ratio(Line(scene, "line")) == pytest.approx(1)
    assert results.ratio(Line(scene, "flat")) == 0
    assert math.isnan(results.ratio(Line(scene, "nothing_flat")))
    real = Results({scene: truant.simulate("mar", "mar-uniform", horizon=4000, runs=3)})
    assert real.ratio(Line(scene, "mar-uniform")) == pytest.approx(1, abs=0.1)  # never learns
