"""Texts of users in the terminal: shown as they are, never obeyed, neither by rich nor by the terminal."""

from __future__ import annotations

from rich.text import Text

from truant.text import visible


def plain(text: str, style: str = "") -> Text:
    """A text without markup or control characters."""
    return Text(visible(text), style)
