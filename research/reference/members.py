"""The public attributes and methods of a class."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from research.reference.docstrings import field_comments, parameters, summary
from research.reference.signatures import call, type_of


class Attribute(NamedTuple):
    """A field or property: its type, and what it means."""

    name: str
    type: str
    words: str
    documented: Any  # the function of a property; None for a field


class Method(NamedTuple):
    """A method, and how it is called."""

    call: str
    function: Callable[..., Any]


def attributes(cls: type) -> list[Attribute]:
    """Fields first, then properties; each once."""
    found = {one.name: one for base in _bases(cls) for one in (*_fields(base), *_properties(base))}
    return sorted(found.values(), key=lambda one: one.documented is not None)


def methods(cls: type) -> list[Method]:
    """Methods; those of the class itself, such as `open`, come first."""
    found: dict[str, Method] = {}
    for base in _bases(cls):
        for name, member in vars(base).items():
            function = getattr(member, "__func__", member)
            if not name.startswith("_") and inspect.isfunction(function):
                bound = not isinstance(member, staticmethod)
                prefix = f"{cls.__name__}." if isinstance(member, classmethod | staticmethod) else ""
                found[name] = Method(call(f"{prefix}{name}", function, bound), function)
    return sorted(found.values(), key=lambda one: not one.call.startswith(f"{cls.__name__}."))


def _bases(cls: type) -> list[type]:
    """The class and the classes of truant that it is made from, the most general first."""
    return [base for base in reversed(cls.__mro__) if base.__module__.startswith("truant")]


def _fields(cls: type) -> Iterator[Attribute]:
    described = field_comments(cls) | parameters(cls)
    for name, annotation in inspect.get_annotations(cls).items():
        if not name.startswith("_") and not str(annotation).startswith("ClassVar"):
            yield Attribute(name, type_of(annotation), _in_python(described.get(name, "")), None)


def _in_python(words: str) -> str:
    """What a field of a document means, said of an attribute, which is always there."""
    return re.sub(r"[;.] (?:only|not) present [^.;]*", "", words, flags=re.IGNORECASE)


def _properties(cls: type) -> Iterator[Attribute]:
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else getattr(member, "func", None)
        if name.startswith("_") or not isinstance(member, property | functools.cached_property):
            continue
        annotation = inspect.signature(function).return_annotation
        yield Attribute(name, type_of(annotation), summary(function), function)
