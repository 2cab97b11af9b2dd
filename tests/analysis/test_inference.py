"""Probabilities, differences, tests and tipping points against independent computations and simulation."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.analyses import analyzed
from truant import registry
from truant.analysis import Labels
from truant.assumptions import ChiSquare, Estimate
from truant.assumptions.mcar import Mcar
from truant.counts import Counts
from truant.estimates.beliefs import beliefs
from truant.estimates.differences import Family, differences
from truant.estimates.ranking import Z_GRID, best_of, best_probabilities
from truant.evidence.contradictions import contradictions, holm, p_value
from truant.evidence.sensitivity import missing_mean, missing_shares, pooled_sd, tipping
from truant.evidence.warnings import contradicted_by
from truant.setting import Setting
from truant.worlds import make

# Probability of being best


def test_two_normal_arms_by_hand():
    estimates = [Estimate.normal(0.3, 0.04), Estimate.normal(0.1, 0.09)]
    probabilities, loss = best_probabilities(estimates)
    spread = np.sqrt(0.13)
    assert probabilities[0] == pytest.approx(stats.norm.cdf(0.2 / spread), abs=1e-5)
    by_hand = spread * stats.norm.pdf(0.2 / spread) - 0.2 * stats.norm.sf(0.2 / spread)
    assert loss == pytest.approx(by_hand, abs=1e-5)


def test_many_arms_by_simulation():
    """A million draws: standard error below .0005."""
    means, errors = np.array([0.0, 0.2, 0.25, -0.5]), np.array([0.5, 0.1, 0.01, 1.0])
    estimates = [Estimate.normal(m, e**2) for m, e in zip(means, errors, strict=True)]
    probabilities, loss = best_probabilities(estimates)
    draws = np.random.default_rng(1).normal(means, errors, (1_000_000, 4))
    share = np.bincount(draws.argmax(axis=1), minlength=4) / 1_000_000
    assert probabilities == pytest.approx(share, abs=0.002)
    assert loss == pytest.approx(np.mean(draws.max(axis=1) - draws[:, 2]), abs=0.003)


def test_curved_values_by_simulation():
    """at(z) = a cube: not normal at all; draws of z are read between the same z_grid."""
    curved = Estimate(0.1, lambda z: 0.1 + 0.02 * z + 0.004 * z**3)
    straight = Estimate.normal(0.12, 0.03**2)
    probabilities, _ = best_probabilities([curved, straight])

    z = np.random.default_rng(2).normal(size=(1_000_000, 2))
    values = np.interp(z[:, 0], Z_GRID, [curved.at(k) for k in Z_GRID])
    assert probabilities[0] == pytest.approx(np.mean(values > straight.mean + 0.03 * z[:, 1]), abs=0.002)


def test_certain_arms():
    probabilities, loss = best_probabilities([Estimate.normal(1.0, 0.0), Estimate.normal(0.0, 0.0)])
    assert probabilities == pytest.approx([1.0, 0.0])
    assert loss == pytest.approx(0.0, abs=1e-12)


# Differences


def test_the_width_is_dunnetts():
    """Equal errors: the two-sided critical values of Dunnett's table for infinite degrees of freedom, 95%."""
    for others, critical in ((1, 1.960), (2, 2.212), (3, 2.349), (5, 2.512)):
        assert Family(np.ones(others), 1.0).width(0.95) == pytest.approx(critical, abs=0.001)


def test_simultaneous_coverage():
    """Unequal errors, 20,000 draws: all intervals hold together in 95% (standard error .0015)."""
    errors = np.array([0.1, 0.3, 0.2, 0.5])
    draws = np.random.default_rng(3).normal(0.0, errors, (20_000, 4))
    held = []
    z = Family(errors[1:], errors[0]).width(0.95)
    for draw in draws:
        distance = np.abs(draw[1:] - draw[0]) / np.hypot(errors[1:], errors[0])
        held.append(np.all(distance <= z))
    assert np.mean(held) == pytest.approx(0.95, abs=0.006)
    found = differences([Estimate.normal(m, e**2) for m, e in zip(draws[0], errors, strict=True)], 0, 0.95)
    assert found[0] is None
    assert found[1].high - found[1].low == pytest.approx(2 * z * np.hypot(0.1, 0.3))


def test_a_lopsided_interval_stays_lopsided():
    low = Estimate(0.5, lambda z: 0.5 + (0.01 if z > 0 else 0.1) * z)
    change = differences([Estimate.normal(0.4, 0.0), low], 0, 0.95)[1]
    assert change.mean - change.low == pytest.approx(10 * (change.high - change.mean))


def test_p_values_agree_with_the_intervals():
    """One comparison: the two-sided z test; several: zero is at the end of the interval of level 1 - p."""
    one = differences([Estimate.normal(0.3, 0.04), Estimate.normal(0.1, 0.09)], 1, 0.95)[0]
    assert one.p_value == pytest.approx(2 * stats.norm.sf(0.2 / np.sqrt(0.13)), rel=1e-6)
    estimates = [Estimate.normal(m, s**2) for m, s in ((0.0, 0.2), (0.5, 0.3), (-0.4, 0.1), (0.1, 0.2))]
    for arm in (1, 2, 3):
        p = differences(estimates, 0, 0.95)[arm].p_value
        again = differences(estimates, 0, 1 - p)[arm]
        assert min(abs(again.low), abs(again.high)) == pytest.approx(0.0, abs=1e-4)
    far = differences([Estimate.normal(100.0, 1.0), Estimate.normal(0.0, 1.0)], 1, 0.95)[0]
    assert 0 < far.p_value < 1e-250


def test_p_values_of_many_arms_are_read_off_well():
    family = Family(np.linspace(0.1, 0.5, 80), 0.2)
    for z in (0.3, 1.7, 2.9, 3.6, 4.4):
        assert family.p_value(z) == pytest.approx(1 - family.inside(z), rel=0.015)


def test_lift_of_precise_arms_is_the_delta_method_and_of_an_unsure_control_there_is_none():
    a, c = Estimate.normal(12.0, 0.04), Estimate.normal(10.0, 0.01)
    lift = differences([a, c], 1, 0.95)[0].lift
    error = 1.2 * np.sqrt(0.04 / 144 + 0.01 / 100)
    assert lift.mean == pytest.approx(0.2)
    assert (lift.low, lift.high) == pytest.approx((0.2 - 1.96 * error, 0.2 + 1.96 * error), abs=1e-3)
    assert differences([a, Estimate.normal(1.0, 1.0)], 1, 0.95)[0].lift is None
    turned = differences([Estimate.normal(-12.0, 0.04), Estimate.normal(-10.0, 0.01)], 1, 0.95)[0].lift
    assert (turned.mean, turned.low, turned.high) == pytest.approx((-0.2, -lift.high, -lift.low))


def test_lifts_cover():
    """10,000 draws of a noisy control (10 ± 1): standard error .0022."""
    rng = np.random.default_rng(4)
    held = []
    for arm, control in zip(rng.normal(12, 1.5, 10_000), rng.normal(10, 1, 10_000), strict=True):
        lift = differences([Estimate.normal(arm, 1.5**2), Estimate.normal(control, 1.0)], 1, 0.95)[0].lift
        held.append(lift.low <= 0.2 <= lift.high)
    assert np.mean(held) == pytest.approx(0.95, abs=0.0075)


def test_without_an_interval_there_is_no_difference_to_judge():
    unknown = Estimate(0.4, lambda z: np.nan if z else 0.4)
    first, second, _ = differences([unknown, Estimate.normal(0.5, 0.01), Estimate.normal(0.1, 0.01)], 2, 0.95)
    assert first.mean == pytest.approx(0.3)
    assert np.isnan([first.low, first.high, first.p_value]).all()
    assert first.lift is None
    assert second.p_value < 0.01
    probabilities, loss = best_probabilities([unknown, Estimate.normal(0.5, 0.01)])
    assert np.isnan(probabilities).all()
    assert np.isnan(loss)


# Tests


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == pytest.approx([1.0, 1.0])


LABELS = Labels.of("ab", range(9))


def rejected(name, assumption, question, pulls, replications=300, **parameters):
    """Share of replications with a p-value below .05, and how many arms each test is about."""
    hits, tests = 0, 0
    for seed in range(replications):
        world = make(name, seed=seed, arms=2, **parameters)
        arms = np.arange(pulls) % 2
        counts = Counts.fold(world.setting, arms, *world.pulls(arms, seed))
        found, _ = beliefs(counts, world.setting, LABELS, [assumption])
        if not found:
            continue
        own = [
            test
            for test in contradictions(counts, world.setting, found, LABELS)[0]
            if test.assumption == assumption and question in test.question
        ]
        tests += bool(own)
        hits += any(test.p_value < 0.05 for test in own)
    assert tests > replications / 2
    return hits / tests


def test_mcar_is_doubted_where_it_should_be_and_not_else():
    """5% of replications where it holds (se .013), nearly all where it does not."""
    assert rejected("mcar", "mcar", "every arm", 2000) <= 0.05 + 4 * 0.013
    assert rejected("mar-low", "mcar", "every mediator level", 4000, replications=60, K=3) > 0.9


def test_arms_that_differ_alone_do_not_contradict_mcar():
    setting = Setting(arms=2, mediators=2, levels=(0.0, 1.0))
    table = np.array([[[50, 50, 100], [50, 50, 100], [0] * 3], [[90, 90, 20], [90, 90, 20], [0] * 3]], float)
    counts, labels = Counts(table, (0.0, 1.0), 0.5), Labels.of("ab", "xy")
    result = analyzed(counts, setting, labels, assume=["mcar"])
    between, within = [test for test in result.tests if test.assumption == "mcar"]
    assert between.p_value < 1e-10
    assert not between.could_contradict
    assert (within.p_value, within.could_contradict) == (1.0, True)
    assert "contradicted" not in codes(result)
    assert contradicted_by(result.tests) == set()


def test_sparse_tables_are_tested_by_tables_with_the_same_margins():
    """Two arms of 6 levels with four rows each: 600 tables, standard error .009; chi-square rejects too often."""
    setting = Setting(arms=2, mediators=6, levels=(0.0, 1.0))
    exact, plain = [], []
    for seed in range(600):
        rng = np.random.default_rng(seed)
        arms, m = np.repeat([0, 1], 24), np.tile(np.arange(6), 8)
        y = np.where(rng.random(48) < 0.5, np.nan, 1.0)
        test = Mcar().tests(Counts.fold(setting, arms, m, y), setting)[1]
        exact.append(p_value(test))
        plain.append(p_value(replace(test, null=())))
    assert np.mean(np.array(exact) < 0.05) <= 0.05 + 4 * 0.009
    assert np.mean(np.array(plain) < 0.05) > 0.1


def test_p_values_of_drawn_statistics_by_hand():
    null = tuple(np.linspace(0.01, 10, 999))
    assert p_value(ChiSquare("?", 9.0, 1, null=null)) == pytest.approx(101 / 1000, abs=0.002)
    beyond = p_value(ChiSquare("?", 30.0, 1, null=null))
    shape = np.mean(null) ** 2 / np.var(null, ddof=1)
    assert beyond == pytest.approx(stats.gamma.sf(30.0, shape, scale=np.mean(null) / shape))
    assert p_value(ChiSquare("?", 3.0, 2)) == pytest.approx(stats.chi2.sf(3.0, 2))


def test_over_identified_fits_of_small_tables_are_tested_by_drawn_tables():
    """both-mnar, 100 rows: 120 tables, standard error .02 at .05; chi-square alone rejects far more often."""
    model, exact, plain = registry.find("assumption", "both-mnar").build(), [], []
    for seed in range(120):
        world = make("both-mnar", seed=seed, arms=1, K=2, L=2)
        arms = np.zeros(100, int)
        (test,) = model.read(
            Counts.fold(world.setting, arms, *world.pulls(arms, seed)), 0, world.setting
        ).tests
        exact.append(p_value(test))
        plain.append(p_value(replace(test, null=())))
    assert np.mean(np.array(exact) < 0.05) <= 0.05 + 3 * 0.02
    assert np.mean(np.array(plain) < 0.05) > np.mean(np.array(exact) < 0.05)


def test_over_identified_mnar_is_not_doubted_where_it_holds():
    """K = 4 > L = 2: two degrees of freedom left in each arm; Holm keeps both arms below 5% (se .013)."""
    share = rejected("mnar", "mnar", "fit", 4000, replications=250, K=4, L=2)
    assert share <= 0.05 + 4 * 0.014
    assert rejected("mediator-mnar", "mnar", "fit", 20_000, 30, K=4, L=2) > 0.3


def test_what_cannot_be_tested_is_said():
    world = make("mnar", seed=1, arms=2, K=2, L=2)
    arms = np.arange(2000) % 2
    counts = Counts.fold(world.setting, arms, *world.pulls(arms, 1))
    found, _ = beliefs(counts, world.setting, LABELS, ["mnar"])
    tests, untestable = contradictions(counts, world.setting, found, LABELS)
    assert not [test for test in tests if test.assumption == "mnar"]
    assert {entry.assumption for entry in untestable} == {"mar", "mnar"}


# Tipping points


def test_at_the_tipping_point_winner_and_runner_up_are_level():
    """Fill the missing outcomes with what the assumption says of them, shifted: both arms have one mean."""
    world = make("mar-low", seed=5, arms=3, K=2)
    arms = np.arange(6000) % 3
    mediators, outcomes = world.pulls(arms, 5)
    counts = Counts.fold(world.setting, arms, mediators, outcomes)
    labels = Labels.of("abc", "01")
    (belief,), _ = beliefs(counts, world.setting, labels, ["mar"])
    tip = tipping(belief, counts, replace(world.setting, range_known=False), labels)
    winner, runner_up = labels.arms.index(tip.winner), labels.arms.index(tip.runner_up)
    for arm, shift in ((winner, -tip.shift), (runner_up, tip.runner_up_shift)):
        own = arms == arm
        filled = np.where(np.isnan(outcomes), missing_mean(belief, counts, arm) + shift, outcomes)[own]
        other = runner_up if arm == winner else winner
        assert filled.mean() == pytest.approx(belief.means[other], abs=1e-9)
    assert tip.possible is None
    seen = [outcomes[(arms == a) & ~np.isnan(outcomes)] for a in range(3)]
    spread = np.sqrt(sum(((y - y.mean()) ** 2).sum() for y in seen) / (sum(map(len, seen)) - 3))
    assert pooled_sd(counts) == pytest.approx(spread)
    assert tip.shift_in_sd == pytest.approx(tip.shift / spread)


def test_nothing_missing_has_no_tipping_point_and_an_impossible_one_is_called_so():
    setting = Setting(arms=2, mediators=1, levels=(0.0, 1.0))
    arms = np.array([0] * 10 + [1] * 10)
    outcomes = np.array([1.0] * 8 + [0.0] + [np.nan] + [0.0] * 8 + [1.0] * 2)
    counts = Counts.fold(setting, arms, np.zeros(20, int), outcomes)
    labels = Labels.of("ab", ["all"])
    (belief,), _ = beliefs(counts, setting, labels, ["mcar"])
    tip = tipping(belief, counts, setting, labels)
    assert missing_shares(counts) == pytest.approx([0.1, 0.0])
    assert tip.shift == pytest.approx((8 / 9 - 0.2) / 0.1)
    assert tip.possible is False
    assert tip.runner_up_shift is None


# Warnings


def codes(result):
    return {warning.code for warning in result.warnings}


def test_warnings():
    setting = Setting(arms=2, mediators=3, levels=(0.0, 1.0))
    table = np.zeros((2, 4, 3))
    table[0] = [[200, 100, 100], [3, 2, 50], [10, 8, 982], [0, 0, 0]]
    table[1] = [[100, 200, 5], [0, 0, 7], [50, 60, 10], [0, 0, 0]]
    counts = Counts(table, (0.0, 1.0), 0.5)
    labels = Labels.of(["old", "new"], ["x", "y", "z"])
    result = analyzed(counts, setting, labels, expected_split=[1, 1])
    assert {"empty-cell", "rarely-observed", "uneven-split", "contradicted"} <= codes(result)
    (empty,) = [warning for warning in result.warnings if warning.code == "empty-cell"]
    assert (empty.arm, empty.value) == ("new", 0.0)
    assert "none of the 7 outcomes of arm 'new' with mediator = y was observed" in empty.message
    assert f"widens the interval by {7 / 432:.1%} of that range" in empty.message
    refused = analyzed(counts, replace(setting, range_known=False), labels, assume=["mar"])
    (empty,) = [warning for warning in refused.warnings if warning.code == "empty-cell"]
    assert "In arm 'new', none of the 7 outcomes with mediator = y was observed; mar cannot" in empty.message
    uneven = next(warning for warning in result.warnings if warning.code == "uneven-split")
    pulls = counts.pulls
    assert uneven.value == pytest.approx(stats.chisquare(pulls, np.full(2, pulls.sum() / 2)).pvalue)
    assert "uneven-split" not in codes(analyzed(counts, setting, labels, expected_split=pulls))


def test_bad_conditioning_is_warned_of():
    setting = Setting(arms=2, mediators=2, levels=(0.0, 1.0))
    table = np.zeros((2, 3, 3))
    table[0] = [[100, 101, 50], [100, 100, 50], [0, 0, 0]]
    table[1] = [[150, 40, 10], [50, 110, 140], [0, 0, 0]]
    counts = Counts(table, (0.0, 1.0), 0.5)
    result = analyzed(counts, setting, Labels.of("ab", "xy"))
    bad = [warning for warning in result.warnings if warning.code == "ill-conditioned"]
    assert [warning.arm for warning in bad] == ["a"]
    assert bad[0].value > 100
    assert len({result.winner[name] for name in result.assumptions}) == 2


def test_a_flat_likelihood_is_warned_of_in_outcome_units():
    """In one arm the top level was never seen, and may be all that is missing: means from 250 to 1,167 fit."""
    levels = (0.0, 500.0, 3000.0)
    setting = Setting(arms=2, mediators=3, levels=levels)
    hidden = np.array([[60, 20, 0, 40], [20, 60, 0, 40], [20, 20, 0, 20], [0, 0, 0, 0]], float)
    plain = np.array([[80, 10, 5, 40], [10, 70, 10, 40], [5, 10, 90, 20], [0, 0, 0, 0]], float)
    counts = Counts(np.stack([plain, 100 * hidden]), levels, setting.centre)
    result = analyzed(counts, setting, Labels.of(["old", "new"], "xyz"), assume=["mar", "mnar"])
    (flat,) = [warning for warning in result.warnings if warning.code == "flat-likelihood"]
    assert flat.arm == "new"
    low, high = (float(x.replace(",", "")) for x in re.findall(r"[\d,]*\d", flat.message.split("'new'")[1]))
    assert low == pytest.approx(250, abs=20)
    assert high == pytest.approx(2 / 3 * 250 + 1 / 3 * 3000, abs=20)
    assert flat.value == pytest.approx(high - low, abs=1)
    assert flat.message == (
        f"Under mnar, means of arm 'new' as different as {low:,.0f} and {high:,.0f} fit the data equally well: "
        "use its interval, not its mean."
    )
    assert "flat-likelihood" not in codes(analyzed(counts, setting, Labels.of("ab", "xyz"), assume=["mar"]))


def test_unidentified_arms_are_flat():
    setting = Setting(arms=2, mediators=2, levels=(0.0, 0.5, 1.0))
    table = np.array(
        [[[50, 10, 30, 30], [10, 40, 30, 40], [0] * 4], [[30, 20, 40, 27], [25, 40, 10, 22], [0] * 4]]
    )
    counts = Counts(table.astype(float), setting.levels, setting.centre)
    result = analyzed(counts, setting, Labels.of("ab", "xy"), assume=["mnar:allow_unidentified=true"])
    flat = [warning for warning in result.warnings if warning.code == "flat-likelihood"]
    assert [warning.arm for warning in flat] == ["a", "b"]
    assert all(warning.value > 0.05 for warning in flat)


def test_many_arms_are_ranked_as_few_are():
    """60 arms, in which every curve is read at fewer points, against a quadrature of all points."""
    rng = np.random.default_rng(6)

    def estimate(mean, error):
        return Estimate(mean, lambda z: mean + error * (z + 0.05 * z * z if z > 0 else z))

    estimates = [estimate(m, e) for m, e in zip(rng.normal(0, 1, 60), rng.uniform(0.1, 1, 60), strict=True)]
    found, loss = best_probabilities(estimates)
    exact, exact_loss = best_of(np.array([[one.at(float(z)) for z in Z_GRID] for one in estimates]))
    assert found == pytest.approx(exact, abs=0.005)
    assert loss == pytest.approx(exact_loss, rel=0.05)
