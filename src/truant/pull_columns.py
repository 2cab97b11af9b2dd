"""Columns of pulls, checked: codes of arms and mediators, and outcomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from truant.errors import InvalidValue
from truant.setting import FloatArray, IntArray, as_float


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
