"""How functions are called, and of what type parameters and attributes are."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

WIDTH = 100


def call(name: str, function: Callable[..., Any], bound: bool = False) -> str:
    """A call with the names of the parameters and their defaults, without types."""
    found = list(inspect.signature(function).parameters.values())
    return f"{name}({', '.join(_parts(found[1:] if bound else found))})"


def wrapped(text: str) -> str:
    """The same over several lines where it is long."""
    if len(text) <= WIDTH:
        return text
    head, _, inner = text.partition("(")
    lines = [""]
    for part in _split(inner.removesuffix(")")):
        if lines[-1] and len(lines[-1]) + len(part) + 6 > WIDTH:
            lines.append("")
        lines[-1] += f"{part}, "
    return "\n".join([f"{head}(", *(f"    {line.rstrip()}" for line in lines), ")"])


def _split(inner: str) -> list[str]:
    """The parameters of a call; a comma within brackets or a text divides nothing."""
    return re.split(r", (?=(?:\*{0,2}\w+(?:=|,|$)|/|\*,))", inner)


def _parts(several: list[inspect.Parameter]) -> list[str]:
    found: list[str] = []
    named_only = False
    for one in several:
        if one.kind is one.KEYWORD_ONLY and not named_only:
            if not any(before.startswith("*") for before in found):
                found.append("*")
            named_only = True
        found.append(_part(one))
    return found


def _part(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    return f"{stars}{one.name}" if one.default is one.empty else f"{one.name}={shown(one.default)}"


def shown(default: Any) -> str:
    """A default as it can be typed; "..." if it cannot."""
    try:
        ast.literal_eval(repr(default))
    except (ValueError, SyntaxError):
        return getattr(default, "__name__", "...")
    return repr(default)


def type_of(annotation: Any) -> str:
    """An annotation as text."""
    if annotation is inspect.Parameter.empty:
        return ""
    annotation = getattr(annotation, "__forward_arg__", annotation)  # as a NamedTuple keeps it
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"\bAnnotated\[(.*), [^\[\]]*\]", r"\1", text)  # what documents have in place of it
    text = re.sub(r"\bSometimes\[(.*)\]", r"\1", text)
    text = re.sub(r"\b(?:npt|pa|pyarrow|alt|os|typing|np)\.", "", text)
    return re.sub(r"\bTime\b", "str", re.sub(r"\bFloatOrNaN\b", "float", text))  # see truant.envelope
