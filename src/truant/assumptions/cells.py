"""One arm's counts by mediator level, and the estimates of `mar` and `mediator-mar` from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions.assumption import Estimate
from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray


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
            raise NotIdentified(f"{{arm}} has no pulls{seen}.", arm=self.arm, assumption=self.name)
        shares: FloatArray = self.pulls / total
        return shares

    def _need_outcomes(self, used: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        empty = np.flatnonzero(used & (self.observed == 0))
        if len(empty):
            m = int(empty[0])
            missing = m == len(used) - 1 and self.name == "mar"
            level = "its missing mediators" if missing else "{mediator}"
            raise NotIdentified(
                f"{{arm}} has {self.pulls[m]:.0f} pulls with {level} and none of their outcomes was observed; "
                "merge mediator levels or collect more.",
                arm=self.arm,
                mediator=m,
                assumption=self.name,
            )

    def _cell_variances(self) -> FloatArray:
        """s_m^2; a cell with one outcome borrows the arm's variance within cells."""
        freedom = np.maximum(self.observed - 1, 0)
        pooled = self.squares.sum() / freedom.sum() if freedom.sum() > 0 else np.inf
        variances: FloatArray = np.where(freedom > 0, self.squares / np.maximum(freedom, 1), pooled)
        return variances
