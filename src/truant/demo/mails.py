"""The simulated mails: whether customers open them, what they spend, and how often that becomes known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truant.setting import FloatArray, IntArray
from truant.worlds import RealWorld

MAILS = ("classic", "short", "story")
OPENED = ("no", "yes")
LOW, HIGH = 0.0, 80.0  # possible spending


def mail_world() -> RealWorld:
    """The mails as a world, whose true means are known.

    Of `classic`, what customers spend who did not open it is seldom known: the mean of its known outcomes is too high.
    Of each other mail, all customers have the same chance that their outcome is known.
    """
    return RealWorld(
        mediator_probabilities=[[0.7, 0.3], [0.6, 0.4], [0.5, 0.5]],  # not opened, opened
        outcome_means=[[14.0, 40.0], [18.0, 30.0], [21.0, 37.0]],  # mean spent: not opened, opened
        observation=[[0.15, 0.9], [0.85, 0.85], [0.6, 0.6]],  # probability that it becomes known
        outcome_sd=3.5,
        low=LOW,
        high=HIGH,
        name="mails",
    )


@dataclass(frozen=True, eq=False)
class Customers:
    """A row for each customer: mail, whether it was opened, what was spent and whether that became known."""

    mail: IntArray
    opened: IntArray
    spent: FloatArray  # of all, also where it did not become known
    known: npt.NDArray[np.bool_]

    @property
    def ids(self) -> list[str]:
        """C0001, C0002, ..."""
        return [f"C{number:04}" for number in range(1, len(self.mail) + 1)]


def customers_of(world: RealWorld, mail: IntArray, rng: np.random.Generator) -> Customers:
    """Draw what happens to customers who get these mails."""
    count = len(mail)
    opened = (rng.random(count) < world.mediator_probabilities[mail, 1]).astype(np.int64)
    noise = rng.standard_normal(count) * world.outcome_sd[mail, opened]
    spent = np.round(np.clip(world.outcome_means[mail, opened] + noise, LOW, HIGH), 2)
    known = rng.random(count) < world.observation[mail, 1, opened]
    return Customers(mail, opened, spent, known)
