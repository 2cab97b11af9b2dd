"""Worlds with skewed outcomes: a normal one, or with some probability a lognormal jump instead."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from truant.compile import hot
from truant.errors import InvalidValue
from truant.setting import FloatArray, finite, probabilities
from truant.worlds.real import RealWorld, broadcast, mediator_table
from truant.worlds.world import draw_cell

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
def draw_jump(rng: np.random.Generator, arm: int, tables: Any) -> tuple[int, float]:
    """One pull: cells number (mediator, mediator seen, outcome seen) in binary."""
    chances, aliases, jump_chance, jump_median, jump_sigma, base_mean, base_sd = tables
    cell = draw_cell(rng, arm, chances, aliases)
    mediator = cell >> 2
    outcome = np.nan
    if cell & 1:
        cells = (jump_chance, jump_median, jump_sigma, base_mean, base_sd)
        outcome = jump_outcome(rng, arm, mediator, cells)
    if not cell & 2:
        mediator = jump_chance.shape[1]
    return mediator, outcome


@hot
def draw_missing_jump(rng: np.random.Generator, arm: int, mediator: int, tables: Any) -> float:
    """The outcome behind a missing one: O does not depend on it, given the mediator."""
    chances, aliases, jump_chance, jump_median, jump_sigma, base_mean, base_sd = tables
    if mediator == jump_chance.shape[1]:
        mediator = draw_cell(rng, arm, chances, aliases)
    return jump_outcome(rng, arm, mediator, (jump_chance, jump_median, jump_sigma, base_mean, base_sd))


@hot
def jump_outcome(rng: np.random.Generator, arm: int, mediator: int, cells: Any) -> float:
    """A jump, or an outcome without one."""
    jump_chance, jump_median, jump_sigma, base_mean, base_sd = cells
    jumps = rng.random() < jump_chance[arm, mediator]
    noise = rng.standard_normal()
    if jumps:
        return float(jump_median[arm, mediator] * math.exp(jump_sigma[arm, mediator] * noise))
    return float(base_mean[arm, mediator] + base_sd[arm, mediator] * noise)
