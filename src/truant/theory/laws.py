"""What a quantity needs of a world: each law is read from the world's arrays, or refused with the reason."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from truant.errors import NotIdentified
from truant.setting import FloatArray
from truant.worlds import DiscreteWorld, RealWorld, World


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


def arm_gamma(world: World, assumption: str = "mcar") -> FloatArray:
    """P(O=1|a), shape (arms,), where O depends on the arm alone."""
    known = from_arrays(world)
    if isinstance(known, RealWorld):
        seen = known.mediator_observation[:, None, :]
        possible = known.mediator_probabilities[:, None, :] * np.concatenate([1 - seen, seen], axis=1) > 0
    else:
        possible = known.joint > 0
    why = "an arm's outcomes are not all seen with one probability"
    return _common(known, assumption, known.observation, possible, (1, 2), why)


def shared_gamma(world: World) -> float:
    """P(O=1), where O depends on nothing."""
    gamma = arm_gamma(world)
    if np.ptp(gamma) > _ROUNDING:
        raise refusal(world, "mcar", f"arms differ in P(O=1), {gamma.min():g} to {gamma.max():g}")
    return float(gamma[0])


def mediator_law(world: World, assumption: str) -> MediatorLaw:
    """The law of a `mar` or `mediator-mar` world."""
    known = from_arrays(world)
    if isinstance(known, RealWorld):
        p, gamma = known.mediator_probabilities, known.observation[:, 1]
    else:
        p, gamma = known.joint.sum(axis=2), outcome_gamma_by_mediator(known, assumption)
    if assumption == "mar":
        need_mediators(known, assumption)
    why = "whether a mediator is seen depends on its level"
    seen = _common(known, assumption, known.mediator_observation, p > 0, 1, why)
    return MediatorLaw(p, gamma, seen)


def mnar_law(world: World) -> OddsLaw:
    """The law of an `mnar` world: K x L tables of full column rank."""
    known = discrete(world, "mnar")
    need_mediators(known, "mnar")
    gamma = outcome_gamma_by_outcome(known, "mnar")
    inverse_norm = _inverse_norm(known, "mnar", known.seen)
    return OddsLaw(known.joint.sum(axis=1), gamma, known.mediator_observation, inverse_norm)


def mediator_mnar_law(world: World) -> OddsLaw:
    """The law of a `mediator-mnar` world: K x L tables of full row rank."""
    known = discrete(world, "mediator-mnar")
    gamma = outcome_gamma_by_mediator(known, "mediator-mnar")
    inverse_norm = _inverse_norm(known, "mediator-mnar", np.swapaxes(known.seen, 1, 2))
    return OddsLaw(known.joint.sum(axis=2), gamma, known.mediator_observation, inverse_norm)


def outcome_gamma_by_mediator(world: DiscreteWorld, assumption: str) -> FloatArray:
    """P(O=1|m,a), shape (arms, K), where O ⟂ Y given A, M."""
    why = "whether an outcome is seen depends on the outcome itself, given the mediator"
    return _common(world, assumption, world.observation, world.joint > 0, 2, why)


def outcome_gamma_by_outcome(world: DiscreteWorld, assumption: str) -> FloatArray:
    """P(O=1|y,a), shape (arms, L), where O ⟂ M given A, Y."""
    why = "whether an outcome is seen depends on the mediator, given the outcome"
    return _common(world, assumption, world.observation, world.joint > 0, 1, why)


def need_mediators(world: RealWorld | DiscreteWorld, assumption: str) -> None:
    """Refuse a world whose mediators can be missing."""
    p = world.mediator_probabilities if isinstance(world, RealWorld) else world.joint.sum(axis=2)
    if np.any(world.mediator_observation[p > 0] < 1):
        raise refusal(world, assumption, "its mediators are not always seen")


def discrete(world: World, assumption: str) -> DiscreteWorld:
    """The world, if its outcomes are discrete."""
    if not isinstance(world, DiscreteWorld):
        raise refusal(world, assumption, "its outcomes are not discrete")
    return world


def from_arrays(world: World) -> RealWorld | DiscreteWorld:
    """The world, if its arrays can be read."""
    if not isinstance(world, RealWorld | DiscreteWorld):
        raise NotIdentified(
            f"Theory reads the arrays of a RealWorld or a DiscreteWorld, got {type(world).__name__}."
        )
    return world


def refusal(world: World, assumption: str, why: str) -> NotIdentified:
    """The error for a world that does not satisfy an assumption."""
    return NotIdentified(f"World {world.name!r} does not satisfy {assumption!r}: {why}.")


_ROUNDING = 1e-12


def _common(
    world: World,
    assumption: str,
    chance: FloatArray,
    possible: npt.NDArray[np.bool_],
    axis: int | tuple[int, ...],
    why: str,
) -> FloatArray:
    """The one value that a chance has along an axis, over what is possible (1 where nothing is)."""
    lowest = np.where(possible, chance, np.inf).min(axis=axis)
    highest = np.where(possible, chance, -np.inf).max(axis=axis)
    if np.any(highest - lowest > _ROUNDING):
        raise refusal(world, assumption, why)
    if np.any(lowest <= 0):
        raise refusal(world, assumption, "something that happens is never seen")
    return np.where(np.isfinite(highest), highest, 1.0)


def _inverse_norm(world: World, assumption: str, matrix: FloatArray) -> FloatArray:
    """Norm of the pseudo-inverse of each arm's odds system, whose columns must be independent."""
    unknowns = matrix.shape[2]
    if np.any(np.linalg.matrix_rank(matrix) < unknowns):
        K, L = world.setting.mediators, world.setting.outcomes
        raise refusal(world, assumption, f"its table of K={K}, L={L} has a rank below {unknowns}")
    norm: FloatArray = np.abs(np.linalg.pinv(matrix)).sum(axis=2).max(axis=1)
    return norm
