"""Warnings of an analysis whose advice does not fit an experiment, which has windows and no filter."""

from __future__ import annotations

from dataclasses import replace

from truant.analysis import Analysis
from truant.analysis.diagnosis import Warning

RECENT = "recent-missing"


def with_live_advice(analysis: Analysis) -> Analysis:
    """The same analysis with advice that can be followed while an experiment runs."""
    return replace(analysis, warnings=tuple(map(_advised, analysis.warnings)))


def _advised(warning: Warning) -> Warning:
    if warning.code != RECENT or warning.value is None:
        return warning
    text = (
        f"{warning.value:.1%} of the outcomes of the decisions that were counted last are missing, more than before: "
        "check that outcomes are still told, and that the window is long enough. Pending decisions are not counted."
    )
    return replace(warning, message=text)
