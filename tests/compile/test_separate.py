"""Heavy functions: compiled once, called by name, whatever goes in; and what of numba all this stands on."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from truant.compile import entry, heavy, lean
from truant.compile.marks import FLAG, NOTHING, NUMBER, TABLE, VECTOR, WHOLE, InnerLibrary, kind_of


class Choice(NamedTuple):
    factor: float
    times: int


DOUBLE = Choice(2.0, 3)


@heavy(NUMBER(TABLE, VECTOR, FLAG, kind_of(DOUBLE), WHOLE))
def weighted(table, weights, negative, choice, shift):
    """Sum of table times weights, times the factor; as many times as chosen."""
    total = 0.0
    for _ in range(choice.times):
        for i in range(table.shape[0]):
            for j in range(table.shape[1]):
                total += choice.factor * table[i, j] * weights[j]
    return shift - total if negative else shift + total


@heavy(NOTHING(VECTOR, NUMBER))
def fill_with(vector, value):
    for k in range(len(vector)):
        vector[k] = value


@heavy(NUMBER(VECTOR))
def filled_and_summed(vector):
    """One heavy function calls another."""
    fill_with(vector, 2.0)
    return vector.sum()


@lean
def both(table, weights):
    return weighted(table, weights, False, DOUBLE, 1) + weighted(table, weights, True, DOUBLE, 1)


@entry
def call_both(table, weights):
    return both(table, weights)


@entry
def call_weighted(table, weights, negative, shift):
    return weighted(table, weights, negative, DOUBLE, shift)


@entry
def call_nested(vector):
    return filled_and_summed(vector[1:])


def test_everything_arrives_as_it_was_sent():
    table, weights = np.arange(6.0).reshape(2, 3), np.array([1.0, 10.0, 100.0])
    total = 3 * 2.0 * float((table * weights).sum())
    assert call_weighted(table, weights, False, 5) == 5 + total
    assert call_weighted(table, weights, True, 5) == 5 - total
    assert call_both(table, weights) == 2.0


def test_arrays_are_handed_over_and_not_copied():
    vector = np.zeros(4)
    assert call_nested(vector) == 6.0
    np.testing.assert_array_equal(vector, [0.0, 2.0, 2.0, 2.0])


def test_python_can_call_them_too():
    assert weighted(np.ones((1, 2)), np.ones(2), False, DOUBLE, 0) == 12.0
    assert weighted.__doc__.startswith("Sum of table")


def test_an_array_with_gaps_is_refused():
    """Its rows do not lie one behind the other, which a heavy function takes for granted."""
    with pytest.raises(numba.core.errors.TypingError):
        call_weighted(np.ones((4, 6))[:, ::2], np.ones(3), False, 0)


WHY = (
    "truant relies on parts of numba {version} that numba does not document: {what}. A newer numba has changed them; "
    "raise the ceiling in pyproject.toml only after truant/compile was brought to it."
)


def test_code_without_reference_counting_is_still_to_be_had():
    """`_nrt=False`: else every round of the loop counts references to arrays, and is several times as slow."""

    @numba.njit(_nrt=False)
    def first(x):
        return x[0]

    try:
        first.compile((numba.types.float64[::1],))
        text = next(iter(first.inspect_llvm().values()))
    except Exception as error:
        pytest.fail(WHY.format(version=numba.__version__, what=f"the option _nrt ({error})"))
    body = text[text.index("define") :].split("\n}")[0]
    assert "NRT_incref" not in body, WHY.format(version=numba.__version__, what="the option _nrt")


def test_inner_code_is_compiled_once():
    """Functions that only compiled code calls have no machine code of their own."""
    both.compile(
        (numba.types.float64[:, ::1], numba.types.float64[::1])
    )  # not by a call: what is kept needs none
    overload = next(iter(both.overloads.values()))
    assert isinstance(overload.library, InnerLibrary), WHY.format(
        version=numba.__version__, what="pipeline_class and the library of its state"
    )
    assert issubclass(InnerLibrary, JITCodeLibrary)


def test_the_store_is_what_numba_asks():
    call_both(np.ones((1, 1)), np.ones(1))
    linked = call_both.__wrapped__
    assert linked.__name__ == "call_both"
    from truant.compile import link

    dispatcher = link(linked).__wrapped__
    for name in ("load_overload", "save_overload"):
        assert hasattr(dispatcher._cache, name), WHY.format(
            version=numba.__version__, what="the cache of a dispatcher"
        )
    assert dispatcher.stats.cache_hits or dispatcher.overloads
