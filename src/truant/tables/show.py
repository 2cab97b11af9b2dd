"""A small Arrow table as text and as HTML, for the representations of results."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from truant.text import label, visible

if TYPE_CHECKING:
    import pyarrow


def text_table(table: pyarrow.Table) -> str:
    """Columns side by side, texts flush left and numbers flush right."""
    cells = [
        [label(name), *(label(shown(cell)) for cell in table.column(name).to_pylist())]
        for name in table.column_names
    ]
    lines = []
    for row in zip(*(_aligned(column, _is_text(table, i)) for i, column in enumerate(cells)), strict=True):
        lines.append("  ".join(row).rstrip())
    return "\n".join(lines)


def html_table(table: pyarrow.Table, most_rows: int | None = None) -> str:
    """A plain HTML table, escaped; of a longer one the first rows, and a line that says how many there are."""
    rows = table.to_pylist() if most_rows is None else table.slice(0, most_rows).to_pylist()
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.column_names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(value))}</td>" for value in row.values()) + "</tr>"
        for row in rows
    )
    more = f"<p>The first {len(rows):,} of {table.num_rows:,} rows.</p>" if len(rows) < table.num_rows else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def shown(value: Any) -> str:
    """A cell: four figures below 1000, whole with thousands separators above; blank for what is not known."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return visible(str(value))


def _is_text(table: pyarrow.Table, column: int) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_string(table.schema.field(column).type))


def _aligned(cells: list[str], left: bool) -> list[str]:
    width = max(map(len, cells))
    return [cell.ljust(width) if left else cell.rjust(width) for cell in cells]
