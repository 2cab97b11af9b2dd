"""What a section was made from: modules, with all that they import, and files of data; and a fingerprint of these."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from research import ROOT
from truant import registry
from truant.fingerprint import code_fingerprint, module_name


@dataclass
class Sources:
    """Names of modules, and paths of files from the root of the repository; both grow as a section is made."""

    modules: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def add_file(self, path: Path) -> Path:
        """Note a file of data, and give its path back."""
        self.files.add(path.relative_to(ROOT).as_posix())
        return path

    def fingerprint(self) -> str:
        """A hash of the code that is reached and of the files, as they are now."""
        digest = hashlib.sha256(code_fingerprint(*self.modules).encode())
        for file in sorted(self.files):
            path = ROOT / file
            digest.update(f"{file} ".encode() + (path.read_bytes() if path.is_file() else b""))
        return digest.hexdigest()[:12]

    def __str__(self) -> str:
        return " ".join([*sorted(self.modules), *sorted(self.files)])

    @classmethod
    def parse(cls, text: str) -> Sources:
        """What `str` wrote: a file has a slash in its name, a module has none."""
        names = text.split()
        return cls({name for name in names if "/" not in name}, {name for name in names if "/" in name})


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
