"""Sums of floats without rounding, so that adding and taking away in any order gives the same to the last bit.

Every float is a whole multiple of 2**-1074, so that a sum is a whole number of them (an int of Python). It is kept as
the float nearest to it, followed by floats for what is left, if anything is: these add up to it exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from truant.setting import FloatArray, IntArray

BITS = 1074  # of the smallest float, 2**-1074
ONE = 1 << BITS
DIGITS = 53  # of a float, in binary
HALF = 27  # of these, so that a sum of many halves fits into 64 bits
EXPONENTS = 4096  # more than floats have


def exact(values: float | Iterable[float]) -> int:
    """A float, or floats that are added up, as a multiple of the smallest one."""
    total = 0
    for value in values if isinstance(values, Iterable) else (values,):
        numerator, denominator = value.as_integer_ratio()
        total += numerator << (BITS + 1 - denominator.bit_length())
    return total


def as_floats(total: int) -> list[float]:
    """The nearest float, then the nearest to what is left, until nothing is."""
    nearest = total / ONE  # a division of ints is rounded once
    found, left = [nearest], total - exact(nearest)
    while left:
        nearest = left / ONE
        found.append(nearest)
        left -= exact(nearest)
    return found


def exact_sums(places: IntArray, values: FloatArray) -> dict[int, int]:
    """The exact sum of the values of each place."""
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**DIGITS).astype(np.int64)
    keys, which = np.unique(places * EXPONENTS + exponents + EXPONENTS // 2, return_inverse=True)
    high, low = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
    np.add.at(high, which, whole >> HALF)
    np.add.at(low, which, whole & ((1 << HALF) - 1))
    found: dict[int, int] = defaultdict(int)
    for key, upper, lower in zip(keys.tolist(), high.tolist(), low.tolist(), strict=True):
        place, exponent = divmod(key, EXPONENTS)
        shift = exponent - EXPONENTS // 2 - DIGITS + BITS
        mantissa = (upper << HALF) + lower
        found[place] += mantissa << shift if shift >= 0 else mantissa >> -shift  # no bit of it is lost
    return found


Rest = dict[str, list[float]]  # what is left beyond the nearest float, by place


def add_exactly(nearest: FloatArray, rest: Rest, amounts: Mapping[int, int], sign: int = 1) -> None:
    """Add exact amounts to places of an array and of its rest, in place; or take them away."""
    for place, amount in amounts.items():
        before = exact((float(nearest[place]), *rest.pop(str(place), ())))
        nearest[place], *left = as_floats(before + sign * amount)
        if left:
            rest[str(place)] = left


def amounts_of(nearest: FloatArray, rest: Rest) -> dict[int, int]:
    """What an array and its rest hold, exactly, by place."""
    return {
        int(place): exact((float(nearest[place]), *rest.get(str(place), ())))
        for place in np.flatnonzero(nearest)
    }
