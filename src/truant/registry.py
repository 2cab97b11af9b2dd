"""Finds parts by name: the built-in modules of each room first, then entry points of other packages.

A module of a room lists what it offers in a dict called `parts`, name -> factory. Another package offers
parts through entry points of the group "truant.<room>". Its code is imported only where a part of it is asked for by
name, or where all parts are listed; whatever is wrong with it is said in one sentence that names the package.
Entry points are read without importing what they name.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import pkgutil
import re
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any, TypeVar

from truant.errors import InvalidValue, TruantError, UnknownName, quoted, unknown

_FIT = re.compile(r"[^\W_][\w.-]*")  # no colon, which begins parameters, and nothing that a shell takes apart
FIT_NAME = "letters, digits, '-', '_' and '.', a letter or digit first"


def is_fit(name: str) -> bool:
    """Whether a part can be asked for by this name."""
    return bool(_FIT.fullmatch(name))


def offered_points(group: str) -> tuple[list[EntryPoint], list[str]]:
    """The entry points of a group, and a sentence about each package whose list of them cannot be read."""
    try:
        return list(entry_points(group=group)), []
    except Exception:
        return _one_package_at_a_time(group)


def _one_package_at_a_time(group: str) -> tuple[list[EntryPoint], list[str]]:
    found: dict[tuple[str, str, str], EntryPoint] = {}
    problems = []
    for distribution in distributions():
        try:
            for point in distribution.entry_points.select(group=group):
                found.setdefault((package_of(point), point.name, point.value), point)
        except Exception as error:
            where = getattr(distribution, "_path", "an installed package")
            problems.append(f"The entry points of {where} cannot be read: {said(error)}.")
    return list(found.values()), problems


def package_of(point: EntryPoint) -> str:
    """The name of the package that offers it."""
    try:
        name = point.dist.name if point.dist else None
    except Exception:  # a package without metadata
        name = None
    return name or "another package"


def said(error: BaseException) -> str:
    """What kind of error it is, and the first line of what it says."""
    try:
        text = str(error).strip().partition("\n")[0].rstrip(".:; ")
    except Exception:  # its own text fails
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


ROOMS = {
    "assumption": "truant.assumptions",
    "index": "truant.indices",
    "world": "truant.worlds",
    "policy": "truant.policies",
    "store": "truant.live.store",
}

Factory = Callable[..., Any]
Description = TypeVar("Description")


@dataclass(frozen=True)
class Part:
    """Something found by name, with the function that builds it."""

    kind: str
    name: str
    factory: Factory
    package: str = ""  # that offers it; empty for a built-in one

    @property
    def words(self) -> str:
        """What it is, at the start of a sentence."""
        return f"The {self.kind} {self.name!r}" + (f" of {self.package}" if self.package else "")

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

    @property
    def details(self) -> str:
        """The docstring between its first line and its parameters."""
        text = (inspect.getdoc(self.factory) or "").partition("\n")[2]
        return text.partition("Parameters\n-----")[0].strip()

    @property
    def meanings(self) -> dict[str, str]:
        """What each parameter means, in a sentence; a built-in part need not repeat what most others say of it."""
        said = {} if self.package else general_meanings(self.kind)
        said |= documented_parameters(self.factory)
        return {name: said.get(name, "") for name in self.parameters}

    def build(self, *arguments: Any, **parameters: Any) -> Any:
        """Build the part; an unknown parameter is refused by name."""
        for name in parameters:
            if name not in self.parameters:
                raise self._unknown_parameter(name)
        with _blamed(f"{self.words} cannot be built") if self.package else contextlib.nullcontext():
            built = self.factory(*arguments, **parameters)
        wanted = self.kind.capitalize()
        if not isinstance(built, getattr(importlib.import_module(ROOMS[self.kind]), wanted)):
            article = "an" if wanted[0] in "AI" else "a"
            raise InvalidValue(f"{self.words} must build {article} {wanted}, got {type(built).__name__}.")
        return built

    def _unknown_parameter(self, name: str) -> UnknownName:
        """The error for a parameter that the part does not have; it says what a newcomer's word for it is called."""
        words = _words_of_worlds() if self.kind == "world" else None
        meant = words.SYNONYMS.get(name.lower().replace("-", "_")) if words else None
        if words is None or meant is None:
            return unknown(f"parameter of {self.kind} {self.name!r}:", name, self.parameters)
        if meant not in self.parameters:
            hint = words.FIXED.format(self.name)
        else:
            default = self.parameters[meant]
            takes_range = isinstance(default, tuple) and [type(end) for end in default] == [float, float]
            hint = words.HINTS[meant] + (words.A_RANGE.format(meant) if takes_range else "")
        return UnknownName(
            f"Unknown parameter of {self.kind} {self.name!r}: {quoted(name)}; {hint}. "
            f"Known: {', '.join(sorted(self.parameters))}."
        )


def find(kind: str, name: str) -> Part:
    """The part of that name, or an error that names the nearest one."""
    if kind not in ROOMS:
        raise unknown("kind of part", kind, ROOMS)
    built_in = _built_in(kind)
    if name in built_in:
        return Part(kind, name, built_in[name])
    offered = [point for point in offered_points(ROOMS[kind])[0] if point.name == name]
    if not offered or not is_fit(name):
        raise unknown(kind, name, names(kind))
    if len(offered) > 1:
        packages = " and ".join(sorted(set(map(package_of, offered))))
        raise InvalidValue(f"The {kind} {name!r} is offered more than once, by {packages}; uninstall one.")
    return _loaded(kind, offered[0])


def names(kind: str) -> list[str]:
    """All names of a kind, built-in ones first; nothing of another package is imported."""
    built_in = built_in_names(kind)
    others = (point.name for point in offered_points(ROOMS[kind])[0] if is_fit(point.name))
    return list(dict.fromkeys([*built_in, *others]))


def built_in_names(kind: str) -> list[str]:
    """The names of the parts that truant itself brings."""
    return list(_built_in(kind))


def described(
    kind: str, describe: Callable[[Part], Description], reserved: Iterable[str] = ()
) -> tuple[list[Description], list[str]]:
    """What `describe` says of each part of a kind, and a sentence about each of another package that cannot be used.

    Parameters
    ----------
    kind : "assumption", "index", "world", "policy" or "store".
    describe : called with each part; what it raises is held against the part.
    reserved : further names that mean something built in.
    """
    built_in = _built_in(kind)
    found = [describe(Part(kind, name, factory)) for name, factory in built_in.items()]
    points, problems = offered_points(ROOMS[kind])
    for name, point in {point.name: point for point in points}.items():
        what = f"The {kind} {name!r} of {package_of(point)}"
        if name in {*built_in, *reserved}:
            problems.append(f"{what} is ignored: {name!r} is built in; it needs another name.")
        elif not is_fit(name):
            problems.append(f"{what} cannot be used: a name is {FIT_NAME}.")
        else:
            try:
                with _blamed(f"{what} cannot be used"):
                    found.append(describe(_tried(find(kind, name))))
            except TruantError as error:
                problems.append(str(error))
    return found, problems


def package_at_fault(error: BaseException) -> str | None:
    """The package of a part in whose code an error was raised; None if it was raised elsewhere."""
    points = [point for room in ROOMS.values() for point in offered_points(room)[0]]
    packages = {point.value.partition(":")[0].partition(".")[0]: package_of(point) for point in points}
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__")).partition(".")[0]
        if module in packages and module != "truant":
            return packages[module]
    return None


def general_meanings(kind: str) -> dict[str, str]:
    """What most built-in parts of a kind say of each parameter."""
    said: dict[str, Counter[str]] = {}
    for factory in _built_in(kind).values():
        for name, meaning in documented_parameters(factory).items():
            said.setdefault(name, Counter())[meaning] += 1
    return {name: meanings.most_common(1)[0][0] for name, meanings in said.items()}


def _words_of_worlds() -> Any:
    return importlib.import_module(f"{ROOMS['world']}.meanings")


def documented_parameters(factory: Factory) -> dict[str, str]:
    """What a docstring in the manner of numpydoc says of each parameter, as one line."""
    section = (inspect.getdoc(factory) or "").partition("Parameters\n-----")[2].partition("\n")[2]
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.partition("\n\n")[0].splitlines():
        if not line.startswith(" "):
            listed, _, text = line.partition(" : ")
            names = [name.strip() for name in listed.split(",")]
            found |= dict.fromkeys(names, text.strip())
        else:
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
    return found


@contextmanager
def _blamed(sentence: str) -> Iterator[None]:
    """Whatever the code of another package raises is said in one sentence; what it prints does not get among JSON."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except TruantError:
        raise
    except BaseException as error:  # some packages end a process by errors of their own kind
        if isinstance(error, KeyboardInterrupt) and _from_a_signal(error):
            raise
        raise InvalidValue(f"{sentence}: {said(error)}.") from error


def _from_a_signal(error: KeyboardInterrupt) -> bool:
    """Whether the handler of a signal raised it, which is truant's own, and not the code of a part."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # which leaves no trace
        return True
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith("truant.")


def _tried(part: Part) -> Part:
    """The part, if it can be built; a world takes data or time and a store an address, and they are not tried."""
    if part.kind not in ("world", "store"):
        part.build()
    return part


def _loaded(kind: str, point: EntryPoint) -> Part:
    """What another package offers; whatever is wrong with it is said in one sentence."""
    what = f"The {kind} {point.name!r} of {package_of(point)}"
    with _blamed(f"{what} cannot be loaded"):
        factory: Factory = point.load()
    if not callable(factory):
        raise InvalidValue(f"{what} must be a class or function, got {type(factory).__name__}.")
    part = Part(kind, point.name, factory, package_of(point))
    with _blamed(f"{what} must have parameters that can be read"):
        _ = part.parameters
    return part


@functools.cache
def _built_in(kind: str) -> Mapping[str, Factory]:
    room = importlib.import_module(ROOMS[kind])
    found: dict[str, Factory] = {}
    for info in pkgutil.iter_modules(room.__path__, ROOMS[kind] + "."):
        found.update(getattr(importlib.import_module(info.name), "parts", {}))
    return found
