import numpy as np
import pytest

from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified, UnknownName
from truant.lab.simulate import simulate
from truant.setting import Setting
from truant.worlds import RealWorld

P = np.array([[0.5, 0.3, 0.2]])
MEANS = np.array([[0.0, 1.0, 3.0]])
GAMMA = np.array([[0.9, 0.5, 0.3]])
WORLD = RealWorld(P, MEANS, GAMMA, outcome_sd=np.array([[1.0, 0.5, 2.0]]))
TRUTH = 0.9


def rows(world=WORLD, n=3000, seed=0):
    """Arms, mediators (-1: missing) and outcomes (NaN: missing) of n pulls."""
    arms = np.zeros(n, np.int64)
    return arms, *world.pulls(arms, seed)


def folded(world=WORLD, n=3000, seed=0):
    return Counts.fold(world.setting, *rows(world, n, seed))


def slope(estimate):
    """The standard error that at(z) has around z = 0: without skewness, and with Student's t all but normal there."""
    return (estimate.at(1e-3) - estimate.at(-1e-3)) / 2e-3


def by_rows(gamma, means, n=3000, seed=0, mu_hat=None):
    """AIPW written row by row."""
    _, m, y = rows(n=n, seed=seed)
    seen = ~np.isnan(y)
    fitted = means[m]
    scores = fitted + np.where(seen, np.nan_to_num(y) - fitted, 0) / gamma[m]
    return scores.mean(), scores.std() / np.sqrt(n)


def test_the_three_estimators_agree_when_saturated():
    counts = folded()
    for offset in (0.0, 1e6):
        setting = Setting(arms=1, mediators=3, low=offset, high=offset + 1)
        arms, m, y = rows()
        counts = Counts.fold(setting, arms, m, y + offset)
        values = [
            Mar(estimator=name).estimate(counts, 0, setting)
            for name in ("plug-in", "horvitz-thompson", "aipw")
        ]
        assert values[1].mean == pytest.approx(values[0].mean, rel=1e-12, abs=0)
        assert values[2].mean == pytest.approx(values[0].mean, rel=1e-12, abs=0)
        assert values[1].standard_error == values[2].standard_error == values[0].standard_error


def test_plug_in_by_hand():
    _, m, y = rows()
    p = np.bincount(m, minlength=3) / len(m)
    means = np.array([np.nanmean(y[m == k]) for k in range(3)])
    variances = np.array([np.nanvar(y[m == k], ddof=1) for k in range(3)])
    n = np.array([np.sum(~np.isnan(y[m == k])) for k in range(3)])
    mu = p @ means
    estimate = Mar().estimate(folded(), 0, WORLD.setting)
    assert estimate.mean == pytest.approx(mu, rel=1e-12)
    variance = np.sum(p**2 * variances / n) + p @ (means - mu) ** 2 / len(m)
    # an outcome borrowed by each level, and Student's t: less than .2% with 3,000 rows
    assert slope(estimate) == pytest.approx(np.sqrt(variance), rel=0.002)
    known = Mar(known=True).estimate(folded(), 0, WORLD.setting)
    assert known.mean == pytest.approx(P[0] @ means, rel=1e-12)
    assert slope(known) == pytest.approx(np.sqrt(np.sum(P[0] ** 2 * variances / n)), rel=0.002)


@pytest.mark.parametrize(
    ("gamma", "means"), [(GAMMA[0], np.zeros(3)), (GAMMA[0], MEANS[0] + 1), (np.full(3, 0.7), MEANS[0])]
)
def test_given_models_row_by_row(gamma, means):
    assumption = Mar(estimator="aipw", observation_probabilities=gamma[None], outcome_means=means[None])
    estimate = assumption.estimate(folded(), 0, WORLD.setting)
    mean, error = by_rows(gamma, means)
    assert estimate.mean == pytest.approx(mean, rel=1e-10)
    assert slope(estimate) == pytest.approx(error, rel=0.001)


def test_horvitz_thompson_with_given_probabilities():
    assumption = Mar(estimator="horvitz-thompson", observation_probabilities=GAMMA)
    estimate = assumption.estimate(folded(), 0, WORLD.setting)
    mean, error = by_rows(GAMMA[0], np.zeros(3))
    assert estimate.mean == pytest.approx(mean, rel=1e-10)
    assert slope(estimate) == pytest.approx(error, rel=0.001)


def test_aipw_survives_either_wrong_model_and_not_both():
    wrong_gamma, wrong_means = np.array([[0.5, 0.9, 0.6]]), MEANS[:, ::-1].copy()
    counts = folded(n=200_000)
    cases = {
        "wrong means": (GAMMA, wrong_means),
        "wrong gamma": (wrong_gamma, MEANS),
        "both": (wrong_gamma, wrong_means),
    }
    distance = {}
    for name, (gamma, means) in cases.items():
        assumption = Mar(estimator="aipw", observation_probabilities=gamma, outcome_means=means)
        estimate = assumption.estimate(counts, 0, WORLD.setting)
        distance[name] = abs(estimate.mean - TRUTH) / estimate.standard_error
    assert distance["wrong means"] < 4
    assert distance["wrong gamma"] < 4
    assert distance["both"] > 20


def test_influence_variance_and_coverage_agree_with_simulation():
    """3000 samples of 400 pulls: sd's own standard error is sd/sqrt(6000), a coverage's .004."""
    estimates = [Mar().estimate(folded(n=400, seed=s), 0, WORLD.setting) for s in range(3000)]
    means = np.array([estimate.mean for estimate in estimates])
    errors = np.array([estimate.standard_error for estimate in estimates])
    sd = means.std(ddof=1)
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(sd, rel=0.05)
    assert abs(means.mean() - TRUTH) < 4 * sd / np.sqrt(3000)
    covered = np.mean([low <= TRUTH <= high for low, high in (e.interval(0.95) for e in estimates)])
    assert 0.93 <= covered <= 0.965


def test_mcar_is_the_mean_of_the_observed_and_biased_here():
    _, _, y = rows(n=20_000)
    y = y[~np.isnan(y)]
    estimate = Mcar().estimate(folded(n=20_000), 0, WORLD.setting)
    assert estimate.mean == pytest.approx(y.mean(), rel=1e-12)
    assert slope(estimate) == pytest.approx(y.std(ddof=1) / np.sqrt(len(y)), rel=1e-4)
    complete_case = (P * GAMMA * MEANS).sum() / (P * GAMMA).sum()
    assert estimate.mean == pytest.approx(complete_case, abs=4 * estimate.standard_error)
    assert abs(complete_case - TRUTH) > 20 * estimate.standard_error


def test_mediator_mar_divides_by_pulls_with_the_mediator_seen():
    world = RealWorld(P, MEANS, GAMMA, mediator_observation=0.6)
    counts = folded(world, n=100_000)
    estimate = MediatorMar().estimate(counts, 0, world.setting)
    assert abs(estimate.mean - TRUTH) < 4 * estimate.standard_error
    seen = counts.table[0, :3]
    means = seen[:, 2] / seen[:, 1] + counts.centre
    assert estimate.mean == pytest.approx(seen[:, 0] / seen[:, 0].sum() @ means, rel=1e-12)
    by_all_pulls = seen[:, 0] / 100_000 @ means
    assert by_all_pulls == pytest.approx(0.6 * TRUTH, abs=0.02)


def test_mediator_mar_when_observation_depends_on_whether_the_mediator_is_seen():
    gamma = np.stack([np.full((1, 3), 0.2), GAMMA], axis=1)  # (arms, mediator seen, K)
    world = RealWorld(P, MEANS, gamma, mediator_observation=0.5)
    estimate = MediatorMar().estimate(folded(world, n=100_000), 0, world.setting)
    assert abs(estimate.mean - TRUTH) < 4 * estimate.standard_error


def test_a_cell_without_outcomes_is_refused_with_its_name():
    setting = Setting(arms=1, mediators=2, range_known=False)
    counts = Counts.fold(setting, [0, 0, 0], [0, 1, 1], [1.0, np.nan, np.nan])
    with pytest.raises(
        NotIdentified, match=r"arm 0 has 2 rows with mediator level 1 and none .* or give the range"
    ):
        Mar().estimate(counts, 0, setting)
    missing = Counts.fold(setting, [0, 0, 0], [0, 1, -1], [1.0, 1.0, np.nan])
    with pytest.raises(NotIdentified, match="arm 0 has 1 rows with its missing mediators and none"):
        Mar().estimate(missing, 0, setting)
    with pytest.raises(NotIdentified, match="arm 0 has no rows"):
        Mar().estimate(Counts.empty(setting), 0, setting)
    with pytest.raises(NotIdentified, match="no rows with the mediator seen"):
        MediatorMar().estimate(Counts.fold(setting, [0], [-1], [1.0]), 0, setting)
    with pytest.raises(NotIdentified, match="none of the outcomes of arm 0"):
        Mcar().estimate(Counts.fold(setting, [0], [0], [np.nan]), 0, setting)


def test_missing_mediators_are_a_level_of_mar():
    setting = Setting(arms=1, mediators=2)
    counts = Counts.fold(setting, [0] * 4, [0, -1, -1, 1], [1.0, 3.0, np.nan, 2.0])
    assert Mar().estimate(counts, 0, setting).mean == pytest.approx((1 + 3 * 2 + 2) / 4)


def test_wrong_parameters_are_refused():
    with pytest.raises(NotIdentified, match="mar-known needs mediator_probabilities"):
        Mar(known=True).curve(Setting(arms=2, mediators=3))
    with pytest.raises(UnknownName, match="did you mean 'aipw'"):
        Mar(estimator="ipw")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match=r"must have shape \(arms, K\), got \(\)"):
        Mar(observation_probabilities=0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match=r"must be in \(0, 1\], got 0"):
        Mar(estimator="aipw", observation_probabilities=np.zeros((1, 3))).estimate(folded(), 0, WORLD.setting)
    with pytest.raises(InvalidValue, match="level must be between 0 and 1"):
        Mar().estimate(folded(), 0, WORLD.setting).interval(1.5)


@pytest.mark.parametrize("policy", ["mcar-ucb", "mar-ucb", "mar-thompson", "mediator-mar-ucb"])
@pytest.mark.parametrize("low", [0.0, -10.0])
def test_little_noise_or_a_lopsided_range_locks_nothing_in(policy, low):
    """With a pseudo-observation of fixed weight the good arm is given up after a few pulls in half the runs."""
    p, means = [[0.5, 0.5]] * 2, [[0.2, 0.4], [0.7, 0.9]]
    world = RealWorld(p, means, 0.5, outcome_sd=0.05, low=low, high=1)
    result = simulate(world, policy, horizon=5000, runs=40, seed=2, progress=False)
    assert result.best_arm_share.min() > 0.95
