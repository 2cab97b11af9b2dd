"""What arms and mediator levels are called: counts know only their numbers."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from truant.errors import NotIdentified
from truant.text import label, named, visible

MANY_LEVELS = 8  # of a numeric mediator, above which it is better cut


def _all_numbers(texts: Sequence[str]) -> bool:
    try:
        return all(math.isfinite(float(text)) for text in texts)
    except ValueError:
        return False


@dataclass(frozen=True)
class Labels:
    """Names of arms and of mediator levels, in the order of the counts."""

    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    outcome: str = "outcome"  # what is measured
    mediator_column: str = "mediator"  # what the levels are of; empty where they say it themselves

    @classmethod
    def of(
        cls,
        arms: Sequence[object],
        mediators: Sequence[object],
        outcome: str = "outcome",
        mediator_column: str = "mediator",
    ) -> Labels:
        """The labels as texts."""
        return cls(tuple(map(str, arms)), tuple(map(str, mediators)), outcome, mediator_column)

    def mediator(self, m: int) -> str:
        """The name of a row of the counts; the last row is that of missing mediators."""
        return self.mediators[m] if m < len(self.mediators) else "missing"

    def place(self, m: int) -> str:
        """The mediator level in a sentence: `opened = no`, or what a level that says it all is called."""
        if m == len(self.mediators):
            return f"{visible(self.mediator_column) or 'the mediator'} missing"
        if self.mediator_column:
            return f"{visible(self.mediator_column)} = {label(self.mediators[m])}"
        return label(self.mediators[m])

    @property
    def cut_advice(self) -> str | None:
        """To cut a mediator that is a number with many values; None if it is none, or has few."""
        if len(self.mediators) <= MANY_LEVELS or not self.mediator_column or not _all_numbers(self.mediators):
            return None
        cut = f"{visible(self.mediator_column)}:3"
        return (
            f"cut {named(self.mediator_column)}, which has {len(self.mediators):,} values, into thirds: --mediator "
            f"{shlex.quote(cut)} (mediator={cut!r})"
        )

    def sentence(self, error: NotIdentified) -> str:
        """What an assumption refuses, which knows numbers only, with the names in their place."""
        return error.sentence(*self._places(error))

    def reason(self, error: NotIdentified) -> str:
        """The same without the assumption's name in front."""
        return error.reason(*self._places(error))

    def _places(self, error: NotIdentified) -> tuple[str | None, str | None]:
        arm = None if error.arm is None else f"arm {named(self.arms[error.arm])}"
        mediator = None if error.mediator is None else self.place(error.mediator)
        return arm, mediator
