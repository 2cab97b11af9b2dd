"""What numba says about a function that it cannot compile, in one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from truant.errors import InvalidValue, TruantError
from truant.text import label

_CALLED = re.compile(r"<function (\S+) at 0x")
_PLACE = re.compile(r'(?:File "|Raised from )([^"\n]+?)(?:", line | \()(\d+)')
MOST = 200  # characters of a complaint


class CannotCompile(InvalidValue):
    """A compiled function that numba refuses."""


@contextmanager
def in_one_sentence(template: Any, parts: Mapping[str, Any]) -> Iterator[None]:
    """Whatever numba raises inside is raised as one sentence that names the part; numba's own error is its cause."""
    try:
        yield
    except TruantError:
        raise
    except Exception as error:
        text = str(error)
        raise CannotCompile(
            f"{_names(text, template, parts)} cannot be compiled: {_core(text) or type(error).__name__}{_place(text)}."
        ) from error


def _names(text: str, template: Any, parts: Mapping[str, Any]) -> str:
    """The part that the complaint is about, as far as it says so, and where that is written."""
    called = set(_CALLED.findall(text)) | set(re.findall(r"Untyped global name '(\w+)'", text))
    guilty = {
        f"{name} of {_module(part)}"
        for name, part in parts.items()
        if callable(part) and {name, getattr(part, "__name__", "")} & called
    }
    if not guilty:  # it names a place in the template: any part that is not truant's own may be the cause
        modules = {_module(part) for part in parts.values() if callable(part)}
        guilty = {f"a function of {name}" for name in modules if name.partition(".")[0] != "truant"}
    return " or ".join(sorted(guilty)) or f"{template.__name__} of {template.__module__}"


def _module(part: Any) -> str:
    return str(getattr(getattr(part, "py_func", part), "__module__", "an unknown module"))


def _core(text: str) -> str:
    """The complaint itself: what comes after the steps that failed, up to the first place in the code."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in ")]
    core = lines[0] if lines else ""
    if core.endswith(":") and len(lines) > 1:
        core = f"{core} {lines[1].removeprefix('>>> ')}"
    for further in (" Raised from ", ", defined at "):
        core = core.partition(further)[0]
    return label(core.rstrip(".:; "), MOST)


def _place(text: str) -> str:
    """The first place that is neither numba's nor truant's own, if there is one."""
    places = [(path, line) for path, line in _PLACE.findall(text) if not _is_others(path)]
    return f" ({os.path.basename(places[0][0])}, line {places[0][1]})" if places else ""


def _is_others(path: str) -> bool:
    """Whether a file is numba's or truant's own; numba writes paths from the working folder."""
    import numba

    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = (own, os.path.dirname(os.path.abspath(numba.__file__)))
    return any(os.path.abspath(path).startswith(folder + os.sep) for folder in folders)
