"""Sufficient statistics: all that any estimator ever needs of the pulls.

Real outcomes: per arm and mediator level, with one more row for "mediator missing":
pulls, then the number of observed outcomes and the sums of their first three powers about a fixed centre (so that
outcomes far from zero cost no digits).
Discrete outcomes: per arm the table C[m or missing, y or missing].

Outcomes that were missing first and then followed up stand in a second table of the same layout, if there are any:
its "pulls" are the follow-ups, its "observed" those that were answered, its "missing" those that failed. In the
first table they stay missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from truant.compile import hot
from truant.errors import InvalidValue, counted, quoted
from truant.setting import (
    LARGEST_OUTCOME,
    FloatArray,
    IntArray,
    Setting,
    as_float,
    as_numbers,
    code_column,
    finite,
    is_number,
    needed_setting,
    outcome_column,
)

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


@hot
def ask_real(row: FloatArray, mediator: int) -> None:
    """Note a follow-up in an arm's second table of real counts; it has failed until it is answered."""
    row[mediator, PULLS] += 1.0


@hot
def ask_level(row: FloatArray, mediator: int) -> None:
    """The same in discrete counts."""
    row[mediator, row.shape[1] - 1] += 1.0


@hot
def answer_real(row: FloatArray, mediator: int, outcome: float) -> None:
    """The answer to a follow-up that was noted; `outcome` is about the centre."""
    row[mediator, PULLS] -= 1.0
    record_real(row, mediator, outcome)


@hot
def answer_level(row: FloatArray, mediator: int, level: int) -> None:
    """The same in discrete counts."""
    row[mediator, row.shape[1] - 1] -= 1.0
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
    """The counts of all arms: `table` has shape (arms, K+1, 5) or (arms, K+1, L+1).

    `followed_up` has the same shape and holds the outcomes that were missing and then followed up; None if there are
    none.
    """

    table: FloatArray  # counts of all arms, mediator levels and outcomes
    levels: tuple[float, ...] | None = None  # the values of a discrete outcome; None for real outcomes
    centre: float = 0.0  # what sums of real outcomes are taken about
    followed_up: FloatArray | None = None  # the same for missing outcomes that were followed up

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
        if self.followed_up is not None:
            if not isinstance(self.followed_up, np.ndarray) or self.followed_up.dtype != np.float64:
                self.followed_up = as_numbers("followed_up", self.followed_up)
            if self.followed_up.shape != self.table.shape:
                raise InvalidValue(
                    f"followed_up must have the shape of the table, {self.table.shape}, got {self.followed_up.shape}."
                )

    def __repr__(self) -> str:
        arms, levels = counted(len(self.table), "arm"), counted(self.table.shape[1] - 1, "mediator level")
        asked = "" if self.followed_up is None else f", {counted(int(self.follow_ups.sum()), 'follow-up')}"
        pulls, observed = int(self.pulls.sum()), int(self.observed.sum())
        return f"<Counts: {arms}, {levels}, {counted(pulls, 'pull')}, {observed:,} observed{asked}>"

    @classmethod
    def empty(cls, setting: Setting) -> Counts:
        """No pulls yet."""
        needed_setting(setting)
        width = COLUMNS if setting.levels is None else setting.outcomes + 1
        table = np.zeros((setting.arms, setting.mediators + 1, width))
        return cls(table, setting.levels, setting.centre)

    @classmethod
    def fold(
        cls,
        setting: Setting,
        arms: npt.ArrayLike,
        mediators: npt.ArrayLike,
        outcomes: npt.ArrayLike,
        followed_up: npt.ArrayLike | None = None,
    ) -> Counts:
        """Counts of whole columns: codes from 0 for arms and mediators (-1: missing), outcomes (NaN: missing).

        `followed_up` is true for pulls whose outcome was missing and then followed up: it is then the answer, NaN if
        that failed.
        """
        if followed_up is not None:
            return cls._with_followed_up(setting, arms, mediators, outcomes, followed_up)
        counts = cls.empty(setting)
        counts.extend(arms, mediators, outcomes)
        return counts

    def extend(self, arms: npt.ArrayLike, mediators: npt.ArrayLike, outcomes: npt.ArrayLike) -> None:
        """Add whole columns of pulls, in place, as `fold` reads them; to the last bit as if one by one."""
        self.table = np.ascontiguousarray(self.table)
        places, values = self.terms(arms, mediators, outcomes)
        np.add.at(self.table.reshape(-1), places, values)  # adds in row order, as updating one by one does

    def terms(
        self, arms: npt.ArrayLike, mediators: npt.ArrayLike, outcomes: npt.ArrayLike
    ) -> tuple[IntArray, FloatArray]:
        """What whole columns of pulls add to the flat table: places, and a value for each, in the order of the rows."""
        n, rows, width = self.table.shape
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
        place = (a * rows + m) * width  # of the first column of each pull's cell
        if self.levels is not None:
            return place + self._level_codes(y), np.ones(len(y))
        seen = ~np.isnan(y)
        about = y[seen] - self.centre
        columns = (
            (OBSERVED, np.ones(len(about))),
            (SUM, about),
            (SQUARES, about**2),
            (CUBES, about * about * about),
        )
        places = [place + PULLS, *(place[seen] + column for column, _ in columns)]
        return np.concatenate(places), np.concatenate([np.ones(len(y)), *(values for _, values in columns)])

    def with_arms(self, arms: int) -> Counts:
        """The same counts with further arms, which have no pulls yet, after the others."""

        def padded(table: FloatArray) -> FloatArray:
            return np.concatenate([table, np.zeros((arms - len(table), *table.shape[1:]))])

        return self._with_tables(padded, self.levels, self.centre)

    @classmethod
    def _with_followed_up(
        cls,
        setting: Setting,
        arms: npt.ArrayLike,
        mediators: npt.ArrayLike,
        outcomes: npt.ArrayLike,
        followed_up: npt.ArrayLike,
    ) -> Counts:
        marked, a, m = (np.asarray(column) for column in (followed_up, arms, mediators))
        y = outcome_column(outcomes)
        if marked.dtype != np.bool_ or marked.shape != y.shape:
            raise InvalidValue("followed_up must be true or false for each pull.")
        counts = cls.fold(setting, a, m, np.where(marked, np.nan, y))
        if marked.any():
            counts.followed_up = cls.fold(setting, a[marked], m[marked], y[marked]).table
        return counts

    def update(self, arm: int, mediator: int | None, outcome: float | None) -> None:
        """Add one pull, in place; None means missing."""
        a, m, y = self._place("update takes one pull", arm, mediator, outcome)
        if self.levels is None:
            record_real.py_func(self.table[a], m, y - self.centre)  # type: ignore[attr-defined]
        else:
            record_level.py_func(self.table[a], m, self._level_codes(np.array([y]))[0])  # type: ignore[attr-defined]

    def follow_up(self, arm: int, mediator: int | None, outcome: float | None) -> None:
        """Add the follow-up of a pull that was counted with its outcome missing, in place; None: it failed."""
        a, m, y = self._place("follow_up takes one answer", arm, mediator, outcome)
        if self.missing_by_cell()[a, m] <= self.follow_ups_by_cell()[a, m]:
            place = "with the mediator missing" if mediator is None else f"at mediator level {mediator}"
            raise InvalidValue(f"Arm {a} has no missing outcome {place} that was not followed up yet.")
        if self.followed_up is None:
            self.followed_up = np.zeros_like(self.table)
        row = self.followed_up[a]
        if self.levels is None:
            record_real.py_func(row, m, y - self.centre)  # type: ignore[attr-defined]
        else:
            record_level.py_func(row, m, self._level_codes(np.array([y]))[0])  # type: ignore[attr-defined]

    def _place(
        self, words: str, arm: int, mediator: int | None, outcome: float | None
    ) -> tuple[int, int, float]:
        """Row, column and outcome (NaN: missing) of one pull, checked."""
        n, rows, _ = self.table.shape
        for name, value in (("arm", arm), ("mediator", mediator), ("outcome", outcome)):
            if isinstance(value, Sized) and not isinstance(value, str | bytes):
                raise InvalidValue(f"{words}; {name} must be a single value, got {quoted(value)}.")
        a = code_column("arm", [arm], 0, n)[0]
        m = rows - 1 if mediator is None else code_column("mediator", [mediator], 0, rows - 1)[0]
        y = outcome_column([np.nan if outcome is None else outcome])[0]
        if np.isinf(y):
            raise InvalidValue(f"An outcome must be a finite number or missing, got {outcome}.")
        if np.abs(y) > LARGEST_OUTCOME:
            raise InvalidValue(f"An outcome must be missing or within ±{LARGEST_OUTCOME:g}, got {outcome}.")
        return int(a), int(m), float(y)

    def merge(self, other: Counts) -> Counts:
        """The counts of both parts together."""
        if not isinstance(other, Counts):
            raise InvalidValue(f"Counts are merged with Counts, got {quoted(other)}.")
        if self.table.shape != other.table.shape or self.levels != other.levels:
            raise InvalidValue(
                f"Counts of different layouts cannot be merged: {self.table.shape} with levels {self.levels}, "
                f"{other.table.shape} with levels {other.levels}."
            )
        moved = other.about(self.centre)
        blocks = [block for block in (self.followed_up, moved.followed_up) if block is not None]
        followed_up = sum(blocks[1:], blocks[0].copy()) if blocks else None
        return Counts(self.table + moved.table, self.levels, self.centre, followed_up)

    def about(self, centre: float) -> Counts:
        """The same counts with real sums kept about another centre."""
        if not is_number(centre) or not abs(as_float(centre)) <= LARGEST_OUTCOME:
            raise InvalidValue(f"centre must be a number within ±{LARGEST_OUTCOME:g}, got {quoted(centre)}.")
        if self.levels is not None or centre == self.centre:
            return self
        return self._with_tables(lambda table: shifted(table, self.centre - centre), None, centre)

    def reflected(self) -> Counts:
        """The counts of -Y: what policies see where less is better (`Setting.maximizing`)."""
        if self.levels is None:
            return self._with_tables(_reflected_sums, None, -self.centre)
        levels = tuple(-level for level in reversed(self.levels))
        return self._with_tables(_reflected_levels, levels, -self.centre)

    def real(self) -> Counts:
        """The real layout; of discrete counts, their sums over the levels."""
        if self.levels is None:
            return self
        about = np.asarray(self.levels) - self.centre

        def sums(table: FloatArray) -> FloatArray:
            seen = table[..., :-1]
            columns = [table.sum(-1), seen.sum(-1), seen @ about, seen @ about**2, seen @ about**3]
            return np.stack(columns, axis=-1)

        return self._with_tables(sums, None, self.centre)

    def _with_tables(
        self, change: Callable[[FloatArray], FloatArray], levels: tuple[float, ...] | None, centre: float
    ) -> Counts:
        """Both tables changed in the same way."""
        followed_up = None if self.followed_up is None else change(self.followed_up)
        return Counts(change(self.table), levels, centre, followed_up)

    def of_arms(self, arms: npt.ArrayLike) -> Counts:
        """The counts of some arms, by their numbers."""
        chosen = np.asarray(arms, np.int64)
        return self._with_tables(lambda table: table[chosen], self.levels, self.centre)

    def real_row(self, arm: int) -> FloatArray:
        """The arm's table in the real layout, shape (K+1, columns), without the work for the other arms."""
        return self._real_row(self.table, arm)

    def followed_up_row(self, arm: int) -> FloatArray:
        """The same of the outcomes that were followed up; zeros if there are none."""
        return self._real_row(
            np.zeros_like(self.table) if self.followed_up is None else self.followed_up, arm
        )

    def _real_row(self, table: FloatArray, arm: int) -> FloatArray:
        row: FloatArray = Counts(table[arm : arm + 1], self.levels, self.centre).real().table[0]
        return row

    def without_follow_ups(self) -> Counts:
        """The first table alone."""
        return self if self.followed_up is None else Counts(self.table, self.levels, self.centre)

    def checked(self, setting: Setting) -> Counts:
        """These counts, if they fit the setting and can have come from pulls; or raises InvalidValue."""
        needed_setting(setting)
        if self.levels is not None and self.levels != setting.levels:
            raise InvalidValue(f"Counts have levels {self.levels}, the setting has {setting.levels}.")
        wanted = (setting.arms, setting.mediators + 1, self.table.shape[2])  # the width fits by construction
        if self.table.shape != wanted:
            raise InvalidValue(f"Counts must have shape {wanted} for this setting, got {self.table.shape}.")
        for table in (self.table, self.followed_up):
            if table is not None:
                self._check_numbers(table)
        if self.followed_up is not None and np.any(self.follow_ups_by_cell() > self.missing_by_cell()):
            arm, row = np.argwhere(self.follow_ups_by_cell() > self.missing_by_cell())[0]
            asked, missing = self.follow_ups_by_cell()[arm, row], self.missing_by_cell()[arm, row]
            raise InvalidValue(
                f"Counts must have no more follow-ups than missing outcomes, got {asked:g} of {missing:g} for arm "
                f"{arm}."
            )
        return self

    def _check_numbers(self, table: FloatArray) -> None:
        if not np.isfinite(table).all():
            raise InvalidValue("Counts must be finite, got NaN or an infinite one.")
        numbers = table if self.levels is not None else table[..., : OBSERVED + 1]
        wrong = (numbers < 0) | (numbers != np.floor(numbers))
        if wrong.any():
            raise InvalidValue(f"Counts must be whole numbers of at least 0, got {numbers[wrong][0]:g}.")
        if self.levels is None and np.any(numbers[..., OBSERVED] > numbers[..., PULLS]):
            arm, row = np.argwhere(numbers[..., OBSERVED] > numbers[..., PULLS])[0]
            pulls, observed = numbers[arm, row]
            raise InvalidValue(
                f"Counts must have no more observed outcomes than pulls, got {observed:g} of {pulls:g} for arm {arm}."
            )

    def missing_by_cell(self) -> FloatArray:
        """Outcomes that were missing at first, followed up or not; shape (arms, K+1)."""
        table = self.table
        return table[..., PULLS] - table[..., OBSERVED] if self.levels is None else table[..., -1]

    def follow_ups_by_cell(self) -> FloatArray:
        """Follow-ups, answered or failed; shape (arms, K+1)."""
        if self.followed_up is None:
            return np.zeros(self.table.shape[:2])
        return self.followed_up[..., PULLS] if self.levels is None else self.followed_up.sum(-1)

    @property
    def follow_ups(self) -> IntArray:
        """Follow-ups per arm, answered or failed."""
        return np.asarray(self.follow_ups_by_cell().sum(-1), np.int64)

    @property
    def answered(self) -> IntArray:
        """Follow-ups per arm that brought an outcome."""
        if self.followed_up is None:
            return np.zeros(len(self.table), np.int64)
        block = self.followed_up
        per_row = block[..., OBSERVED] if self.levels is None else block[..., :-1].sum(-1)
        return np.asarray(per_row.sum(-1), np.int64)

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


def shifted(table: FloatArray, shift: Any) -> FloatArray:
    """Real counts of outcomes that are all higher by `shift`, a number or one for each cell."""
    moved = table.copy()
    n, total, squares = (table[..., column] for column in (OBSERVED, SUM, SQUARES))
    moved[..., SUM] += n * shift
    moved[..., SQUARES] += shift * (2 * total + n * shift)
    moved[..., CUBES] += shift * (3 * squares + shift * (3 * total + n * shift))
    return moved


def _reflected_sums(table: FloatArray) -> FloatArray:
    turned = table.copy()
    turned[..., [SUM, CUBES]] *= -1.0
    turned += 0.0  # no negative zeros
    return turned


def _reflected_levels(table: FloatArray) -> FloatArray:
    turned = table.copy()
    turned[..., :-1] = table[..., -2::-1]
    return turned


def needed_counts(value: object) -> Counts:
    """The counts; or raises InvalidValue."""
    if not isinstance(value, Counts):
        raise InvalidValue(f"counts must be Counts, got {quoted(value)}.")
    return value
