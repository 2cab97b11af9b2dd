"""Texts that stand for something else in every table: for missing, for 1 and for 0."""

from __future__ import annotations

MARKERS = ("", "na", "n/a", "nan", "null", "none")  # missing: in any case, with blanks around
YES = ("yes", "true", "y", "t", "on")
NO = ("no", "false", "n", "f", "off")


def mixed(name: str, what: str, first: str, second: str) -> str:
    """The sentence on two ways to write in one column."""
    return f"Column {name!r} mixes {what}, such as {first!r} and {second!r}; write all of it in one way."
