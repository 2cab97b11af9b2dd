"""Scores are a function of the counts: whatever the memory has been through, they are what fresh memory gives."""

from __future__ import annotations

import numpy as np
import pytest
from tests.scoring import score

from truant.play.run import play
from truant.policies import named
from truant.worlds import make

HORIZON = 2000


def counted(policy, world, seed):
    """The curve, and two tables: a tenth of the counts after a run, and all of them."""
    rng = np.random.Generator(np.random.SFC64(seed))
    run = play(policy, world, rng, HORIZON, np.array([HORIZON]))
    assert run.finished
    curve = policy.curve(world.setting, HORIZON)
    if not curve.discrete:
        return curve, [run.counts.real().table * 0.1, run.counts.real().table]
    table = run.counts.table
    return curve, [np.random.default_rng(seed).binomial(table.astype(int), 0.1).astype(float), table]


def fresh_and_grown(curve, tables, z_grid, index=None):
    """Scores of the last table: from zeroed memory, and from memory that has been through all tables."""
    memory = np.zeros((len(tables[0]), curve.memory(len(z_grid))))
    for table in tables:
        grown = score(curve, table, z_grid, index, HORIZON, memory)
    return score(curve, tables[-1], z_grid, index, HORIZON), grown


@pytest.mark.parametrize(
    ("world", "policy"),
    [
        ("mcar", "mcar-ucb"),
        ("mar-low", "mar-ucb"),
        ("mar-low", "mar-known-ucb"),
        ("mar", "mar-thompson"),
        ("mediator-mar", "mediator-mar-ucb"),
        ("conversion", "mar-ucb"),
        ("mnar", "mar-ucb"),
        ("mar", "paper-mar"),
        ("mar", "zero-ucb"),
    ],
)
def test_formulas_give_the_same_from_any_memory(world, policy):
    for seed in range(3):
        rule = named(policy)
        curve, tables = counted(rule, make(world, seed=seed), seed)
        z_grid = rule.index.z_grid(curve.linear)
        fresh, grown = fresh_and_grown(curve, tables, z_grid, rule.index)
        np.testing.assert_allclose(grown.values, fresh.values, rtol=1e-9)
        np.testing.assert_allclose(grown.z, fresh.z, rtol=1e-9)
        np.testing.assert_allclose(grown.known, fresh.known, rtol=1e-9)


SIGNED_ROOT = 0.6  # tolerance of a fit when choosing, in units of z
AT_Z = np.array([1.4, 2.0, 2.6])


@pytest.mark.parametrize(
    ("world", "policy"),
    [("mnar", "mnar-ucb"), ("mediator-mnar", "mediator-mnar-ucb"), ("both-mnar", "both-mnar-ucb")],
)
def test_fits_give_nearly_the_same_from_any_memory(world, policy):
    """Within the tolerance of a fit, and arms that differ by more than that keep their order."""
    differences = []
    for seed in range(3):
        curve, tables = counted(named(policy), make(world, seed=seed, arms=4), seed)
        fresh, grown = fresh_and_grown(curve, tables, AT_Z)
        top, again = fresh.values[:, 1], grown.values[:, 1]
        step = (fresh.values[:, 2] - fresh.values[:, 0]) / 2  # what .6 in z is worth
        assert np.all(np.abs(top - again) <= step + 1e-9)
        clear = np.abs(top[:, None] - top) > step[:, None] + step
        np.testing.assert_array_equal((top[:, None] > top) & clear, (again[:, None] > again) & clear)
        early = score(curve, tables[0], AT_Z).values[:, 1]
        differences.append(np.abs(early - top) / step)
    assert np.max(differences) > 2  # the tables do differ: what was kept of the first would not do
