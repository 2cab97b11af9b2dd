"""What the authors' public notebooks ran (github.com/ilia-mahrooghi/Multi-armed-Bandits-with-Missing-Outcome, commit
b3f8f62 of November 2024): the instances from their seeds, and the rules by which arms were chosen.

Facts only: distributions, seeds, constants. The rules have log t (rounds after the first pulls), where the text has
log T, and an arm's index is infinite while any mediator level has no observed outcome.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truant.assumptions import Curve
from truant.assumptions.assumption import per_arm
from truant.assumptions.likelihood import invert
from truant.compile import hot, lean
from truant.counts import OBSERVED, PULLS, SUM
from truant.indices import Index
from truant.policies import Policy
from truant.setting import FloatArray, Setting
from truant.spec import Spec
from truant.worlds import DiscreteWorld, RealWorld, World

SCALE = (
    1000.0  # outcomes of the MNAR notebook are 1000 times as large, and its regret is divided by this again
)
APART = 1e-9  # two of its five outcomes are equal; a world's levels must increase

# ---- instances


def _mcar(gamma: float) -> World:
    means = np.random.RandomState(42).uniform(0, 1, 10)
    return RealWorld(np.ones((10, 1)), means[:, None], gamma)


def _known_p() -> World:
    draw = np.random.RandomState(42)
    means = draw.uniform(0, 0.4, (10, 5))
    means[0] += 0.6
    p = draw.dirichlet(np.ones(5), 10)
    return RealWorld(p, means, draw.uniform(0.8, 1, (10, 5)))


def _mediators(peaked: bool) -> World:
    draw = np.random.RandomState(2)
    means = draw.uniform(0, 0.8, (10, 5))
    means[0] += 0.2
    gamma = draw.uniform(0.2, 1, (10, 5))
    p = np.full((10, 5), 0.2)
    if peaked:
        for arm in range(10):
            weights = np.ones(5)
            weights[draw.randint(0, 5)] = 5
            p[arm] = draw.dirichlet(weights)
    return RealWorld(p, means, gamma)


def _against_ucb() -> World:
    draw = np.random.RandomState(42)
    means = draw.uniform(0, 0.5, (10, 5))
    means[:, 0] = [draw.uniform(0.8, 1) for _ in range(10)]
    p = np.full((10, 5), 0.2)
    p[0] = draw.dirichlet([10, 1, 1, 1, 1])
    return RealWorld(p, means, (1 / p) / (1 / p).sum(axis=1, keepdims=True))


def _mnar() -> World:
    """Outcomes in units of 1000: .3, 1, .4, .3 and .2 in the notebook's order."""
    draw = np.random.RandomState(97)
    given = draw.dirichlet(np.ones(5), (5, 5))  # P(y|m, a)
    given[2] = draw.dirichlet([1, 20, 1, 1, 1], 5)
    p = draw.dirichlet(np.ones(5), 5)
    gamma = draw.uniform(0.5, 1, (5, 5))
    outcomes = np.array([0.3, 1.0, 0.4, 0.3 + APART, 0.2])
    order = np.argsort(outcomes)
    joint = (p[:, :, None] * given)[:, :, order]
    return DiscreteWorld(joint, gamma[:, None, order], levels=tuple(outcomes[order]))


def _pbc() -> World:
    """Mean days by arm and status at the end, of 276 complete rows; and as P(m|a), the means over their sum."""
    days = np.array([[2271.75949367, 1521.68421053], [2317.81395349, 1494.68518519]])
    gamma = np.random.RandomState(5).uniform(0.7, 1, (2, 2))
    return RealWorld(days / days.sum(axis=1, keepdims=True), days, gamma)


WORLDS: dict[str, Callable[[], World]] = {
    **{f"notebook-mcar-{gamma:g}": lambda gamma=gamma: _mcar(gamma) for gamma in (0.5, 0.75, 1.0)},
    "notebook-known-p": _known_p,
    "notebook-uniform": lambda: _mediators(peaked=False),
    "notebook-peaked": lambda: _mediators(peaked=True),
    "notebook-against-ucb": _against_ucb,
    "notebook-mnar": _mnar,
    "notebook-pbc": _pbc,
}


def world(name: str) -> World:
    """The instance of that name; the same in every run."""
    built = WORLDS[name]()
    built.name = name
    return built


# ---- rules


@hot
def choose(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    t: int,
    rng: np.random.Generator,
) -> int:
    """The highest mean + sqrt(log t) width, the first of equals; an infinite value at once."""
    z = math.sqrt(math.log(max(t - parameters[0], 2.0)))
    best, highest = 0, -np.inf
    for a in range(values.shape[0]):
        if values[a, 0] == np.inf:
            return a
        value = values[a, 0] + z * (values[a, 1] - values[a, 0])
        if value > highest:
            best, highest = a, value
    return best


@dataclass(frozen=True)
class LogRound(Index):
    """The highest mean + sqrt(log t) width, with t counted after the first pulls of all arms."""

    before: int  # pulls of all arms before t counts
    choose = staticmethod(choose)

    def z_grid(self, linear: bool) -> FloatArray:
        return np.array([0.0, 1.0])

    def parameters(self) -> FloatArray:
        return np.array([float(self.before)])


@hot
def score_ucb(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """Mean of the observed outcomes; width sqrt(c / n)."""
    n = total = 0.0
    for m in range(row.shape[0]):
        n += row[m, OBSERVED]
        total += row[m, SUM]
    values[:] = np.inf
    if n > 0.0:
        values[0] = parameters[0] + total / n
        values[1] = values[0] + math.sqrt(parameters[1] / n)


@hot
def score_mar(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """Sum p mu_m with the true p, or pulls over all observed outcomes; width sqrt(c sum p^2/n_m), with the true p."""
    centre, c, known, p = parameters[0], parameters[1], parameters[2], parameters[3:]
    values[:] = np.inf
    observed = mean = error = 0.0
    for m in range(len(p)):
        if row[m, OBSERVED] == 0.0:
            return
        observed += row[m, OBSERVED]
    for m in range(len(p)):
        n = row[m, OBSERVED]
        weight = p[m] if known else row[m, PULLS] / observed
        mean += weight * (centre + row[m, SUM] / n)
        error += p[m] * p[m] / n
    values[0] = mean
    values[1] = mean + math.sqrt(c * error)


@lean
def score_mnar(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """Twice the mean of the observed outcomes; width 100 (C/|Theta| sqrt(1/(2 T_a)) + K sqrt(1/(2 n_a))).

    Missing outcomes are counted only where one is observed, so that all odds are 1.
    """
    K, L = row.shape[0] - 1, row.shape[1] - 1
    values[:] = np.inf
    if not invert(row[:K, :L], memory.reshape(L, L), shared):
        return
    n = total = norm = pulls = 0.0
    for m in range(K):
        seen = 0.0
        for y in range(L):
            seen += row[m, y]
            total += parameters[2 + y] * row[m, y]
        n += seen
        pulls += seen + row[m, L]
        norm = max(norm, seen)
    values[0] = 2.0 * total / n
    width = parameters[0] * pulls / norm * math.sqrt(0.5 / pulls) + K * math.sqrt(0.5 / n)
    values[1] = values[0] + 100.0 / parameters[1] * width


RULES = {  # with the alpha that was set
    "notebook-mcar": 2.0,
    "notebook-ucb": 1.0,
    "notebook-ucb-scaled": 1.0,
    "notebook-known-p": 1.0,
    "notebook-unknown-p": 1.0,
    "notebook-mnar": 1.0,  # its width has no alpha
}


def _first_pulls(horizon: int) -> int:
    """Log(T)^2, rounded down where the text's algorithms need a whole number."""
    return int(math.log(horizon) ** 2)


def _mean_of_observed(name: str, c: float) -> Policy:
    def curve(setting: Setting, horizon: int) -> Curve:
        return Curve(score_arm=score_ucb, parameters=per_arm(setting, setting.centre, c))

    return Policy(name, LogRound(0), curve)


def _by_mediator(name: str, world: World, horizon: int, known: bool, alpha: float) -> Policy:
    first = _first_pulls(horizon)

    def curve(setting: Setting, rounds: int) -> Curve:
        c = (1 if known else 8) ** 2 * alpha / 2
        own = per_arm(setting, setting.centre, c, float(known))
        assert setting.mediator_probabilities is not None
        parameters = np.hstack([own, setting.mediator_probabilities])
        return Curve(score_arm=score_mar, parameters=parameters, first_pulls=first)

    return Policy(name, LogRound(first * world.setting.arms), curve)


def _with_odds(name: str, world: World) -> Policy:
    assert isinstance(world, DiscreteWorld)
    spectral = np.linalg.cond(world.seen)  # C_a, where the text has the infinity norm
    L = world.setting.outcomes

    def curve(setting: Setting, horizon: int) -> Curve:
        own = per_arm(setting, SCALE, setting.levels)
        return Curve(
            score_arm=score_mnar,
            parameters=np.hstack([spectral[:, None], own]),
            discrete=True,
            first_pulls=100,
            memory=lambda points: L * L,
            scratch=L * (L + 2),
        )

    return Policy(name, LogRound(100 * world.setting.arms), curve)


def policy(name: str, world: World, horizon: int) -> Policy:
    """The rule of that name, with its own alpha unless one is given, for an instance and its horizon."""
    spec = Spec.parse(name)
    alpha = float(spec.parameters.get("alpha", RULES[spec.name]))
    rules: dict[str, Callable[[], Policy]] = {
        "notebook-mcar": lambda: _mean_of_observed(name, alpha),
        "notebook-ucb": lambda: _mean_of_observed(name, alpha / 2),
        "notebook-ucb-scaled": lambda: _mean_of_observed(name, alpha / 2 / SCALE**2),
        "notebook-known-p": lambda: _by_mediator(name, world, horizon, True, alpha),
        "notebook-unknown-p": lambda: _by_mediator(name, world, horizon, False, alpha),
        "notebook-mnar": lambda: _with_odds(name, world),
    }
    return rules[spec.name]()
