"""Figures -> charts: every policy with its own look wherever it appears."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import altair as alt

from truant.charts import SHADES, Look, in_rows, regret_chart, regret_range
from truant.charts.lines import NAIVE, ORACLE
from truant.reproduction.figure import Figure, Panel
from truant.reproduction.results import Results
from truant.reproduction.words import size

if TYPE_CHECKING:
    import pandas as pd

# the first pattern that a policy's name matches
LOOKS = (
    ("naive-*", NAIVE),
    ("oracle-*", ORACLE),
    ("paper-mar-known", Look("#E69F00", (9, 3, 2, 3))),
    ("paper-mediator-mnar", Look("#B8A800", (6, 2, 1, 2, 1, 2))),
    ("paper-*", Look("#CC79A7", (12, 4))),
    ("*-thompson", Look("#009E73", (4, 2))),
    ("mar-known-*", Look("#56B4E9", (9, 3, 2, 3))),
    ("*:level=cautious", Look("#56B4E9", (9, 3, 2, 3))),
    ("*", Look("#0072B2", (1, 0))),
)
DASHES = ((1, 0), (9, 3), (5, 3), (2, 2))  # of one policy's shades
SEEN_FROM = 50  # a logarithmic axis begins where the lowest curve is after this part of the rounds
VERSIONS = {"paper": "The paper's policies", "truant": "truant's policies, naive and oracle"}


BOUNDED = "truant"  # the version with the lower bound


def look(policy: str) -> Look:
    """Colour and dash of a policy."""
    return next(look for pattern, look in LOOKS if fnmatch(policy, pattern))


def looks(panel: Panel) -> dict[str, Look]:
    """By label; several curves of one policy are shades of one hue."""
    if len(panel.curves) > 1 and len({curve.policy for curve in panel.curves}) == 1:
        step = len(SHADES) // len(panel.curves)
        return {curve.shown: Look(SHADES[i * step], DASHES[i]) for i, curve in enumerate(panel.curves)}
    return {curve.shown: look(curve.policy) for curve in panel.curves}


def panel_charts(
    figure: Figure,
    version: str,
    results: Results,
    *,
    width: int,
    height: int,
    title: str = "",
    subtitle: Sequence[str] = (),
) -> list[alt.LayerChart]:
    """A chart for each panel of a version, with one y axis for all; titled by panel unless a title is given."""
    panels, log = figure.versions[version], version in figure.log
    bounded = version == BOUNDED
    limits = _limits(panels, results, log, bounded)
    return [
        regret_chart(
            results.table(panel),
            title=title or panel.title,
            subtitle=subtitle,
            log=log,
            width=width,
            height=height,
            looks=looks(panel),
            reference=results.reference(panel) if bounded else None,
            limits=limits,
        )
        for panel in panels
    ]


def picture(figure: Figure, version: str, results: Results) -> alt.LayerChart | alt.ConcatChart:
    """A version as one chart, for a file: a single panel bears the title, several have their own below it."""
    panels = figure.versions[version]
    lines = [f"{VERSIONS[version]}; {size(figure, results)}; mean ± 1 sd"]
    if version == BOUNDED and any(panel.curves[0].scene.bound for panel in panels):
        lines.append(
            "Dotted: the rate of the lower bound, which is about the worst case; its constant is left open"
        )
    if len(panels) == 1:
        lines[0] = f"{panels[0].title}. {lines[0]}"
        whole = {"title": figure.title, "subtitle": lines}
        return panel_charts(figure, version, results, width=440, height=290, **whole)[0]  # type: ignore[arg-type]
    return in_rows(panel_charts(figure, version, results, width=330, height=250), figure.title, lines)


def _limits(panels: Sequence[Panel], results: Results, log: bool, bounded: bool) -> tuple[float, float]:
    """One y axis for all panels."""
    import pandas as pd

    tables = [results.table(panel) for panel in panels]
    if bounded:
        lines = [reference for panel in panels if (reference := results.reference(panel)) is not None]
        tables += [line.assign(low=line["mean"], high=line["mean"]) for line in lines]
    whole = pd.concat(tables, ignore_index=True)
    foot, top = regret_range(whole, log)
    return (_foot(whole, foot), top) if log else (foot, top)


def _foot(curves: pd.DataFrame, lowest: float) -> float:
    """Without the first steep rounds, which would take most of a logarithmic axis."""
    later = curves[curves["round"] >= curves["round"].max() / SEEN_FROM]["mean"]
    return max(lowest, float(later[later > 0].min()) / 1.5) if (later > 0).any() else lowest
