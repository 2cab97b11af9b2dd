"""Worlds with discrete outcomes, from arrays: O may depend on mediator and outcome, Q on the mediator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from truant.compile import hot
from truant.counts import cell_probabilities
from truant.errors import InvalidValue
from truant.setting import FloatArray, Setting, finite, probabilities, sums_to_one
from truant.worlds.world import World, cell_tables, draw_cell, shares_of


class DiscreteWorld(World):
    """A world from arrays.

    Parameters
    ----------
    joint : P(m, y|a), shape (arms, K, L).
    observation : P(O=1|m,y,a), broadcast to (arms, K, L).
    mediator_observation : P(Q=1|m,a), broadcast to (arms, K).
    levels : the L outcome values, increasing; equally spaced on [0, 1] unless given.
    minimize : the best arm is the one with the lowest mean.
    """

    def __init__(
        self,
        joint: npt.ArrayLike,
        observation: npt.ArrayLike = 1.0,
        mediator_observation: npt.ArrayLike = 1.0,
        *,
        levels: Sequence[float] | None = None,
        minimize: bool = False,
        name: str = "own arrays",
    ) -> None:
        pi = probabilities("joint", joint)
        if pi.ndim != 3 or not sums_to_one(pi, axis=(1, 2)):
            raise InvalidValue("joint must have shape (arms, K, L), and each arm's table must sum to 1.")
        n, K, L = pi.shape
        values = np.linspace(0, 1, L) if levels is None else finite("levels", levels)
        if values.shape != (L,):
            raise InvalidValue(f"levels must be {L} values, one per column of joint, got {values.size}.")
        o = probabilities("observation", observation)
        q = probabilities("mediator_observation", mediator_observation)
        try:
            self.observation = np.ascontiguousarray(np.broadcast_to(o, pi.shape))
            self.mediator_observation = np.ascontiguousarray(np.broadcast_to(q, (n, K)))
        except ValueError:
            raise InvalidValue(
                f"observation must broadcast to {pi.shape} and mediator_observation to {(n, K)}, "
                f"got {o.shape} and {q.shape}."
            ) from None
        self.name = name
        self.joint = pi
        self.levels = values
        self.means = np.asarray(pi.sum(axis=1) @ values)
        self.setting = Setting(
            arms=n,
            mediators=K,
            levels=tuple(values),
            minimize=minimize,
            mediator_probabilities=np.minimum(pi.sum(axis=2), 1.0),  # a sum may exceed 1 by rounding
            condition_numbers=condition_numbers(self.seen),
        )
        self.draw, self.draw_missing = draw_level, draw_missing_level
        cells = cell_probabilities(pi, self.observation, self.mediator_observation)
        rows, columns = np.divmod(np.arange((K + 1) * (L + 1)), L + 1)
        self.tables: tuple[Any, ...] = (*cell_tables(cells.reshape(n, -1)), rows, columns)

    @property
    def seen(self) -> FloatArray:
        """Theta_a = P(m, y, Q=1, O=1|a), shape (arms, K, L)."""
        theta: FloatArray = self.joint * self.observation * self.mediator_observation[..., None]
        return theta

    @property
    def observed_shares(self) -> FloatArray:
        """P(O=1|a), how often an outcome is observed, shape (arms,)."""
        shares: FloatArray = (self.joint * self.observation).sum(axis=(1, 2))
        return shares

    @property
    def missing_tables(self) -> tuple[Any, ...]:
        """P(y|m,O=0,a), with m = K for a missing mediator: alias tables of (arms x (K+1), L), and K+1."""
        hidden = self.joint * (1 - self.observation)
        q = self.mediator_observation[..., None]
        weights = np.concatenate([hidden * q, (hidden * (1 - q)).sum(axis=1, keepdims=True)], axis=1)
        n, rows, L = weights.shape
        return (*cell_tables(shares_of(weights).reshape(n * rows, L)), rows)

    def revealed(self) -> DiscreteWorld:
        """The same world with every mediator and outcome seen."""
        return DiscreteWorld(
            self.joint, levels=tuple(self.levels), minimize=self.setting.minimize, name=self.name
        )


@hot
def draw_level(rng: np.random.Generator, arm: int, tables: Any) -> tuple[int, int]:
    """One pull: a cell of the arm's table, whose last row and column mean missing."""
    chances, aliases, rows, columns = tables  # looked up, since a division costs as much as the draw
    cell = draw_cell(rng, arm, chances, aliases)
    return rows[cell], columns[cell]


@hot
def draw_missing_level(rng: np.random.Generator, arm: int, mediator: int, tables: Any) -> int:
    """The outcome behind a missing one."""
    chances, aliases, rows = tables
    return draw_cell(rng, arm * rows + mediator, chances, aliases)


def condition_numbers(theta: FloatArray) -> FloatArray:
    """Infinity-norm condition numbers of Theta_a and of its transpose, shape (arms, 2)."""

    def number(matrix: FloatArray) -> FloatArray:
        inverse = np.linalg.pinv(matrix)
        norms: FloatArray = np.abs(matrix).sum(-1).max(-1) * np.abs(inverse).sum(-1).max(-1)
        return norms

    return np.stack([number(theta), number(np.swapaxes(theta, 1, 2))], axis=1)
