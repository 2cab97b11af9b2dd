"""A fingerprint of code: a hash of the source files of all modules that it reaches by imports.

The compile cache, sweeps and studies keep results under it, so that a result is made anew when code that decides it
has changed, and only then. What is found by name at run time (policies, worlds) is no import: whoever keeps a result
of such parts names their modules as roots, too.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

# what only type checkers import is not reached
_FOR_TYPES = re.compile(r"^([ \t]*)if TYPE_CHECKING:.*\n(?:\1[ \t]+.*\n|[ \t]*\n)*", re.MULTILINE)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)|import[ \t]+([^\n#]+))", re.MULTILINE
)

Root = str | ModuleType | Callable[..., Any]


def code_fingerprint(*roots: Root) -> str:
    """A name for the source files of all modules that are reached from the roots.

    Parameters
    ----------
    roots : modules, their names, or classes and functions, whose modules are meant. Imports are followed within
        truant and within the roots' own top-level packages.
    """
    return _fingerprint(tuple(sorted({module_name(root) for root in roots})))


def module_name(root: Root) -> str:
    """The name of a module, or of the module in which a class or function was written."""
    if isinstance(root, str):
        return root
    if isinstance(root, ModuleType):
        return root.__name__
    while isinstance(root, functools.partial):
        root = root.func
    return str(root.__module__)


def modules_reached(*names: str) -> list[str]:
    """The modules themselves and all that they import, directly or not, in order of their names."""
    packages = {"truant", *(name.partition(".")[0] for name in names)}
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found or name.partition(".")[0] not in packages or source_file(name) is None:
            continue
        found.add(name)
        waiting += _imports(name)
    return sorted(found)


@functools.cache
def _fingerprint(names: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in modules_reached(*names):
        digest.update(f"{name} {hashlib.sha256(_source(name)).hexdigest()}\n".encode())
    return digest.hexdigest()[:32]


@functools.cache
def source_file(name: str) -> Path | None:
    """Where the source of a module is; None if there is none."""
    top, *inner = name.split(".")
    module = sys.modules.get(name)
    if module is not None:
        file = getattr(module, "__file__", None)
        return Path(file) if file and file.endswith(".py") else None
    package = sys.modules.get(top)
    spec = PathFinder.find_spec(top) if package is None else None
    if not inner:
        return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
    for folder in getattr(package, "__path__", None) or (spec and spec.submodule_search_locations) or []:
        place = Path(folder).joinpath(*inner)
        for candidate in (place.with_suffix(".py"), place / "__init__.py"):
            if candidate.is_file():
                return candidate
    return None


@functools.cache
def _source(name: str) -> bytes:
    file = source_file(name)
    try:
        return file.read_bytes() if file else b""
    except OSError:  # gone, or not to be read: nothing can be known of it
        return b""


def _imports(name: str) -> Iterator[str]:
    """What a module imports, and the packages that it lies in, whose own code runs first."""
    parent, _, _ = name.rpartition(".")
    if parent:
        yield parent
    file = source_file(name)
    package = name if file is not None and file.name == "__init__.py" else parent
    text = _FOR_TYPES.sub("", _source(name).decode("utf-8", errors="replace"))
    for module, listed, plain in _IMPORT.findall(text):
        if plain:
            yield from (part.split(" as ")[0].strip() for part in plain.split(","))
            continue
        origin = _absolute(module, package)
        yield origin
        for part in listed.strip("()\n ").split(","):
            part = part.partition("#")[0].split(" as ")[0].strip()
            if part.isidentifier():
                yield f"{origin}.{part}"


def _absolute(module: str, package: str) -> str:
    """The full name of what a relative import names."""
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return module
    base = package.split(".")[: len(package.split(".")) - dots + 1]
    return ".".join([*base, *filter(None, [module.lstrip(".")])])
