"""What a table says of each arm and mediator level, and the world that draws from it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from truant.errors import InvalidValue
from truant.setting import FloatArray, IntArray, finite, probabilities
from truant.worlds.discrete import DiscreteWorld
from truant.worlds.real import RealWorld

ESTIMATED = "estimated"  # as often as in the table

Chances = float | Sequence[Any] | str  # one number, one for each of several cells, or "estimated"


@dataclass(frozen=True, eq=False)
class Replay:
    """A table by its (arm, mediator level) cells: how many rows, and which outcomes were observed.

    Rows whose mediator is missing have no cell; `astray` counts them, so that their shares can be kept.
    """

    arms: tuple[Any, ...]  # names by code
    mediators: tuple[str, ...]
    rows: IntArray  # (arms, K)
    outcomes: tuple[tuple[FloatArray, ...], ...]  # outcomes[arm][level], in the order of the rows
    astray: IntArray  # (arms, 2) rows without a mediator: outcome missing, observed
    levels: tuple[float, ...] | None  # of a discrete outcome
    low: float
    high: float

    def world(
        self, gamma: Chances = ESTIMATED, mediator_gamma: Chances = ESTIMATED, minimize: bool = False
    ) -> RealWorld | DiscreteWorld:
        """The world with these cells; what is missing is as in the table, or as chosen."""
        p = self.rows / self.rows.sum(axis=1, keepdims=True)
        seen = self._gamma(gamma)
        mediator_seen = self._mediator_gamma(mediator_gamma)[:, None]
        world: RealWorld | DiscreteWorld
        if self.levels is None:
            both = np.stack([self._gamma_astray(seen, gamma), seen], axis=1)  # (arms, mediator seen, K)
            world = RealWorld(
                p,
                None,
                both,
                mediator_observation=mediator_seen,
                samples=self._samples(),
                low=self.low,
                high=self.high,
                minimize=minimize,
                name="table",
            )
        else:
            joint = p[..., None] * self._shares(self.levels)
            observation = seen if seen.ndim == 3 else seen[..., None]
            world = DiscreteWorld(
                joint, observation, mediator_seen, levels=self.levels, minimize=minimize, name="table"
            )
        world.arm_names, world.mediator_names = self.arms, self.mediators
        return world

    def _samples(self) -> list[list[FloatArray]]:
        """The outcomes to draw from; a cell that never occurs is never drawn, so its arm's will do."""
        return [[cell if cell.size else np.concatenate(row) for cell in row] for row in self.outcomes]

    def _shares(self, levels: tuple[float, ...]) -> FloatArray:
        """P(y|m,a), shape (arms, K, L); 0 in a cell that never occurs."""
        counts = np.array(
            [
                [np.bincount(np.searchsorted(levels, cell), minlength=len(levels)) for cell in row]
                for row in self.outcomes
            ]
        )
        shares: FloatArray = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)
        return shares

    def _gamma(self, value: Chances) -> FloatArray:
        """P(O=1|m,a), shape (arms, K); of a discrete outcome also P(O=1|m,y,a), shape (arms, K, L)."""
        if isinstance(value, str) and value == ESTIMATED:
            observed = np.array([[cell.size for cell in row] for row in self.outcomes], np.float64)
            return np.where(self.rows > 0, observed / np.maximum(self.rows, 1), 1.0)
        n, K = self.rows.shape
        shapes: list[tuple[int, ...]] = [(n, K)]
        ways = f"gamma must be one number or {n} rows (arms) of {K} (mediator levels)"
        if self.levels is not None:
            shapes.append((n, K, len(self.levels)))
            ways += f", or of {K} x {len(self.levels)} (outcome levels)"
        return _chosen("gamma", value, shapes, ways)

    def _gamma_astray(self, seen: FloatArray, value: Chances) -> FloatArray:
        """P(O=1|m,a) without a mediator: the table's, one for all levels, where it has such rows; else as with it."""
        if not isinstance(value, str):
            return seen
        total = self.astray.sum(axis=1, keepdims=True)
        return np.where(total > 0, self.astray[:, 1:] / np.maximum(total, 1), seen)

    def _mediator_gamma(self, value: Chances) -> FloatArray:
        """P(Q=1|a), shape (arms,)."""
        n = len(self.rows)
        if isinstance(value, str) and value == ESTIMATED:
            placed = self.rows.sum(axis=1)
            share: FloatArray = placed / (placed + self.astray.sum(axis=1))
            return share
        ways = f"mediator_gamma must be one number or {n} (one for each arm)"
        return _chosen("mediator_gamma", value, [(n,)], ways)


def _chosen(name: str, value: Any, shapes: Sequence[tuple[int, ...]], ways: str) -> FloatArray:
    """Chances that were given, in one of these shapes, or a refusal that says in which ways they can be given."""
    if isinstance(value, str):
        raise InvalidValue(f"{name} must be numbers or {ESTIMATED!r}, got {value!r}.")
    if isinstance(value, bool | np.bool_):
        raise InvalidValue(f"{ways}, got {value!r}.")
    chosen = _fitted(finite(name, value), shapes)
    if chosen is None:
        raise InvalidValue(f"{ways}, got {value!r}.")
    return probabilities(name, chosen, positive=True)


def _fitted(values: FloatArray, shapes: Sequence[tuple[int, ...]]) -> FloatArray | None:
    """The values in one of these shapes: one number, all of them in a row, or rows; None if none fits."""
    for shape in shapes:
        if values.size == 1:
            return np.full(shape, values.item())
        if values.shape == (prod(shape),):
            return values.reshape(shape)
        stretches = values.ndim == len(shape) and all(
            have in (1, want) for have, want in zip(values.shape, shape, strict=True)
        )
        if stretches:
            return np.ascontiguousarray(np.broadcast_to(values, shape))
    return None
