"""How shares, probabilities and p-values are written, so that none claims certainty."""

from __future__ import annotations

import math

UNKNOWN = "–"


def percent(share: float | None) -> str:
    """A share with one decimal: 38.8%."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def chance(probability: float) -> str:
    """A probability with one decimal, which never claims certainty: >99.9%."""
    if 0 <= probability < 0.0005:
        return "<0.1%"
    return ">99.9%" if probability > 0.9995 else percent(probability)


def p_value(value: float) -> str:
    """0.034, but < 0.001 for what is smaller; a dash for what is not known."""
    if math.isnan(value):
        return UNKNOWN
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
