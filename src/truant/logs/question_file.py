"""A question of a table as a TOML file, so that a monthly report is one command."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from truant.errors import InvalidValue, TruantError, quoted, unknown
from truant.files import output_path, written_whole
from truant.logs.question import PlanQuestion, Question
from truant.questions import Option, options

QUESTIONS = (".toml",)
DATA = "data"  # a key of the file beside those of the question: which table a command reads


def read_question(path: str | os.PathLike[str], kind: type[Question] | type[PlanQuestion]) -> dict[str, Any]:
    """What a file says, by key, checked; or raises an error that names the file and the key."""
    name = os.fspath(path)
    try:
        table = tomllib.loads(Path(name).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:  # TOML and UTF-8 errors are ValueErrors
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidValue(f"Cannot read the question {name!r}: {reason}.") from None
    known = {key: one for key, one in options(kind).items() if one.flags != ()}
    for key, value in table.items():
        if key == DATA and isinstance(value, str):
            continue
        if key not in known:
            raise _of(name, unknown("key of a question", key, [*known, DATA]))
        expected = _expected(known[key], key)
        if not _fits(value, expected):
            raise InvalidValue(f"{name}: {key} must be {_NAMES[expected]}, got {quoted(value)}.")
        try:
            if (check := known[key].check) is not None:
                check(key, value)
        except TruantError as error:
            raise _of(name, error) from None
    return table


def _of(name: str, error: TruantError) -> InvalidValue:
    """The error with the name of the file in front."""
    return InvalidValue(f"{name}: {error}")


_NAMES = {
    "text": "a text",
    "number": "a number",
    "integer": "a whole number",
    "numbers": "a list of numbers",
    "flag": "true or false",
    "cut": "a number of classes or a list of points",
    "values": "a list of values",
    "names": "a text or a list of texts",
    "shares": "a text or a table of shares",
    "label": "a text or a number",
}


def _expected(option: Option, key: str) -> str:
    if key == "control":
        return "label"
    if option.several:
        return "names"
    kind = option.kind or "text"
    return "text" if kind == "once" else kind


def _fits(value: object, expected: str) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    several = list(value) if isinstance(value, list) else None
    match expected:
        case "text":
            return isinstance(value, str)
        case "flag":
            return isinstance(value, bool)
        case "number":
            return is_number
        case "integer":
            return is_number and isinstance(value, int)
        case "label":
            return is_number or isinstance(value, str)
        case "shares":
            return isinstance(value, str | Mapping)
        case "names":
            return isinstance(value, str) or (
                several is not None and all(isinstance(one, str) for one in several)
            )
        case "cut":
            return is_number or (several is not None and all(_fits(one, "number") for one in several))
        case "numbers":
            return several is not None and all(_fits(one, "number") for one in several)
    return several is not None and all(_fits(one, "label") for one in several)


def save_question(
    asked: Mapping[str, Any], path: str | os.PathLike[str], inputs: tuple[str, ...] = ()
) -> Path:
    """Write these keys and values as a TOML file, whole or not at all."""
    target = output_path(path, QUESTIONS, inputs)
    lines = [f"{key} = {_toml(key, value)}\n" for key, value in asked.items()]
    with written_whole(target) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8")
    return target


def _toml(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(key, one) for one in value)}]"
    if isinstance(value, Mapping):
        return (
            f"{{{', '.join(f'{_toml(key, str(name))} = {_toml(key, one)}' for name, one in value.items())}}}"
        )
    raise InvalidValue(f"{key} cannot be written to a file, got {quoted(value)}.")
