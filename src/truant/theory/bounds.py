"""The paper's observation costs and regret bounds, of a given world.

A bound is the rate inside its theorem's O(.) or Omega(.), whose constant the paper leaves open, for outcomes
of unit scale; T is the horizon and n the number of arms. A bound that a world does not have is refused.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from truant.counts import Counts
from truant.errors import InvalidValue
from truant.setting import FloatArray, finite, number, whole_number
from truant.theory.efficiency import (
    arm_gamma,
    discrete,
    mediator_law,
    mediator_mnar_law,
    mnar_law,
    shared_gamma,
)
from truant.worlds import RealWorld, World
from truant.worlds import discrete as discrete_worlds
from truant.worlds.mar import two_arms


def observation_cost(world: World) -> FloatArray:
    """How many pulls an arm needs for one seen outcome of its own mix of mediators, P_a.

    P_a = sum_m p_m / (gamma_m lambda_a), with p_m = P(m|a), gamma_m = P(O=1|m,a,Q=1) and lambda_a = P(Q=1|a),
    which is 1 where the mediator is always seen (MAR section; appendix on missing mediators).

    Parameters
    ----------
    world : any that satisfies `mar` or `mediator-mar`.

    Returns
    -------
    P_a, shape (arms,).
    """
    law = mediator_law(world, "mediator-mar")
    cost: FloatArray = (law.p / law.gamma).sum(axis=1) / law.mediator_seen
    return cost


def mean_cost(world: World) -> float:
    """S, the arithmetic mean of the arms' observation costs (MAR section)."""
    return float(observation_cost(world).mean())


def harmonic_mean_cost(world: World) -> float:
    """H = n / sum_a (1/P_a), the harmonic mean of the arms' observation costs (MAR section)."""
    return float(1 / np.mean(1 / observation_cost(world)))


def condition_numbers(source: World | Counts | npt.ArrayLike) -> FloatArray:
    """|Theta_a| |Theta_a^+| and the same of Theta_a^T, in infinity norms (assumptions on condition numbers).

    What `Setting(condition_numbers=...)` wants for the paper's MNAR policies, which use it as the bound C_a. Scales
    cancel, so counts serve as well as probabilities; from counts it is an estimate, not a bound.

    Parameters
    ----------
    source : a world with discrete outcomes; counts of a discrete outcome; or a table of P(m, y, Q=1, O=1|a) or of
        pulls with both observed, shape (arms, K, L).

    Returns
    -------
    Shape (arms, 2): the numbers for `paper-mnar`, then those for `paper-mediator-mnar`.
    """
    if isinstance(source, World):
        theta = discrete(source, "mnar").seen
    elif isinstance(source, Counts):
        if source.levels is None:
            raise InvalidValue("condition_numbers needs counts of a discrete outcome, by level.")
        theta = source.table[:, :-1, :-1]
    else:
        theta = finite("table", source)
    if theta.ndim != 3 or theta.size == 0 or theta.min() < 0 or np.any(theta.sum(axis=(1, 2)) <= 0):
        raise InvalidValue(
            "condition_numbers needs a table of shape (arms, K, L) of numbers of at least 0, "
            f"with some above 0 for each arm, got shape {theta.shape}."
        )
    return discrete_worlds.condition_numbers(theta)


def mcar_upper_bound(world: World, horizon: int, alpha: float = 2.0) -> float:
    """sqrt(alpha n T log T / gamma): regret of the adapted UCB (theorem on MCAR, upper).

    Parameters
    ----------
    world : one whose outcomes are all seen with one probability gamma.
    horizon : T.
    alpha : the policy's exploration constant, above 1.
    """
    gamma = shared_gamma(world)  # first of all, whether theory can read the world
    return float(np.sqrt(_rate(horizon, alpha) * world.setting.arms / gamma))


def mar_upper_bound(world: World, horizon: int, alpha: float = 2.0) -> float:
    """sqrt(alpha T log T n S): regret with known or estimated P(m|a) (both theorems on MAR, upper).

    Parameters
    ----------
    world : one that satisfies `mar`; without a mediator this is the upper half of the paper's corollary.
    horizon : T.
    alpha : the policy's exploration constant, above 1.
    """
    mediator_law(world, "mar")
    return mediator_mar_upper_bound(world, horizon, alpha)


def mediator_mar_upper_bound(world: World, horizon: int, alpha: float = 2.0) -> float:
    """sqrt(alpha T log T n S) with lambda_a in the costs (appendix, theorem on MAR with missing mediators).

    Parameters
    ----------
    world : one that satisfies `mediator-mar`.
    horizon : T.
    alpha : the policy's exploration constant, above 1.
    """
    return float(np.sqrt(_rate(horizon, alpha) * observation_cost(world).sum()))


def mnar_difficulty(world: World) -> FloatArray:
    """S_a of the MNAR theorem, shape (arms,).

    S_a = max{ L C_a / (gamma_a |Theta_a|), K / (gamma_a sqrt(sum_y p_y gamma_y)) }, gamma_a = min_y gamma_y.
    C_a = |Theta_a| |Theta_a^+| is the condition number, so C_a/|Theta_a| = |Theta_a^+| (infinity norms).
    """
    law = mnar_law(world)
    lowest = law.gamma.min(axis=1)
    seen = (law.p * law.gamma).sum(axis=1)
    K, L = world.setting.mediators, world.setting.outcomes
    difficulty: FloatArray = np.maximum(L * law.inverse_norm / lowest, K / (lowest * np.sqrt(seen)))
    return difficulty


def mnar_upper_bound(world: World, horizon: int, alpha: float = 2.0) -> float:
    """sqrt(alpha T log T sum_a S_a^2) times sum |y|: regret of the MNAR policy (theorem on MNAR).

    The theorem is for outcomes scaled to sum |y| = 1; the factor brings its bound back to the world's scale.

    Parameters
    ----------
    world : one that satisfies `mnar`.
    horizon : T.
    alpha : the policy's exploration constant, above 1.
    """
    difficulty = mnar_difficulty(world)
    return float(_sizes(world).sum() * np.sqrt(_rate(horizon, alpha) * (difficulty**2).sum()))


def mnar_simple_upper_bound(world: World, horizon: int, alpha: float = 2.0) -> float:
    """The same in two numbers, never smaller (remark after the theorem on MNAR).

    sqrt(alpha T log T n) max{ L kappa_max / gamma_min, K / gamma_min^(3/2) } times sum |y|, with
    gamma_min = min over a, y of gamma_y and kappa_max = max_a C_a / |Theta_a|.
    """
    law = mnar_law(world)
    n, K, L = world.setting.arms, world.setting.mediators, world.setting.outcomes
    lowest = law.gamma.min()
    worst = max(L * law.inverse_norm.max() / lowest, K / lowest**1.5)
    return float(_sizes(world).sum() * np.sqrt(_rate(horizon, alpha) * n) * worst)


def mediator_mnar_difficulty(world: World) -> FloatArray:
    """S_a of the theorem on MNAR mediators (appendix), with the K that its print lost, shape (arms,).

    S_a = max{ 32 K C_a / (|Theta_a^T| lambda_a) + 2 K / lambda_a, sqrt(sum_m 32 p_m / (lambda_m gamma_m)) },
    lambda_a = min_m lambda_m, norms and condition number of Theta_a^T, whose system gives the odds.
    """
    law = mediator_mnar_law(world)
    K = world.setting.mediators
    lowest = law.mediator_seen.min(axis=1)
    odds = (32 * K * law.inverse_norm + 2 * K) / lowest
    outcomes = np.sqrt((32 * law.p / (law.mediator_seen * law.gamma)).sum(axis=1))
    difficulty: FloatArray = np.maximum(odds, outcomes)
    return difficulty


def mediator_mnar_upper_bound(world: World, horizon: int, alpha: float = 2.0) -> float:
    """sqrt(alpha T log T sum_a S_a^2) times max |y| (appendix, theorem on MNAR mediators).

    The theorem is for outcomes in [0, 1]; the factor brings its bound back to the world's scale.

    Parameters
    ----------
    world : one that satisfies `mediator-mnar`.
    horizon : T.
    alpha : the policy's exploration constant, above 1.
    """
    difficulty = mediator_mnar_difficulty(world)
    return float(_sizes(world).max() * np.sqrt(_rate(horizon, alpha) * (difficulty**2).sum()))


def mcar_lower_bound(world: World, horizon: int) -> float:
    """sqrt(n T / gamma): no policy does better on all MCAR instances (theorem on MCAR, lower).

    Parameters
    ----------
    world : one whose outcomes are all seen with one probability gamma.
    horizon : T.
    """
    gamma = shared_gamma(world)
    return float(np.sqrt(world.setting.arms * _horizon(horizon) / gamma))


def mar_lower_bound(world: World, horizon: int) -> float:
    """sqrt(T n H): no policy does better on all MAR instances with these costs (theorem on MAR, lower).

    Parameters
    ----------
    world : one that satisfies `mar`.
    horizon : T.
    """
    mediator_law(world, "mar")
    return float(np.sqrt(_horizon(horizon) * world.setting.arms * harmonic_mean_cost(world)))


def no_mediator_lower_bound(world: World, horizon: int) -> float:
    """sqrt(T n H) with H = n / sum_a gamma_a (corollary after the theorems on MAR, without its alpha log T).

    Parameters
    ----------
    world : one in which the chance to see an outcome depends on the arm alone.
    horizon : T.
    """
    gamma = arm_gamma(world, "no-mediator")
    return float(np.sqrt(_horizon(horizon) * len(gamma) / gamma.mean()))


def worst_case_pair(K: int = 5, eps: float = 0.1, sd: float = 1.0) -> tuple[RealWorld, RealWorld]:
    """An instance and its arm swap, which nobody can tell apart who ignores the mediator.

    The instance of the `confounded` world (proof of the theorem on mediator-agnostic policies). In both, both
    arms show an outcome with the same probability and the same law, so such a policy pulls alike in both.

    Parameters
    ----------
    K : number of mediator levels, at least 2.
    eps : probability of all levels but the arm's likely one, in (0, 1).
    sd : standard deviation of an outcome given its mediator.
    """
    return two_arms(K, eps, sd, better=0), two_arms(K, eps, sd, better=1)


def mediator_agnostic_lower_bound(horizon: int, K: int = 5, eps: float = 0.1) -> float:
    """T gap / 2: what a policy that ignores the mediator loses on one of the worst-case pair.

    Its pulls have one law in both, and what is right in one is wrong in the other: the two regrets add up to
    T gap, gap = |1 - eps - eps/(K-1)| (theorem on mediator-agnostic policies; exact, no constant left open).
    """
    instance, _ = worst_case_pair(K, eps)
    return _horizon(horizon) * float(instance.gaps.max()) / 2


def _horizon(horizon: int) -> int:
    return whole_number("horizon", horizon, at_least=1)


def _rate(horizon: int, alpha: float) -> float:
    """Alpha T log T."""
    constant = number("alpha", alpha)
    if constant <= 1:
        raise InvalidValue(f"alpha must be above 1, got {constant:g}.")
    T = _horizon(horizon)
    return float(constant * T * np.log(T))


def _sizes(world: World) -> FloatArray:
    """|y| of a discrete world's outcomes."""
    return np.abs(discrete(world, "mnar").levels)
