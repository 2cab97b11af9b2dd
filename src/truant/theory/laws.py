"""What a quantity needs of a world: its arms' tables, which satisfy an assumption or are refused with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from truant.assumptions import ArmTables
from truant.assumptions.arm_tables import ROUNDING
from truant.errors import NotIdentified, NotSatisfied
from truant.setting import FloatArray
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
                observation=world.observation[a],
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
