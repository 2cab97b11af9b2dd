"""The rule for JSON: what every JSON document of truant says about itself.

Each has two fields more than its own: `schema`, such as "truant/simulation/1" (kind and number), and `truant`, the
version that wrote it. Within one number fields are only added; removing one, or changing what one means, raises the
number. This holds for what commands print with --json, for `summary()`, for summary.json files and for the metadata
of Parquet files. A document is a record: a frozen dataclass with its `schema`, whose fields have their meaning in
comments, from which docs/schemas and docs/json.md are made. Problem details (RFC 9457) have a form of their own.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from importlib.metadata import version
from typing import Annotated, Any, TypeVar

from truant.errors import InvalidValue

METADATA = b"truant"  # the key of a document in a Parquet file's metadata


class Absent(Enum):
    """The type of optional fields: a document leaves out those that are ABSENT."""

    ABSENT = "absent"


# what a field is in Python, and what its document has in its place
Time = Annotated[str, datetime]  # a moment in UTC as ISO 8601
FloatOrNaN = Annotated[float, float | None]  # a number, and null for NaN and infinity
Duration = Annotated[int, str]  # microseconds, and a text such as 7d
T = TypeVar("T")
Sometimes = Annotated[T, Absent]  # a field that some documents leave out, see `plain`
Others = Annotated[Any, "*"]  # fields or columns whose names the data or the user choose

ABSENT = Absent.ABSENT
Getter = TypeVar("Getter", bound=Callable[[Any], Any])


def in_document(getter: Getter) -> Getter:
    """Mark the function of a property as a field of its record's document."""
    return in_document_as(getter.__name__)(getter)


def in_document_as(name: str) -> Callable[[Getter], Getter]:
    """Mark a property as the field `name`, in place of the record's own; "*": its record's fields stand beside."""

    def mark(getter: Getter) -> Getter:
        getter.in_document = name  # type: ignore[attr-defined]
        return getter

    return mark


def plain(value: Any, absent: Collection[str] = ()) -> Any:
    """A value as JSON has it: records by field, those with a schema as documents; NaN and infinity are null.

    `absent` names fields to leave out of all records; a record may name others, for itself and what is in it.
    """
    if is_dataclass(value) or hasattr(value, "_fields"):  # a dataclass or a NamedTuple
        absent = getattr(value, "_absent", absent)
        record: Any = type(value)
        sources = document_fields(record).items()
        found = {
            name: plain(getattr(value, source), absent) for name, source in sources if name not in absent
        }
        found |= found.pop("*", None) or {}
        present = {name: field for name, field in found.items() if field is not ABSENT}
        schema = getattr(value, "schema", None)
        return {"schema": schema, "truant": _version(), **present} if schema else present
    if isinstance(value, Mapping):
        return {name: plain(part, absent) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, absent) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if hasattr(value, "tolist"):  # of numpy
        return plain(value.tolist())
    return os.fspath(value) if isinstance(value, os.PathLike) else value


@functools.cache
def document_fields(record: Any) -> dict[str, str]:
    """The fields of a record's document: those of its representation, and marked properties; and what has them."""
    if hasattr(record, "_fields"):  # a NamedTuple
        return {name: name for name in record._fields}
    marked = {
        member.fget.in_document: name
        for base in reversed(record.__mro__)
        for name, member in vars(base).items()
        if hasattr(getattr(member, "fget", None), "in_document")
    }
    return {field.name: field.name for field in dataclass_fields(record) if field.repr} | marked


def document(kind: str, number: int, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a JSON document, with its schema and truant's version first."""
    return {"schema": f"truant/{kind}/{number}", "truant": _version(), **fields}


def parquet_metadata(kind: str, number: int, fields: Mapping[str, Any] | None = None) -> dict[bytes, bytes]:
    """A document as the metadata of a Parquet file."""
    return {METADATA: json.dumps(document(kind, number, fields or {})).encode()}


def own_fields(found: Mapping[str, Any], kind: str, newest: int) -> dict[str, Any]:
    """The fields of a document without schema and version, if it is of this kind and not from a newer truant."""
    schema = str(found.get("schema"))
    match = re.fullmatch(rf"truant/{re.escape(kind)}/(\d+)", schema)
    if match is None:
        raise InvalidValue(
            f"The schema must be truant/{kind}/{newest}, got {schema!r}; it is another kind of file."
        )
    if int(match[1]) > newest:
        raise InvalidValue(
            f"The schema must be at most truant/{kind}/{newest}, got {schema!r} of truant {found.get('truant')}; "
            "install a newer truant."
        )
    return {name: value for name, value in found.items() if name not in ("schema", "truant")}


@functools.cache
def _version() -> str:
    return version("truant")
