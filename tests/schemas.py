"""Checks documents against the JSON Schemas of docs/schemas: no field is missing, and none is undescribed."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version
from typing import Any

import pyarrow.parquet as pq
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from research.reference.catalogue import schemas
from research.reference.records import file_of
from research.reference.schemas import fields, occurring

DICTIONARY = "dictionary<values=string, indices=int32, ordered=0>"


@cache
def registry() -> Registry[Any]:
    """The schemas, such that they refuse fields that they do not describe."""
    return Registry().with_resources(
        (name, Resource.from_contents(strict(schema))) for name, schema in schemas().items()
    )


def strict(schema: Any) -> Any:
    """The same schema; an object has no properties but those that are described."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(part) for name, part in schema.items()}
    if isinstance(made.get("properties"), dict) and "type" in made:
        made.setdefault("additionalProperties", False)
    return made


def check(document: dict[str, Any], schema: str) -> None:
    """The document names its schema and truant's version first, and is as its schema says."""
    assert list(document)[:2] == ["schema", "truant"]
    assert document["schema"] == schema
    assert document["truant"] == version("truant")
    check_against(document, file_of(schema))


def check_against(document: dict[str, Any], file: str) -> None:
    """The document is as the schema in that file says."""
    assert file in schemas(), f"docs/schemas/{file} is missing: describe the document there"
    validator = Draft202012Validator({"$ref": file}, registry=registry())
    wrong = [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(document)]
    assert not wrong, f"docs/schemas/{file} does not describe the document: {wrong}"


def unseen(file: str, documents: list[dict[str, Any]]) -> set[str]:
    """Fields that a schema describes and no document has."""
    schema = schemas()[file]
    seen = {path for document in documents for path in occurring(document, schema)}
    return {field.path for field in fields(schema)} - seen


def check_parquet(path: Any, schema: str) -> set[str]:
    """The columns of a Parquet file and the document in its metadata are as described; gives the names of columns."""
    written = pq.read_schema(path)
    check(json.loads(written.metadata[b"truant"]), schema)
    columns = schemas()[file_of(schema)]["x-columns"]
    for name in written.names:
        described = columns.get(name) or columns.get("*")
        assert described, f"docs/schemas/{file_of(schema)} does not describe the column {name!r}"
        found = arrow_type(written.field(name).type)
        assert found in (described["type"], "null") or described["type"] == "any", f"{name}: {found}"
    missing = {name for name, one in columns.items() if not one.get("optional")} - {*written.names, "*"}
    assert not missing, f"{schema} has no columns {sorted(missing)} any more"
    return {name if name in columns else "*" for name in written.names}


def arrow_type(found: Any) -> str:
    """An Arrow type as the schemas name it: the length of a list does not matter."""
    text = str(found)
    if text.startswith("fixed_size_list<element: "):
        return f"list<{text.removeprefix('fixed_size_list<element: ').partition('>')[0]}>"
    return "dictionary<string>" if text == DICTIONARY else text
