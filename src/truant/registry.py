"""Finds parts by name: the built-in modules of each room first, then entry points of other packages.

A module of a room lists what it offers in a dict called `parts`, name -> factory. Another package offers
parts through entry points of the group "truant.<room>".
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from truant.errors import InvalidValue, unknown

ROOMS = {
    "assumption": "truant.assumptions",
    "index": "truant.indices",
    "world": "truant.worlds",
    "policy": "truant.policies",
}

Factory = Callable[..., Any]


@dataclass(frozen=True)
class Part:
    """Something found by name, with the function that builds it."""

    kind: str
    name: str
    factory: Factory

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.factory) or "").split("\n", 1)[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword parameters that can be set, with their defaults."""
        signature = inspect.signature(self.factory)
        return {
            name: parameter.default
            for name, parameter in signature.parameters.items()
            if parameter.default is not inspect.Parameter.empty
        }

    def build(self, *arguments: Any, **parameters: Any) -> Any:
        """Build the part; an unknown parameter is refused by name."""
        for name in parameters:
            if name not in self.parameters:
                raise unknown(f"parameter of {self.kind} {self.name!r}:", name, self.parameters)
        return self.factory(*arguments, **parameters)


def find(kind: str, name: str) -> Part:
    """The part of that name, or an error that names the nearest one."""
    if kind not in ROOMS:
        raise unknown("kind of part", kind, ROOMS)
    built_in = _built_in(kind)
    if name in built_in:
        return Part(kind, name, built_in[name])
    offered = _offered(kind)
    if name in offered:
        return Part(kind, name, _loaded(kind, offered[name]))
    raise unknown(kind, name, names(kind))


def _loaded(kind: str, point: EntryPoint) -> Factory:
    """The factory that another package offers; whatever is wrong with it is said in one sentence."""
    package = point.dist.name if point.dist else "another package"
    try:
        factory: Factory = point.load()
    except Exception as error:
        raise InvalidValue(f"The {kind} {point.name!r} of {package} cannot be loaded: {error}.") from error
    if not callable(factory):
        raise InvalidValue(
            f"The {kind} {point.name!r} of {package} must be a class or function, got {factory!r}."
        )
    return factory


def names(kind: str) -> list[str]:
    """All names of a kind, built-in ones first."""
    built_in = list(_built_in(kind))
    return built_in + [name for name in _offered(kind) if name not in built_in]


@functools.cache
def _built_in(kind: str) -> Mapping[str, Factory]:
    room = importlib.import_module(ROOMS[kind])
    found: dict[str, Factory] = {}
    for info in pkgutil.iter_modules(room.__path__, ROOMS[kind] + "."):
        found.update(getattr(importlib.import_module(info.name), "parts", {}))
    return found


def _offered(kind: str) -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ROOMS[kind])}
