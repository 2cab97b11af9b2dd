"""Writes a page from its sections, each with a comment that says when and from what code it was made.

A section that is made anew takes the place of its old self; the others stay as the page has them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from research.sections import Group
from research.sources import Sources
from truant.files import written_whole

_MARK = re.compile(r"<!-- section (\S+): (\S+), code (\w+)(?:\nmade from ([^>]*?))? -->")
_END = "<!-- end of the sections -->"


@dataclass(frozen=True)
class Written:
    """A section as it stands on a page, with the date and the fingerprint of the code that made it."""

    text: str
    date: str
    code: str
    sources: Sources | None = None  # unknown of a section that was written before they were noted

    @classmethod
    def now(cls, paragraphs: list[str], sources: Sources) -> Written:
        """A section that was made just now."""
        text = "\n\n".join(paragraphs)
        return cls(text, str(datetime.date.today()), sources.fingerprint(), sources)

    @property
    def current(self) -> bool:
        """Whether the code and the data that made it are the present ones."""
        return self.sources is not None and self.sources.fingerprint() == self.code

    def marked(self, name: str) -> str:
        """The section after its comment."""
        origin = f"\nmade from {self.sources}" if self.sources else ""
        return f"<!-- section {name}: {self.date}, code {self.code}{origin} -->\n\n{self.text}"


def write_section(path: Path, group: Group, name: str, section: Written) -> None:
    """Put a section into its page; the page is whole at any time."""
    sections = read_sections(path)
    sections[name] = section
    with written_whole(path) as temporary:
        temporary.write_text(whole_page(group, sections), encoding="utf-8")


def read_sections(path: Path) -> dict[str, Written]:
    """The sections of a page by name; none if there is no page."""
    if not path.exists():
        return {}
    page = path.read_text(encoding="utf-8").partition(_END)[0]
    marks = list(_MARK.finditer(page))
    ends = [*(mark.start() for mark in marks[1:]), len(page)]
    return {
        mark[1]: Written(
            page[mark.end() : end].strip(), mark[2], mark[3], Sources.parse(mark[4]) if mark[4] else None
        )
        for mark, end in zip(marks, ends, strict=True)
    }


def whole_page(group: Group, sections: Mapping[str, Written]) -> str:
    """The page: what it says first, its sections in their order, what it says last."""
    known = {name: sections[name] for name in group.sections if name in sections}
    parts = [*group.head()]
    if old := [name for name, section in known.items() if not section.current]:
        parts.append(f"The code has changed since these sections were made: {', '.join(old)}.")
    if missing := [name for name in group.sections if name not in known]:
        parts.append(f"Not made yet: {', '.join(missing)}.")
    parts += [section.marked(name) for name, section in known.items()]
    tail = group.tail([section.text for section in known.values()])
    return "\n\n".join([*parts, *([_END, *tail] if tail else [])]) + "\n"
