"""Links a template with its parts: their functions become its global names, and numba compiles them together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import numba

from truant.compile.compiling import compiling
from truant.compile.complaint import in_one_sentence
from truant.compile.marks import LEAN, OPTIONS, Function
from truant.compile.reach import Reach, copy_of
from truant.compile.store import CompiledCode
from truant.errors import InvalidValue


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
    names = {**written.__globals__, **{name: part for name, _, part in parts}}
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


def entry(function: Function) -> Function:
    """A function of the core that Python calls: linked through the disk cache at its first call."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return link(function)(*arguments)

    return cast(Function, call)
