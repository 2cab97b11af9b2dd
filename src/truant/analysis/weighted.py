"""Rows that were chosen with logged probabilities: adaptively weighted estimates, and the value of another mix.

On the rows of an arm, sum w (q - theta) = 0 with w = 1/sqrt(e) is a martingale, whatever the policy was: e is the
probability with which the row's arm was chosen, q = mu_M + O (Y - mu_M)/gamma_M the score of the row. The weight makes
its variance steady, so that the estimate is nearly normal although e changes over time. With weighted shares gamma_m
and weighted means mu_m of each mediator level, theta = sum_m W_m mu_m / W, the plug-in of `mar` on weighted counts,
with variance sum w^2 (q - theta)^2 / W^2. So weighted sums for each arm and level are all that is needed.

The value of a mix d over arms is sum_a d(a) theta_a with weights 1/e: its augmented form, the mean over rows of
sum_a d(a) theta_a + d(A)/e (q - theta_A), is the same number, since the second term adds up to 0 within each arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from truant.analysis.clusters import student
from truant.analysis.collection import (
    SEQUENCE,
    WEIGHTED,
    Collected,
    Collection,
    IntervalMethod,
    sequence_belief,
)
from truant.analysis.estimates import Belief
from truant.analysis.sequences import in_sequence
from truant.assumptions import Estimate
from truant.counts import Counts
from truant.setting import FloatArray, Setting

POWERS = (0.5, 1.0, 2.0)  # of 1/e
ALL, SEEN, TOTAL, SQUARES = range(4)  # sums over all rows, over observed ones, of y, and of y^2
STEADY, IMPORTANCE = 0, 1  # weights 1/sqrt(e) and 1/e; their squares are the next power
HANDLED = ("mcar", "mar", "mediator-mar")


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """Sums of e^-power, shape (arms, mediator levels + 1, POWERS, 4), with outcomes about the centre."""

    column: str
    table: FloatArray
    centre: float
    rows: int = 0  # of all arms

    def estimate(self, assumption: str, arm: int, weight: int = STEADY) -> Estimate | None:
        """The weighted estimate of `mcar`, `mar` or `mediator-mar`; None if a level has no observed outcome."""
        cells = self.table[arm]
        if assumption == "mcar":
            cells = cells.sum(axis=0, keepdims=True)
        if assumption == "mediator-mar":
            cells = cells[:-1]
        cells = cells[cells[:, weight, ALL] > 0]
        if not len(cells) or np.any(cells[:, weight, SEEN] <= 0):
            return None
        own, squared = cells[:, weight], cells[:, weight + 1]
        means, gamma = own[:, TOTAL] / own[:, SEEN], own[:, SEEN] / own[:, ALL]
        total = own[:, ALL].sum()
        mean = float(own[:, ALL] @ means / total)
        between = means - mean
        slack = squared[:, TOTAL] - squared[:, SEEN] * means  # sum w^2 (y - mu)
        within = squared[:, SQUARES] - means * (2 * squared[:, TOTAL] - squared[:, SEEN] * means)
        score = (
            between**2 * squared[:, ALL] + 2 * between * slack / gamma + np.maximum(within, 0.0) / gamma**2
        )
        error = float(np.sqrt(max(float(score.sum()), 0.0))) / total
        freedom = own[:, SEEN].sum() ** 2 / squared[:, SEEN].sum() - len(cells)
        if freedom < 1 or error <= 0:
            return None
        centre = self.centre + mean
        return Estimate(centre, lambda z: centre + student(z, freedom) * error if z else centre)

    def estimates(self, assumption: str, weight: int = STEADY) -> tuple[Estimate, ...] | None:
        """Of all arms; None unless all have one."""
        found = [self.estimate(assumption, arm, weight) for arm in range(len(self.table))]
        known = tuple(one for one in found if one is not None)
        return known if len(known) == len(found) else None


class ByProbability(Collected):
    """Rows with the probability of each choice."""

    def __init__(self, sums: WeightedSums) -> None:
        self.sums = sums
        self._methods: dict[str, IntervalMethod] = {}

    def beliefs(self, found: Sequence[Belief], counts: Counts, setting: Setting) -> list[Belief]:
        """Weighted estimates of mcar, mar and mediator-mar; confidence sequences for the others."""
        made = []
        for belief in found:
            estimates = self.sums.estimates(belief.name) if belief.name in HANDLED else None
            reason = None
            if belief.name in HANDLED and estimates is None:
                reason = (
                    f"{belief.name}: an arm has too few observed outcomes for weights, so that its intervals are "
                    "confidence sequences."
                )
            weighted = estimates is not None
            self._methods[belief.name] = IntervalMethod(WEIGHTED if weighted else SEQUENCE, reason=reason)
            made.append(
                replace(belief, estimates=estimates) if estimates else sequence_belief(belief, counts)
            )
        self._methods["naive"] = self._methods["bounds"] = IntervalMethod(SEQUENCE)
        return made

    def naive(self, estimate: Estimate, counts: Counts, arm: int) -> Estimate:
        """The plain mean with a confidence sequence: it stays what it is called."""
        return in_sequence(estimate, float(counts.pulls[arm]))

    def value_estimates(self, belief: Belief) -> tuple[Sequence[Estimate], str]:
        """Importance-weighted estimates, where there are any."""
        estimates = self.sums.estimates(belief.name, IMPORTANCE) if belief.name in HANDLED else None
        return (belief.estimates, SEQUENCE) if estimates is None else (estimates, WEIGHTED)

    def collection(self) -> Collection:
        """What became of each assumption."""
        return Collection("weighted", intervals=self._methods)
