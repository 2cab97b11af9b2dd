import numpy as np
import pytest

from truant.assumptions.mar import Mar, fill, fill_known
from truant.assumptions.mcar import Mcar
from truant.assumptions.mcar import fill as fill_mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.assumptions.mediator_mar import fill as fill_mediator_mar
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
    assert estimate.standard_error == pytest.approx(np.sqrt(variance), rel=1e-10)
    known = Mar(known=True).estimate(folded(), 0, WORLD.setting)
    assert known.mean == pytest.approx(P[0] @ means, rel=1e-12)
    assert known.standard_error == pytest.approx(np.sqrt(np.sum(P[0] ** 2 * variances / n)), rel=1e-10)


@pytest.mark.parametrize(
    ("gamma", "means"), [(GAMMA[0], np.zeros(3)), (GAMMA[0], MEANS[0] + 1), (np.full(3, 0.7), MEANS[0])]
)
def test_given_models_row_by_row(gamma, means):
    assumption = Mar(estimator="aipw", observation_probabilities=gamma[None], outcome_means=means[None])
    estimate = assumption.estimate(folded(), 0, WORLD.setting)
    mean, error = by_rows(gamma, means)
    assert estimate.mean == pytest.approx(mean, rel=1e-10)
    assert estimate.standard_error == pytest.approx(error, rel=1e-10)


def test_horvitz_thompson_with_given_probabilities():
    assumption = Mar(estimator="horvitz-thompson", observation_probabilities=GAMMA)
    estimate = assumption.estimate(folded(), 0, WORLD.setting)
    mean, error = by_rows(GAMMA[0], np.zeros(3))
    assert (estimate.mean, estimate.standard_error) == pytest.approx((mean, error), rel=1e-10)


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
    assert estimate.standard_error == pytest.approx(y.std(ddof=1) / np.sqrt(len(y)), rel=1e-9)
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
    setting = Setting(arms=1, mediators=2)
    counts = Counts.fold(setting, [0, 0, 0], [0, 1, 1], [1.0, np.nan, np.nan])
    with pytest.raises(NotIdentified, match="arm 0 has 2 pulls with mediator level 1 and none"):
        Mar().estimate(counts, 0, setting)
    missing = Counts.fold(setting, [0, 0, 0], [0, 1, -1], [1.0, 1.0, np.nan])
    with pytest.raises(NotIdentified, match="arm 0 has 1 pulls with its missing mediators and none"):
        Mar().estimate(missing, 0, setting)
    with pytest.raises(NotIdentified, match="arm 0 has no pulls"):
        Mar().estimate(Counts.empty(setting), 0, setting)
    with pytest.raises(NotIdentified, match="no pulls with the mediator seen"):
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


def choosing_formula(row, all_rows, kappa, s0, levels, known=None):
    """The estimate for choosing, written out: fixed-centre shrinkage, pooled scale, spread between cells."""

    def squares(cells):
        n = cells[:, 1]
        within = np.where(n > 0, cells[:, 3] - cells[:, 2] ** 2 / np.maximum(n, 1), 0)
        return within.sum(), np.maximum(n - 1, 0).sum()

    totals = np.array([squares(cells[:levels]) for cells in all_rows]).sum(axis=0)
    s_all = (totals[0] + 2 * s0**2) / (totals[1] + 2)
    ss, df = squares(row[:levels])
    s2 = (ss + 10 * s_all) / (df + 10)
    kappa *= min(1, s2 / 2**2)  # half the range is 2
    cells = row[:levels]
    N, n = cells[:, 0], cells[:, 1]
    p = N / N.sum() if known is None else np.append(known, 0)
    r = cells[:, 2] / (n + kappa)
    mu = p @ r
    v = np.sum(p**2 * s2 / (n + kappa))
    if known is None:
        B = (N.sum() * (p @ (r - mu) ** 2) + s2 / 2) / (N.sum() + 2)
        v += B / N.sum()
    return mu, v


@pytest.mark.parametrize("name", ["mar", "mar-known", "mediator-mar", "mcar"])
def test_choosing_by_hand(name):
    rng = np.random.default_rng(8)
    setting = Setting(arms=3, mediators=4, low=-1, high=3, scale=1.5)
    arms, m = rng.integers(0, 3, 300), rng.integers(-1, 4, 300)
    y = np.where(rng.random(300) < 0.6, rng.normal(m, 2), np.nan)
    counts = Counts.fold(setting, arms, m, y)
    p = rng.dirichlet(np.ones(4))
    levels = 4 if name == "mediator-mar" else 5
    functions = {"mar": fill, "mar-known": fill_known, "mediator-mar": fill_mediator_mar, "mcar": fill_mcar}
    parameters = np.concatenate([[setting.centre, 1.0, 1.5**2, 2.0**2], p])
    table = counts.table
    if name == "mcar":  # one cell that holds everything
        table = np.concatenate([table.sum(axis=1, keepdims=True)], axis=1)
        levels = 1
    shared, memory, values = np.zeros(2), np.zeros((3, 2)), np.zeros(2)
    for arm in (1, 2, 0, 0):  # twice the same: the pooled totals must not count an arm twice
        functions[name].py_func(
            counts.table[arm], memory[arm], shared, parameters, np.array([0.0, 2.0]), values
        )
    mu, v = choosing_formula(table[0], table, 1.0, 1.5, levels, p if name == "mar-known" else None)
    if name == "mcar":
        n, total = table[0, 0, 1:3]
        ss, df = table[0, 0, 3] - total**2 / n, n - 1
        all_ss = sum(t[0, 3] - t[0, 2] ** 2 / t[0, 1] for t in table)
        s_all = (all_ss + 2 * 1.5**2) / (table[:, 0, 1].sum() - 3 + 2)
        s2 = (ss + 10 * s_all) / (df + 10)
        kappa = min(1, s2 / 2**2)
        mu, v = total / (n + kappa), s2 / (n + kappa)
    assert values[0] == pytest.approx(setting.centre + mu, rel=1e-10)
    assert values[1] == pytest.approx(setting.centre + mu + 2 * np.sqrt(v), rel=1e-10)


def test_choosing_where_the_first_level_never_came_up():
    setting = Setting(arms=1, mediators=2, low=-1, high=3, scale=1.5)
    counts = Counts.fold(setting, [0] * 5, [1, 1, 1, 1, -1], [0.5, 2.5, 1.5, np.nan, 1.0])
    parameters, values = np.array([1.0, 1.0, 1.5**2, 2.0**2]), np.zeros(2)
    arguments = (np.zeros(2), np.zeros(2), parameters, np.array([0.0, 2.0]), values)
    fill_mediator_mar.py_func(counts.table[0], *arguments)
    mu, v = choosing_formula(counts.table[0], counts.table, 1.0, 1.5, 2)
    assert values == pytest.approx([1 + mu, 1 + mu + 2 * np.sqrt(v)], rel=1e-10)


def test_an_empty_cell_shrinks_to_the_centre_of_the_range():
    setting = Setting(arms=1, mediators=2, low=0, high=2)
    outcomes = [4.0, 6.0] * 50 + [np.nan] * 100  # sd 1, half the range 1: a whole pseudo-observation
    counts = Counts.fold(setting, [0] * 200, [0] * 100 + [1] * 100, outcomes)
    values = np.zeros(1)
    parameters = Mar().curve(setting).parameters[0]
    fill.py_func(counts.table[0], np.zeros(2), np.zeros(2), parameters, np.zeros(1), values)
    assert values[0] == pytest.approx(1 + 0.5 * 400 / 101)


@pytest.mark.parametrize("policy", ["mcar-ucb", "mar-ucb", "mar-thompson", "mar-plain-ucb"])
@pytest.mark.parametrize("low", [0.0, -10.0])
def test_little_noise_or_a_lopsided_range_locks_nothing_in(policy, low):
    """With a pseudo-observation of fixed weight the good arm is given up after a few pulls in half the runs."""
    p, means = [[0.5, 0.5]] * 2, [[0.2, 0.4], [0.7, 0.9]]
    world = RealWorld(p, means, 0.5, outcome_sd=0.05, low=low, high=1)
    result = simulate(world, policy, horizon=5000, runs=40, seed=2, progress=False)
    assert result.best_arm_share.min() > 0.95
