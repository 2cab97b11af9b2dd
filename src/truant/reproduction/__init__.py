"""The paper's figures, reproduced, and its claims, checked on the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from truant.extras import require

if TYPE_CHECKING:
    from truant.reproduction.run import reproduce

__all__ = ["reproduce"]


def __getattr__(name: str) -> Any:
    """Load `reproduce` when it is first used: the names of the figures are needed without it."""
    if name != "reproduce":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("charts", "Reproductions, which write a page with charts,")
    from truant.reproduction.run import reproduce

    return reproduce
