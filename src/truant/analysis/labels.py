"""What arms and mediator levels are called: counts know only their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Labels:
    """Names of arms and of mediator levels, in the order of the counts."""

    arms: tuple[str, ...]
    mediators: tuple[str, ...]

    @classmethod
    def of(cls, arms: Sequence[object], mediators: Sequence[object]) -> Labels:
        """The labels as texts."""
        return cls(tuple(map(str, arms)), tuple(map(str, mediators)))

    def mediator(self, m: int) -> str:
        """The name of a row of the counts; the last row is that of missing mediators."""
        return self.mediators[m] if m < len(self.mediators) else "missing"

    def spelled_out(self, sentence: str) -> str:
        """A sentence of an assumption, which knows numbers only, with the names in their place."""
        named = re.sub(r"\barm (\d+)\b", lambda found: f"arm {self.arms[int(found[1])]!r}", sentence)
        return re.sub(
            r"\bmediator level (\d+)\b", lambda found: f"mediator {self.mediator(int(found[1]))!r}", named
        )
