"""A function of a user's own that numba cannot compile is refused in one sentence that names it."""

from dataclasses import dataclass

import numba
import numpy as np
import pytest

from truant.assumptions.mcar import Mcar
from truant.compile import hot
from truant.counts import Counts
from truant.errors import InvalidValue
from truant.indices import Index
from truant.lab.simulate import simulate
from truant.policies.decider import Decider
from truant.policies.policy import combine
from truant.setting import Setting


@hot
def two_types(values, z_grid, parameters, memory, t, rng):
    return 1 if t > 3 else "a"


@hot
def inner(values):
    return values.nothing


@hot
def calls_another(values, z_grid, parameters, memory, t, rng):
    return inner(values)


@hot
def few_arguments(values, z_grid):
    return 0


@hot
def imports(values, z_grid, parameters, memory, t, rng):
    import os

    return os.getpid()


@hot
def nothing(values, z_grid, parameters, memory, t, rng):
    pass


def not_marked(values, z_grid, parameters, memory, t, rng):
    return 0


def policy(function):
    @dataclass(frozen=True)
    class Own(Index):
        choose = staticmethod(function)

        def z_grid(self, linear):
            return np.zeros(1)

    return combine(Mcar(), Own(), "own")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (two_types, "choose of MODULE cannot be compiled: Cannot unify "),
        (
            calls_another,
            "choose of MODULE cannot be compiled: Unknown attribute 'nothing' of type array(float64, 2d, C) "
            "(test_complaint.py, line ",
        ),
        (few_arguments, "choose of MODULE cannot be compiled: Cannot bind "),
        (
            imports,
            "a function of MODULE cannot be compiled: Use of unsupported opcode (IMPORT_NAME) found "
            "(test_complaint.py, line ",
        ),
        (nothing, "a function of MODULE cannot be compiled: No implementation of function "),
        (not_marked, "choose of MODULE cannot be compiled: Untyped global name 'choose'"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_one_sentence_with_the_part_and_the_complaint(function, said):
    with pytest.raises(InvalidValue) as refusal:
        simulate("mcar", policy(function), horizon=10, runs=1, progress=False)
    sentence = str(refusal.value)
    module = function.__module__
    assert sentence.startswith("policy 'own' in world 'mcar': " + said.replace("MODULE", module))
    assert "\n" not in sentence
    assert len(sentence) < 400
    assert type(refusal.value.__cause__).__module__ == numba.core.errors.__name__


def test_a_decider_refuses_it_too():
    decider = Decider(policy(two_types), Setting(arms=2), horizon=10)
    counts = Counts.fold(Setting(arms=2), [0, 1] * 9, [0] * 18, [0.0, 1.0] * 9)
    with pytest.raises(InvalidValue, match=r"^choose of .* cannot be compiled: Cannot unify "):
        decider.choose(counts, seed=1)
