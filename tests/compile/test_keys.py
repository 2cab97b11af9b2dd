"""Different code never shares a key, and kept code that calls a heavy function is never run without it."""

from types import ModuleType

import numpy as np
import pytest

from truant.compile import heavy, hot, lean, link
from truant.compile.marks import NUMBER
from truant.compile.reach import Reach
from truant.errors import InvalidValue


@lean
def hundredfold(x):
    return x * 100.0


@lean
def one_more(x):
    return hundredfold(x) + 1.0


def difference(x):
    return a(x) - 3.0 * b(x)  # noqa: F821 - bound by link


def made(first, second):
    @hot
    def inner(x):
        return x if first is None or second is None else x + first / second

    return inner


def key(**parts):
    return Reach.of(difference, {**globals(), **parts}).key()


def test_which_function_is_which_is_part_of_the_key():
    keys = {key(a=one_more, b=hundredfold), key(a=hundredfold, b=one_more), key(a=one_more, b=one_more)}
    assert len(keys) == 3
    assert link(difference, a=one_more, b=hundredfold)(1.0) == -199.0
    assert link(difference, a=one_more, b=one_more)(1.0) == -202.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, 23), (12, 3)),
        ((None, 3), (3, None)),
        ((1, 2), (1.0, 2)),
        ((np.float64(1), 2), (np.int64(1), 2)),
        (((1, 2), 3), ((1,), (2, 3))),
        ((np.arange(2000), 0), (np.append(np.arange(1999), 0), 0)),
        (((np.arange(2000),), 0), ((np.append(np.arange(1999), 0),), 0)),
    ],
)
def test_enclosed_values_are_told_apart(one, other):
    assert key(a=made(*one), b=hundredfold) != key(a=made(*other), b=hundredfold)


def test_a_part_of_another_type_is_another_part():
    def power(x):
        return x**n  # noqa: F821 - bound by link

    assert link(power, n=2)(3) == 9
    assert isinstance(link(power, n=2.0)(3), float)


def test_functions_in_modules_of_modules_are_reached():
    outer, inner = ModuleType("outer"), ModuleType("inner")
    outer.inner, inner.function = inner, hundredfold

    def template(x):
        return outer.inner.function(x)

    names = {"outer": outer}
    assert hundredfold in Reach.of(template, names).functions


def test_a_heavy_function_that_raises_is_refused():
    @heavy(NUMBER(NUMBER))
    def refuse(x):
        if x < 0:
            raise ValueError("negative")
        return x

    def template(x):
        return refuse(x)

    with pytest.raises(InvalidValue, match=r"cannot be compiled: The heavy function .refuse. raises"):
        link(template, refuse=refuse)


PARTS = """
from truant.compile import heavy, link
from truant.errors import InvalidValue
from truant.compile.marks import NUMBER


@heavy(NUMBER(NUMBER))
def h(x):
    return x + 1.0


def first(x):
    return h(x) * 2.0


def second(x):
    return h(x) * 3.0
"""
EDITED = """
import sys, pathlib
sys.path.insert(0, sys.argv[1])
import parts_of_test_keys as parts
from truant.compile import link
print(link(parts.first)(1.0))
if len(sys.argv) > 2:
    path = pathlib.Path(parts.__file__)
    path.write_text(path.read_text() + "# edited while it was loaded")
print(link(parts.second)(1.0))
"""


def test_code_that_was_kept_while_its_file_was_edited_does_no_harm(forks, tmp_path):
    """It may name a heavy function under a name that no later process gives it."""
    (tmp_path / "parts_of_test_keys.py").write_text(PARTS)
    names = {"TRUANT_CACHE_DIR": tmp_path / "cache", "PYTHONDONTWRITEBYTECODE": 1}
    for more in (["edit"], [], []):
        done = forks.run(EDITED, tmp_path, *more, **names)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["4.0", "6.0"]


def test_texts_are_not_run_together():
    assert Reach(texts=["ab", "c"]).key() != Reach(texts=["a", "bc"]).key()
