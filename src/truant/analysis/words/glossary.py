"""What the columns of an analysis mean: the naive mean, and each assumption in a few words."""

from __future__ import annotations

from truant.analysis.analysis import Analysis

MEANINGS = {
    "naive": "mean of the observed outcomes",
    "mcar": "outcomes are missing by chance alone",
    "mar": "outcomes are missing by chance among rows with the same arm and mediator level",
    "mnar": "whether an outcome is missing depends on the outcome",
    "mediator-mar": "as mar, and mediators are missing by chance",
    "mediator-mnar": "whether an outcome or a mediator is missing depends on the mediator",
    "both-mnar": "whether an outcome is missing depends on the outcome, whether a mediator is on the mediator",
    "follow-up": "no assumption about the reason for missingness; uses the answers to follow-ups",
}


def meanings_sentence(analysis: Analysis) -> str:
    """What each column means: 'naive: mean of the observed outcomes; mcar: ...'; others than truant's are left out."""
    known = {name: MEANINGS.get(name.partition(":")[0]) for name in ("naive", *analysis.assumptions)}
    return "; ".join(f"{name}: {meaning}" for name, meaning in known.items() if meaning)
