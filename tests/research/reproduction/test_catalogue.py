"""The figures of the paper: their sizes, their choices, and how their policies look."""

import numpy as np
import pytest
from research.reproduction.catalogue import FIGURES
from research.reproduction.charts import looks_of_lines
from research.reproduction.figure import Scene

import truant
from research.reproduction import notebooks
from truant.charts import DARK
from truant.charts.style import darker


def test_sizes_are_those_of_the_text():
    sizes = {line.scene.size(False, None) for line in FIGURES["mcar-gamma"].shown_as("text").lines()}
    assert sizes == {(10_000, 20)}
    for name in ("mar-known-p", "mar-peaked", "mar-against-ucb", "mnar", "mnar-against-ucb"):
        assert {line.scene.size(False, None) for line in FIGURES[name].shown_as("text").lines()} == {
            (100_000, 10)
        }
    assert Scene("mar").size(True, None) == (10_000, 5)
    assert Scene("mar").size(True, 40) == (10_000, 40)
    assert Scene("mcar", 10_000, 20).size(True, None) == (10_000, 10)


def test_a_policy_looks_the_same_everywhere_and_unlike_its_neighbours():
    seen = {}
    for figure in FIGURES.values():
        for panel in (*figure.paper, *figure.truant, *figure.published):
            drawn = looks_of_lines({line.name: line.policy for line in panel.lines})
            assert len(set(drawn.values())) == len({look.dash for look in drawn.values()}) == len(panel.lines)
            for line in panel.lines:
                look = drawn[line.name]
                assert {look.colour, darker(look.colour)} <= set(DARK)  # it can be read on a dark page
                if line.label == "":
                    assert seen.setdefault(line.policy, look) == look


def test_every_figure_has_choices_and_a_claim_or_none_is_made_in_the_paper():
    for name, figure in FIGURES.items():
        assert figure.choices
        untried = name in ("mediator-mar", "mediator-mnar", "both-mnar")
        assert bool(figure.claims) != untried
        for claim in figure.claims:
            assert bool(claim.published) != claim.ours
            for case in (*claim.cases, *claim.published):
                assert {(line.scene, line.policy) for line in case.lines} <= {
                    (line.scene, line.policy) for line in figure.lines()
                }


def test_the_notebooks_instances_are_those_that_their_outputs_print():
    """Means and the largest condition number of the MNAR instance, and gamma of the PBC one, as the notebooks print."""
    odds = notebooks.world("notebook-mnar")
    printed = [449.34661852, 507.88350511, 849.32306591, 420.86295397, 469.1845302]
    np.testing.assert_allclose(1000 * odds.means, printed, rtol=1e-8)
    assert np.linalg.cond(odds.seen).max() == pytest.approx(110.42303536666729, rel=1e-9)
    gamma = [[0.76659795, 0.96121969], [0.76201575, 0.97558327]]
    np.testing.assert_allclose(notebooks.world("notebook-pbc").observation, gamma, atol=1e-8)


def test_the_odds_rule_is_a_ucb_on_the_observed_outcomes():
    """All odds are 1, so the estimate is twice their mean; the width is the notebook's formula on scale 1,000."""
    world = notebooks.world("notebook-mnar")
    arms = np.repeat(np.arange(5), 3000)
    counts = truant.Counts.fold(world.setting, arms, *world.pulls(arms, seed=1))
    policy = notebooks.policy("notebook-mnar", world, 100_000)
    values = truant.Decider(policy, world.setting, 100_000).scores(counts).values
    for arm in range(5):
        table = counts.table[arm, :5, :5]
        n = table.sum()
        width = np.linalg.cond(world.seen[arm]) / (table.sum(axis=1).max() / 3000) * np.sqrt(1 / 6000)
        width = 100 * (width + 5 * np.sqrt(1 / (2 * n))) / 1000
        mean = 2 * table.sum(axis=0) @ world.levels / n
        np.testing.assert_allclose(values[arm], [mean, mean + width], rtol=1e-9)
