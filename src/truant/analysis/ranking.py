"""How the arms compare under one assumption: probability of being best, expected loss, and how far to trust them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truant.analysis.best import best_of, curves_of
from truant.analysis.estimates import Belief
from truant.analysis.parallel import each_arm
from truant.assumptions import Estimate
from truant.setting import FloatArray

ENOUGH_ARMS = 3  # below, the spread between arms says nothing about how much arms differ
NEAR_NOISE = (
    1.0  # variance between arms over that of their estimates, below which chance makes most of the leader
)


@dataclass(frozen=True, eq=False)
class Ranking:
    """What one assumption says of all arms; values are such that more is better."""

    belief: Belief
    probabilities: FloatArray  # of being best; nan where an arm has no interval
    curves: FloatArray | None  # at(z) on the grid; None where an arm has no interval

    @property
    def leader(self) -> int:
        """The arm with the best value."""
        return self.belief.winner

    def expected_loss(self, arm: int) -> float:
        """E[max_a V_a - V_arm], the expected loss of choosing the arm now; nan where it is not known."""
        return math.nan if self.curves is None else best_of(self.curves, arm)[1]

    def shrunk_probability(self) -> float | None:
        """The leader's probability of being best if the arms' means are shrunk to each other as far as they agree.

        None where arms differ clearly more than chance makes them, or are too few to tell: then the plain
        probability, which takes every mean as possible, is not too sure of the leader.
        """
        if self.curves is None or len(self.probabilities) < ENOUGH_ARMS:
            return None
        return _shrunk(self.belief.estimates, self.leader)


def ranking(belief: Belief) -> Ranking:
    """The ranking of a belief whose values are such that more is better."""
    errors = each_arm(lambda estimate: estimate.standard_error, belief.estimates)
    if not all(map(math.isfinite, errors)):
        return Ranking(belief, np.full(len(belief.estimates), np.nan), None)
    curves = curves_of(belief.estimates)
    return Ranking(belief, best_of(curves)[0], curves)


def _shrunk(estimates: Sequence[Estimate], leader: int) -> float | None:
    """Empirical Bayes with normal means: tau^2 by the method of moments (DerSimonian and Laird, 1986)."""
    errors = np.array([estimate.standard_error for estimate in estimates])
    if np.any(errors == 0):
        return None
    unit = errors.max()  # so that squares are numbers, whatever the unit of the outcome
    means = np.array([(estimate.mean - estimates[leader].mean) / unit for estimate in estimates])
    squares = (errors / unit) ** 2
    weights = 1 / squares
    middle = float(weights @ means / weights.sum())
    excess = float(weights @ (means - middle) ** 2) - (len(means) - 1)
    tau = max(excess / (weights.sum() - (weights**2).sum() / weights.sum()), 0.0)
    typical = float(np.median(squares))
    if tau >= NEAR_NOISE * typical:
        return None
    kept = tau / (tau + squares)
    centre = float(np.sum(means / (tau + squares)) / np.sum(1 / (tau + squares)))
    shrunk = [
        Estimate.normal(m, v) for m, v in zip(centre + kept * (means - centre), kept * squares, strict=True)
    ]
    return float(best_of(curves_of(shrunk))[0][leader])
