"""What to say of how the rows were collected."""

from __future__ import annotations

from truant.analysis.analysis import Analysis
from truant.analysis.collection import FIXED, REPLAYED, SEQUENCE, WEIGHTED, Collection
from truant.analysis.words import Figures

BOUNDS = "bounds"
METHODS = {
    FIXED: "intervals for a fixed split",
    SEQUENCE: "confidence sequences, which are valid for any policy and any stopping time",
    REPLAYED: "intervals calibrated by replaying the policy",
    WEIGHTED: "adaptively weighted estimates",
}


def collection_sentences(collection: Collection) -> list[str]:
    """How intervals allow for the policy, a short sentence each; empty for a fixed split."""
    if collection.kind == "fixed":
        return []
    by_method: dict[str, list[str]] = {}
    for name, interval in collection.intervals.items():
        if name != BOUNDS:
            by_method.setdefault(interval.method, []).append(name)
    parts = [f"{', '.join(names)}: {METHODS[method]}" for method, names in by_method.items()]
    if len(by_method) == 1:
        parts = [METHODS[next(iter(by_method))]]
    sentences = [f"{_who(collection)}; {'; '.join(parts)}"]
    sentences += dict.fromkeys(one.reason for one in collection.intervals.values() if one.reason)
    return sentences


def _who(collection: Collection) -> str:
    if collection.policy is None:
        return "collected by a policy"
    return f"collected by {collection.policy} with horizon {collection.horizon:,}"


def value_sentences(analysis: Analysis) -> list[str]:
    """The value of a mix under each assumption, in one sentence; none if it was not asked for."""
    if analysis.value is None:
        return []
    figures = Figures.of(analysis)
    mix = ", ".join(f"{name} {share:.4g}" for name, share in analysis.value.mix.items())
    values = [
        f"{name} {figures.number(one.mean)} [{figures.number(one.low)}, {figures.number(one.high)}]"
        for name, one in analysis.value.estimates.items()
    ]
    shares = (
        "" if analysis.collection.kind == WEIGHTED else " (assuming constant shares of the arms in the log)"
    )
    return [f"value of the mix {mix}{shares}: {'; '.join(values) or 'no assumption can be used'}"]
