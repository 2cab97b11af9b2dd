"""Plain tables -> charts (Altair)."""

from truant.errors import require

require("charts", "Charts and pages")  # first: the imports below would fail with less to say

from truant.charts.analysis import estimates_chart, missing_heatmap, tipping_chart
from truant.charts.regret import regret_chart, regret_range
from truant.charts.style import (
    COLOURS,
    DARK,
    DASHES,
    FAINT,
    FONT,
    INK,
    LABEL_GAP,
    SHADES,
    Look,
    in_rows,
    save_chart,
    save_pictures,
    spread,
    styled_axis,
    styled_title,
    value_axis,
)

__all__ = [
    "COLOURS",
    "DARK",
    "DASHES",
    "FAINT",
    "FONT",
    "INK",
    "LABEL_GAP",
    "SHADES",
    "Look",
    "estimates_chart",
    "in_rows",
    "missing_heatmap",
    "regret_chart",
    "regret_range",
    "save_chart",
    "save_pictures",
    "spread",
    "styled_axis",
    "styled_title",
    "tipping_chart",
    "value_axis",
]
