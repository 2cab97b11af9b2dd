"""Links a template with its parts: their functions become its global names, and numba compiles them together. What
numba says about a function that it cannot compile becomes one sentence.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any, cast

import numba

from truant.compile.marks import LEAN, OPTIONS, Function, compiling, hot, jit
from truant.compile.reach import Reach, copy_of
from truant.compile.store import CompiledCode
from truant.errors import InvalidValue, TruantError, label

_CALLED = re.compile(r"<function (\S+) at 0x")
_PLACE = re.compile(r'(?:File "|Raised from )([^"\n]+?)(?:", line | \()(\d+)')
MOST = 200  # characters of a complaint


class CannotCompile(InvalidValue):
    """A compiled function that numba refuses."""


@contextmanager
def in_one_sentence(template: Any, parts: Mapping[str, Any]) -> Iterator[None]:
    """Whatever numba raises inside is raised as one sentence that names the part; numba's own error is its cause."""
    try:
        yield
    except TruantError:
        raise
    except Exception as error:
        text = str(error)
        raise CannotCompile(
            f"{_names(text, template, parts)} cannot be compiled: {_core(text) or type(error).__name__}{_place(text)}."
        ) from error


def _names(text: str, template: Any, parts: Mapping[str, Any]) -> str:
    """The part that the complaint is about, as far as it says so, and where that is written."""
    called = set(_CALLED.findall(text)) | set(re.findall(r"Untyped global name '(\w+)'", text))
    guilty = {
        f"{name} of {_module(part)}"
        for name, part in parts.items()
        if callable(part) and {name, getattr(part, "__name__", "")} & called
    }
    if not guilty:  # it names a place in the template: any part that is not truant's own may be the cause
        modules = {_module(part) for part in parts.values() if callable(part)}
        guilty = {f"a function of {name}" for name in modules if name.partition(".")[0] != "truant"}
    return " or ".join(sorted(guilty)) or f"{template.__name__} of {template.__module__}"


def _module(part: Any) -> str:
    return str(getattr(getattr(part, "py_func", part), "__module__", "an unknown module"))


def _core(text: str) -> str:
    """The complaint itself: what comes after the steps that failed, up to the first place in the code."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in ")]
    core = lines[0] if lines else ""
    if core.endswith(":") and len(lines) > 1:
        core = f"{core} {lines[1].removeprefix('>>> ')}"
    for further in (" Raised from ", ", defined at "):
        core = core.partition(further)[0]
    return label(core.rstrip(".:; "), MOST)


def _place(text: str) -> str:
    """The first place that is neither numba's nor truant's own, if there is one."""
    places = [(path, line) for path, line in _PLACE.findall(text) if not _is_others(path)]
    return f" ({os.path.basename(places[0][0])}, line {places[0][1]})" if places else ""


def _is_others(path: str) -> bool:
    """Whether a file is numba's or truant's own; numba writes paths from the working folder."""
    import numba

    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = (own, os.path.dirname(os.path.abspath(numba.__file__)))
    return any(os.path.abspath(path).startswith(folder + os.sep) for folder in folders)


def link(template: Function, **parts: Any) -> Function:
    """Compile `template` with its global names bound to `parts`, through the disk cache; or raises InvalidValue."""
    # with their types, since 1 equals True and 1.0
    named = tuple((name, type(parts[name]), parts[name]) for name in sorted(parts))
    with in_one_sentence(template, parts):
        return cast(Function, _link(template, named))


@functools.cache
def _link(template: Callable[..., Any], parts: tuple[tuple[str, type, Any], ...]) -> Callable[..., Any]:
    if numba.config.DISABLE_JIT:
        raise InvalidValue("truant runs compiled code only; unset NUMBA_DISABLE_JIT.")
    written = cast(FunctionType, template)
    names = _bound(written, parts, hot)
    reach = Reach.of(written, names)
    if not reach.lean:
        names = _bound(written, parts, jit)
        reach = Reach.of(written, names)
    options = LEAN if parts and reach.lean else OPTIONS
    symbols = [function.load() for function in reach.heavy]  # code that was kept finds them by name
    key = reach.key(symbols=symbols, **options)
    linked = numba.njit(**options)(copy_of(written, f"{written.__name__}_{key}", names))
    if reach.can_be_kept:
        linked._cache = CompiledCode(f"{written.__name__}_{key}")

    def call(*arguments: Any) -> Any:
        if not linked.overloads:
            with in_one_sentence(written, {name: part for name, _, part in parts}), compiling():
                linked.compile(tuple(linked.typeof_pyval(argument) for argument in arguments))
        return linked(*arguments)

    call.__wrapped__ = linked  # type: ignore[attr-defined]
    return call


def _bound(written: FunctionType, parts: tuple[tuple[str, type, Any], ...], mark: Any) -> dict[str, Any]:
    """The template's global names with the parts, and its steps with the same names."""
    names = {**written.__globals__, **{name: part for name, _, part in parts}}
    for name, value in list(names.items()):
        if getattr(value, "is_step", False):
            names[name] = mark(copy_of(value, value.__name__, names))
    return names


def step(function: Function) -> Function:
    """Mark a function of a template: its global names are bound to the parts, too, and it is inlined."""
    function.is_step = True  # type: ignore[attr-defined]
    return function


def entry(function: Function) -> Function:
    """A function of the core that Python calls: linked through the disk cache at its first call."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return link(function)(*arguments)

    return cast(Function, call)
