"""The rule for JSON: what every JSON document of truant says about itself.

Each has two fields more than its own: `schema`, such as "truant/simulation/1" (kind and number), and `truant`, the
version that wrote it. Within one number fields are only added; removing one, or changing what one means, raises the
number. This holds for what commands print with --json, for `summary()`, for summary.json files and for the metadata
of Parquet files. docs/schemas describes the fields of each. Problem details (RFC 9457) have a form of their own.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from truant.errors import InvalidValue

METADATA = b"truant"  # the key of a document in a Parquet file's metadata


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
