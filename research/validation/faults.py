"""Messages that go wrong, for studies and tests of live experiments: lost, told twice, or in another order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truant.durations import UNITS
from truant.rehearsal.plan import RehearsalPlan
from truant.rehearsal.run import Message, RunDraws, streams
from truant.setting import IntArray

REDELIVERY = 6 * UNITS["h"]  # mean time until a message comes again
COLUMNS = {"mediator": 0, "outcome": 1}


@dataclass(frozen=True)
class FaultyDraws(RunDraws):
    """What is drawn for a run, and what happens to its messages."""

    lost: npt.NDArray[np.bool_]  # (decisions, 2): of the mediator and of the outcome
    again: IntArray  # (decisions, 2): how much later a message comes again; -1: it does not
    after: IntArray  # (decisions,): how much later than its outcome a mediator is told; -1: it comes first

    def messages(self, decision: int, arm: int) -> list[Message]:
        """Those that arrive, some of them twice."""
        found = []
        for message in super().messages(decision, arm):
            place, after = COLUMNS[message.name], int(self.after[decision])
            if message.name == "mediator" and after >= 0:
                message = message._replace(after=int(self.delays[decision, arm]) + after)
            if not self.lost[decision, place]:
                found.append(message)
                if (later := int(self.again[decision, place])) >= 0:
                    found.append(message._replace(after=message.after + later))
        return found

    def in_time(self, window: int, chosen: IntArray) -> npt.NDArray[np.bool_]:
        """Whether the outcome of each decision arrives in its window."""
        return super().in_time(window, chosen) & ~self.lost[:, COLUMNS["outcome"]]


def with_faults(
    draws: RunDraws,
    plan: RehearsalPlan,
    run: int,
    null: bool = False,
    *,
    duplicates: float = 0.0,
    lose: float = 0.0,
    reorder: bool = False,
) -> FaultyDraws:
    """The same draws, with messages that go wrong.

    Parameters
    ----------
    draws, plan, run, null : see `draws_of`.
    duplicates : probability that a mediator or outcome is told a second time, some hours later.
    lose : probability that a mediator or outcome is never told.
    reorder : tell half of the mediators after their outcome.
    """
    rng, number = streams(plan, run, null)[2], plan.decisions
    lost, again = (rng.random((number, 2)) < chance for chance in (lose, duplicates))
    later = rng.exponential(REDELIVERY, (number, 2)).astype(np.int64)
    swapped = rng.random(number) < (0.5 if reorder else 0.0)
    after = rng.exponential(REDELIVERY, number).astype(np.int64)
    return FaultyDraws(
        **vars(draws),
        lost=lost,
        again=np.where(again, later, -1),
        after=np.where(swapped, after, -1),
    )
