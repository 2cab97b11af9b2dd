"""What is known before the first pull: how many arms, which mediator levels, what outcomes can be, which are better.

Columns of pulls (codes of arms and mediators, outcomes) are checked here, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from truant.errors import InvalidValue, quoted

LARGEST = 10**15  # of anything that is counted
LARGEST_OUTCOME = 1e100  # largest magnitude whose cube is finite, with room for sums
LEAST_WIDTH = 1e-100  # of a range of outcomes: smallest whose cube has all its digits
ROUNDINGS = 1e-15  # a range of less, as a share of its larger end, has no room for a number in between

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """What a policy may know of a problem before it starts.

    Parameters
    ----------
    arms : number of arms.
    mediators : number K of mediator levels (1: no mediator).
    levels : the L values of a discrete outcome, increasing; None for real outcomes.
    low, high : range of the outcomes; of `levels` when these are given. Policies allow for an unseen outcome at
        the far end of it, so it must hold for single outcomes where these are skewed or rare; for nearly normal
        outcomes the range of their means will do.
    range_known : low and high hold for outcomes that nobody has seen yet; False: they are those of a sample, and an
        estimate must not rely on them.
    mean_range : range of the means, where it is known to be narrower than that of the outcomes.
    scale : typical spread of an outcome, s_0; half the range unless given.
    minimize : the best arm is the one with the lowest mean: costs, churn, deaths.
    mediator_probabilities : P(M=m|a), shape (arms, K), for those who know it.
    condition_numbers : of P(m, y, seen|a), for the paper's MNAR policies: one per arm, or shape (arms, 2)
        with that of its transpose beside it.
    """

    arms: int
    mediators: int = 1
    levels: tuple[float, ...] | None = None
    low: float = 0.0
    high: float = 1.0
    range_known: bool = True
    mean_range: tuple[float, float] | None = None
    scale: float | None = None
    minimize: bool = False
    mediator_probabilities: FloatArray | None = None
    condition_numbers: FloatArray | None = None

    def __post_init__(self) -> None:
        for name, value in self._checked().items():
            object.__setattr__(self, name, value)  # the one place where a frozen setting is filled

    def _checked(self) -> dict[str, Any]:
        """Every field as it is kept; or raises InvalidValue."""
        arms = whole_number("arms", self.arms, at_least=1)
        mediators = whole_number("K", self.mediators, at_least=1)
        levels = None if self.levels is None else _increasing(self.levels)
        low, high = (self.low, self.high) if levels is None else (levels[0], levels[-1])
        low, high = (float(v) for v in finite("range", (low, high)))
        if not low < high:
            raise InvalidValue(f"The range must have low < high, got low={low:g}, high={high:g}.")
        _check_width(low, high)
        return {
            "arms": arms,
            "mediators": mediators,
            "levels": levels,
            "low": low,
            "high": high,
            "mean_range": None if self.mean_range is None else _within(low, high, self.mean_range),
            "range_known": switch("range_known", self.range_known),
            "minimize": switch("minimize", self.minimize),
            "scale": (high - low) / 2 if self.scale is None else positive_number("scale", self.scale),
            "mediator_probabilities": _mediator_table(self.mediator_probabilities, (arms, mediators)),
            "condition_numbers": _two_per_arm(self.condition_numbers, arms),
        }

    def __repr__(self) -> str:
        """What was set, with the shapes of arrays in place of their numbers."""
        usual = {field.name: field.default for field in fields(self)} | {"scale": (self.high - self.low) / 2}
        if self.levels is not None:
            usual |= {"low": self.levels[0], "high": self.levels[-1]}
        shown = {name: value for name, value in vars(self).items() if value is not usual[name]}
        texts = [
            f"{name}=<array {value.shape[0]} x {value.shape[1]}>"
            if isinstance(value, np.ndarray)
            else f"{name}={quoted(value)}"
            for name, value in shown.items()
            if isinstance(value, np.ndarray) or value != usual[name]
        ]
        return f"Setting({', '.join(texts)})"

    @property
    def centre(self) -> float:
        """The middle of the range of the means: sums are kept about it, thin cells shrink to it."""
        low, high = self.mean_range or (self.low, self.high)
        return (low + high) / 2

    @property
    def half_range(self) -> float:
        """Half the range of the means."""
        low, high = self.mean_range or (self.low, self.high)
        return (high - low) / 2

    def maximizing(self) -> Setting:
        """The same problem with more being better: where less is, every outcome y becomes -y.

        Policies only ever see this one, with counts that were reflected likewise (`Counts.reflected`).
        """
        if not self.minimize:
            return self
        return replace(
            self,
            minimize=False,
            levels=None if self.levels is None else tuple(-level for level in reversed(self.levels)),
            low=-self.high,
            high=-self.low,
            mean_range=None if self.mean_range is None else (-self.mean_range[1], -self.mean_range[0]),
        )

    @property
    def outcome_scale(self) -> float:
        """s_0, as a plain number."""
        assert self.scale is not None
        return self.scale

    @property
    def outcomes(self) -> int:
        """Number L of outcome levels; 0 for real outcomes."""
        return 0 if self.levels is None else len(self.levels)


def _increasing(levels: tuple[float, ...]) -> tuple[float, ...]:
    values = finite("levels", levels)
    if values.ndim != 1 or len(values) < 2 or np.any(np.diff(values) <= 0):
        raise InvalidValue(f"levels must be at least two increasing values, got {quoted(levels)}.")
    return tuple(float(v) for v in values)


def _check_width(low: float, high: float) -> None:
    """Cubes of outcomes must be numbers, neither infinite nor rounded to 0, and the range more than a few roundings."""
    size = max(abs(low), abs(high))
    if size > LARGEST_OUTCOME or high - low < max(LEAST_WIDTH, ROUNDINGS * size):
        raise InvalidValue(
            f"The range must be within ±{LARGEST_OUTCOME:g}, at least {LEAST_WIDTH:g} wide and more than rounding, "
            f"got low={low!r}, high={high!r}; use another unit or subtract a constant."
        )


def _within(low: float, high: float, mean_range: tuple[float, float]) -> tuple[float, float]:
    ends = finite("mean_range", mean_range)
    if ends.shape != (2,) or not low <= ends[0] < ends[1] <= high:
        raise InvalidValue(
            f"mean_range must be two numbers, low < high, within the range of the outcomes from "
            f"{low:g} to {high:g}, got {quoted(mean_range)}."
        )
    return float(ends[0]), float(ends[1])


def _mediator_table(values: npt.ArrayLike | None, shape: tuple[int, int]) -> FloatArray | None:
    """P(M=m|a), a row for each arm, that sums to 1."""
    if values is None:
        return None
    table = probabilities("mediator_probabilities", values)
    if table.shape != shape or not sums_to_one(table, axis=1):
        raise InvalidValue(f"mediator_probabilities must have shape {shape} and rows that sum to 1.")
    return table


def _two_per_arm(values: npt.ArrayLike | None, arms: int) -> FloatArray | None:
    """Condition numbers, shape (arms, 2); one per arm stands for both."""
    if values is None:
        return None
    numbers = finite("condition_numbers", values)
    if numbers.shape == (arms,):
        numbers = np.column_stack([numbers, numbers])
    if numbers.shape != (arms, 2):
        raise InvalidValue(f"condition_numbers must have shape {(arms, 2)}, got {numbers.shape}.")
    return numbers


def needed_setting(value: object) -> Setting:
    """The setting; or raises InvalidValue."""
    if not isinstance(value, Setting):
        raise InvalidValue(f"setting must be a Setting, got {quoted(value)}.")
    return value


def whole_number(name: str, value: object, at_least: int) -> int:
    """The value as an int; or raises InvalidValue."""
    if not is_number(value):
        raise InvalidValue(f"{name} must be a whole number, got {quoted(value)}.")
    size = as_float(value)
    a_float = isinstance(value, float | np.floating)
    got = (
        f"{size:.15g}"
        if a_float or math.isfinite(size)
        else f"a {'negative ' * (size < 0)}number of more than 300 digits"
    )
    whole = float(value).is_integer() if a_float else True
    if not whole or value < at_least:
        raise InvalidValue(f"{name} must be a whole number of at least {at_least}, got {got}.")
    if size > LARGEST:
        raise InvalidValue(f"{name} must be at most {LARGEST:,}, got {got}.")
    return int(value)


def is_number(value: object) -> TypeGuard[int | float | np.integer[Any] | np.floating[Any]]:
    """Whether the value is a real number, of Python or numpy; true and false are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether the value holds several; numpy's array of one number without a shape only seems to."""
    return isinstance(value, Iterable) and getattr(value, "shape", None) != ()


def as_float(value: Any) -> float:
    """The number as a float; infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def positive_number(name: str, value: object, or_zero: bool = False) -> float:
    """The value as a finite float above zero (or at least zero); or raises InvalidValue."""
    size = as_float(value) if is_number(value) else math.nan
    if not math.isfinite(size) or size < 0 or (size == 0 and not or_zero):
        kind = "a number of at least 0" if or_zero else "a positive number"
        raise InvalidValue(f"{name} must be {kind}, got {size if math.isinf(size) else quoted(value)}.")
    return size


def number(name: str, value: object, at_least: float = -math.inf, at_most: float = math.inf) -> float:
    """The value as a finite float within these ends; or raises InvalidValue."""
    if not is_number(value):
        raise InvalidValue(f"{name} must be a number, got {quoted(value)}.")
    size = as_float(value)
    if not math.isfinite(size):
        raise InvalidValue(f"{name} must be a finite number, got {size}.")
    if not at_least <= size <= at_most:
        ends = f"at least {at_least:g}" if at_most == math.inf else f"in [{at_least:g}, {at_most:g}]"
        raise InvalidValue(f"{name} must be {ends}, got {size:g}.")
    return size


def share(name: str, value: object) -> float:
    """The value as a float from 0 to 1; or raises InvalidValue."""
    if not is_number(value) or not 0 <= as_float(value) <= 1:
        raise InvalidValue(f"{name} must be in [0, 1], got {quoted(value)}.")
    return as_float(value)


def switch(name: str, value: object) -> bool:
    """The value as true or false; or raises InvalidValue."""
    if not isinstance(value, bool):
        raise InvalidValue(f"{name} must be true or false, got {quoted(value)}.")
    return value


def finite(name: str, values: npt.ArrayLike) -> FloatArray:
    """The values as a float array without NaN or infinity; or raises InvalidValue."""
    array = as_numbers(name, values)
    if not np.all(np.isfinite(array)):
        raise InvalidValue(f"{name} must be finite, got {quoted(array.tolist())}.")
    return array


def as_numbers(name: str, values: npt.ArrayLike) -> FloatArray:
    """The values as a float array of their own, NaN and infinity among them; or raises InvalidValue."""
    try:
        given = np.asarray(values)
        # numpy would read texts as numbers, and lose masks and imaginary parts
        fit = given.dtype.kind in "biuf" or (given.dtype.kind == "O" and not any(map(_is_text, given.flat)))
        if fit and not np.ma.isMaskedArray(values):
            return np.array(given, dtype=np.float64)  # a copy: what is checked must stay as it was
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise InvalidValue(f"{name} must be finite, got a number too large for one.") from None
    raise InvalidValue(f"{name} must be numbers, got {quoted(values)}.")


def _is_text(value: object) -> bool:
    return isinstance(value, str | bytes)


def sums_to_one(values: FloatArray, axis: int | tuple[int, ...]) -> bool:
    """Whether all sums along the axis are 1, but for rounding (np.allclose costs as much as the rest of a world)."""
    return bool((np.abs(values.sum(axis=axis) - 1.0) <= 1e-6).all())


def probabilities(name: str, values: npt.ArrayLike, positive: bool = False) -> FloatArray:
    """The values as probabilities in [0, 1] (or (0, 1]); or raises InvalidValue."""
    array = finite(name, values)
    lowest_allowed = array > 0 if positive else array >= 0
    if not np.all(lowest_allowed & (array <= 1)):
        interval = "(0, 1]" if positive else "[0, 1]"
        wrong = array[~(lowest_allowed & (array <= 1))].ravel()[0]
        raise InvalidValue(f"{name} must be in {interval}, got {wrong:g}.")
    return array


def outcome_column(outcomes: npt.ArrayLike) -> FloatArray:
    """Outcomes as floats, NaN where they are missing; or raises InvalidValue."""
    column = _column("outcome", outcomes)
    if column.dtype.kind in "mMc":
        raise InvalidValue(f"Outcomes must be numbers or missing, got {column.dtype}.")
    try:
        return np.asarray(outcomes, np.float64)
    except OverflowError:
        return np.array([as_float(value) for value in column.flat]).reshape(column.shape)
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"Outcomes must be numbers or missing: {error}.") from None


def _column(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """The values as an array; a mask would be lost on the way, so a masked array is refused."""
    if np.ma.isMaskedArray(values):
        raise InvalidValue(
            f"{name} must not be a masked array; write its missing values as NaN (mediators: -1)."
        )
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidValue(
            f"{name} must be a plain column of values, got one with rows of its own."
        ) from None


def code_column(name: str, values: npt.ArrayLike, low: int, end: int) -> IntArray:
    """Codes from `low` to below `end`; or raises InvalidValue."""
    array = _column(name, values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InvalidValue(f"{name} codes must be whole numbers, got {array.dtype}.")
    if array.size and (array.min() < low or array.max() >= end):
        raise InvalidValue(
            f"{name} codes must be from {low} to {end - 1}, got {array.min()} to {array.max()}."
        )
    return array.astype(np.int64)
