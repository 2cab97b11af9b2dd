"""JSON Schemas of documents, made from the records in src: types of fields, and the comments that describe them."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, is_typeddict

from research.reference.docstrings import field_comments, parameters, sentence, summary
from truant.envelope import Absent, Others, document_fields

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAIN = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    types.NoneType: "null",
    None: "null",
}
ARROW = {"string": "string", "boolean": "bool", "integer": "int64", "number": "double"}
ARROW |= {"time": "timestamp[us, tz=UTC]", "any": "any"}
FIRST = ("type", "format", "enum", "$ref")  # keywords that stand before the description
ENVELOPE = {"truant": {"type": "string", "description": "The version of truant that wrote it."}}


class Entry(NamedTuple):
    """A kind of document: its title, who gives it, and its records."""

    title: str
    given_by: tuple[str, ...]
    record: type | None  # of its fields; None if a Parquet file's metadata has none
    schema_name: str = ""  # kind and number, such as truant/told/1, unless the record says it
    columns: type | None = None  # of a Parquet file: the record of a row
    description: str = ""  # a sentence; that of the record unless given

    @property
    def schema(self) -> str:
        """Kind and number."""
        return self.schema_name or str(self.record.schema)  # type: ignore[union-attr]


class RecordField(NamedTuple):
    """A field of a record: its type, and what it means."""

    hint: Any
    words: str

    @property
    def optional(self) -> bool:
        """Whether documents may leave it out."""
        return Absent in get_args(self.hint)

    @property
    def is_any_name(self) -> bool:
        """Whether it stands for fields whose names the data or the user choose."""
        return self.hint == Others


def file_of(schema: str) -> str:
    """The file that describes the documents of a schema such as truant/analysis/2."""
    return schema.removeprefix("truant/").replace("/", "-") + ".json"


def schema_of(entry: Entry) -> dict[str, Any]:
    """The JSON Schema of a document; `x-columns` describes the columns of a Parquet file."""
    made = _object(entry.record) if entry.record else {"type": "object", "properties": {}, "required": []}
    if entry.schema.startswith("truant/"):
        kind = {"const": entry.schema, "description": "Kind and number of this document."}
        made["properties"] = {"schema": kind} | ENVELOPE | made["properties"]
        made["required"] = ["schema", "truant", *made["required"]]
    found = {
        "$schema": DIALECT,
        "$id": file_of(entry.schema),
        "title": entry.title,
        "description": entry.description or summary(entry.record),
        "x-given-by": list(entry.given_by),
        **made,
    }
    return found | ({"x-columns": _columns(entry.columns)} if entry.columns else {})


def _object(record: type) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for name, field in record_fields(record).items():
        words = re.sub(r"\b(None|NaN)\b", "null", field.words)
        if field.is_any_name:
            made["additionalProperties"] = {"description": words}
            continue
        found = type_schema(field.hint)
        made["properties"][name] = {
            **{key: found[key] for key in FIRST if key in found},
            "description": words,
            **{key: found[key] for key in found if key not in FIRST},
        }
        if not field.optional:
            made["required"].append(name)
    return made


def type_schema(hint: Any) -> dict[str, Any]:
    """The schema of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if hint is Any:
        return {}
    if hint is datetime:
        return {"type": "string", "format": "date-time"}
    if origin is Annotated:  # what the document has in place of the value; or where that is described
        described = arguments[0] if arguments[1] is Absent else arguments[1]
        return {"$ref": described} if isinstance(described, str) else type_schema(described)
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin in (types.UnionType, Union):
        return _union([type_schema(part) for part in arguments if part is not Absent])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": type_schema(arguments[1]) or True}
    if origin in (list, tuple):
        return {"type": "array", "items": type_schema(arguments[0])}
    if schema := getattr(hint, "schema", None):
        return {"$ref": file_of(schema)}
    return _object(hint)


def _union(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One schema for several types: all may be plain, or one is not."""
    kinds = [part["type"] for part in parts]
    merged = {key: value for part in parts for key, value in part.items()}
    return merged | {"type": kinds if len(kinds) > 1 else kinds[0]}


def _columns(record: type) -> dict[str, Any]:
    found = {}
    for name, field in record_fields(record).items():
        made = {"type": _arrow_type(field.hint), "description": re.sub(r"\bNone\b", "null", field.words)}
        key = "*" if field.is_any_name else name
        found[key] = {**made, "optional": True} if field.optional else made
    return found


def _arrow_type(hint: Any) -> str:
    """The type of a column: None is null, which all columns may have."""
    parts = [part for part in get_args(hint) if part not in (Absent, types.NoneType)]
    if get_origin(hint) in (types.UnionType, Union):
        return _arrow_type(parts[0])
    if hint is datetime:
        return ARROW["time"]
    if hint == Others:
        return ARROW["any"]
    if get_origin(hint) is Annotated:
        return _arrow_type(str)
    made = type_schema(hint)
    if made.get("type") == "array":
        return f"list<{_arrow_type(parts[0])}>"
    return ARROW[made.get("type", "any")]


@cache
def record_fields(record: type) -> dict[str, RecordField]:
    """The fields of a record that its document has."""
    words, hints = _descriptions(record), _hints(record)
    is_record = is_dataclass(record) or hasattr(record, "_fields")
    sources = document_fields(record) if is_record else {name: name for name in hints}
    found = {name: RecordField(hints[source], words.get(source, "")) for name, source in sources.items()}
    if "*" in found:
        found |= _beside(found.pop("*"))
    absent = getattr(record, "_absent", ())
    return {name: one for name, one in found.items() if isinstance(absent, property) or name not in absent}


def _beside(beside: RecordField) -> dict[str, RecordField]:
    """The fields of a record that stand beside those of another, or do not; objects may be described elsewhere."""
    inner, *elsewhere = get_args(beside.hint) or [beside.hint]
    found = record_fields(inner)
    if elsewhere == [types.NoneType]:
        return {
            name: RecordField(Annotated[one.hint, Absent], f"{one.words} {beside.words}")
            for name, one in found.items()
        }
    for name, one in found.items() if elsewhere else ():
        if "properties" in type_schema(one.hint):
            there = Annotated[Any, f"{elsewhere[0]}#/properties/{name}"]
            found = found | {name: one._replace(hint=there)}
    return found


def _hints(record: type) -> dict[str, Any]:
    """The types of fields and of marked properties, evaluated."""
    found: dict[str, Any] = {}
    for base in _bases(record):
        texts = dict(inspect.get_annotations(base))
        for name, member in vars(base).items():
            if isinstance(member, property) and hasattr(member.fget, "in_document"):
                texts[name] = inspect.get_annotations(member.fget)["return"]
        for name in texts if not is_dataclass(base) else {*document_fields(base).values()} & {*texts}:
            text = getattr(texts[name], "__forward_arg__", texts[name])  # as a NamedTuple keeps it
            found[name] = eval(text, _namespace(base.__module__))
    return found


@cache
def _namespace(module: str) -> dict[str, Any]:
    """The names of a module, those that it imports for type checkers, too."""
    names = dict(vars(sys.modules[module]))
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module, "exec"), names)
    return names


def _descriptions(record: type) -> dict[str, str]:
    """What a record says of its fields: in comments, in its docstring, and in those of its properties."""
    found: dict[str, str] = {}
    for base in _bases(record):
        if base.__module__.startswith("truant"):
            found |= field_comments(base) | parameters(base)
            marked = {name: one for name, one in vars(base).items() if isinstance(one, property)}
            found |= {name: sentence(summary(one.fget)) for name, one in marked.items()}
    return found


def _bases(record: type) -> list[type]:
    """The record and what it inherits from, the most general first; a TypedDict forgets this."""
    if not is_typeddict(record):
        return list(reversed(record.__mro__))
    source: Any = ast.parse(inspect.getsource(record)).body[0]
    above = [eval(ast.unparse(base), _namespace(record.__module__)) for base in source.bases]
    return [*(one for base in above if is_typeddict(base) for one in _bases(base)), record]
