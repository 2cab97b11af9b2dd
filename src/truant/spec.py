"""A name with parameters, as in `mar-ucb:level=cautious`: read from text, handed on as one object, written as text.

The text is `name:key=value,key=value`. A value is a number, `true`, `false`, `null`, a text, or several of these with
commas between them, which are a tuple. JSON is read as JSON, so that a text with commas or equals signs is written in
double quotes, `name:key="a, b"`, and a tuple within a tuple in brackets, `name:key=[[1,2],[3,4]]`.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from truant.errors import InvalidValue, quoted

_WHOLE = 10**15  # numbers without a fraction are written without a point up to here
_PYTHON_WORDS = {"True": True, "False": False, "None": None}


@dataclass(frozen=True, eq=False)
class Spec:
    """A name with parameters of a policy, a world or an assumption.

    Specs are equal if their names are and their parameters are written alike, in any order: 1 is 1.0, but not true.

    Parameters
    ----------
    name : as the registry knows it.
    parameters : plain values (numbers, texts, true, false, None, and lists of these). Whatever else a part takes is
        handed on as it is, but such a Spec can be neither compared nor written as text.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InvalidValue(f"A name is a text, e.g. 'mar', got {quoted(self.name)}.")
        if not isinstance(self.parameters, Mapping) or not all(
            isinstance(key, str) for key in self.parameters
        ):
            raise InvalidValue(
                f"Parameters are names with values, e.g. {{'gamma': 0.5}}, got {quoted(self.parameters)}."
            )

    @classmethod
    def parse(cls, text: str, **more: Any) -> Spec:
        """The name and parameters that a text says; `more` parameters come on top and take precedence."""
        if not isinstance(text, str):
            raise InvalidValue(f"A name is a text, e.g. 'mar' or 'mar:gamma=0.5', got {quoted(text)}.")
        name, _, rest = text.partition(":")
        return cls(name.strip(), {**parse_parameters([rest] if rest else []), **more})

    @functools.cached_property
    def texts(self) -> dict[str, str]:
        """Each parameter as it is written."""
        return {key: written(value) for key, value in self.parameters.items()}

    def __str__(self) -> str:
        """The text that parses to an equal Spec, every number to its last digit."""
        listed = ",".join(f"{key}={text}" for key, text in self.texts.items())
        return f"{self.name}:{listed}" if listed else self.name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spec):
            return NotImplemented
        return self is other or (self.name == other.name and self.texts == other.texts)

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.texts.items())))


def parse_parameters(texts: Sequence[str]) -> dict[str, Any]:
    """Read "key=value" texts; a value with commas is a tuple."""
    parameters: dict[str, list[Any]] = {}
    for text in texts:
        values: list[Any] | None = None
        for key, value in _pieces(text):
            if key is not None:
                values = parameters[key] = [value]
            elif values is None:
                raise InvalidValue(f"Parameters are written key=value, got {text!r}.")
            else:
                values.append(value)
    return {key: values[0] if len(values) == 1 else tuple(values) for key, values in parameters.items()}


def _pieces(text: str) -> Iterator[tuple[str | None, Any]]:
    """Key (None where there is none) and value of each piece between commas; commas within JSON do not count."""
    rest: str | None = text
    while rest is not None:
        key, found = None, _leading_json(rest)
        if found is None and "=" in rest.partition(",")[0]:
            key, _, rest = rest.partition("=")
            found = _leading_json(rest)
        value, rest = found or _leading_plain(rest)
        yield None if key is None else key.strip(), value


def _leading_json(text: str) -> tuple[Any, str | None] | None:
    """The JSON text, list or object that comes first, and what is after its comma; None if none comes first."""
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] not in ('"', "[", "{"):
        return None
    try:
        found, end = json.JSONDecoder().raw_decode(text, start)
        value = _with_tuples(found)
    except (ValueError, RecursionError):
        return None
    after = text[end:].lstrip()
    if after and not after.startswith(","):
        return None
    return value, after[1:] if after else None


def _leading_plain(text: str) -> tuple[Any, str | None]:
    """The value up to the first comma, and what is after it."""
    plain, comma, after = text.partition(",")
    if plain.lstrip().startswith(('"', "'")):  # it would be cut at its commas
        raise InvalidValue(f'A text in quotes is written as in JSON, key="a, b", got {text.strip()}.')
    return _plain_value(plain.strip()), after if comma else None


def _with_tuples(value: Any) -> Any:
    return tuple(_with_tuples(item) for item in value) if isinstance(value, list) else value


def _plain_value(text: str) -> Any:
    if text in _PYTHON_WORDS:
        return _PYTHON_WORDS[text]
    try:
        return _with_tuples(json.loads(text))
    except (ValueError, RecursionError):
        pass  # no JSON, a number of thousands of digits, or deeply nested brackets
    try:
        return float(text)  # ".5" is not JSON
    except ValueError:
        return text


def written(value: Any) -> str:
    """A value as it is read again: texts in quotes only where they would be read as something else."""
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        value = value.tolist()
    if isinstance(value, list | tuple) and len(value) > 1:
        if not any(isinstance(item, list | tuple | Mapping) for item in value):
            return ",".join(map(written, value))
    elif isinstance(value, str) and _reads_as_itself(value):
        return value
    elif isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON's words for these are longer
    return _as_json(value)


def _reads_as_itself(text: str) -> bool:
    plain = bool(text) and not set(text) & set(',="[]{}') and text == text.strip() and text[0] != "'"
    return plain and _plain_value(text) == text


def _as_json(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_as_json, value))}]"
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return f"{{{','.join(f'{json.dumps(key)}:{_as_json(item)}' for key, item in sorted(value.items()))}}}"
    if isinstance(value, float) and value.is_integer() and abs(value) <= _WHOLE and str(value) != "-0.0":
        return str(int(value))
    if value is None or isinstance(value, bool | int | float | str):
        return json.dumps(value, ensure_ascii=False)
    raise InvalidValue(
        f"A parameter can be written as text if it is a number, a text, true, false, null or a list of these, "
        f"got {type(value).__name__}."
    )
