"""The least variance that an estimate can have under an assumption, and the regret it makes unavoidable.

Both are made of the tables of a world's arms, which satisfy the assumption or are refused with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from truant import registry
from truant.assumptions import ArmTables
from truant.assumptions.evidence import ROUNDING
from truant.errors import NotIdentified, NotSatisfied
from truant.setting import FloatArray, positive_number, whole_number
from truant.spec import Spec
from truant.worlds import DiscreteWorld, RealWorld, World

Answer = TypeVar("Answer")


class MediatorLaw(NamedTuple):
    """O depends on the outcome only through the mediator, Q on the arm alone."""

    p: FloatArray  # (arms, K) P(m|a)
    gamma: FloatArray  # (arms, K) P(O=1|m,a,Q=1)
    mediator_seen: FloatArray  # (arms,) P(Q=1|a)


class OddsLaw(NamedTuple):
    """Theta_a = P(m,y,Q=1,O=1|a) determines the odds of being missing."""

    p: FloatArray  # P(y|a) or P(m|a)
    gamma: FloatArray  # P(O=1|y,a) or P(O=1|m,a)
    mediator_seen: FloatArray  # (arms, K) P(Q=1|m,a)
    inverse_norm: FloatArray  # (arms,) |Theta_a^+| or |(Theta_a^T)^+|, infinity norm


def tables_of(world: World) -> list[ArmTables]:
    """The probabilities of each arm, from the world's arrays."""
    if isinstance(world, DiscreteWorld):
        return [
            ArmTables.of_discrete(joint, world.levels, observation, seen)
            for joint, observation, seen in zip(
                world.joint, world.observation, world.mediator_observation, strict=True
            )
        ]
    if isinstance(world, RealWorld):
        return [
            ArmTables(
                mediator_probabilities=world.mediator_probabilities[a],
                outcome_means=world.outcome_means[a],
                outcome_variances=world.outcome_sd[a] ** 2,
                mediator_observation=world.mediator_observation[a],
                observation=np.stack([world.observation_without_mediator[a], world.observation[a]]),
            )
            for a in range(world.setting.arms)
        ]
    raise _unreadable(world)


def _unreadable(world: object) -> NotIdentified:
    return NotIdentified(
        f"Theory reads the arrays of a RealWorld or a DiscreteWorld, got {type(world).__name__}."
    )


def of_each_arm(world: World, assumption: str, ask: Callable[[ArmTables], Answer]) -> list[Answer]:
    """What the tables of each arm answer; where they do not satisfy the assumption, the world is refused."""
    answers = []
    for arm, tables in enumerate(tables_of(world)):
        try:
            answers.append(ask(tables))
        except NotSatisfied as error:
            raise refusal(world, assumption, error.text, arm) from None
        except NotIdentified as error:
            raise error.about(arm=arm, assumption=assumption) from None
    return answers


def refusal(world: World, assumption: str, why: str, arm: int | None = None) -> NotSatisfied:
    """The error for a world that does not satisfy an assumption; `why` may have a place {arm}."""
    sentence = f"World {world.name!r} does not satisfy '{{assumption}}': {why}"
    return NotSatisfied(sentence, arm=arm, assumption=assumption)


def arm_gamma(world: World, assumption: str = "mcar") -> FloatArray:
    """P(O=1|a), shape (arms,), where O depends on the arm alone."""
    return np.array(of_each_arm(world, assumption, ArmTables.gamma))


def shared_gamma(world: World) -> float:
    """P(O=1), where O depends on nothing."""
    gamma = arm_gamma(world)
    if np.ptp(gamma) > ROUNDING:
        raise refusal(world, "mcar", f"arms differ in P(O=1), {gamma.min():g} to {gamma.max():g}.")
    return float(gamma[0])


def mediator_law(world: World, assumption: str) -> MediatorLaw:
    """The law of a `mar` or `mediator-mar` world."""
    p = np.stack([tables.mediator_probabilities for tables in tables_of(world)])
    gamma = np.stack(of_each_arm(world, assumption, ArmTables.gamma_by_mediator))
    if assumption == "mar":
        of_each_arm(world, assumption, ArmTables.need_mediators)
    return MediatorLaw(p, gamma, np.array(of_each_arm(world, assumption, ArmTables.mediator_seen)))


def mnar_law(world: World) -> OddsLaw:
    """The law of an `mnar` world: K x L tables of full column rank."""
    known = discrete(world, "mnar")
    of_each_arm(known, "mnar", ArmTables.need_mediators)
    gamma = np.stack(of_each_arm(known, "mnar", ArmTables.gamma_by_outcome))
    inverse_norm = _inverse_norm(known, "mnar", known.seen)
    return OddsLaw(known.joint.sum(axis=1), gamma, known.mediator_observation, inverse_norm)


def mediator_mnar_law(world: World) -> OddsLaw:
    """The law of a `mediator-mnar` world: K x L tables of full row rank."""
    known = discrete(world, "mediator-mnar")
    gamma = np.stack(of_each_arm(known, "mediator-mnar", ArmTables.gamma_by_mediator))
    inverse_norm = _inverse_norm(known, "mediator-mnar", np.swapaxes(known.seen, 1, 2))
    return OddsLaw(known.joint.sum(axis=2), gamma, known.mediator_observation, inverse_norm)


def discrete(world: World, assumption: str) -> DiscreteWorld:
    """The world, if its outcomes are discrete."""
    if not isinstance(world, World):
        raise _unreadable(world)
    if not isinstance(world, DiscreteWorld):
        raise refusal(world, assumption, "its outcomes are not discrete.")
    return world


def _inverse_norm(world: World, assumption: str, matrix: FloatArray) -> FloatArray:
    """Norm of the pseudo-inverse of each arm's odds system, whose columns must be independent."""
    unknowns = matrix.shape[2]
    if np.any(np.linalg.matrix_rank(matrix) < unknowns):
        K, L = world.setting.mediators, world.setting.outcomes
        raise refusal(world, assumption, f"its table of K={K}, L={L} has a rank below {unknowns}.")
    norm: FloatArray = np.abs(np.linalg.pinv(matrix)).sum(axis=2).max(axis=1)
    return norm


def efficient_variance(world: World, assumption: str) -> FloatArray:
    """V_a: N pulls of an arm give its mean with a variance of V_a / N at best, under the assumption.

    `mcar`: Var(Y) / gamma. `mar`: sum_m p_m s_m^2 / gamma_m + Var(mu_M). `mediator-mar`: the same over
    P(Q=1|a), the variance on pulls whose mediator was seen (the others could add a little). `mnar`,
    `mediator-mnar` and `both-mnar`, for discrete outcomes: the Cramer-Rao bound of the table of counts, d' I^- d,
    with d the derivative of mu and I the information of a pull on P(m,y|a) and on the chances to be seen.
    `follow-up:rate=f`, in any world: E[Var(Y|M,O)/f_O] + Var(E[Y|M,O]), f_O = f where the outcome was missing, else 1.

    Parameters
    ----------
    world : one that satisfies the assumption.
    assumption : the name of any assumption that states its efficient variance.

    Returns
    -------
    V_a, shape (arms,).
    """
    spec = Spec.parse(assumption)
    built = registry.find("assumption", spec.name).build(**spec.parameters)
    return np.array(of_each_arm(world, assumption, built.efficient_variance), np.float64)


def follow_up_total_cost(world: World, horizon: int, cost: float) -> float:
    """A yardstick for regret and follow-ups together, as `instance_regret` is for regret: the cheapest mix of both.

    N pulls and n follow-ups give an arm's mean with variance A/N + B/n, where A = E[Var(Y|M,O); seen] + Var(E[Y|M,O])
    and B = (P(missing) x the mean standard deviation of missing outcomes within mediator levels)^2. It must come down
    to gap^2/(2 log T); the cheapest way costs 2 log T/gap^2 (sqrt(gap A) + sqrt(cost B))^2, or, where that would take
    more follow-ups than outcomes are missing, 2 log T/gap^2 (gap + cost P(missing)) V with V of everything seen; and
    never more than T gap, for each worse arm.

    Parameters
    ----------
    world : any from arrays.
    horizon : T.
    cost : of one follow-up, in units of the outcome.
    """
    T = whole_number("horizon", horizon, at_least=1)
    price = positive_number("cost", cost, or_zero=True)
    total = 0.0
    parts = of_each_arm(world, "follow-up", _seen_and_missing)
    for gap, (A, B, missing) in zip(world.gaps, parts, strict=True):
        if gap <= 1e-12:  # equal arms may differ by rounding
            continue
        once = 2 * np.log(T) / gap**2
        if B > 0 and price * A * missing**2 < gap * B:  # n/N = sqrt(gap B/(cost A)) > P(missing)
            mix = once * (gap + price * missing) * (A + B / missing)
        else:
            mix = once * (np.sqrt(gap * A) + np.sqrt(price * B)) ** 2
        total += min(mix, T * gap)  # always pulling the arm costs no more
    return float(total)


def _seen_and_missing(tables: ArmTables) -> tuple[float, float, float]:
    """A, B and P(missing) of an arm."""
    shares, means, variances = tables.seen_and_missing()
    mean = float((shares * means).sum())
    A = float((shares[0] * variances[0]).sum() + (shares * (means - mean) ** 2).sum())
    return A, float((shares[1] * np.sqrt(variances[1])).sum()) ** 2, float(shares[1].sum())


def instance_regret(world: World, horizon: int, assumption: str) -> float:
    """A yardstick for one instance: sum over the worse arms of 2 V_a / gap_a log T.

    What a policy loses to arms that are worse by gap_a before it can tell, if its estimate is normal with the
    efficient variance. It is so at long horizons; where the mediator tells little, V_a can be so large that
    no usual horizon is long, and a policy that knows the range of the outcomes does far better.

    Parameters
    ----------
    world : one that satisfies the assumption.
    horizon : T.
    assumption : as in `efficient_variance`.
    """
    T = whole_number("horizon", horizon, at_least=1)
    variances = efficient_variance(world, assumption)
    worse = world.gaps > 1e-12  # equal arms may differ by rounding
    return float((2 * variances[worse] / world.gaps[worse]).sum() * np.log(T))
