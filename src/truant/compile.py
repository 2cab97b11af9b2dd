"""Compiles the core: pure functions on float64 arrays become machine code, kept on disk between processes.

numba's own cache does not notice a change in a function that is called, and never hits for functions that
are passed as arguments. So a compiled entry point is written out as a small module of its own, named by a
fingerprint of all the code that it reaches; its parts are bound as globals, and numba inlines them.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numba.core.errors
import numpy as np
import platformdirs
from numba.core.registry import CPUDispatcher

Function = TypeVar("Function", bound=Callable[..., Any])

# Division by zero gives inf or nan, as in numpy: the code guards where that matters.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


# numba counts references to arrays atomically; in the loop that is most of a round's cost. Code that makes
# no arrays (nor returns them, nor assigns one slice to another) does without.
_LEAN: dict[str, Any] = {**_OPTIONS, "_nrt": False}


def jit(function: Function) -> Function:
    """Mark a function of the compiled core; compiled when first used."""
    return cast(Function, numba.njit(**_OPTIONS)(function))


def lean(function: Function) -> Function:
    """Mark a function that makes no arrays: a loop all of whose parts are lean runs several times as fast."""
    return cast(Function, numba.njit(**_LEAN)(function))


def hot(function: Function) -> Function:
    """Mark a small lean function of the loop's every round: it is inlined."""
    return cast(Function, numba.njit(forceinline=True, **_LEAN)(function))


def link(template: Function, **parts: Any) -> Function:
    """Compile `template` with its global names bound to `parts`, through the disk cache."""
    return cast(Function, _link(template, tuple(sorted(parts.items()))))


@functools.cache
def _link(template: Callable[..., Any], parts: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    bound = {**_plain_globals(template), **dict(parts)}
    reached: dict[int, CPUDispatcher] = {}
    module = _load(cast(FunctionType, template), fingerprint(template, bound, reached))
    function = getattr(module, template.__name__)
    module.__dict__.update(bound)
    all_lean = parts and all(part.targetoptions.get("_nrt") is False for part in reached.values())
    # what numba keeps of code without a module (typed in, or executed from a text) cannot be loaded again
    keep = all(inspect.getmodule(part.py_func) for part in reached.values())
    options = _LEAN if all_lean else _OPTIONS
    return _forgiving(numba.njit(cache=keep, **options)(function), lambda: numba.njit(**options)(function))


def _forgiving(cached: Any, anew: Callable[[], Any]) -> Callable[..., Any]:
    """A compiled function that compiles anew where its copy on disk is damaged, or cannot be written."""
    current = cached

    def call(*arguments: Any) -> Any:
        nonlocal current
        try:
            return current(*arguments)
        except numba.core.errors.NumbaError:
            raise
        except Exception:
            if current is not cached or cached.signatures:  # it ran: the error is its own
                raise
            current = anew()
            return current(*arguments)

    call.__wrapped__ = cached  # type: ignore[attr-defined]
    return call


def entry(function: Function) -> Function:
    """A function of the core that Python calls: linked through the disk cache at its first call."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return link(function)(*arguments)

    return cast(Function, call)


def fingerprint(
    template: Callable[..., Any], bound: dict[str, Any], reached: dict[int, CPUDispatcher] | None = None
) -> str:
    """A name for all the code that a linked template reaches, and for what it was compiled with."""
    digest = hashlib.sha256(f"{sys.version} numba {numba.__version__} numpy {np.__version__}".encode())
    for text in _texts(cast(FunctionType, template), bound, {} if reached is None else reached):
        digest.update(text.encode())
    return digest.hexdigest()[:24]


def _plain_globals(function: Callable[..., Any]) -> dict[str, Any]:
    names = cast(FunctionType, function).__globals__
    return {name: value for name, value in names.items() if not name.startswith("__")}


def _texts(function: FunctionType, names: dict[str, Any], reached: dict[int, CPUDispatcher]) -> Iterator[str]:
    """The code of a function and, through the names it uses, of every compiled function below it."""
    used: list[str] = []
    for code in _codes(function.__code__):
        constants = [c for c in code.co_consts if not isinstance(c, CodeType)]
        yield f"{code.co_name} {code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"
        used.extend(code.co_names)
    yield f"{function.__module__} {function.__defaults__}"  # what numba keeps is loaded through the module
    values = [names.get(name) for name in used]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    for module in [value for value in values if isinstance(value, ModuleType)]:
        values += [vars(module).get(name) for name in used]
    for value in values:
        if isinstance(value, np.ndarray):  # numba takes a global array as a constant, too
            yield f"{value.dtype} {value.shape} {value.tobytes().hex()}"
        elif isinstance(value, int | float | str | tuple | np.generic):
            yield repr(value)
        elif isinstance(value, CPUDispatcher) and id(value) not in reached:
            reached[id(value)] = value
            yield repr(sorted(value.targetoptions.items()))
            below = cast(FunctionType, value.py_func)
            yield from _texts(below, below.__globals__, reached)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _load(template: FunctionType, name: str) -> ModuleType:
    path = cache_folder() / f"{template.__name__}_{name}.py"
    if not path.exists():
        source = textwrap.dedent(inspect.getsource(template))
        source = source[source.index("def ") :]  # decorators are not part of it
        _write("from __future__ import annotations\n\n\n" + source, path)
    spec = importlib.util.spec_from_file_location(f"truant_compiled_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # numba looks it up when it loads what it cached
    spec.loader.exec_module(module)
    return module


def _write(source: str, path: Path) -> None:
    """Write whole or not at all: another process may be writing the same module."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(source)
    os.replace(temporary, path)


_spare: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


@functools.cache
def cache_folder() -> Path:
    """Where compiled modules are kept: $TRUANT_CACHE_DIR, or the user's cache folder."""
    chosen = os.environ.get("TRUANT_CACHE_DIR") or platformdirs.user_cache_dir("truant", appauthor=False)
    folder = Path(chosen) / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:  # a read-only home: compile anew in this process
        _spare.append(tempfile.TemporaryDirectory(prefix="truant-"))
        return Path(_spare[0].name)
