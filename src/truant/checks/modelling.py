"""Contract checks of worlds, assumptions, indices and policies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from truant.assumptions import Assumption, ChiSquare, Curve, Estimate, NoTest, Reading
from truant.compile import link
from truant.counts import Counts
from truant.errors import NotIdentified, NotSatisfied, TruantError
from truant.indices import Index
from truant.lab.simulate import simulate
from truant.policies import Policy
from truant.setting import FloatArray, IntArray
from truant.theory.efficiency import of_each_arm
from truant.worlds import World

TIMES = 100_000  # choices that are compared with an index's probabilities
LEAST_AGREEMENT = 1e-6  # p-value below which they differ


class ContractBroken(TruantError, AssertionError):
    """A part does not keep its contract."""


def demand(holds: object, sentence: str) -> None:
    """Raise ContractBroken with the sentence unless it holds."""
    if not holds:
        raise ContractBroken(sentence)


def check_world(world: World, pulls: int = 20_000) -> None:
    """True means, gaps, draws and the revealed twin fit together."""
    demand(isinstance(world, World), f"A world must be a World, got {type(world).__name__}.")
    setting = world.setting
    demand(world.means.shape == (setting.arms,), f"means must have shape ({setting.arms},).")
    demand(np.all(np.isfinite(world.means)), "means must be finite.")
    demand(world.gaps.min() == 0, "gaps must be 0 for the best arm and not negative for the others.")
    demand(
        world.revealed().setting.minimize == setting.minimize,
        "revealed() must keep the direction, setting.minimize.",
    )
    for arm in {0, setting.arms - 1}:
        arms = np.full(pulls, arm)
        mediators, outcomes = world.pulls(arms, seed=1)
        Counts.fold(setting, arms, mediators, outcomes)  # refuses what does not fit the setting
        again = world.pulls(arms, seed=1)
        same = np.array_equal(mediators, again[0]) and np.array_equal(outcomes, again[1], equal_nan=True)
        demand(same, "the same seed must give the same pulls.")
        seen_mediators, seen = world.revealed().pulls(arms, seed=2)
        demand(np.all(seen_mediators >= 0), "revealed() must show every mediator.")
        demand(not np.any(np.isnan(seen)), "revealed() must show every outcome.")
        error = seen.std() / np.sqrt(pulls) + 1e-12
        distance = abs(seen.mean() - world.means[arm]) / error
        demand(
            distance < 5, f"revealed() outcomes of arm {arm} are {distance:.1f} standard errors off its mean."
        )
        if world.draw_missing is not None:
            _check_follow_ups(world, arm, mediators, outcomes)


def _check_follow_ups(world: World, arm: int, mediators: IntArray, outcomes: FloatArray) -> None:
    """Outcomes that are seen and those that `draw_missing` finds have the arm's mean together."""
    whole = _found(world, np.full(len(outcomes), arm), mediators, outcomes, np.isnan(outcomes))
    demand(np.all(np.isfinite(whole)), "draw_missing must give an outcome, never a missing one.")
    distance = abs(whole.mean() - world.means[arm]) / (whole.std() / np.sqrt(len(whole)) + 1e-12)
    demand(
        distance < 5,
        f"outcomes of arm {arm}, seen or found by draw_missing, are {distance:.1f} standard errors off its mean.",
    )


def _found(
    world: World, arms: IntArray, mediators: IntArray, outcomes: FloatArray, marked: npt.NDArray[np.bool_]
) -> FloatArray:
    """The outcomes, and of the marked ones what a follow-up finds."""
    rng, tables, levels = np.random.default_rng(3), world.missing_tables, world.setting.levels
    whole = outcomes.copy()
    for i in np.flatnonzero(marked):
        mediator = world.setting.mediators if mediators[i] < 0 else int(mediators[i])
        found = world.draw_missing(rng, int(arms[i]), mediator, tables)  # type: ignore[misc]
        whole[i] = found if levels is None else levels[int(found)]
    return whole


def check_assumption(assumption: Assumption, world: World, pulls: int = 20_000) -> None:
    """On a world that meets the assumption: curve and estimate keep their contract and find the truth."""
    assumption.check(world.setting)
    arms = np.repeat(np.arange(world.setting.arms), pulls)
    mediators, outcomes = world.pulls(arms, seed=3)
    curve = assumption.curve(world.setting)
    marked = np.isnan(outcomes) & curve.follows_up & (np.arange(len(arms)) % 4 == 0)
    whole = _found(world, arms, mediators, outcomes, marked)
    counts = Counts.fold(world.setting, arms, mediators, whole, followed_up=marked)
    _check_refuses_nothing_seen(assumption, world)
    for arm in range(world.setting.arms):
        estimate = assumption.estimate(counts, arm, world.setting)
        demand(estimate.at(0.0) == estimate.mean, "at(0) must be the mean.")
        low, high = estimate.interval(0.95)
        demand(low < estimate.mean < high, f"the interval must contain the mean, got {low}, {high}.")
        distance = abs(estimate.mean - world.means[arm]) / estimate.standard_error
        demand(distance < 5, f"the estimate of arm {arm} is {distance:.1f} standard errors off the truth.")
        _check_reading(assumption.read(counts, arm, world.setting), estimate)
    for test in assumption.tests(counts, world.setting):
        _check_test(test)
    _check_efficient_variance(assumption, world)
    check_curve(curve, counts)
    _check_curve_finds_the_truth(curve, counts, world)


def _check_curve_finds_the_truth(curve: Curve, counts: Counts, world: World) -> None:
    """With many pulls, what the curve shrinks to hardly counts: at(-6) and at(6) have the truth between them."""
    table = curve.table(counts if curve.discrete else counts.real().about(world.setting.centre))
    for arm in range(world.setting.arms):
        low, high = _scored_once(curve, table[arm].copy(), np.array([-6.0, 6.0]), arm)
        mean = world.means[arm]
        demand(
            low - 1e-9 <= mean <= high + 1e-9,
            f"the curve of arm {arm} must have its mean {mean:g} between at(-6) and at(6), got {low:g} and {high:g}.",
        )


def _check_reading(reading: Reading, estimate: Estimate) -> None:
    demand(reading.estimate.mean == estimate.mean, "read must have the estimate that `estimate` gives.")
    for test in reading.tests:
        _check_test(test)
    for concern in reading.concerns():
        demand(concern.code and concern.text, "a concern must have a code and a text.")
        try:
            concern.text.format(assumption="", arm="", mediator="")
        except (KeyError, IndexError, ValueError):
            demand(
                False,
                f"a concern's text has places for {{assumption}}, {{arm}} and {{mediator}} only, got {concern.text!r}.",
            )


def _check_test(test: ChiSquare | NoTest) -> None:
    if isinstance(test, NoTest):
        demand(test.reason, "NoTest must say why data cannot contradict the assumption.")
        return
    demand(test.question, "a test must have a question.")
    possible = np.isfinite(test.statistic) and test.statistic >= 0
    demand(possible, f"a statistic must be finite and not negative, got {test.statistic}.")
    demand(test.freedom >= 0, f"degrees of freedom must not be negative, got {test.freedom}.")


def _check_efficient_variance(assumption: Assumption, world: World) -> None:
    """It is a variance where it is stated; a world whose arrays cannot be read is left out."""
    try:
        variances = of_each_arm(world, "this assumption", assumption.efficient_variance)
    except NotSatisfied as error:
        raise ContractBroken(
            f"efficient_variance must accept a world that meets the assumption: {error}"
        ) from None
    except NotIdentified:
        return
    for variance in variances:
        possible = np.isfinite(variance) and variance >= 0
        demand(possible, f"an efficient variance must be finite and not negative, got {variance}.")


def _check_refuses_nothing_seen(assumption: Assumption, world: World) -> None:
    try:
        assumption.estimate(Counts.empty(world.setting), 0, world.setting)
    except NotIdentified:
        return
    raise ContractBroken("estimate must raise NotIdentified for an arm that was never pulled.")


def check_curve(curve: Curve, counts: Counts) -> None:
    """The compiled score_arm writes finite values that rise with z, from any counts, and leaves the counts alone."""
    table = curve.table(counts)
    z_grid = np.array([0.0, 1.0]) if curve.linear else np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    demand(curve.first_pulls >= 1, f"first_pulls must be at least 1, got {curve.first_pulls}.")
    demand(curve.growth >= 0, f"growth must not be negative, got {curve.growth}.")
    demand(len(curve.parameters) == len(table), "parameters must have a row for each arm.")
    unseen = table[0].copy()
    unseen[...] = 0
    unseen[0, 0 if not curve.discrete else -1] = 1  # one pull, outcome missing
    for row in (table[0].copy(), unseen):
        before, values = row.copy(), _scored_once(curve, row, z_grid)
        demand(np.array_equal(row, before), "score_arm must not change the counts.")
        demand(not np.any(np.isnan(values)), f"score_arm must not write NaN, got {values}.")
        rises = np.all(np.diff(values) >= -1e-9) if np.all(np.isfinite(values)) else True
        demand(rises, f"at(z) must rise with z, got {values}.")


def _scored_once(curve: Curve, row: FloatArray, z_grid: FloatArray, arm: int = 0) -> FloatArray:
    memory, shared = np.zeros(curve.memory(len(z_grid))), np.zeros(curve.pooled + curve.scratch)
    values = np.zeros(len(z_grid))
    score_once = link(_score_once, contribute=curve.contribute, score_arm=curve.score_arm)
    score_once(row, memory, shared, shared[: curve.pooled], curve.parameters[arm], z_grid, values)
    return values


def contribute(*arguments: object) -> None:
    """Stands for a curve's contribute."""
    raise AssertionError("bound by link")


def score_arm(*arguments: object) -> None:
    """Stands for a curve's score_arm."""
    raise AssertionError("bound by link")


def _score_once(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    pooled: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    contribute(row, parameters, pooled)
    score_arm(row, memory, shared, parameters, z_grid, values)


def check_index(index: Index, horizon: int = 1000) -> None:
    """The z are usable; the choice is an arm, reproducible, as likely as `probabilities` says, whatever the values."""
    demand(isinstance(index, Index), f"An index must be an Index, got {type(index).__name__}.")
    rng = np.random.default_rng(0)
    for linear in (True, False):
        z_grid = index.z_grid(linear)
        link(_aim_once, aim=index.aim)(0.0, float(np.log(horizon)), index.parameters(), z_grid)
        demand(z_grid.ndim == 1 and len(z_grid) >= 1, "z_grid must be a non-empty vector.")
        demand(
            np.all(np.isfinite(z_grid)) and np.all(np.diff(z_grid) > 0), "z_grid must be finite and increase."
        )
        for arms in (40, 4, 3, 1):
            usual = np.sort(rng.normal(size=(arms, len(z_grid))), axis=1)
            tied, endless = np.zeros_like(usual), usual.copy()
            endless[-1] = np.inf
            for values in (usual, tied, endless):
                choices = [_chosen(index, values, z_grid, horizon) for _ in range(2)]
                demand(choices[0] == choices[1], "the same generator must give the same choice.")
                demand(
                    0 <= choices[0] < arms,
                    f"the choice must be an arm from 0 to {arms - 1}, got {choices[0]}.",
                )
                _check_probabilities(index, values, z_grid, horizon)


def _chosen(index: Index, values: FloatArray, z_grid: FloatArray, horizon: int) -> int:
    return int(_choices(index, values, z_grid, horizon, 1)[0])


def _choices(index: Index, values: FloatArray, z_grid: FloatArray, horizon: int, times: int) -> IntArray:
    """What the index chooses in that many rounds, each with a memory that knows only these values."""
    rng = np.random.Generator(np.random.SFC64(5))
    parameters, fresh = index.parameters(), np.zeros(index.memory(len(values)))
    out = np.zeros(times, np.int64)
    choose_often = link(_choose_often, update=index.update, choose=index.choose)
    choose_often(values, z_grid, parameters, fresh, fresh.copy(), horizon // 2, rng, out)
    return out


def _check_probabilities(index: Index, values: FloatArray, z_grid: FloatArray, horizon: int) -> None:
    """Choices are as frequent as `probabilities` says: chi-square, arms that are hardly ever chosen taken together."""
    if index.probabilities is None:  # such an index can be simulated all the same
        return
    said, arms = np.full(len(values), np.nan), len(values)
    ask = link(_ask_probabilities, probabilities=index.probabilities)
    ask(values, z_grid, index.parameters(), horizon // 2, said)
    demand(np.all((said >= 0) & (said <= 1)), f"probabilities must be in [0, 1], got {said}.")
    demand(abs(said.sum() - 1) < 1e-9, f"probabilities must sum to 1, got {said.sum()}.")
    times = TIMES if arms < 10 else TIMES // 10  # many arms may cost an index more time
    chosen = np.bincount(_choices(index, values, z_grid, horizon, times), minlength=arms)
    demand(
        agreement(chosen, said) > LEAST_AGREEMENT,
        f"choose must take arms as often as probabilities says, got {chosen / times} instead of {said}.",
    )


def agreement(chosen: IntArray, said: FloatArray) -> float:
    """The p-value of the chi-square test; arms expected fewer than 10 times are taken together."""
    from scipy.stats import chi2

    expected = said * chosen.sum()
    rare = expected < 10
    observed = np.append(chosen[~rare], chosen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    away = (observed - expected) ** 2 / np.maximum(expected, 1e-3)  # what cannot happen is never far from 0
    return float(chi2.sf(away.sum(), max(len(observed) - 1, 1)))


def aim(*arguments: object) -> None:
    """Stands for an index's aim."""
    raise AssertionError("bound by link")


def _aim_once(known: float, log_horizon: float, parameters: FloatArray, z_grid: FloatArray) -> None:
    aim(known, log_horizon, parameters, z_grid)


def update(*arguments: object) -> None:
    """Stands for an index's update."""
    raise AssertionError("bound by link")


def choose(*arguments: object) -> int:
    """Stands for an index's choose."""
    raise AssertionError("bound by link")


def _choose_often(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    fresh: FloatArray,
    memory: FloatArray,
    t: int,
    rng: np.random.Generator,
    out: IntArray,
) -> None:
    for i in range(len(out)):
        for k in range(len(fresh)):
            memory[k] = fresh[k]
        update(values, z_grid, parameters, memory, -1, rng)
        out[i] = choose(values, z_grid, parameters, memory, t, rng)


def probabilities(*arguments: object) -> None:
    """Stands for an index's probabilities."""
    raise AssertionError("bound by link")


def _ask_probabilities(
    values: FloatArray, z_grid: FloatArray, parameters: FloatArray, t: int, out: FloatArray
) -> None:
    probabilities(values, z_grid, parameters, t, out)


def check_policy(policy: Policy, world: World, horizon: int = 300) -> None:
    """It plays: every round pulls one arm, regret fits the pulls, one seed gives one result."""
    cost = None if policy.follow_up is None else 0.1 * world.setting.outcome_scale
    runs = [
        simulate(
            world, policy, horizon=horizon, runs=2, seed=1, threads=n, progress=False, follow_up_cost=cost
        )
        for n in (1, 2)
    ]
    first = runs[0]
    demand(
        np.array_equal(first.regret, runs[1].regret), "one seed must give one result, whatever the threads."
    )
    demand(np.all(first.pulls.sum(axis=2) == horizon), "each round must pull one arm.")
    regret = (first.pulls * world.gaps).sum(axis=2)
    demand(np.allclose(first.final, regret), "regret must be the pulls times the gaps.")
