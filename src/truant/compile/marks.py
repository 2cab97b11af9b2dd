"""Marks for functions of the compiled core: how each is compiled where it is called.

Kinds are the types of a heavy function's arguments: `NUMBER(TABLE, VECTOR)` returns a number. What numba does
and truant does not need, a fifth of its time, is left out.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba
from numba import typeof, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import TargetConfig

VECTOR: Any = types.float64[::1]
TABLE: Any = types.float64[:, ::1]
NUMBER: Any = types.float64
WHOLE: Any = types.int64
FLAG: Any = types.boolean
NOTHING: Any = types.void


def kind_of(example: Any) -> Any:
    """The kind of a value, such as a named tuple."""
    return typeof(example)


_hash, _equal = TargetConfig.__hash__, TargetConfig.__eq__


@functools.cache
def _hash_of(kind: Any) -> int:
    return int(_hash(kind()))


def _quick_hash(self: Any) -> int:
    """The same number: numba hashes the names of the options, which are those of the class."""
    return _hash_of(type(self))  # type: ignore[arg-type]


def _quick_equal(self: Any, other: Any) -> Any:
    """The same answer, without looking at every option where both have set the same ones."""
    if self is other or (type(self) is type(other) and self._values == other._values):
        return True
    return _equal(self, other)


@contextmanager
def compiling() -> Iterator[None]:
    """Inside, flags compare fast, and garbage is not collected: numba makes many objects, few of them garbage."""
    with global_compiler_lock:
        before = gc.isenabled(), TargetConfig.__hash__, TargetConfig.__eq__
        gc.disable()
        TargetConfig.__hash__, TargetConfig.__eq__ = _quick_hash, _quick_equal
        try:
            yield
        finally:
            TargetConfig.__hash__, TargetConfig.__eq__ = before[1:]
            if before[0]:
                gc.enable()


Function = TypeVar("Function", bound=Callable[..., Any])

# Division by zero gives inf or nan, as in numpy: the code guards where that matters.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}

# numba counts references to arrays atomically; in the loop that is most of a round's cost. Code that makes
# no arrays (nor returns them, nor assigns one slice to another) does without.
LEAN: dict[str, Any] = {**OPTIONS, "_nrt": False}


class InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is only ever part of other code: numba would optimise it, and make machine code of it, twice."""

    def finalize(self) -> None:
        """Put the code of called functions beside its own; whoever calls it does the rest."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=self._codegen._opt_level, cost="cheap"
        )
        passes.run(self._final_module, builder)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """It has no machine code of its own."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """numba's, but for what would look for machine code."""
        return _WithoutMachineCode(self._codegen)


class _WithoutMachineCode:
    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, env: Any) -> None:
        """Only code that goes back to Python needs it, which the core never does."""


class InnerCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, with an `InnerLibrary` for what it makes."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = InnerLibrary(self.state.targetctx.codegen(), "inner")


INNER: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": InnerCompiler,
}


class Inner(CPUDispatcher):  # type: ignore[misc]
    """A marked function; called from Python it runs as Python, since only compiled code can call its machine code."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function itself."""
        body: Any = getattr(self, "heavy", None)
        function: Any = self if body is None else body.implementation
        return function.py_func(*arguments, **named)


def _inner(function: Function, **options: Any) -> Function:
    marked = numba.njit(**LEAN, **INNER, **options)(function)
    if isinstance(marked, CPUDispatcher):  # not where numba is switched off (NUMBA_DISABLE_JIT)
        marked.__class__ = Inner
    return cast(Function, marked)


def jit(function: Function) -> Function:
    """Mark a function of the compiled core that may make arrays; compiled when first used."""
    return cast(Function, numba.njit(**OPTIONS)(function))


def lean(function: Function) -> Function:
    """Mark a function that makes no arrays: a loop all of whose parts are lean runs several times as fast."""
    return _inner(function)


def hot(function: Function) -> Function:
    """Mark a small lean function of the loop's every round: it is inlined."""
    return _inner(function, forceinline=True)
