"""`mar`: outcomes are missing at random given the mediator, O ⟂ Y given A, M.

A missing mediator is one more level here (which is harmless where mediators are always seen). Data cannot
contradict it: what is missing within a mediator level is never seen. Only knowledge of how it goes missing can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from truant.assumptions.assumption import Assumption, Curve, Estimate
from truant.assumptions.borrowing import borrowing_curve
from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import InvalidValue, NotIdentified, unknown
from truant.setting import FloatArray, Setting, finite, positive_number, probabilities, share, switch

ESTIMATORS = ("plug-in", "horvitz-thompson", "aipw")
Estimator = Literal["plug-in", "horvitz-thompson", "aipw"]


@dataclass(frozen=True)
class Mar(Assumption):
    """Missing at random given the mediator: reweights the mediator levels to how often they occur.

    Parameters
    ----------
    kappa : pseudo-observations per cell at the centre of the range when choosing (fewer if noise is small).
    known : P(M|a) is known (the setting's) instead of estimated.
    floor : share of the plain variance that borrowing between cells must leave, when choosing.
    estimator : for reporting; "horvitz-thompson" and "aipw" use `observation_probabilities`.
    observation_probabilities : P(O=1|m,a), shape (arms, K); empirical unless given.
    outcome_means : E[Y|m,a] for "aipw", shape (arms, K); empirical unless given.
    """

    needs = "an observed outcome at each mediator level that occurs"
    kappa: float = 1.0
    known: bool = False
    estimator: Estimator = "plug-in"
    observation_probabilities: FloatArray | None = None
    outcome_means: FloatArray | None = None
    floor: float = 0.8

    def __post_init__(self) -> None:
        positive_number("kappa", self.kappa)
        share("floor", self.floor)
        switch("known", self.known)
        if self.estimator not in ESTIMATORS:
            raise unknown("estimator", str(self.estimator), ESTIMATORS)
        for name in ("observation_probabilities", "outcome_means"):
            given = getattr(self, name)
            if given is not None and np.ndim(finite(name, given)) != 2:
                raise InvalidValue(f"{name} must have shape (arms, K), got {np.shape(given)}.")

    def check(self, setting: Setting) -> None:
        """Known p must be given."""
        if self.known and setting.mediator_probabilities is None:
            raise NotIdentified("mar-known needs mediator_probabilities, P(M=m|a); use mar to estimate them.")

    def curve(self, setting: Setting) -> Curve:
        """Cell means that borrow strength from each other, weighted by estimated or known probabilities."""
        self.check(setting)
        shares = setting.mediator_probabilities if self.known else None
        return borrowing_curve(setting, self.kappa, self.floor, setting.mediators + 1, shares)

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """sum_m p_m mu_m with its influence-function variance, or another estimator of the same."""
        self.check(setting)
        counts = counts.real()
        cells = Cells.of(counts, arm)
        if self.known:
            p = setting.mediator_probabilities
            assert p is not None
            return cells.plug_in(np.append(p[arm], 0.0))
        if self.estimator == "plug-in":
            return cells.plug_in()
        gamma = _row("observation_probabilities", self.observation_probabilities, arm, cells)
        if gamma is not None:
            probabilities("observation_probabilities", gamma, positive=True)
        means = _row("outcome_means", self.outcome_means, arm, cells)
        if self.estimator == "horvitz-thompson":
            return cells.augmented(gamma, np.zeros(len(cells.pulls)))
        return cells.augmented(gamma, means)


def mar_known(kappa: float = 1.0) -> Mar:
    """Missing at random given the mediator, whose distribution in each arm is known."""
    return Mar(kappa=kappa, known=True)


@dataclass(frozen=True)
class Cells:
    """One arm's real counts per mediator level, with outcomes in their own units."""

    name: str
    arm: int
    pulls: FloatArray
    observed: FloatArray
    means: FloatArray  # of the observed; NaN where there are none
    squares: FloatArray  # within the cell, about its mean

    @classmethod
    def of(cls, counts: Counts, arm: int, name: str = "mar", seen_mediators_only: bool = False) -> Cells:
        """Cells of an arm; without the row of missing mediators where that is no level."""
        row = counts.table[arm, :-1] if seen_mediators_only else counts.table[arm]
        n = row[:, OBSERVED]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = row[:, SUM] / n
        squares = np.where(n > 0, row[:, SQUARES] - row[:, SUM] * np.where(n > 0, mean, 0.0), 0.0)
        return cls(name, arm, row[:, PULLS], n, counts.centre + mean, np.maximum(squares, 0.0))

    def plug_in(self, known: FloatArray | None = None) -> Estimate:
        """Mu = sum p_m mu_m; v = sum p_m^2 s_m^2/n_m + (1/N) sum p_m (mu_m - mu)^2 (the last if p is estimated)."""
        p = self._shares() if known is None else known
        used = p > 0
        self._need_outcomes(used)
        p, n, means = p[used], self.observed[used], self.means[used]
        mu = float(p @ means)
        variance = float(np.sum(p**2 * self._cell_variances()[used] / n))
        if known is None:
            variance += float(p @ (means - mu) ** 2) / self.pulls.sum()
        return Estimate.normal(mu, variance)

    def augmented(self, gamma: FloatArray | None, means: FloatArray | None) -> Estimate:
        """(1/N) sum [mu_M + O (Y - mu_M)/gamma_M]: Horvitz-Thompson with mu_M = 0, AIPW otherwise."""
        p = self._shares()
        used = p > 0
        if gamma is None or means is None:
            self._need_outcomes(used)
        total, pulls, n = self.pulls.sum(), self.pulls[used], self.observed[used]
        weight = pulls / n if gamma is None else 1 / gamma[used]
        centre = self.means[used] if means is None else means[used]
        # an observed outcome's score is centre + weight (Y - centre), a missing one's is centre
        distance = np.where(n > 0, np.where(n > 0, self.means[used], 0.0) - centre, 0.0)
        mu = float(np.sum(pulls * centre + n * weight * distance) / total)
        if gamma is None:  # estimated weights: the estimate is the plug-in, and so is its variance
            return Estimate.normal(mu, self.plug_in().standard_error ** 2)
        seen = n * (centre + weight * distance - mu) ** 2 + weight**2 * self.squares[used]
        missing = (pulls - n) * (centre - mu) ** 2
        return Estimate.normal(mu, float(np.sum(seen + missing)) / total**2)

    def _shares(self) -> FloatArray:
        total = self.pulls.sum()
        if total == 0:
            seen = " with the mediator seen" if self.name == "mediator-mar" else ""
            raise NotIdentified(f"{self.name}: arm {self.arm} has no pulls{seen}.")
        shares: FloatArray = self.pulls / total
        return shares

    def _need_outcomes(self, used: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        empty = np.flatnonzero(used & (self.observed == 0))
        if len(empty):
            m = int(empty[0])
            level = (
                "its missing mediators"
                if m == len(used) - 1 and self.name == "mar"
                else f"mediator level {m}"
            )
            raise NotIdentified(
                f"{self.name}: arm {self.arm} has {self.pulls[m]:.0f} pulls with {level} and none of their "
                "outcomes was observed; merge mediator levels or collect more."
            )

    def _cell_variances(self) -> FloatArray:
        """s_m^2; a cell with one outcome borrows the arm's variance within cells."""
        freedom = np.maximum(self.observed - 1, 0)
        pooled = self.squares.sum() / freedom.sum() if freedom.sum() > 0 else np.inf
        variances: FloatArray = np.where(freedom > 0, self.squares / np.maximum(freedom, 1), pooled)
        return variances


def _row(name: str, values: FloatArray | None, arm: int, cells: Cells) -> FloatArray | None:
    """A given table's row for the arm, with a last entry for missing mediators where it has none."""
    if values is None:
        return None
    row: FloatArray = np.asarray(values, np.float64)[arm]
    if len(row) == len(cells.pulls) - 1:
        if cells.pulls[-1] > 0:
            raise NotIdentified(
                f"{name} must also have a column for missing mediators, since some are missing."
            )
        row = np.append(row, 1.0)
    if len(row) != len(cells.pulls):
        raise InvalidValue(f"{name} must have {len(cells.pulls) - 1} columns, got {len(row)}.")
    return row


parts = {"mar": Mar, "mar-known": mar_known}
