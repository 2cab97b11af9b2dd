"""Runs a command or a function, and tells its ends apart: right, refused, or a bug."""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from truant.cli import cli
from truant.errors import TruantError

LONGEST = 2_000  # characters of a refusal
ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # categories of characters that a terminal may act on


class Bug(AssertionError):
    """Neither a right answer nor a refusal."""


@dataclass(frozen=True)
class End:
    """How a command ended: what it printed if it was right, the sentence if it refused."""

    right: bool
    output: str = ""
    sentence: str = ""


def run_command(arguments: Sequence[str], folder: Path) -> End:
    """Run a command in this process and judge its end; `folder` has all that it may read and write."""
    before = contents(folder)
    with strict_warnings():
        result = CliRunner().invoke(cli, list(arguments), catch_exceptions=True)
    shown = " ".join(map(repr, arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise Bug(f"{shown} raised {result.exception!r}") from result.exception
    changed = {name for name, mark in before.items() if contents(folder).get(name) != mark}
    if result.exit_code == 0:
        if "--json" in arguments:
            _need(_is_json(result.stdout), f"{shown} printed no JSON: {result.stdout[:200]!r}")
        else:
            _need_plain(result.stdout, shown)
        return End(True, result.stdout)
    _need(result.exit_code == 2, f"{shown} ended with {result.exit_code}: {result.stderr[:500]}")
    _need(result.stdout == "", f"{shown} refused, but printed {result.stdout[:200]!r}")
    _need(not changed, f"{shown} refused, but changed {sorted(changed)}")
    left = set(contents(folder)) - set(before)
    _need(not left, f"{shown} refused, but left {sorted(left)}")
    return End(False, sentence=_sentence(result.stderr, shown))


def run_function(function: Callable[..., Any], *arguments: Any, **parameters: Any) -> tuple[End, Any]:
    """Call a function of the library and judge its end; its result, if it was right."""
    shown = f"{function.__name__}(*{arguments!r}, **{parameters!r})"
    try:
        with strict_warnings():
            result = function(*arguments, **parameters)
    except TruantError as error:
        _need_sentence(str(error), shown)
        return End(False, sentence=str(error)), None
    except Exception as error:
        raise Bug(f"{shown} raised {error!r}") from error
    return End(True), result


@contextmanager
def strict_warnings() -> Iterator[None]:
    """Warnings are bugs, but for those of other packages about each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", other)
        yield


def contents(folder: Path) -> dict[str, str]:
    """A mark of each file below a folder, by its path."""
    return {
        os.fspath(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _sentence(text: str, shown: str) -> str:
    """What a refusal on standard error says."""
    if text.startswith("Usage: "):  # click's own, with a hint at --help
        _, _, text = text.partition("Error: ")
        _need(bool(text.strip()), f"{shown} refused its usage without a reason")
        _need_plain(text, shown)
        return text.strip()
    if text.startswith("{"):
        document = json.loads(text)
        _need({"type", "title", "status", "detail"} <= set(document), f"{shown}: {document}")
        text = document["detail"] + "\n"
    _need(text.endswith("\n") and text.count("\n") == 1, f"{shown} refused in several lines: {text[:500]!r}")
    _need_sentence(text[:-1], shown)
    return text[:-1]


def _need_sentence(text: str, shown: str) -> None:
    _need(text.endswith((".", "?")) and len(text) <= LONGEST, f"{shown} refused without a sentence: {text!r}")
    _need("Traceback" not in text and "<class" not in text, f"{shown} refused in code: {text!r}")
    _need("\n" not in text, f"{shown} refused in several lines: {text!r}")
    _need_plain(text, shown)


def _need_plain(text: str, shown: str) -> None:
    """No character that a terminal could act on."""
    acting = {c for c in text if unicodedata.category(c) in ACTING and c != "\n"}
    _need(not acting, f"{shown} sent {sorted(map(hex, map(ord, acting)))} to the terminal: {text[:500]!r}")


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Bug(otherwise)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
