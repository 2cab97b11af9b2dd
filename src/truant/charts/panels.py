"""Regret over rounds in several panels with one y axis: for a page, or as one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

import altair as alt
import numpy as np
import pyarrow as pa

from truant.charts.lines import NAIVE, ORACLE
from truant.charts.regret import regret_chart, regret_range
from truant.charts.style import SHADES, Look, in_rows

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
SHADE_DASHES = ((1, 0), (9, 3), (5, 3), (2, 2))  # of the shades of one policy
LATE = 50  # a logarithmic axis begins at the lowest line after this fraction (1/50) of the rounds


@dataclass(frozen=True)
class RegretPanel:
    """Lines of regret in one coordinate system.

    Parameters
    ----------
    title : above the panel.
    curves : columns policy (the label of a line), round, mean, low, high.
    looks : colour and dash of each label.
    reference : columns policy (its label), round, mean: a thin dotted line to compare with.
    """

    title: str
    curves: pa.Table
    looks: Mapping[str, Look]
    reference: pa.Table | None = None


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
    panels: Sequence[RegretPanel],
    *,
    log: bool,
    width: int,
    height: int,
    title: str = "",
    subtitle: Sequence[str] = (),
) -> list[alt.LayerChart]:
    """A chart for each panel, with one y axis for all; titled by panel unless a title is given."""
    limits = _limits(panels, log)
    return [
        regret_chart(
            panel.curves,
            title=title or panel.title,
            subtitle=subtitle,
            log=log,
            width=width,
            height=height,
            looks=panel.looks,
            reference=panel.reference,
            limits=limits,
        )
        for panel in panels
    ]


def panels_picture(
    panels: Sequence[RegretPanel], *, title: str, subtitle: Sequence[str], log: bool
) -> alt.LayerChart | alt.ConcatChart:
    """All panels as one chart, for a file: a single panel bears the title, several have their own below it."""
    if len(panels) == 1:
        lines = [f"{panels[0].title}. {subtitle[0]}", *subtitle[1:]]
        return panel_charts(panels, log=log, width=440, height=290, title=title, subtitle=lines)[0]
    return in_rows(panel_charts(panels, log=log, width=330, height=250), title, subtitle)


def _limits(panels: Sequence[RegretPanel], log: bool) -> tuple[float, float]:
    """One y axis for all panels; a logarithmic one without the steep first rounds, which would take most of it."""
    columns = ["round", "mean", "low", "high"]
    tables = [panel.curves.select(columns) for panel in panels]
    for line in (panel.reference for panel in panels if panel.reference is not None):
        tables.append(pa.table([line["round"], line["mean"], line["mean"], line["mean"]], names=columns))
    whole = pa.concat_tables(tables)
    foot, top = regret_range(whole, log)
    if not log:
        return foot, top
    rounds, means = whole["round"].to_numpy(), whole["mean"].to_numpy()
    later = means[(rounds >= rounds.max() / LATE) & (means > 0)]
    return (max(foot, float(np.min(later)) / 1.5) if len(later) else foot), top
