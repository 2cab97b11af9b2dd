"""What the pages share: links to headings, and the line that says what they are made from."""

from __future__ import annotations

import re
from collections.abc import Iterable

COMMAND = "python -m research.reference"


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(headings: Iterable[str]) -> dict[str, str]:
    """The anchor of each heading of a page; the second of the same anchor gets a number."""
    found: dict[str, str] = {}
    for heading in headings:
        same = sum(anchor(other) == anchor(heading) for other in found)
        found[heading] = f"{anchor(heading)}-{same}" if same else anchor(heading)
    return found


def made_by(source: str) -> str:
    """A comment for those who want to edit the page."""
    return f"<!-- Written by `{COMMAND}` from {source}; edit there. -->"
