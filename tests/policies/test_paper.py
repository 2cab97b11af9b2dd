"""The paper's policies against their formulas, written out in numpy.

Each formula goes from an arm's mediators and outcomes (not from counts) to the best guess and the width;
the compiled fills must give the same numbers on random pulls.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from tests.policies.paper_formulas import (
    assert_same,
    estimated_levels,
    hoeffding_mean,
    level_pulls,
    mediator_mnar_inverse,
    mnar_inverse,
    over_levels,
    real_pulls,
    seen_mediators,
    table_of,
    widened,
)
from tests.scoring import guess_and_scores

from truant.policies import named
from truant.setting import Setting

FloatArray = npt.NDArray[np.float64]
Pulls = tuple[npt.NDArray[np.int64], FloatArray]  # of one arm: mediators (-1 missing), outcomes (NaN missing)


SIZES = (1, 3, 20, 400, 400)
RANGES = [(0.0, 1.0), (-3.0, 5.0), (1e6, 1e6 + 1)]


@pytest.mark.parametrize("alpha", [2.0, 0.5])
@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("seed", range(6))
def test_mcar(seed, low, high, alpha):
    rng = np.random.default_rng(seed)
    setting = Setting(arms=len(SIZES), mediators=3, low=low, high=high)
    arms = [real_pulls(rng, size, 3, low) for size in SIZES]
    expected = widened([hoeffding_mean(pulls, alpha) for pulls in arms], setting)
    assert_same(named(f"paper-mcar:alpha={alpha}"), arms, setting, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("alpha", [2.0, 0.5])
@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("seed", range(6))
def test_mar(seed, low, high, alpha):
    """Known p, estimated p (times 8), and estimated p on the pulls with the mediator seen."""
    rng = np.random.default_rng(seed)
    K = 3
    p = rng.dirichlet(np.ones(K), len(SIZES))
    p[1] = [0.0, 0.25, 0.75]  # a level that cannot be needs no outcomes
    setting = Setting(arms=len(SIZES), mediators=K, low=low, high=high, mediator_probabilities=p)
    arms = [real_pulls(rng, size, K, low) for size in SIZES]
    near = {"rtol": 1e-12, "atol": 1e-12}
    known = [over_levels(pulls, dict(enumerate(p[a])), alpha, 1) for a, pulls in enumerate(arms)]
    known = widened(known, setting)
    assert_same(named(f"paper-mar-known:alpha={alpha}"), arms, setting, known, **near)
    estimated = widened([estimated_levels(pulls, alpha) for pulls in arms], setting)
    assert_same(named(f"paper-mar:alpha={alpha}"), arms, setting, estimated, **near)
    holes = [real_pulls(rng, size, K, low, q=0.6) for size in SIZES]
    on_seen = widened([seen_mediators(pulls, alpha) for pulls in holes], setting)
    assert_same(named(f"paper-mediator-mar:alpha={alpha}"), holes, setting, on_seen, **near)
    assert any(math.isinf(width) for _, width in known + estimated + on_seen)
    assert sum(math.isfinite(width) for _, width in known + estimated + on_seen) >= 6


def test_a_cell_without_outcomes_is_infinitely_good_only_where_it_occurs():
    setting = Setting(arms=1, mediators=2, mediator_probabilities=[[0.5, 0.5]])
    one_sided: list[Pulls] = [(np.array([0, 0, 1]), np.array([0.2, 0.4, np.nan]))]
    never: list[Pulls] = [(np.array([0, 0, 0]), np.array([0.2, 0.4, np.nan]))]
    for name in ("paper-mar", "paper-mediator-mar", "paper-mar-known"):
        assert np.all(
            guess_and_scores(named(name), table_of(named(name), one_sided, setting), setting, 100) == np.inf
        )
    assert np.all(
        guess_and_scores(named("paper-mar-known"), table_of(named("paper-mar"), never, setting), setting, 100)
        == np.inf
    )
    for name in ("paper-mar", "paper-mediator-mar", "paper-mcar"):
        assert guess_and_scores(named(name), table_of(named(name), never, setting), setting, 100)[
            0, 0
        ] == pytest.approx(0.3)


def test_before_any_outcome_everything_is_infinitely_good():
    setting = Setting(
        arms=1, mediators=2, levels=(0.0, 1.0), mediator_probabilities=[[0.5, 0.5]], condition_numbers=[5.0]
    )
    unseen: list[Pulls] = [(np.array([0, 1, -1]), np.full(3, np.nan))]
    for name in ("mcar", "mar-known", "mar", "mediator-mar", "mnar", "mnar-literal", "mediator-mnar"):
        policy = named(f"paper-{name}")
        assert guess_and_scores(policy, table_of(policy, unseen, setting), setting, 100)[0, 1] == np.inf, name


LEVELS = [(0.0, 0.25, 0.75), (-2.0, 0.5, 1.0, 4.0), (0.0, 1.0)]


@pytest.mark.parametrize("alpha", [2.0, 0.7])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("more", [0, 2], ids=["square", "tall"])
@pytest.mark.parametrize("seed", range(4))
def test_mnar(seed, more, levels, alpha):
    """K >= L; a trace of ridge in the compiled inverse costs up to 1e-5 where the table is nearly singular."""
    rng = np.random.default_rng(seed)
    values, K = np.array(levels), len(levels) + more
    C = rng.uniform(1, 30, (len(SIZES), 2))
    setting = Setting(arms=len(SIZES), mediators=K, levels=levels, condition_numbers=C)
    arms = [level_pulls(rng, size, K, values) for size in SIZES]
    expected = [mnar_inverse(pulls, K, values, C[a, 0], alpha) for a, pulls in enumerate(arms)]
    policy = named(f"paper-mnar:alpha={alpha}")
    assert_same(policy, arms, setting, expected, rtol=1e-4, atol=1e-4)
    assert_same(policy, arms[3:], _arms(setting, 3), expected[3:], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("alpha", [2.0, 0.7])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("fewer", [0, 1], ids=["square", "wide"])
@pytest.mark.parametrize("seed", range(4))
def test_mediator_mnar(seed, fewer, levels, alpha):
    """K <= L, the transposed system, C of the transpose."""
    rng = np.random.default_rng(seed)
    values, K = np.array(levels), len(levels) - fewer
    C = rng.uniform(1, 30, (len(SIZES), 2))
    setting = Setting(arms=len(SIZES), mediators=K, levels=levels, condition_numbers=C)
    arms = [level_pulls(rng, size, K, values, q=0.7) for size in SIZES]
    expected = [mediator_mnar_inverse(pulls, K, values, C[a, 1], alpha) for a, pulls in enumerate(arms)]
    policy = named(f"paper-mediator-mnar:alpha={alpha}")
    assert_same(policy, arms, setting, expected, rtol=1e-4, atol=1e-4)
    assert_same(policy, arms[3:], _arms(setting, 3), expected[3:], rtol=1e-6, atol=1e-6)


def _arms(setting: Setting, first: int) -> Setting:
    """The same setting without its first arms."""
    assert setting.condition_numbers is not None
    return Setting(
        arms=setting.arms - first,
        mediators=setting.mediators,
        levels=setting.levels,
        condition_numbers=setting.condition_numbers[first:],
    )


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("paper-mnar", (0.1, 0.3, 0.6)),  # the printed bonus is for sum |y| = 1
        ("paper-mnar-literal", (0.1, 0.3, 0.6)),
        ("paper-mediator-mnar", (0.1, 0.3, 1.0)),  # and this one for |y| up to 1
    ],
)
def test_outcomes_in_other_units_scale_the_guess_and_the_bonus(name, unit):
    """In units s times as small everything is s times as large."""
    rng = np.random.default_rng(5)
    unit = np.array(unit)
    m, y = level_pulls(rng, 500, 3, unit, q=0.8)
    found = []
    for s in (1.0, 40.0):
        setting = Setting(arms=1, mediators=3, levels=tuple(s * unit), condition_numbers=[9.0])
        code = np.searchsorted(unit, y)
        outcome = np.append(s * unit, np.nan)[code]
        policy = named(name)
        found.append(guess_and_scores(policy, table_of(policy, [(m, outcome)], setting), setting, 10**4))
    np.testing.assert_allclose(found[1], 40 * found[0], rtol=1e-9)
