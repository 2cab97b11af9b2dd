"""Compiled code is named by all the code it reaches, kept between processes, and never stale."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from truant.compile import entry, hot, jit, lean, link
from truant.compile.reach import Reach

SOURCE = """
import numpy as np

import helper_of_test_compile as helper
from truant.compile import hot, jit

SCALE = 3.0
STEPS = (1.0, 2.0)
TABLE = np.array([1.0, 2.0])
WHOLE = np.int64(1)


@hot
def deep(x):
    return x * SCALE + 0.5 + STEPS[1] + TABLE[1] + WHOLE + helper.raised(x) + helper.LIMIT


@jit
def middle(x):
    return deep(x) + 1.0


@hot
def stranger(x):
    return x - 1.0


def make(offset):
    @hot
    def inner(x):
        return x + offset

    return inner


within = make(2.0)


def with_default(x, extra=1.0):
    return part(x) + extra


def template(x):
    return part(x) + within(x)
"""

HELPER = """
from truant.compile import hot

LIMIT = 4.0


@hot
def raised(x):
    return x + 7.0
"""


def load(folder: Path, source: str = SOURCE, helper: str = HELPER):
    """The two modules, as if freshly written and imported in a new process."""
    _module(folder / "helper_of_test_compile.py", helper)
    return _module(folder / "truant_test_parts.py", source)


@pytest.fixture(autouse=True)
def _forget():
    yield
    for name in ("helper_of_test_compile", "truant_test_parts"):
        sys.modules.pop(name, None)


def _module(path: Path, source: str):
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    exec(compile(source, str(path), "exec"), module.__dict__)  # no .pyc in between
    return module


def name_of(module, template: str = "template", part: str = "middle") -> str:
    bound = {**vars(module), "part": getattr(module, part)}
    return Reach.of(getattr(module, template), bound).key()


# Names


def test_the_same_code_keeps_its_name(tmp_path):
    assert name_of(load(tmp_path)) == name_of(load(tmp_path))


def test_a_module_that_is_not_reached_changes_nothing(tmp_path):
    before = name_of(load(tmp_path))
    _module(tmp_path / "bystander_of_test_compile.py", "import truant_test_parts\n")
    assert name_of(load(tmp_path)) == before


def test_code_in_memory_counts_beside_its_file(tmp_path):
    """A file may be edited after it was imported: the new source must not stand for the old code."""
    module = load(tmp_path)
    before = name_of(module)
    (tmp_path / "truant_test_parts.py").write_text(SOURCE.replace("SCALE = 3.0", "SCALE = 30.0"))
    edited = name_of(module)
    assert len({before, edited, name_of(load(tmp_path, SOURCE.replace("SCALE = 3.0", "SCALE = 30.0")))}) == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return part(x) + within(x)", "return part(x) - within(x)"),
        ("return part(x) + within(x)", "return part(x) + part(x)"),
        ("@jit\ndef middle", "@hot\ndef middle"),
        ("return deep(x) + 1.0", "return deep(x) - 1.0"),
        ("return deep(x) + 1.0", "return deep(x) + 1.5"),
        ("SCALE + 0.5", "SCALE - 0.5"),
        ("SCALE + 0.5", "SCALE + 0.25"),
        ("SCALE = 3.0", "SCALE = 4.0"),
        ("SCALE = 3.0", "SCALE = 3"),
        ("STEPS = (1.0, 2.0)", "STEPS = (1.0, 3.0)"),
        ("TABLE = np.array([1.0, 2.0])", "TABLE = np.array([1.0, 3.0])"),
        ("WHOLE = np.int64(1)", "WHOLE = np.int64(2)"),
        ("make(2.0)", "make(3.0)"),
        ("return x + offset", "return x - offset"),
    ],
)
def test_a_change_anywhere_below_gives_a_new_name(tmp_path, old, new):
    """In the template, in what it calls, two levels down; of code, of a global or of an enclosed constant."""
    assert SOURCE.count(old) == 1
    assert name_of(load(tmp_path, SOURCE.replace(old, new))) != name_of(load(tmp_path))


@pytest.mark.parametrize(("old", "new"), [("x + 7.0", "x + 8.0"), ("LIMIT = 4.0", "LIMIT = 5.0")])
def test_a_change_in_another_module_gives_a_new_name(tmp_path, old, new):
    """Reached as helper.raised and helper.LIMIT."""
    assert HELPER.count(old) == 1
    assert name_of(load(tmp_path, helper=HELPER.replace(old, new))) != name_of(load(tmp_path))


def test_defaults_and_parts_are_part_of_the_name(tmp_path):
    base, other = load(tmp_path), load(tmp_path, SOURCE.replace("extra=1.0", "extra=2.0"))
    assert name_of(base, "with_default") != name_of(other, "with_default")
    assert name_of(base, part="middle") != name_of(base, part="stranger")


def test_functions_that_call_each_other_have_a_name(tmp_path):
    source = (
        "from truant.compile import jit\n\n\n@jit\ndef down(x):\n    return 0.0 if x < 0 else down(x - 1.0)\n"
    )
    module = load(tmp_path, source)
    assert len(Reach.of(module.down.py_func, vars(module)).key()) == 24


# Linking in this process


def test_link_binds_parts_and_sees_what_changed(tmp_path):
    """x = 2: deep = 2*3 + .5 + 2 + 2 + 1 + 9 + 4 = 24.5, middle 25.5, template 29.5."""
    first = load(tmp_path)
    assert link(first.template, part=first.middle)(2.0) == 29.5
    assert link(first.template, part=first.stranger)(2.0) == 5.0
    assert link(first.template, part=first.middle) is link(first.template, part=first.middle)
    second = load(tmp_path, SOURCE.replace("SCALE = 3.0", "SCALE = 10.0"))
    assert link(second.template, part=second.middle)(2.0) == 43.5
    assert link(first.template, part=first.middle)(2.0) == 29.5


def total(n):
    result = 0.0
    for i in range(n):
        result += part(i)  # noqa: F821 - bound by link
    return result


@jit
def with_an_array(i):
    pair = np.empty(2)
    pair[:] = i
    return pair.sum()


@lean
def without(i):
    return 2.0 * i


def test_parts_may_make_arrays_if_they_say_so():
    """0 + 2 + ... + 198; a part marked `jit` may make arrays, one marked `lean` need not be slowed by that."""
    assert link(total, part=with_an_array)(100) == 9900.0
    assert link(total, part=without)(100) == 9900.0
    assert link(total, part=with_an_array).__wrapped__.targetoptions.get("_nrt", True)
    assert not link(total, part=without).__wrapped__.targetoptions.get("_nrt", True)


@jit
def half(x):
    return x / 2


@hot
def inverse(x):
    return 1.0 / x


@entry
def halved_inverse(x):
    """Half of 1/x."""
    return half(inverse(x))


def test_marked_functions_run_as_python_where_python_calls_them():
    assert inverse(4.0) == 0.25
    assert without(3) == 6.0


@hot
def refuse_negative(x):
    if x < 0:
        raise ValueError("negative")
    return x


@entry
def refused(x):
    """As it is, if not negative."""
    return refuse_negative(x)


def test_an_error_of_compiled_code_comes_through():
    assert refused(2.0) == 2.0
    with pytest.raises(ValueError, match="negative"):
        refused(-2.0)


def test_an_entry_is_an_ordinary_function():
    assert halved_inverse(4.0) == 0.125
    assert halved_inverse.__name__ == "halved_inverse"
    assert halved_inverse.__doc__ == "Half of 1/x."


def test_division_by_zero_is_infinite_as_in_numpy():
    assert halved_inverse(0.0) == float("inf")


# Between processes

REPORT = """
import json, os, sys
from numba.core import event

compiled = event.RecordingListener()
event.register("numba:compile", compiled)
{body}
count = sum(1 for _, one in compiled.buffer if one.is_start)
from truant.compile.store import cache_folder
print(json.dumps({{"value": value, "compiled": count, "folder": str(cache_folder())}}))
"""

SMALL = """
sys.path.insert(0, sys.argv[1])
import truant_test_parts as parts
from truant.compile import link
value = link(parts.template, part=parts.middle)(2.0)
"""

MOVED = """
import importlib
sys.path.insert(0, sys.argv[1])
import truant_test_parts as parts
from truant.compile import link
value = link(parts.template, part=importlib.import_module(sys.argv[2]).doubled)(2.0)
"""

TYPED_IN = """
sys.path.insert(0, sys.argv[1])
import truant_test_parts as parts
from truant.compile import link
names = {"__name__": "typed_in"}
exec(open(sys.argv[2]).read(), names)
value = link(parts.template, part=names["doubled"])(2.0)
"""

DOUBLED = """
from truant.compile import hot


@hot
def doubled(x):
    return 2.0 * x
"""

COLD = """
from truant.lab.simulate import simulate
value = simulate("mcar:arms=2", "mcar-greedy", horizon=50, runs=1, seed=1, threads=1).regret[0, 0, -1]
"""


@pytest.fixture
def process(forks):
    """Runs a body in a process of its own: the value, how much was compiled, where it is kept."""

    def run(body, cache, *arguments):
        done = forks.run(
            "import warnings; warnings.simplefilter('error')\n" + REPORT.format(body=body),
            *arguments,
            TRUANT_CACHE_DIR=cache,
            PYTHONDONTWRITEBYTECODE=1,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def files(folder: Path) -> dict[str, int]:
    """Every file with the time it was last written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_second_process_compiles_nothing_until_a_callee_changes(process, tmp_path):
    cache, code = tmp_path / "cache", tmp_path / "code"
    code.mkdir()
    load(code)
    first = process(SMALL, cache, str(code))
    assert first["value"] == 29.5
    assert first["compiled"] > 0
    assert first["folder"] == str(cache / "compiled")
    kept = files(cache)
    assert kept
    second = process(SMALL, cache, str(code))
    assert (second["value"], second["compiled"]) == (29.5, 0)
    assert files(cache) == kept
    load(code, SOURCE.replace("SCALE + 0.5", "SCALE + 1.5"))  # two levels below the template
    third = process(SMALL, cache, str(code))
    assert third["value"] == 30.5
    assert third["compiled"] > 0
    load(code)
    fourth = process(SMALL, cache, str(code))  # back to the first: still there
    assert (fourth["value"], fourth["compiled"]) == (29.5, 0)


def test_code_may_move_to_another_module(process, tmp_path):
    """What was kept names the module that it came from: it must not be looked for there."""
    cache = tmp_path / "cache"
    load(tmp_path)
    (tmp_path / "before.py").write_text(DOUBLED)
    assert process(MOVED, cache, str(tmp_path), "before")["value"] == 8.0
    (tmp_path / "before.py").rename(tmp_path / "after.py")
    assert process(MOVED, cache, str(tmp_path), "after")["value"] == 8.0


def test_code_without_a_module_runs_a_second_time(process, tmp_path):
    """As a part that is typed in, or executed from a document."""
    load(tmp_path)
    (tmp_path / "text").write_text(DOUBLED)
    for _ in range(2):
        assert process(TYPED_IN, tmp_path / "cache", str(tmp_path), str(tmp_path / "text"))["value"] == 8.0


def test_a_second_simulation_compiles_nothing(tmp_path):
    """Python starts anew, without any compiled code: the only test that waits for all of a simulation's."""
    environment = {**os.environ, "TRUANT_CACHE_DIR": str(tmp_path)}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-W", "error", "-c", REPORT.format(body=COLD)]
    found, kept = [], []
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
        kept.append(files(tmp_path))
    first, second = found
    assert first["compiled"] > 0
    assert (second["value"], second["compiled"]) == (first["value"], 0)
    assert kept[0] == kept[1] != {}
