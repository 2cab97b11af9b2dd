"""Lines with a look and a label of their own: for regret over rounds, and along whatever else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

from truant.charts.columns import Columns, chart_data, in_order, reals, taken
from truant.charts.style import (
    COLOURS,
    DASHES,
    FAINT,
    FONT,
    LABEL_GAP,
    LABEL_SIZE,
    Look,
    darker,
    short,
    spread,
)

REFERENCE = Look(FAINT, (1, 3))
NAIVE, ORACLE = Look("#D55E00", (7, 3)), Look("#000000", (2, 2))  # the same in every chart
LEADER = 14.0  # pixels from the end of a line to its label


def line_style(
    policies: Sequence[str], dotted: Sequence[str] = (), looks: Mapping[str, Look] | None = None
) -> dict[str, Any]:
    """Colours, letters in darker ones, and dashes; in scales, where a dark page finds them."""
    given = looks or {}
    chosen = [
        REFERENCE if policy in dotted else given.get(policy) or default_look(number)
        for number, policy in enumerate(policies)
    ]

    def scale(values: list[str] | list[list[int]]) -> alt.Scale:
        return alt.Scale(domain=list(policies), range=values)

    colours = [look.colour for look in chosen]
    return {
        "stroke": alt.Stroke("policy:N", legend=None, scale=scale(colours)),
        "fill": alt.Fill("policy:N", legend=None, scale=scale(colours)),
        "letters": alt.Color("policy:N", legend=None, scale=scale([darker(colour) for colour in colours])),
        "dash": alt.StrokeDash("policy:N", legend=None, scale=scale([list(look.dash) for look in chosen])),
    }


def default_look(number: int) -> Look:
    """A colour and a dash for each; from the ninth on, colours come again with another dash."""
    count = len(COLOURS)
    return Look(COLOURS[number % count], DASHES[(number + number // count) % len(DASHES)])


def policy_looks(policies: Sequence[str]) -> dict[str, Look]:
    """A look for each policy: the first naive one and the first oracle have their own, the others come in turn."""
    looks: dict[str, Look] = {}
    left = [
        default_look(i)
        for i in range(2 * len(COLOURS))
        if COLOURS[i % len(COLOURS)] not in (NAIVE[0], ORACLE[0])
    ]
    for policy in policies:
        own = NAIVE if policy.startswith("naive-") else ORACLE if policy.startswith("oracle-") else None
        if own is None or own in looks.values():
            own = left[sum(look in left for look in looks.values()) % len(left)]
        looks[policy] = own
    return looks


def line_ends(data: Columns, foot: float, top: float, log: bool, height: int) -> pa.Table:
    """The last point of each line, and where its label goes so that labels do not overlap.

    `data` has columns policy, round (whatever the x axis is), mean, and height (the mean, kept on the axis).
    """
    lines = [np.flatnonzero(data["policy"] == policy) for policy in in_order(data["policy"])]
    ends = taken(data, [int(rows[np.argmax(data["round"][rows])]) for rows in lines])
    to_line, to_value = (np.log, np.exp) if log else (np.asarray, np.asarray)
    start, length = to_line(foot), to_line(top) - to_line(foot)
    places = spread((to_line(reals(ends["height"])) - start) / length * height, LABEL_GAP, 0, height)
    labels = [
        f"{policy}\N{EN SPACE}{short(mean)}"
        for policy, mean in zip(ends["policy"], ends["mean"], strict=True)
    ]
    return chart_data(ends | {"place": to_value(start + places / height * length), "label": labels})


def line_labels(ends: pa.Table, width: int, style: Mapping[str, Any]) -> list[alt.Chart]:
    """A label beside the end of each line, and a thin line that leads to it."""
    base = alt.Chart(ends)
    edge, side = alt.value(float(width)), alt.value(width + LEADER)
    leader = base.mark_rule(strokeWidth=1.2, opacity=0.7, clip=False)
    text = base.mark_text(
        align="left", baseline="middle", dx=4, font=FONT, fontSize=LABEL_SIZE, fontWeight=600
    )
    return [
        leader.encode(x=edge, x2=side, y="height:Q", y2="place:Q", stroke=style["stroke"]),
        text.encode(x=side, y="place:Q", text="label:N", color=style["letters"]),
    ]
