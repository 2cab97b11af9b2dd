"""What was stated of how the rows of a log were collected, checked."""

from __future__ import annotations

from dataclasses import dataclass

from truant.analysis.collection import ByUnknownPolicy, Collected
from truant.errors import InvalidValue, unknown
from truant.logs.log import Log

WAYS = ("fixed", "adaptive")


@dataclass(frozen=True)
class Statement:
    """How the rows were collected: by a fixed split, or by a policy of which more or less is known."""

    collected: str = "fixed"

    @classmethod
    def checked(cls, collected: object, *, unit: str | None) -> Statement:
        """The statement, if its parts fit each other; or raises InvalidValue."""
        if not isinstance(collected, str) or collected not in WAYS:
            raise unknown("way of collecting", collected, WAYS)
        stated = cls(collected)
        if stated.adaptive and unit is not None:
            raise InvalidValue(
                "unit cannot be used with rows that a policy chose: it chose row by row, and units are taken as "
                "wholes; leave out unit, or collected, collected_by and probability."
            )
        return stated

    @property
    def adaptive(self) -> bool:
        """Whether a policy chose the rows."""
        return self.collected != "fixed"

    def of(self, log: Log) -> Collected | None:
        """What mends the intervals of the log; None for a fixed split."""
        return ByUnknownPolicy() if self.adaptive else None
