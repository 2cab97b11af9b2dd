"""Sufficient statistics: all that any estimator ever needs of the pulls.

Real outcomes: per arm and mediator level, with one more row for "mediator missing":
pulls, then a block on the observed outcomes: their number and the sums of their first three powers about a fixed
centre (so that outcomes far from zero cost no digits). Another block of the same four columns could follow.
Discrete outcomes: per arm the table C[m or missing, y or missing].
"""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truant.compile import hot
from truant.errors import InvalidValue
from truant.pull_columns import code_column, outcome_column
from truant.setting import (
    LARGEST_OUTCOME,
    FloatArray,
    IntArray,
    Setting,
    as_float,
    as_numbers,
    finite,
    is_number,
    needed_setting,
)
from truant.text import quoted

PULLS, OBSERVED, SUM, SQUARES, CUBES = range(5)  # columns of the real layout
COLUMNS = 5


@hot
def record_real(row: FloatArray, mediator: int, outcome: float) -> None:
    """Add one pull to an arm's real counts; `outcome` is about the centre, NaN if missing."""
    row[mediator, PULLS] += 1.0
    if not math.isnan(outcome):
        row[mediator, OBSERVED] += 1.0
        row[mediator, SUM] += outcome
        row[mediator, SQUARES] += outcome * outcome
        row[mediator, CUBES] += outcome * outcome * outcome


@hot
def record_level(row: FloatArray, mediator: int, level: int) -> None:
    """Add one pull to an arm's discrete counts; the last row and column mean missing."""
    row[mediator, level] += 1.0


def cell_probabilities(
    joint: FloatArray, observation: FloatArray, mediator_observation: FloatArray
) -> FloatArray:
    """Probability of each cell of the counts, shape (arms, K+1, L+1); linear in each of the three arrays."""
    pi, o, q = np.broadcast_arrays(joint, observation, mediator_observation[..., None])
    n, K, L = pi.shape
    cells = np.empty((n, K + 1, L + 1))
    cells[:, :K, :L] = pi * q * o
    cells[:, :K, L] = (pi * q * (1 - o)).sum(axis=2)
    cells[:, K, :L] = (pi * (1 - q) * o).sum(axis=1)
    cells[:, K, L] = (pi * (1 - q) * (1 - o)).sum(axis=(1, 2))
    return cells


@dataclass(eq=False)
class Counts:
    """The counts of all arms: `table` has shape (arms, K+1, 5) or (arms, K+1, L+1)."""

    table: FloatArray
    levels: tuple[float, ...] | None = None
    centre: float = 0.0

    def __post_init__(self) -> None:
        # the shape alone: counts are made in every estimate; `checked` looks at the numbers
        if not isinstance(self.table, np.ndarray) or self.table.dtype != np.float64:
            self.table = as_numbers("table", self.table)
        if self.levels is not None and not isinstance(self.levels, tuple):
            self.levels = tuple(float(level) for level in finite("levels", self.levels).ravel())
        if not is_number(self.centre) or not math.isfinite(as_float(self.centre)):
            raise InvalidValue(f"centre must be a finite number, got {quoted(self.centre)}.")
        width = COLUMNS if self.levels is None else 1 + len(self.levels)
        if self.table.ndim != 3 or self.table.shape[1] < 2 or self.table.shape[2] != width:
            of = "real outcomes" if self.levels is None else f"levels {quoted(self.levels)}"
            raise InvalidValue(
                f"A table of counts with {of} must have shape (arms, mediator levels + 1, {width}), "
                f"got {self.table.shape}."
            )

    @classmethod
    def empty(cls, setting: Setting) -> Counts:
        """No pulls yet."""
        needed_setting(setting)
        width = COLUMNS if setting.levels is None else setting.outcomes + 1
        table = np.zeros((setting.arms, setting.mediators + 1, width))
        return cls(table, setting.levels, setting.centre)

    @classmethod
    def fold(
        cls, setting: Setting, arms: npt.ArrayLike, mediators: npt.ArrayLike, outcomes: npt.ArrayLike
    ) -> Counts:
        """Counts of whole columns: codes from 0 for arms and mediators (-1: missing), outcomes (NaN: missing)."""
        counts = cls.empty(setting)
        n, rows, width = counts.table.shape
        a = code_column("arm", arms, 0, n)
        m = code_column("mediator", mediators, -1, rows - 1)
        m = np.where(m < 0, rows - 1, m)
        y = outcome_column(outcomes)
        if not a.ndim == 1 or not a.shape == m.shape == y.shape:
            raise InvalidValue(f"Columns must have one length, got {a.size}, {m.size} and {y.size}.")
        if np.any(np.isinf(y)):
            raise InvalidValue("Outcomes must be finite numbers or missing, got an infinite one.")
        if np.any(np.abs(y) > LARGEST_OUTCOME):
            raise InvalidValue(
                f"Outcomes must be missing or within ±{LARGEST_OUTCOME:g}, got one that is not."
            )
        cell = a * rows + m
        if counts.levels is not None:
            flat = np.bincount(cell * width + counts._level_codes(y), minlength=counts.table.size)
            counts.table = flat.astype(np.float64).reshape(counts.table.shape)
            return counts
        seen = ~np.isnan(y)
        about = y[seen] - counts.centre
        # bincount adds in row order, so that folding equals updating one by one to the last bit
        columns = [
            np.bincount(cell, minlength=n * rows),
            np.bincount(cell[seen], minlength=n * rows),
            np.bincount(cell[seen], weights=about, minlength=n * rows),
            np.bincount(cell[seen], weights=about * about, minlength=n * rows),
            np.bincount(cell[seen], weights=about * about * about, minlength=n * rows),
        ]
        counts.table = np.stack(columns, axis=-1).astype(np.float64).reshape(n, rows, COLUMNS)
        return counts

    def update(self, arm: int, mediator: int | None, outcome: float | None) -> None:
        """Add one pull, in place; None means missing."""
        n, rows, _ = self.table.shape
        for name, value in (("arm", arm), ("mediator", mediator), ("outcome", outcome)):
            if isinstance(value, Sized) and not isinstance(value, str | bytes):
                raise InvalidValue(
                    f"update takes one pull; {name} must be a single value, got {quoted(value)}."
                )
        a = code_column("arm", [arm], 0, n)[0]
        m = rows - 1 if mediator is None else code_column("mediator", [mediator], 0, rows - 1)[0]
        y = outcome_column([np.nan if outcome is None else outcome])[0]
        if np.isinf(y):
            raise InvalidValue(f"An outcome must be a finite number or missing, got {outcome}.")
        if np.abs(y) > LARGEST_OUTCOME:
            raise InvalidValue(f"An outcome must be missing or within ±{LARGEST_OUTCOME:g}, got {outcome}.")
        if self.levels is None:
            record_real.py_func(self.table[a], m, y - self.centre)  # type: ignore[attr-defined]
        else:
            record_level.py_func(self.table[a], m, self._level_codes(y[None])[0])  # type: ignore[attr-defined]

    def merge(self, other: Counts) -> Counts:
        """The counts of both parts together."""
        if not isinstance(other, Counts):
            raise InvalidValue(f"Counts are merged with Counts, got {quoted(other)}.")
        if self.table.shape != other.table.shape or self.levels != other.levels:
            raise InvalidValue(
                f"Counts of different layouts cannot be merged: {self.table.shape} with levels {self.levels}, "
                f"{other.table.shape} with levels {other.levels}."
            )
        return Counts(self.table + other.about(self.centre).table, self.levels, self.centre)

    def about(self, centre: float) -> Counts:
        """The same counts with real sums kept about another centre."""
        if not is_number(centre) or not abs(as_float(centre)) <= LARGEST_OUTCOME:
            raise InvalidValue(f"centre must be a number within ±{LARGEST_OUTCOME:g}, got {quoted(centre)}.")
        if self.levels is not None or centre == self.centre:
            return self
        table = self.table.copy()
        shift = self.centre - centre
        n, total, squares = (self.table[..., column] for column in (OBSERVED, SUM, SQUARES))
        table[..., SUM] += n * shift
        table[..., SQUARES] += shift * (2 * total + n * shift)
        table[..., CUBES] += shift * (3 * squares + shift * (3 * total + n * shift))
        return Counts(table, None, centre)

    def reflected(self) -> Counts:
        """The counts of -Y: what policies see where less is better (`Setting.maximizing`)."""
        table = self.table.copy()
        if self.levels is None:
            table[..., [SUM, CUBES]] *= -1.0
            table += 0.0  # no negative zeros
            return Counts(table, None, -self.centre)
        table[..., :-1] = table[..., -2::-1]
        return Counts(table, tuple(-level for level in reversed(self.levels)), -self.centre)

    def real(self) -> Counts:
        """The real layout; of discrete counts, their sums over the levels."""
        if self.levels is None:
            return self
        seen = self.table[..., :-1]
        about = np.asarray(self.levels) - self.centre
        columns = [self.table.sum(-1), seen.sum(-1), seen @ about, seen @ about**2, seen @ about**3]
        return Counts(np.stack(columns, axis=-1), None, self.centre)

    def real_row(self, arm: int) -> FloatArray:
        """The arm's table in the real layout, shape (K+1, columns), without the work for the other arms."""
        row: FloatArray = Counts(self.table[arm : arm + 1], self.levels, self.centre).real().table[0]
        return row

    def checked(self, setting: Setting) -> Counts:
        """These counts, if they fit the setting and can have come from pulls; or raises InvalidValue."""
        needed_setting(setting)
        if self.levels is not None and self.levels != setting.levels:
            raise InvalidValue(f"Counts have levels {self.levels}, the setting has {setting.levels}.")
        wanted = (setting.arms, setting.mediators + 1, self.table.shape[2])  # the width fits by construction
        if self.table.shape != wanted:
            raise InvalidValue(f"Counts must have shape {wanted} for this setting, got {self.table.shape}.")
        if not np.isfinite(self.table).all():
            raise InvalidValue("Counts must be finite, got NaN or an infinite one.")
        numbers = self.table if self.levels is not None else self.table[..., : OBSERVED + 1]
        wrong = (numbers < 0) | (numbers != np.floor(numbers))
        if wrong.any():
            raise InvalidValue(f"Counts must be whole numbers of at least 0, got {numbers[wrong][0]:g}.")
        if self.levels is None and np.any(numbers[..., OBSERVED] > numbers[..., PULLS]):
            arm, row = np.argwhere(numbers[..., OBSERVED] > numbers[..., PULLS])[0]
            pulls, observed = numbers[arm, row]
            raise InvalidValue(
                f"Counts must have no more observed outcomes than pulls, got {observed:g} of {pulls:g} for arm {arm}."
            )
        return self

    @property
    def pulls(self) -> IntArray:
        """Pulls per arm."""
        per_row = self.table[..., PULLS] if self.levels is None else self.table.sum(-1)
        return np.asarray(per_row.sum(-1), np.int64)

    @property
    def observed(self) -> IntArray:
        """Pulls per arm whose outcome was observed."""
        per_row = self.table[..., OBSERVED] if self.levels is None else self.table[..., :-1].sum(-1)
        return np.asarray(per_row.sum(-1), np.int64)

    def _level_codes(self, outcomes: FloatArray) -> IntArray:
        levels = np.asarray(self.levels)
        code = np.searchsorted(levels, outcomes)  # NaN sorts last: the missing column
        exact = np.isnan(outcomes) | (levels[np.minimum(code, len(levels) - 1)] == outcomes)
        if not np.all(exact):
            stray = outcomes[~exact][0]
            raise InvalidValue(f"Outcome {float(stray)!r} is not one of the levels {self.levels}.")
        return code.astype(np.int64)


def needed_counts(value: object) -> Counts:
    """The counts; or raises InvalidValue."""
    if not isinstance(value, Counts):
        raise InvalidValue(f"counts must be Counts, got {quoted(value)}.")
    return value
