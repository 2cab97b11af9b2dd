"""Worlds with real outcomes: normal around each (arm, mediator) mean, drawn from given samples, or with jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from truant.compile import hot
from truant.errors import InvalidValue, quoted
from truant.setting import LARGEST_OUTCOME, FloatArray, IntArray, Setting, finite, probabilities, sums_to_one
from truant.worlds.world import World, cell_tables, draw_cell, shares_of


class RealWorld(World):
    """A world from arrays: O depends on the arm, the mediator and whether the mediator is seen, never on Y.

    Parameters
    ----------
    mediator_probabilities : P(M=m|a), shape (arms, K).
    outcome_means : E[Y|m,a], shape (arms, K); None with `samples`.
    observation : P(O=1|m,a) where the mediator is seen, in (0, 1], broadcast to (arms, K). Or shape (arms, 2, K), with
        `observation_without_mediator` in front.
    observation_without_mediator : P(O=1|m,a) where the mediator is missing, broadcast to (arms, K); may be 0. The same
        as `observation` unless given.
    outcome_sd : standard deviation of Y given m, a; a number or shape (arms, K).
    mediator_observation : P(Q=1|m,a), a number or broadcast to (arms, K).
    samples : instead of normal outcomes, samples[a][m] is an array to draw from; means and standard
        deviations are then its own.
    low, high : range that a policy is told. Unless given: with `samples` their own least and greatest; else
        [0, 1], or that of the means if some are outside.
    scale : typical spread of an outcome that a policy is told; the true one unless given.
    minimize : the best arm is the one with the lowest mean.
    """

    def __init__(
        self,
        mediator_probabilities: npt.ArrayLike,
        outcome_means: npt.ArrayLike | None,
        observation: npt.ArrayLike = 1.0,
        *,
        outcome_sd: npt.ArrayLike = 1.0,
        mediator_observation: npt.ArrayLike = 1.0,
        observation_without_mediator: npt.ArrayLike | None = None,
        samples: Sequence[Sequence[npt.ArrayLike]] | None = None,
        low: float | None = None,
        high: float | None = None,
        scale: float | None = None,
        minimize: bool = False,
        name: str = "own arrays",
    ) -> None:
        p = mediator_table(mediator_probabilities)
        shape = n, K = p.shape
        if samples is not None:
            samples = _cells(samples, shape)
            outcome_means = [[cell.mean() for cell in row] for row in samples]
            outcome_sd = [[cell.std() for cell in row] for row in samples]
        elif outcome_means is None:
            raise InvalidValue("A world needs outcome_means or samples, got neither.")
        seen = probabilities("observation", observation)
        if seen.ndim == 3:
            unseen, seen = np.moveaxis(broadcast("observation", seen, (n, 2, K)), 1, 0)
        elif observation_without_mediator is None:
            unseen = seen
        else:
            unseen = probabilities("observation_without_mediator", observation_without_mediator)
        # without its mediator an outcome may never be seen; with it, each level must have a chance
        probabilities("observation", seen, positive=True)
        self.name = name
        self.mediator_probabilities = p
        self.outcome_means = broadcast("outcome_means", finite("outcome_means", outcome_means), shape)
        self.observation = broadcast("observation", seen, shape)
        self.observation_without_mediator = broadcast("observation_without_mediator", unseen, shape)
        self.outcome_sd = broadcast("outcome_sd", finite("outcome_sd", outcome_sd), shape)
        if np.any(self.outcome_sd < 0):
            raise InvalidValue(f"outcome_sd must not be negative, got {self.outcome_sd.min():g}.")
        if np.any(self.outcome_sd > LARGEST_OUTCOME):
            raise InvalidValue(
                f"outcome_sd must be at most {LARGEST_OUTCOME:g}, got {self.outcome_sd.max():g}; use another unit."
            )
        q = probabilities("mediator_observation", mediator_observation)
        self.mediator_observation = broadcast("mediator_observation", q, shape)
        self.samples = samples
        if scale is None:
            scale = _spread(p, self.outcome_means, self.outcome_sd)
        low, high = _range(self.outcome_means, low, high, samples)
        self.setting = Setting(
            arms=n,
            mediators=K,
            low=low,
            high=high,
            scale=scale,
            minimize=minimize,
            mediator_probabilities=p,
        )
        self.means = np.asarray((p * self.outcome_means).sum(axis=1))
        self._set_draw()

    def _cell_tables(self) -> tuple[FloatArray, IntArray]:
        """Alias tables of the cells (mediator, mediator seen, outcome seen), a row per arm."""
        p, q = self.mediator_probabilities, self.mediator_observation
        cells = np.empty((*p.shape, 2, 2))  # (arm, mediator, mediator seen, outcome seen)
        for seen, chance, o in ((0, 1 - q, self.observation_without_mediator), (1, q, self.observation)):
            cells[:, :, seen, 1] = p * chance * o
            cells[:, :, seen, 0] = p * chance * (1 - o)
        return cell_tables(cells.reshape(len(p), -1))

    def _set_draw(self) -> None:
        if self.samples is None:
            self.draw, self.draw_missing = draw_normal, draw_missing_normal
            self._outcome_tables: tuple[Any, ...] = (self.outcome_means, self.outcome_sd)
        else:
            self.draw, self.draw_missing = draw_sample, draw_missing_sample
            self._outcome_tables = _pack(self.samples)
        self.tables: tuple[Any, ...] = (*self._cell_tables(), *self._outcome_tables)

    @property
    def observed_shares(self) -> FloatArray:
        """P(O=1|a), how often an outcome is observed, shape (arms,)."""
        p, q = self.mediator_probabilities, self.mediator_observation
        shares: FloatArray = (p * (q * self.observation + (1 - q) * self.observation_without_mediator)).sum(
            axis=1
        )
        return shares

    @property
    def missing_tables(self) -> tuple[Any, ...]:
        """Which mediator is behind a missing one if the outcome is missing, too; and the outcomes."""
        p, q = self.mediator_probabilities, self.mediator_observation
        hidden = shares_of(p * (1 - q) * (1 - self.observation_without_mediator))
        return (*cell_tables(hidden), *self._outcome_tables)

    def revealed(self) -> RealWorld:
        """The same world with every mediator and outcome seen."""
        return RealWorld(
            self.mediator_probabilities,
            self.outcome_means,
            outcome_sd=self.outcome_sd,
            samples=self.samples,
            low=self.setting.low,
            high=self.setting.high,
            scale=self.setting.scale,
            minimize=self.setting.minimize,
            name=self.name,
        )


def drawing(outcome_of: Callable[..., float]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`draw` and `draw_missing` of a world whose outcomes `outcome_of(rng, arm, mediator, cells)` draws.

    `cells` are the tables behind the alias tables; the first of them has a column for each mediator level.
    """

    @hot
    def draw(rng: np.random.Generator, arm: int, tables: Any) -> tuple[int, float]:
        # a cell's number is (mediator, mediator seen, outcome seen) in binary
        cell = draw_cell(rng, arm, tables[0], tables[1])
        mediator = cell >> 2
        outcome = np.nan
        if cell & 1:
            outcome = outcome_of(rng, arm, mediator, tables[2:])
        if not cell & 2:
            mediator = tables[2].shape[1]
        return mediator, outcome

    @hot
    def draw_missing(rng: np.random.Generator, arm: int, mediator: int, tables: Any) -> float:
        # given the mediator, whether an outcome is missing does not depend on it
        if mediator == tables[2].shape[1]:
            mediator = draw_cell(rng, arm, tables[0], tables[1])
        return outcome_of(rng, arm, mediator, tables[2:])

    return draw, draw_missing


@hot
def normal_outcome(rng: np.random.Generator, arm: int, mediator: int, cells: Any) -> float:
    """A normal outcome of a cell."""
    means, sds = cells
    return float(means[arm, mediator] + sds[arm, mediator] * rng.standard_normal())


@hot
def sampled_outcome(rng: np.random.Generator, arm: int, mediator: int, cells: Any) -> float:
    """One of the samples of a cell."""
    starts, sizes, values = cells
    return float(values[starts[arm, mediator] + int(rng.random() * sizes[arm, mediator])])


draw_normal, draw_missing_normal = drawing(normal_outcome)
draw_sample, draw_missing_sample = drawing(sampled_outcome)


def _range(
    means: FloatArray,
    low: float | None,
    high: float | None,
    samples: Sequence[Sequence[npt.ArrayLike]] | None,
) -> tuple[float, float]:
    """The range that policies are told: as given, else that of the samples, else [0, 1] or that of the means."""
    least, most = float(means.min(initial=np.inf)), float(means.max(initial=-np.inf))
    if samples is None:
        bottom, top = (0.0, 1.0) if least >= 0 and most <= 1 else (least, most)
    else:  # by rounding, the mean of equal samples can lie outside them
        bottom = min(least, *(float(np.min(cell)) for row in samples for cell in row))
        top = max(most, *(float(np.max(cell)) for row in samples for cell in row))
    low = bottom if low is None else low
    high = max(top, bottom + 1e-9 * max(1.0, abs(bottom))) if high is None else high
    bottom, top = (float(end) for end in finite("range", (low, high)))
    if least < bottom or most > top:
        raise InvalidValue(
            f"The means must be in the range from low={bottom:g} to high={top:g}, got {least:g} to {most:g}."
        )
    return bottom, top


def _spread(p: FloatArray, means: FloatArray, sd: FloatArray) -> float | None:
    """The typical standard deviation of an outcome, within and between mediator levels; None if it has none."""
    between = means - (p * means).sum(axis=1, keepdims=True)
    return float(np.sqrt(np.mean((p * (sd**2 + between**2)).sum(axis=1)))) or None


def mediator_table(values: npt.ArrayLike) -> FloatArray:
    """P(M=m|a), shape (arms, K), checked."""
    p = probabilities("mediator_probabilities", values)
    if p.ndim != 2 or not sums_to_one(p, axis=1):
        raise InvalidValue("mediator_probabilities must have shape (arms, K) and rows that sum to 1.")
    return p


def broadcast(name: str, values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """The values in that shape; or raises InvalidValue."""
    try:
        return np.ascontiguousarray(np.broadcast_to(values, shape), dtype=np.float64)
    except ValueError:
        raise InvalidValue(f"{name} must have shape {shape}, got {values.shape}.") from None


def _cells(samples: Sequence[Sequence[npt.ArrayLike]], shape: tuple[int, int]) -> list[list[FloatArray]]:
    try:
        given = [list(row) for row in samples]
    except TypeError:
        raise InvalidValue(
            f"samples must be rows (arms) of arrays (mediator levels), got {quoted(samples)}."
        ) from None
    cells = [[finite("samples", cell).ravel() for cell in row] for row in given]
    sizes = [[cell.size for cell in row] for row in cells]
    if len(cells) != shape[0] or any(len(row) != shape[1] or 0 in row for row in sizes):
        raise InvalidValue(f"samples must have a non-empty array for each of {shape} (arm, mediator) cells.")
    return cells


def _pack(cells: Sequence[Sequence[FloatArray]]) -> tuple[IntArray, IntArray, FloatArray]:
    """All samples in one array: where each (arm, mediator) cell starts, its size, the values."""
    sizes = np.array([[cell.size for cell in row] for row in cells], np.int64)
    starts = (np.cumsum(sizes.ravel()) - sizes.ravel()).reshape(sizes.shape)
    return starts, sizes, np.concatenate([cell for row in cells for cell in row])


BEYOND = 1e-4  # probability that an outcome lies beyond either end of the range told, at most


class SkewedWorld(RealWorld):
    """A world from arrays whose outcomes jump: revenue after a conversion, a jackpot, a heavy tail.

    Given arm a and mediator m, with Z standard normal, the outcome is jump_median * exp(jump_sigma * Z) with
    probability jump_chance, else base_mean + base_sd * Z. `outcome_means` and `outcome_sd` are exact.

    Parameters
    ----------
    mediator_probabilities : P(M=m|a), shape (arms, K).
    jump_chance : probability of a jump given m, a; broadcast to (arms, K), as the next four are.
    jump_median : median of a jump, positive.
    jump_sigma : standard deviation of the logarithm of a jump; 0: every jump equals its median.
    base_mean, base_sd : mean and standard deviation of an outcome without a jump.
    observation, mediator_observation : as in `RealWorld`.
    low, high : range of the outcomes that a policy is told; unless given, an outcome of any arm lies below it
        with probability at most 1e-4, and above it likewise.
    scale : typical spread of an outcome that a policy is told; the true one unless given.
    minimize : the best arm is the one with the lowest mean.
    """

    def __init__(
        self,
        mediator_probabilities: npt.ArrayLike,
        jump_chance: npt.ArrayLike,
        jump_median: npt.ArrayLike,
        *,
        jump_sigma: npt.ArrayLike = 0.0,
        base_mean: npt.ArrayLike = 0.0,
        base_sd: npt.ArrayLike = 0.0,
        observation: npt.ArrayLike = 1.0,
        mediator_observation: npt.ArrayLike = 1.0,
        low: float | None = None,
        high: float | None = None,
        scale: float | None = None,
        minimize: bool = False,
        name: str = "own arrays",
    ) -> None:
        p = mediator_table(mediator_probabilities)
        self.jump_chance = broadcast("jump_chance", probabilities("jump_chance", jump_chance), p.shape)
        self.jump_median = broadcast("jump_median", finite("jump_median", jump_median), p.shape)
        self.jump_sigma = broadcast("jump_sigma", finite("jump_sigma", jump_sigma), p.shape)
        self.base_mean = broadcast("base_mean", finite("base_mean", base_mean), p.shape)
        self.base_sd = broadcast("base_sd", finite("base_sd", base_sd), p.shape)
        if np.any(self.jump_median <= 0):
            raise InvalidValue(f"jump_median must be positive, got {self.jump_median.min():g}.")
        for what, spread in (("jump_sigma", self.jump_sigma), ("base_sd", self.base_sd)):
            if np.any(spread < 0):
                raise InvalidValue(f"{what} must not be negative, got {spread.min():g}.")
        means, sds = self._moments()
        bottom, top = self._outcome_range(p, means)
        super().__init__(
            p,
            means,
            observation,
            outcome_sd=sds,
            mediator_observation=mediator_observation,
            low=bottom if low is None else low,
            high=top if high is None else high,
            scale=scale,
            minimize=minimize,
            name=name,
        )

    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the outcome in each cell."""
        chance, variance = self.jump_chance, self.jump_sigma**2
        jump = self.jump_median * np.exp(variance / 2)
        means = chance * jump + (1 - chance) * self.base_mean
        within = chance * jump**2 * np.expm1(variance) + (1 - chance) * self.base_sd**2
        between = chance * (1 - chance) * (jump - self.base_mean) ** 2
        return means, np.sqrt(within + between)

    def _outcome_range(self, p: FloatArray, means: FloatArray) -> tuple[float, float]:
        """A range that an outcome leaves at either end with probability at most `BEYOND`, in every arm.

        An arm jumps with probability c = sum_m P(m|a) jump_chance. The range holds the quantiles t and 1 - t of
        its jumps, t = BEYOND / 2c, and those of its other outcomes, with 1 - c in place of c; if t > 1/2, such
        outcomes are rare enough to be left out. It also holds the mean of each cell.
        """
        from scipy.special import ndtri  # slow to import, and of no use to other worlds

        jumping = p * self.jump_chance
        ends = [means.min(), means.max()]
        for weight, jumps in ((jumping, True), (p - jumping, False)):
            tail = BEYOND / 2 / np.maximum(weight.sum(axis=1, keepdims=True), BEYOND / 2)
            z = -ndtri(np.minimum(tail, 0.5))
            counts = (weight > 0) & (tail <= 0.5)
            for side in (-z, z):
                normal = self.base_mean + side * self.base_sd
                values = self.jump_median * np.exp(side * self.jump_sigma) if jumps else normal
                ends.extend(values[counts])
        return float(min(ends)), float(max(ends))

    def _set_draw(self) -> None:
        self.draw, self.draw_missing = draw_jump, draw_missing_jump
        self._outcome_tables = (
            self.jump_chance,
            self.jump_median,
            self.jump_sigma,
            self.base_mean,
            self.base_sd,
        )
        self.tables: tuple[Any, ...] = (*self._cell_tables(), *self._outcome_tables)

    def revealed(self) -> SkewedWorld:
        """The same world with every mediator and outcome seen."""
        return SkewedWorld(
            self.mediator_probabilities,
            self.jump_chance,
            self.jump_median,
            jump_sigma=self.jump_sigma,
            base_mean=self.base_mean,
            base_sd=self.base_sd,
            low=self.setting.low,
            high=self.setting.high,
            scale=self.setting.scale,
            minimize=self.setting.minimize,
            name=self.name,
        )


@hot
def jump_outcome(rng: np.random.Generator, arm: int, mediator: int, cells: Any) -> float:
    """A jump, or an outcome without one."""
    jump_chance, jump_median, jump_sigma, base_mean, base_sd = cells
    jumps = rng.random() < jump_chance[arm, mediator]
    noise = rng.standard_normal()
    if jumps:
        return float(jump_median[arm, mediator] * math.exp(jump_sigma[arm, mediator] * noise))
    return float(base_mean[arm, mediator] + base_sd[arm, mediator] * noise)


draw_jump, draw_missing_jump = drawing(jump_outcome)
