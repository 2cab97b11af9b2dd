"""Texts and values of others (labels, names, paths, arguments) as they may be shown in a terminal."""

from __future__ import annotations

import re
import unicodedata

# controls (ESC, BEL, line breaks), marks that are not seen or turn the direction of writing, halves of characters
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")
MOST_SHOWN = 60  # characters of a label in a table
MOST_QUOTED = 200  # characters of a value in an error


def visible(text: str) -> str:
    r"""The text with characters that a terminal would obey or hide written as escapes, such as \x1b."""
    if text.isprintable():  # nearly every text
        return text
    return "".join(
        letter.encode("unicode_escape").decode() if unicodedata.category(letter) in _NOT_SHOWN else letter
        for letter in text
    )


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, as in "1 arm" or "10,000 decisions"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def label(text: object, most: int = MOST_SHOWN) -> str:
    """A label as a table in the terminal shows it: visible, and cut in the middle if it is very long."""
    shown = visible(str(text))
    if len(shown) <= most:
        return shown
    tail = (most - 1) // 3
    return f"{shown[: most - 1 - tail]}…{shown[-tail:]}"


def named(text: object, most: int = MOST_SHOWN) -> str:
    """A name in a sentence: in quotes, visible, and cut in the middle if it is very long."""
    shown = label(text, most)
    mark = '"' if "'" in shown and '"' not in shown else "'"
    return f"{mark}{shown}{mark}"


def quoted(value: object, most: int = MOST_QUOTED) -> str:
    """A value as an error quotes it: in one line, cut in the middle if it is very long."""
    try:
        text = repr(value)
    except Exception:  # an object of a user whose own text fails, or an integer of thousands of digits
        text = f"a value of type {type(value).__name__}"
    return label(re.sub(r"\s*\n\s*", " ", text), most)
