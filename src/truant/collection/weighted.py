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

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from truant.assumptions import Assumption, Estimate
from truant.collection.intervals import (
    FIXED,
    SEQUENCE,
    WEIGHTED,
    Collected,
    Collection,
    IntervalMethod,
    in_sequence,
    sequence_belief,
)
from truant.counts import Counts
from truant.envelope import FloatOrNaN
from truant.errors import InvalidValue, quoted, unknown
from truant.estimates.beliefs import Belief, Labels
from truant.estimates.clusters import student
from truant.setting import FloatArray, Setting, as_float, is_number

POWERS = (0.5, 1.0, 2.0)  # of 1/e
ALL, SEEN, TOTAL, SQUARES = range(4)  # sums over all rows, over observed ones, of y, and of y^2
STEADY, IMPORTANCE = 0, 1  # weights 1/sqrt(e) and 1/e; their squares are the next power


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """Sums of e^-power, shape (arms, mediator levels + 1, POWERS, 4), with outcomes about the centre."""

    column: str
    table: FloatArray
    centre: float
    rows: int = 0  # of all arms

    def estimate(self, assumption: Assumption, arm: int, weight: int = STEADY) -> Estimate | None:
        """The weighted estimate; None if the assumption has none, or a level has no observed outcome."""
        cells = assumption.weighted_cells(self.table[arm])
        if cells is None:
            return None
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

    def estimates(self, assumption: Assumption, weight: int = STEADY) -> tuple[Estimate, ...] | None:
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
        """Weighted estimates where an assumption has them; confidence sequences for the others."""
        made = []
        for belief in found:
            estimates = self.sums.estimates(belief.assumption)
            reason = None
            if estimates is None and belief.assumption.weighted_cells(self.sums.table[0]) is not None:
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
        estimates = self.sums.estimates(belief.assumption, IMPORTANCE)
        return (belief.estimates, SEQUENCE) if estimates is None else (estimates, WEIGHTED)

    def collection(self) -> Collection:
        """What became of each assumption."""
        return Collection("weighted", intervals=self._methods)


EXACT = 1e-6  # how far from 1 the sum of the shares may be


@dataclass(frozen=True)
class MixValue:
    """The value of a mix under one assumption."""

    mean: FloatOrNaN  # the mean outcome
    low: FloatOrNaN  # lower end of its confidence interval; NaN if there is none
    high: FloatOrNaN  # upper end of its confidence interval; NaN if there is none
    # how it was computed: `weighted` from logged probabilities, otherwise from the arms' own intervals
    method: str


@dataclass(frozen=True)
class Value:
    """The mean outcome if each arm were chosen with these shares."""

    mix: dict[str, float]  # share of each arm, by its name
    estimates: dict[str, MixValue]  # the mean outcome under each assumption, by the assumption's name


def parsed_mix(value: object) -> dict[str, float]:
    """Shares by arm, of a dict or of a text such as "a=.5,b=.5"; or raises InvalidValue."""
    wrong = InvalidValue(
        f'value must be shares of arms, as in "a=0.5,b=0.5" or {{"a": 0.5, "b": 0.5}}, got {quoted(value)}.'
    )
    if isinstance(value, str):
        pairs = [part.rpartition("=") for part in value.split(",")]
        try:
            shares = {name.strip(): float(share) for name, _, share in pairs}
        except ValueError:
            raise wrong from None
        if len(shares) < len(pairs) or "" in shares:
            raise wrong
    elif isinstance(value, Mapping):
        if not all(is_number(share) for share in value.values()):
            raise wrong
        shares = {str(name): as_float(share) for name, share in value.items()}
    else:
        raise wrong
    return shares


def checked_mix(shares: Mapping[str, float], labels: Labels) -> dict[str, float]:
    """Shares of known arms, at least 0, that sum to 1; or raises InvalidValue."""
    for name, share in shares.items():
        if name not in labels.arms:
            raise unknown("arm", name, labels.arms)
        if not (math.isfinite(share) and share >= 0):
            raise InvalidValue(f"A share of value must be at least 0, got {share:g} for {name!r}.")
    total = sum(shares.values())
    if abs(total - 1) > EXACT:
        raise InvalidValue(f"The shares of value must sum to 1, got {total:g}.")
    return dict(shares)


def mix_value(
    shares: Mapping[str, float],
    found: Sequence[Belief],
    labels: Labels,
    level: float,
    collected: Collected | None,
) -> Value:
    """sum_a d(a) mean_a; each end is as far as the arms' own ends, whose errors are independent."""
    mix = checked_mix(shares, labels)
    weights = [mix.get(name, 0.0) for name in labels.arms]
    z = NormalDist().inv_cdf((1 + level) / 2)
    values = {}
    for belief in found:
        if collected is None:
            estimates: Sequence[Estimate] = belief.estimates
            method = FIXED
        else:
            estimates, method = collected.value_estimates(belief)
        used = [(share, estimate) for share, estimate in zip(weights, estimates, strict=True) if share]
        mean = sum(share * estimate.mean for share, estimate in used)
        below = math.hypot(*(share * (estimate.mean - estimate.at(-z)) for share, estimate in used))
        above = math.hypot(*(share * (estimate.at(z) - estimate.mean) for share, estimate in used))
        values[belief.name] = MixValue(mean, mean - below, mean + above, method)
    return Value(mix, values)
