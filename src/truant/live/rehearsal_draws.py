"""What happens in a run whatever is decided: outcomes and delays of every arm, and messages that go wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from truant.durations import UNITS
from truant.live.rehearsal_plan import RehearsalPlan
from truant.setting import FloatArray, IntArray
from truant.worlds import World

EARLY = 0.1  # of an outcome's delay, after which its mediator is told
REDELIVERY = 6 * UNITS["h"]  # mean time until a message comes again
MEDIATOR, OUTCOME = 0, 1  # columns of what is drawn for messages


class Draws(NamedTuple):
    """Drawn once for a run, so that all variants meet the same visitors, delays and faults."""

    means: FloatArray  # true mean of each arm
    gaps: FloatArray  # loss of each arm
    mediators: IntArray  # (decisions, arms); -1: missing
    outcomes: FloatArray  # (decisions, arms); NaN: missing
    delays: IntArray  # (decisions, arms), of outcomes, in microseconds
    lost: npt.NDArray[np.bool_]  # (decisions, 2)
    again: IntArray  # (decisions, 2): how much later a message comes again; -1: it does not
    after: IntArray  # (decisions,): how much later than its outcome a mediator is told; -1: it comes first
    seed: int  # of the experiment's own draws

    def arrivals(self, decision: int, arm: int) -> tuple[int, int]:
        """How long after the decision its mediator and its outcome are told."""
        delay, after = int(self.delays[decision, arm]), int(self.after[decision])
        return int(EARLY * delay) if after < 0 else delay + after, delay


def draws_of(plan: RehearsalPlan, world: World, run: int, null: bool) -> Draws:
    """The draws of a run; in the null world every arm has the outcomes of one of the arms.

    Parameters
    ----------
    plan, world : what is rehearsed, and the instance of this run.
    run : its number, which with the seed of the plan decides everything.
    null : all arms are equal; delays may still depend on the arm.
    """
    streams = np.random.SeedSequence(plan.seed, spawn_key=(run, int(null), 0)).spawn(4)
    pulls, delays, faults, own = (np.random.Generator(np.random.SFC64(stream)) for stream in streams)
    arms, number = world.setting.arms, plan.decisions
    places = np.tile(np.arange(arms), number)
    means, gaps, drawn = world.means, world.gaps, places
    if null:
        one = int(own.integers(arms))
        means, gaps, drawn = np.full(arms, means[one]), np.zeros(arms), np.full(len(places), one)
    mediators, outcomes = world.pulls(drawn, pulls)
    times = plan.delay.draw(delays, world.setting, places, mediators, outcomes)
    shape = (number, arms)
    return Draws(
        means,
        gaps,
        mediators.reshape(shape),
        outcomes.reshape(shape),
        times.reshape(shape),
        *_faults(plan, faults),
        int(own.integers(2**62)),
    )


def _faults(
    plan: RehearsalPlan, rng: np.random.Generator
) -> tuple[npt.NDArray[np.bool_], IntArray, IntArray]:
    """Which messages are lost, which come again and when, and which mediators are told after their outcome."""
    number = plan.decisions
    lost, again = (rng.random((number, 2)) < chance for chance in (plan.lose, plan.duplicates))
    later = rng.exponential(REDELIVERY, (number, 2)).astype(np.int64)
    swapped = rng.random(number) < (0.5 if plan.reorder else 0.0)
    after = rng.exponential(REDELIVERY, number).astype(np.int64)
    return lost, np.where(again, later, -1), np.where(swapped, after, -1)
