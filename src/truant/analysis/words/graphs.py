"""What an assumption forbids, in words: on what being observed may depend, and on what it may not."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from truant.analysis.labels import Labels
from truant.analysis.words.figures import listed
from truant.text import named

Arrow = tuple[str, str]


def forbids_sentence(labels: Labels, arrows: Sequence[Arrow], forbidden: Collection[Arrow]) -> str:
    """One sentence for each variable whose being observed has a cause: the outcome, and the mediator."""
    sentences = []
    for target in ("O", "Q"):
        causes = [cause for cause, effect in arrows if effect == target]
        if not causes:
            continue
        own = "Y" if target == "O" else "M"
        free = [_cause(labels, cause, own) for cause in causes if (cause, target) not in forbidden]
        barred = [_cause(labels, cause, own) for cause in causes if (cause, target) in forbidden]
        text = f"Whether {_name(labels, own)} is observed may depend on {listed(free)}" if free else ""
        text = text or f"Whether {_name(labels, own)} is observed depends on nothing else"
        sentences.append(f"{text}, but not on {' nor on '.join(barred)}." if barred else f"{text}.")
    return " ".join(sentences)


def _cause(labels: Labels, node: str, own: str) -> str:
    if node in "OQ":
        return f"whether {_name(labels, 'Y' if node == 'O' else 'M')} is observed"
    return "the arm" if node == "A" else f"{_name(labels, node)}{' itself' if node == own else ''}"


def _name(labels: Labels, node: str) -> str:
    if node == "Y":
        return named(labels.outcome)
    return named(labels.mediator_column) if labels.mediator_column else "the mediator"
