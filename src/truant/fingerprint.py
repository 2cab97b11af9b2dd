"""A fingerprint of code: a hash of the source files of all modules that it reaches by imports.

The compile cache, sweeps and studies keep results under it, so that a result is made anew when code that decides it
has changed, and only then. What is found by name at run time (policies, worlds) is no import: whoever keeps a result
of such parts names their modules as roots, too.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

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
    digest = hashlib.sha256()
    for name in modules_reached(*(module_name(root) for root in roots)):
        digest.update(f"{name} {_module_file(name).digest}\n".encode())
    return digest.hexdigest()[:32]


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
        waiting += _module_file(name).imports
    return sorted(found)


def source_file(name: str) -> Path | None:
    """Where the source of a module is; None if there is none."""
    module = sys.modules.get(name)
    if module is not None:
        file = getattr(module, "__file__", None)
        return Path(file) if file and file.endswith(".py") else None
    return _file_of_unloaded(name)


@functools.cache
def _file_of_unloaded(name: str) -> Path | None:
    top, *inner = name.split(".")
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


class ModuleFile(NamedTuple):
    """What is known of a module's source file."""

    digest: str
    imports: list[str]


def _module_file(name: str) -> ModuleFile:
    """The file as it is now: a file that was written since is read again."""
    file = source_file(name)
    try:
        assert file is not None
        status = file.stat()
    except OSError:  # gone since it was loaded: nothing can be known of it
        return ModuleFile("", [])
    return _read_module(name, file, status.st_mtime_ns, status.st_size)


@functools.cache
def _read_module(name: str, file: Path, changed: int, size: int) -> ModuleFile:
    source = file.read_bytes()
    parent = name.rpartition(".")[0]
    package = name if file.name == "__init__.py" else parent
    found = _quick_imports if name.partition(".")[0] == "truant" else _parsed_imports
    imports = found(source.decode("utf-8", errors="replace"), package)
    # the code of a package runs before that of its modules
    return ModuleFile(hashlib.sha256(source).hexdigest(), [*filter(None, [parent]), *imports])


def _parsed_imports(text: str, package: str) -> Iterator[str]:
    """What a module imports."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            skipped.update(id(inner) for part in node.body for inner in ast.walk(part))
        elif isinstance(node, ast.Import) and id(node) not in skipped:
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and id(node) not in skipped:
            origin = _absolute("." * node.level + (node.module or ""), package)
            yield origin
            yield from (f"{origin}.{each.name}" for each in node.names)


def _quick_imports(text: str, package: str) -> Iterator[str]:
    """The same for truant's own files, whose imports are all written alike; 20 times as fast."""
    for module, listed, plain in _IMPORT.findall(_FOR_TYPES.sub("", text)):
        if plain:
            yield from (part.split(" as ")[0].strip() for part in plain.split(","))
            continue
        origin = _absolute(module, package)
        yield origin
        for part in listed.strip("()\n ").split(","):
            imported = part.partition("#")[0].split(" as ")[0].strip()
            if imported.isidentifier():
                yield f"{origin}.{imported}"


def _absolute(module: str, package: str) -> str:
    """The full name of what a relative import names."""
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return module
    base = package.split(".")[: len(package.split(".")) - dots + 1]
    return ".".join([*base, *filter(None, [module.lstrip(".")])])
