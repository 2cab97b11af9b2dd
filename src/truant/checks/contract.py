"""What a check raises."""

from __future__ import annotations

from truant.errors import TruantError


class ContractBroken(TruantError, AssertionError):
    """A part does not keep its contract."""


def demand(holds: object, sentence: str) -> None:
    """Raise ContractBroken with the sentence unless it holds."""
    if not holds:
        raise ContractBroken(sentence)
