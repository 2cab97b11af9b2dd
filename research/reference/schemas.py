"""The fields that a JSON Schema describes, and those that a document has.

Beside the keywords of JSON Schema, those of docs/schemas have `x-given-by` (which commands and methods give the
document) and, for a Parquet file, `x-columns` (its columns; the document itself is in the file's metadata).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Field(NamedTuple):
    """A field of a document: `[]` in its path is an entry of a list, `*` any name."""

    path: str
    schema: Mapping[str, Any]
    always: bool  # present in every document, or in every object that it belongs to


def fields(schema: Mapping[str, Any], place: str = "") -> Iterator[Field]:
    """The fields of a document, those of an object after it; what another file describes is one field."""
    for name, part in schema.get("properties", {}).items():
        path = f"{place}.{name}".lstrip(".")
        yield Field(path, part, name in schema.get("required", ()))
        yield from _inner(part, path)


def _inner(schema: Mapping[str, Any], place: str) -> Iterator[Field]:
    """The fields of what is in an object, a list or an object whose keys are names."""
    yield from fields(schema, place)
    if "items" in schema:
        yield from _inner(schema["items"], f"{place}[]")
    of_names = schema.get("additionalProperties")
    if isinstance(of_names, Mapping):
        if "description" in of_names:  # names beside those of the properties
            yield Field(f"{place}.*", of_names, False)
        yield from _inner(of_names, f"{place}.*")


def occurring(document: Any, schema: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """The paths of the fields that a document has."""
    if isinstance(document, list):
        for entry in document:
            yield from occurring(entry, schema.get("items", {}), f"{place}[]")
    elif isinstance(document, dict):
        of_names = schema.get("additionalProperties")
        for name, value in document.items():
            part = schema.get("properties", {}).get(name)
            path = f"{place}.{'*' if part is None else name}".lstrip(".")
            if part is None:
                part = of_names if isinstance(of_names, Mapping) else {}
            yield path
            yield from occurring(value, part, path)
