"""docs/json.md: every JSON document and Parquet file, and what each field means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from research.figures import table
from research.reference.anchors import anchor, made_by
from research.reference.catalogue import PROBLEM, headed_schemas, schemas
from research.reference.schemas import Field, fields

LONG = 30  # fields, above which each object has a table of its own
_PLURAL = re.compile(r"^(string|number|integer|boolean|object|list|time)\b")
OPENING = """# JSON documents

{made_by}

With `--json` a command prints one JSON document. `summary()` of a result gives the same document in Python, and the
Parquet files that truant writes have one in their metadata, under the key `truant`.

- Every document names its kind and number in the field `schema`, and the version of truant that wrote it in the field
  `truant`. The tables below leave these two out.
- Within one number, fields are only added. If a field is removed or gets another meaning, the number rises. Ignore
  fields that you do not know.
- Numbers that do not exist (NaN and infinity) are `null`. Times are ISO 8601 in UTC.
- An error is a problem document (RFC 9457) instead: see [Problem](#problem).

```python
import truant

result = truant.simulate("mar", ["naive-ucb", "mar-ucb"], horizon=500, runs=2, seed=1)
print(result.summary()["schema"], result.summary()["horizon"])
```

```text
truant/simulation/1 500
```

Each document has a [JSON Schema](https://json-schema.org) (draft 2020-12) in the folder [schemas](schemas). In the
tables, `[]` is an entry of a list, `*` is a name that the data or the user choose, and *optional* fields are not in
every document. For a Parquet file, the schema describes the document in the metadata, and its keyword `x-columns` the
columns; a column without any value may have the Arrow type `null`."""


def page() -> str:
    """The whole page."""
    found = headed_schemas()
    parts = [OPENING.format(made_by=made_by("the records in src")), "## All documents"]
    for heading, several in found.items():
        rows = [[f"[{one['title']}](#{anchor(one['title'])})", _id(one), _given(one)] for one in several]
        parts += [f"**{heading}**", table(["document", "schema", "given by"], rows)]
    for heading, several in found.items():
        parts.append(f"## {heading}")
        for one in several:
            parts += section(one)
    return "\n\n".join(parts) + "\n"


def section(schema: Mapping[str, Any]) -> list[str]:
    """A document: what it is, who gives it, its fields."""
    found = [field for field in fields(schema) if field.path not in ("schema", "truant")]
    file = schema["$id"]
    parts = [f"### {schema['title']}", f"{schema['description']} Given by {_given(schema)}."]
    parts.append(f"Schema: {_id(schema)}, [{file}](schemas/{file})")
    if found and "x-columns" in schema:
        parts.append("In the metadata:")
    parts += _tables(found)
    if columns := schema.get("x-columns"):
        rows = [[_code(name), _column_type(one), one["description"]] for name, one in columns.items()]
        parts += ["Columns:", table(["column", "Arrow type", "meaning"], rows)]
    return parts


def _tables(found: list[Field]) -> Iterable[str]:
    """One table, or one for each object of a long document."""
    if len(found) <= LONG:
        return [_table(found)] if found else []
    first = [field for field in found if "." not in field.path]
    parts = [_table(first)]
    for field in first:
        inner = [one for one in found if one.path.startswith((f"{field.path}.", f"{field.path}["))]
        if inner:
            parts += [f"Fields of `{field.path}`:", _table(inner)]
    return parts


def _table(found: Iterable[Field]) -> str:
    return table(
        ["field", "type", "meaning"],
        [[_code(field.path), _type(field), _meaning(field.schema)] for field in found],
    )


def _type(field: Field) -> str:
    return type_words(field.schema) + ("" if field.always or field.path.endswith("*") else ", optional")


def type_words(schema: Mapping[str, Any]) -> str:
    """The type of a field in words, such as "list of string" or "number or null"."""
    if reference := schema.get("$ref"):
        return _reference(reference)
    kinds = schema.get("type", "any")
    several = [kinds] if isinstance(kinds, str) else list(kinds)
    words = {"array": _of("list", schema.get("items")), "object": _of("object", _named(schema))}
    if schema.get("format") == "date-time":
        words["string"] = "time"
    joined = ", or " if several[0] in words and "of" in words[several[0]] else " or "
    return joined.join(words.get(kind, kind) for kind in several)


def _named(schema: Mapping[str, Any]) -> Any:
    """What an object holds whose keys are all names."""
    return None if "properties" in schema else schema.get("additionalProperties")


def _of(container: str, content: Any) -> str:
    """A list or an object of values, in the plural."""
    if not isinstance(content, Mapping):
        return container
    return f"{container} of {_PLURAL.sub(_plural, type_words(content), count=1)}"


def _plural(word: re.Match[str]) -> str:
    return f"{word[0]}s"


def _reference(reference: str) -> str:
    file, _, inner = reference.partition("#")
    place = inner.removeprefix("/properties/").replace("/properties/", ".")
    title = schemas()[file]["title"]
    link = f"[{title}](#{anchor(title)})"
    return f"`{place}` of {link}" if place else link


def _meaning(schema: Mapping[str, Any]) -> str:
    words: str = schema.get("description", "")
    values = schema.get("enum", ())
    if any(f"`{value}`" not in words for value in values):
        words += f" One of {', '.join(f'`{value}`' for value in values)}."
    return words


def _column_type(column: Mapping[str, Any]) -> str:
    return column["type"] + (", optional" if column.get("optional") else "")


def _id(schema: Mapping[str, Any]) -> str:
    return _code(schema["properties"]["schema"]["const"]) if schema["$id"] != PROBLEM else "RFC 9457"


def _given(schema: Mapping[str, Any]) -> str:
    return ", ".join(schema["x-given-by"])


def _code(text: str) -> str:
    return f"`{text}`"
