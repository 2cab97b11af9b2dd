"""Puts words, tables and charts of an analysis into the templates; every text is escaped by the template engine."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from truant.analysis import Analysis
from truant.analysis.words import (
    Figures,
    by_code,
    certainty,
    missing_sentence,
    missing_share,
    percent,
    reason,
    verdict,
)
from truant.charts.style import DARK
from truant.files import output_path, written_whole
from truant.report.figures import Figure, estimates_figure, missing_figure, tipping_figures
from truant.report.tables import chances_table, differences_table, tests_table, values_table

PAGES = (".html", ".htm")
SHOWN = 3  # warnings of one kind before the others are folded away


def analysis_page(analysis: Analysis, *, title: str, about: Sequence[str] = ()) -> str:
    """The whole page, with its charts and the scripts that draw them; it loads nothing from elsewhere.

    Parameters
    ----------
    analysis : what to show.
    title : heading of the page.
    about : lines below it, such as the file that was read.
    """
    figures = Figures.of(analysis)
    charts = Charts(
        estimates_figure(analysis, figures), missing_figure(analysis), tipping_figures(analysis, figures)
    )
    return (
        _templates()
        .get_template("page.html")
        .render(
            title=title,
            about=list(about),
            verdict=verdict(analysis),
            certainty=certainty(analysis, figures),
            agree=_one_winner(analysis),
            facts=_facts(analysis),
            values=values_table(analysis, figures),
            chances=chances_table(analysis),
            differences=differences_table(analysis, figures),
            missing=missing_sentence(analysis),
            charts=charts,
            warnings=by_code(analysis.warnings),
            shown=SHOWN,
            infeasible=[(item.assumption, reason(item)) for item in analysis.infeasible],
            untestable=analysis.untestable,
            tests=tests_table(analysis),
            level=f"{analysis.level:.4g}",
            level_percent=f"{100 * analysis.level:.4g}%",
            control=analysis.control,
            used=analysis.assumptions,
            vega=Markup(_vega()),
            data=Markup(_for_script({"charts": charts.specs(), "dark": DARK})),
        )
    )


def save_page(
    analysis: Analysis, path: str | os.PathLike[str], *, title: str, about: Sequence[str] = ()
) -> Path:
    """Write the page to an .html file, whole or not at all."""
    target = output_path(path, PAGES)
    page = analysis_page(analysis, title=title, about=about)
    with written_whole(target) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return target


def analysis_html(analysis: Analysis) -> str:
    """The verdict and the table of values, without scripts, for notebooks."""
    figures = Figures.of(analysis)
    return (
        _templates()
        .get_template("fragment.html")
        .render(
            verdict=verdict(analysis),
            certainty=certainty(analysis, figures),
            values=values_table(analysis, figures),
            warnings=len(analysis.warnings),
        )
    )


class Charts:
    """The figures of a page, each with an id of its own."""

    def __init__(self, estimates: Figure, missing: Figure, tipping: Sequence[Figure]) -> None:
        self.estimates, self.missing, self.tipping = estimates, missing, list(tipping)

    def specs(self) -> dict[str, Any]:
        """What is drawn where."""
        drawn = (self.estimates, self.missing, *self.tipping)
        return {figure.id: figure.spec for figure in drawn if figure.spec is not None}


def _one_winner(analysis: Analysis) -> bool:
    return len({analysis.winner[name] for name in analysis.assumptions}) == 1


def _facts(analysis: Analysis) -> list[tuple[str, str]]:
    missing_mediators = int(analysis.counts.real().table[:, -1, 0].sum())
    pulls = sum(arm.pulls for arm in analysis.arms)
    facts = [
        ("rows", f"{pulls:,}"),
        ("arms", f"{len(analysis.arms):,}"),
        ("outcomes missing", percent(missing_share(analysis))),
    ]
    if missing_mediators:
        facts.append(("mediators missing", percent(missing_mediators / pulls)))
    return [*facts, ("assumptions compared", f"{len(analysis.assumptions)}")]


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, which sets window.vegaEmbed."""
    import vl_convert

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return script.replace("</script", "<\\/script")


def _for_script(value: Any) -> str:
    """JSON that cannot end the script element it stands in, whatever the names in it are."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("truant.report"),
        autoescape=select_autoescape(
            default=True, enabled_extensions=("html",), disabled_extensions=("css", "js")
        ),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
