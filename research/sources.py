"""The modules in which parts that are found by name are written: results that are kept depend on them, too."""

from __future__ import annotations

from collections.abc import Iterable

from truant import registry
from truant.fingerprint import module_name


def world_modules(*worlds: str) -> set[str]:
    """The modules in which named worlds are written."""
    return {_module("world", _plain_name(world)) for world in worlds}


def assumption_modules(*assumptions: str) -> set[str]:
    """The modules in which assumptions are written."""
    return {_module("assumption", name) for name in assumptions}


def policy_modules(*policies: str) -> set[str]:
    """The modules in which policies are written: their own, or those of the assumption and the index."""
    return {module for policy in policies for module in _policy_modules(_plain_name(policy))}


def _policy_modules(name: str) -> Iterable[str]:
    if name in registry.names("policy"):
        return [_module("policy", name)]
    for index in registry.names("index"):
        assumption = name.removesuffix(f"-{index}")
        if assumption != name and assumption in registry.names("assumption"):
            return [_module("assumption", assumption), _module("index", index)]
    raise ValueError(f"There is no policy {name!r}.")


def _plain_name(spec: str) -> str:
    """The name without its parameters."""
    return spec.partition(":")[0]


def _module(kind: str, name: str) -> str:
    return module_name(registry.find(kind, name).factory)
