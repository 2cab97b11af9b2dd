"""The kinds of arguments that heavy functions take, in numba's types: `NUMBER(TABLE, VECTOR)` returns a number."""

from __future__ import annotations

from typing import Any

from numba import typeof, types

VECTOR: Any = types.float64[::1]
TABLE: Any = types.float64[:, ::1]
NUMBER: Any = types.float64
WHOLE: Any = types.int64
FLAG: Any = types.boolean
NOTHING: Any = types.void


def kind_of(example: Any) -> Any:
    """The kind of a value, such as a named tuple."""
    return typeof(example)
