"""Blocks as one self-contained HTML page, which loads and runs nothing; and as a fragment for notebooks."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from truant.errors import require

require("charts", "Charts and pages")  # first: the imports below would fail with less to say

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from truant.charts.style import dark_properties, themed_svg
from truant.documents.blocks import Block, Chart, Document, On, Place
from truant.documents.words import by_code
from truant.errors import visible
from truant.files import PAGES, output_path, written_whole

SHOWN = 3  # warnings of one kind before the others are folded away
WIDTHS: dict[Place, tuple[int, ...]] = {"wide": (760, 380), "panel": (380,), "scroll": (0,)}
"""Of drawings, in pixels; page.css shows one of each chart."""


def page(document: Document) -> str:
    """The whole page."""
    template = _templates().get_template("page.html")
    return template.render(document=document, on=On.PAGE, shown=SHOWN, dark=Markup(dark_properties()))


def fragment(document: Document) -> str:
    """A piece of HTML without charts, for notebooks."""
    return _templates().get_template("fragment.html").render(document=document, on=On.NOTEBOOK)


def write_page(document: Document, path: str | os.PathLike[str]) -> Path:
    """Write the page to an .html file, whole or not at all."""
    target = output_path(path, PAGES)  # refused before the work
    text = page(document)
    with written_whole(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return target


def drawings(chart: Chart) -> list[Markup]:
    """An <svg> element for each width; none if there is nothing to draw."""
    made = chart.maker()
    if made is None:
        return []
    return [
        Markup(themed_svg(made, name=f"{chart.name}-{width}", alternative=chart.alternative, width=width))
        for width in WIDTHS[chart.place]
    ]


def _visible(value: Any) -> Any:
    """Texts with characters that cannot be seen, or that turn the direction of writing, as escapes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _kind(block: Block) -> str:
    return type(block).__name__.lower()


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("truant.documents"),
        autoescape=select_autoescape(
            default=True, enabled_extensions=("html",), disabled_extensions=("css",)
        ),
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"kind": _kind, "drawings": drawings, "by_code": by_code, "markup": Markup}
    made.globals["template"] = lambda block: Markup(made.get_template(block.name).render(block.facts))
    return made
