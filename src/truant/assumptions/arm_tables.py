"""The probabilities of one arm, as plain tables: what an efficient variance is a function of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truant.errors import NotSatisfied
from truant.setting import FloatArray

ROUNDING = 1e-12  # chances that differ by less are equal


@dataclass(frozen=True, kw_only=True)
class ArmTables:
    """P(m), E[Y|m], Var(Y|m) and the chances to be seen; of a discrete outcome also P(m,y).

    The methods give what an assumption says there is, or raise NotSatisfied.
    """

    mediator_probabilities: FloatArray  # (K,) P(m)
    outcome_means: FloatArray  # (K,) E[Y|m]
    outcome_variances: FloatArray  # (K,) Var(Y|m)
    mediator_observation: FloatArray  # (K,) P(Q=1|m)
    observation: FloatArray  # real outcomes: (2, K) P(O=1|Q,m); discrete ones: (K, L) P(O=1|m,y)
    joint: FloatArray | None = None  # (K, L) P(m,y)
    levels: FloatArray | None = None  # (L,) the outcomes

    @classmethod
    def of_discrete(
        cls, joint: FloatArray, levels: FloatArray, observation: FloatArray, mediator_observation: FloatArray
    ) -> ArmTables:
        """The tables of a discrete outcome."""
        p = joint.sum(axis=1)
        given = joint / np.where(p > 0, p, 1)[:, None]
        means = given @ levels
        return cls(
            mediator_probabilities=p,
            outcome_means=means,
            outcome_variances=given @ levels**2 - means**2,
            mediator_observation=mediator_observation,
            observation=observation,
            joint=joint,
            levels=levels,
        )

    @property
    def mean(self) -> float:
        """E[Y]."""
        return float(self.mediator_probabilities @ self.outcome_means)

    @property
    def variance_between(self) -> float:
        """Var(E[Y|M])."""
        return float((self.mediator_probabilities * (self.outcome_means - self.mean) ** 2).sum())

    @property
    def variance(self) -> float:
        """Var(Y)."""
        squares = self.outcome_variances + (self.outcome_means - self.mean) ** 2
        return float((self.mediator_probabilities * squares).sum())

    def variance_within(self, gamma: FloatArray) -> float:
        """E[Var(Y|M) / gamma_M]: within mediator levels, of outcomes seen with the chances gamma, shape (K,)."""
        return float((self.mediator_probabilities * self.outcome_variances / gamma).sum())

    def discrete(self) -> tuple[FloatArray, FloatArray]:
        """P(m,y) and the outcome levels."""
        if self.joint is None or self.levels is None:
            raise NotSatisfied("its outcomes are not discrete.")
        return self.joint, self.levels

    def seen_and_missing(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares, E[Y] and Var(Y) of the cells (m, Q) where the outcome is seen, and where it is missing.

        Each has shape (2, cells); a missing mediator is one cell.
        """
        seen = self.mediator_observation[:, None]
        if self.joint is None:
            p = self.mediator_probabilities
            by_q = np.stack([1 - self.mediator_observation, self.mediator_observation], axis=1)  # (K, Q)
            chance = self.observation.T  # (K, Q)
            weights = [p[:, None] * by_q * part for part in (chance, 1 - chance)]
            first = [w * self.outcome_means[:, None] for w in weights]
            second = [w * (self.outcome_variances + self.outcome_means**2)[:, None] for w in weights]
            sums = [[_by_cell(part) for part in parts] for parts in (weights, first, second)]
        else:
            joint, levels = self.discrete()
            weights = [joint * part for part in (self.observation, 1 - self.observation)]
            sums = [
                [_by_cell(np.stack([((1 - seen) * w) @ power, (seen * w) @ power], axis=1)) for w in weights]
                for power in (np.ones_like(levels), levels, levels**2)
            ]
        share, total, squares = (np.stack(parts) for parts in sums)
        means = total / np.where(share > 0, share, 1.0)
        return share, means, np.maximum(squares / np.where(share > 0, share, 1.0) - means**2, 0.0)

    def need_mediators(self) -> None:
        """Refuse where mediators can be missing."""
        if np.any(self.mediator_observation[self.mediator_probabilities > 0] < 1):
            raise NotSatisfied("its mediators are not always seen.")

    def mediator_seen(self) -> float:
        """P(Q=1), where Q ⟂ M."""
        why = "whether a mediator is seen depends on its level"
        return float(_common(self.mediator_observation, self.mediator_probabilities > 0, 0, why))

    def gamma(self) -> float:
        """P(O=1), where O depends on nothing."""
        if self.joint is None:
            seen = np.stack([1 - self.mediator_observation, self.mediator_observation])
            possible = self.mediator_probabilities * seen > 0
        else:
            possible = self.joint > 0
        why = "an arm's outcomes are not all seen with one probability"
        return float(_common(self.observation, possible, (0, 1), why))

    def gamma_by_mediator(self) -> FloatArray:
        """P(O=1|m,Q=1), shape (K,), where O ⟂ Y given M."""
        if self.joint is None:
            with_mediator: FloatArray = self.observation[1]
            return with_mediator
        why = "whether an outcome is seen depends on the outcome itself, given the mediator"
        return _common(self.observation, self.joint > 0, 1, why)

    def gamma_by_outcome(self) -> FloatArray:
        """P(O=1|y), shape (L,), where O ⟂ M given Y."""
        joint, _ = self.discrete()
        why = "whether an outcome is seen depends on the mediator, given the outcome"
        return _common(self.observation, joint > 0, 0, why)


def _by_cell(values: FloatArray) -> FloatArray:
    """Of (K, Q): the seen mediators one by one, then all missing ones together."""
    return np.append(values[:, 1], values[:, 0].sum())


def _common(
    chance: FloatArray, possible: npt.NDArray[np.bool_], axis: int | tuple[int, int], why: str
) -> FloatArray:
    """The one value that a chance has along an axis, over what is possible (1 where nothing is)."""
    lowest = np.where(possible, chance, np.inf).min(axis=axis)
    highest = np.where(possible, chance, -np.inf).max(axis=axis)
    if np.any(highest - lowest > ROUNDING):
        raise NotSatisfied(f"{why}.")
    if np.any(lowest <= 0):
        raise NotSatisfied("something that happens is never seen.")
    return np.where(np.isfinite(highest), highest, 1.0)
