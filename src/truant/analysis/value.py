"""The value of a mix: what outcomes would be if arms were chosen with other shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from truant.analysis.collection import FIXED, Collected
from truant.analysis.estimates import Belief
from truant.analysis.labels import Labels
from truant.assumptions import Estimate
from truant.errors import InvalidValue, unknown
from truant.setting import as_float, is_number
from truant.text import quoted

EXACT = 1e-6  # how far from 1 the sum of the shares may be


@dataclass(frozen=True)
class MixValue:
    """The value of a mix under one assumption."""

    mean: float
    low: float
    high: float
    method: str  # weighted: by logged probabilities; else from the arms' own intervals, with constant shares


@dataclass(frozen=True)
class Value:
    """The mean outcome if each arm were chosen with these shares."""

    mix: dict[str, float]
    estimates: dict[str, MixValue]  # by assumption


def parsed_mix(value: object) -> dict[str, float]:
    """Shares by arm, of a dict or of a text such as "a=.5,b=.5"; or raises InvalidValue."""
    wrong = InvalidValue(
        f'value must be shares of arms, as in "a=0.5,b=0.5" or {{"a": 0.5, "b": 0.5}}, got {quoted(value)}.'
    )
    if isinstance(value, str):
        pairs = [part.rpartition("=") for part in value.split(",")]
        try:
            shares = {name.strip(): float(share) for name, _, share in pairs}
        except ValueError:
            raise wrong from None
        if len(shares) < len(pairs) or "" in shares:
            raise wrong
    elif isinstance(value, Mapping):
        if not all(is_number(share) for share in value.values()):
            raise wrong
        shares = {str(name): as_float(share) for name, share in value.items()}
    else:
        raise wrong
    return shares


def checked_mix(shares: Mapping[str, float], labels: Labels) -> dict[str, float]:
    """Shares of known arms, at least 0, that sum to 1; or raises InvalidValue."""
    for name, share in shares.items():
        if name not in labels.arms:
            raise unknown("arm", name, labels.arms)
        if not (math.isfinite(share) and share >= 0):
            raise InvalidValue(f"A share of value must be at least 0, got {share:g} for {name!r}.")
    total = sum(shares.values())
    if abs(total - 1) > EXACT:
        raise InvalidValue(f"The shares of value must sum to 1, got {total:g}.")
    return dict(shares)


def mix_value(
    shares: Mapping[str, float],
    found: Sequence[Belief],
    labels: Labels,
    level: float,
    collected: Collected | None,
) -> Value:
    """sum_a d(a) mean_a; each end is as far as the arms' own ends, whose errors are independent."""
    mix = checked_mix(shares, labels)
    weights = [mix.get(name, 0.0) for name in labels.arms]
    z = NormalDist().inv_cdf((1 + level) / 2)
    values = {}
    for belief in found:
        if collected is None:
            estimates: Sequence[Estimate] = belief.estimates
            method = FIXED
        else:
            estimates, method = collected.value_estimates(belief)
        used = [(share, estimate) for share, estimate in zip(weights, estimates, strict=True) if share]
        mean = sum(share * estimate.mean for share, estimate in used)
        below = math.hypot(*(share * (estimate.mean - estimate.at(-z)) for share, estimate in used))
        above = math.hypot(*(share * (estimate.at(z) - estimate.mean) for share, estimate in used))
        values[belief.name] = MixValue(mean, mean - below, mean + above, method)
    return Value(mix, values)
