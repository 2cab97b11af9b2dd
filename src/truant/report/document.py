"""What every page shares: charts, tables, the templates; every text is escaped by the template engine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from truant.charts.style import DARK, ForScript
from truant.files import PAGES, output_path, written_whole
from truant.text import visible

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class PageChart:
    """A chart as a Vega-Lite specification (None if there is nothing to draw), its heading and what it says."""

    id: str
    spec: dict[str, Any] | None
    alternative: str
    heading: str = ""
    sentence: str = ""
    fluid: bool = True  # as wide as the page; others scroll


@dataclass(frozen=True)
class Cell:
    """A figure, with what stands small beside it."""

    text: str
    detail: str = ""
    best: bool = False
    clear: bool = False  # its interval excludes zero
    good: bool = False  # of a winner that is clear: green, as nothing else is
    doubt: bool = False  # contradicted
    rows: int = 1  # that it stands for; 0 where a cell above stands for this row, too


@dataclass(frozen=True)
class Table:
    """A table whose first column names its rows."""

    caption: str
    columns: list[str]
    rows: list[list[Cell]]
    words: int = 1  # columns, from the left, that hold words and not figures
    last_words: bool = False  # the last column holds words, too


def spec_of(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """A chart as a page draws it: on the page's own ground."""
    import altair as alt

    with alt.data_transformers.enable("default", max_rows=None):  # Altair would refuse more than 5,000
        # unchecked: our own charts are checked in tests, and the check takes longer than the rest of a page
        spec: dict[str, Any] = chart.properties(background="transparent").to_dict(validate=False)
    return spec


def rendered(template: str, charts: Iterable[PageChart], /, **context: Any) -> str:
    """A whole page that loads nothing from elsewhere: the template, with what it shows and what draws it."""
    specs = {chart.id: chart.spec for chart in charts if chart.spec is not None}
    data = Markup(_for_script({"charts": specs, "dark": DARK}))
    return _templates().get_template(template).render(vega=Markup(_vega()), data=data, **context)


def fragment(template: str, **context: Any) -> str:
    """A piece of HTML without scripts, for notebooks."""
    return _templates().get_template(template).render(**context)


def write_page(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to an .html file, whole or not at all."""
    target = output_path(path, PAGES)
    with written_whole(target) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return target


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, which sets window.vegaEmbed."""
    import vl_convert

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return script.replace("</script", "<\\/script")


def _for_script(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, cls=ForScript)


def _visible(value: Any) -> Any:
    """Texts with characters that cannot be seen, or that turn the direction of writing, as escapes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("truant.report"),
        autoescape=select_autoescape(
            default=True, enabled_extensions=("html",), disabled_extensions=("css", "js")
        ),
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
