"""Regret over rounds in several panels with one y axis, as one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch

import altair as alt
import numpy as np
import pyarrow as pa

from research.reproduction.figure import Figure
from research.reproduction.results import Results
from research.reproduction.words import BOUNDED, picture_lines
from truant.charts.regret import NAIVE, ORACLE, Extent, RegretPanel, panel_chart, regret_range
from truant.charts.style import SHADES, Look, in_rows

# the first pattern that a policy's name matches
LOOKS = (
    ("naive-*", NAIVE),
    ("oracle-*", ORACLE),
    ("notebook-ucb*", NAIVE),
    ("notebook-known-p*", Look("#E69F00", (9, 3, 2, 3))),
    ("notebook-*", Look("#CC79A7", (12, 4))),
    ("paper-mcar:alpha=1", NAIVE),
    ("paper-mar-known*", Look("#E69F00", (9, 3, 2, 3))),
    ("paper-mediator-mnar", Look("#B8A800", (6, 2, 1, 2, 1, 2))),
    ("paper-*", Look("#CC79A7", (12, 4))),
    ("*-thompson", Look("#009E73", (4, 2))),
    ("mar-known-*", Look("#56B4E9", (9, 3, 2, 3))),
    ("*:level=cautious", Look("#56B4E9", (9, 3, 2, 3))),
    ("*", Look("#0072B2", (1, 0))),
)
SHADE_DASHES = ((1, 0), (9, 3), (5, 3), (2, 2))  # of the shades of one policy
LATE = 50  # a logarithmic axis begins at the lowest line after this fraction (1/50) of the rounds


def picture(figure: Figure, version: str, results: Results) -> alt.LayerChart | alt.ConcatChart:
    """One version of a figure, the lower bound as a dotted line in one of them."""
    panels = [
        RegretPanel(
            title=panel.title,
            curves=results.curves(panel),
            looks=looks_of_lines({line.name: line.policy for line in panel.lines}),
            reference=results.reference(panel) if version == BOUNDED else None,
        )
        for panel in figure.versions[version]
    ]
    subtitle = picture_lines(figure, version, results)
    return panels_picture(panels, title=figure.title, subtitle=subtitle, log=version in figure.log)


def looks_of_lines(policies: Mapping[str, str]) -> dict[str, Look]:
    """The look of each line, from label -> policy: the same for a policy in every chart.

    Several lines of one policy are shades of one hue.
    """
    if len(policies) > 1 and len(set(policies.values())) == 1:
        step = len(SHADES) // len(policies)
        return {label: Look(SHADES[i * step], SHADE_DASHES[i]) for i, label in enumerate(policies)}
    return {
        label: next(look for pattern, look in LOOKS if fnmatch(policy, pattern))
        for label, policy in policies.items()
    }


def panel_charts(
    panels: Sequence[RegretPanel], *, log: bool, width: int, height: int
) -> list[alt.LayerChart]:
    """A chart for each panel, with one y axis for all."""
    extent = _common_extent(panels, log)
    return [panel_chart(panel, extent, width=width, height=height) for panel in panels]


def panels_picture(
    panels: Sequence[RegretPanel], *, title: str, subtitle: Sequence[str], log: bool
) -> alt.LayerChart | alt.ConcatChart:
    """All panels as one chart, for a file: a single panel bears the title, several have their own below it."""
    if len(panels) > 1:
        return in_rows(panel_charts(panels, log=log, width=330, height=250), title, subtitle)
    lines = [f"{panels[0].title}. {subtitle[0]}", *subtitle[1:]]
    extent = _common_extent(panels, log)
    return panel_chart(replace(panels[0], title=title), extent, subtitle=lines, width=440, height=290)


def _common_extent(panels: Sequence[RegretPanel], log: bool) -> Extent:
    """One y axis for all panels; a logarithmic one without the steep first rounds, which would take most of it."""
    columns = ["round", "mean", "low", "high"]
    tables = [panel.curves.select(columns) for panel in panels]
    for line in (panel.reference for panel in panels if panel.reference is not None):
        tables.append(pa.table([line["round"], line["mean"], line["mean"], line["mean"]], names=columns))
    whole = pa.concat_tables(tables)
    extent = regret_range(whole, log)
    rounds, means = whole["round"].to_numpy(), whole["mean"].to_numpy()
    later = means[(rounds >= rounds.max() / LATE) & (means > 0)]
    if not log or not len(later):
        return extent
    return extent._replace(foot=max(extent.foot, float(np.min(later)) / 1.5))
