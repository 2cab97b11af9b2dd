"""A small table, Arrow or a dict of columns, as text and as HTML: for the representations of results."""

from __future__ import annotations

import html
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from truant.tables.rows import names_and_rows
from truant.text import label, visible

if TYPE_CHECKING:
    import pyarrow


def text_table(table: pyarrow.Table | Mapping[str, Any]) -> str:
    """Columns side by side, texts flush left and numbers flush right."""
    names, rows = names_and_rows(table)
    cells = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    columns = [
        _aligned([label(name), *(label(shown(cell)) for cell in column)], _is_text(column))
        for name, column in zip(names, cells, strict=True)
    ]
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def html_table(table: pyarrow.Table | Mapping[str, Any], most_rows: int | None = None) -> str:
    """A plain HTML table, escaped; of a longer one the first rows, and a line that says how many there are."""
    names, every = names_and_rows(table)
    rows = list(islice(every, most_rows))
    left = sum(1 for _ in every)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(value))}</td>" for value in row) + "</tr>" for row in rows
    )
    more = f"<p>The first {len(rows):,} of {len(rows) + left:,} rows.</p>" if left else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def shown(value: Any) -> str:
    """A cell: four figures below 1000, whole with thousands separators above; blank for what is not known."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return visible(str(value))


def _is_text(column: list[Any]) -> bool:
    return any(isinstance(cell, str) for cell in column)


def _aligned(cells: list[str], left: bool) -> list[str]:
    width = max(map(len, cells))
    return [cell.ljust(width) if left else cell.rjust(width) for cell in cells]
