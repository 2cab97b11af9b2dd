"""Writes the pages: what was confirmed, the introduction, the sections.

A section that is made anew takes the place of its old self; the others stay as the page has them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from research.record import RECORDS, read_confirmations, read_record, sources_hash
from research.sections import Group, Page
from research.summary import summary
from truant.files import written_whole

_MARK = re.compile(r"<!-- section (\S+): made (\S+) -->")
_END = "<!-- end of the sections -->"


@dataclass(frozen=True)
class Written:
    """A section as it stands on a page, with the date on which it was made."""

    text: str
    date: str

    @classmethod
    def now(cls, paragraphs: list[str]) -> Written:
        """A section that was made just now."""
        return cls("\n\n".join(paragraphs), str(datetime.date.today()))

    @property
    def heading(self) -> str:
        """Its title."""
        return self.text.partition("\n")[0].removeprefix("## ")

    def marked(self, name: str) -> str:
        """The section after its comment."""
        return f"<!-- section {name}: made {self.date} -->\n\n{self.text}"


def write_section(docs: Path, page: Page, name: str, section: Written, records: Path = RECORDS) -> None:
    """Put a section into its page; the page is whole at any time."""
    sections = read_sections(docs / page.path)
    sections[name] = section
    _write(docs / page.path, whole_page(page, sections, records))


def write_pages(docs: Path, group: Group, records: Path = RECORDS) -> None:
    """Write the pages of a group anew: their sections stay, what was confirmed is as recorded now."""
    for page in group.pages:
        _write(docs / page.path, whole_page(page, read_sections(docs / page.path), records))
    if group.summary is not None:
        _write(docs / group.summary.path, summary_page(docs, group, records))


def read_sections(path: Path) -> dict[str, Written]:
    """The sections of a page by name; none if there is no page."""
    if not path.exists():
        return {}
    page = path.read_text(encoding="utf-8").partition(_END)[0]
    marks = list(_MARK.finditer(page))
    ends = [*(mark.start() for mark in marks[1:]), len(page)]
    return {
        mark[1]: Written(page[mark.end() : end].strip(), mark[2])
        for mark, end in zip(marks, ends, strict=True)
    }


def whole_page(page: Page, sections: Mapping[str, Written], records: Path = RECORDS) -> str:
    """The page: what was confirmed, what it says first, its sections in their order, what it says last."""
    known = {name: sections[name] for name in page.sections if name in sections}
    parts = [confirmed_line(list(page.sections), records), page.head]
    if missing := [name for name in page.sections if name not in known]:
        parts.append(f"Not made yet: {', '.join(missing)}.")
    parts += [section.marked(name) for name, section in known.items()]
    tail = page.tail([section.text for section in known.values()])
    return "\n\n".join([*parts, *([_END, *tail] if tail else [])]) + "\n"


def summary_page(docs: Path, group: Group, records: Path = RECORDS) -> str:
    """The page that says what holds, what does not, and whom that concerns."""
    assert group.summary is not None
    headings = {
        name: section.heading
        for page in group.pages
        for name, section in read_sections(docs / page.path).items()
    }
    pages = [f"- [{page.title.partition(': ')[2]}]({page.path})" for page in group.pages]
    line = confirmed_line(list(group.sections), records)
    return "\n\n".join([line, group.summary.head, summary(group, headings, records), "\n".join(pages)]) + "\n"


def confirmed_line(names: list[str], records: Path = RECORDS) -> str:
    """When and with what code the figures of sections were last compared with a new run, in a sentence.

    If sections were confirmed at different times, the sentence is about the earliest.
    """
    with_figures = [name for name in names if (record := read_record(name, records)) and record.figures]
    confirmations = read_confirmations(records)
    compared = [confirmations[name] for name in with_figures if name in confirmations]
    if not any(one.figures for one in compared):
        return "The figures of this page were not confirmed yet."
    figures, moved, columns, missing = (
        sum(numbers)
        for numbers in zip(
            *((one.figures, len(one.moved), len(one.moved_columns), len(one.missing)) for one in compared),
            strict=True,
        )
    )
    counts = f"{figures} figures, {moved} moved"
    counts += f", {missing} not compared" if missing else ""
    counts += f"; and as a whole {columns} column{'s' * (columns > 1)}" if columns else ""
    first = min(compared, key=lambda one: one.at)
    several = " or later" if len({one.commit for one in compared}) > 1 else ""
    line = f"Confirmed on {first.at[:10]} with code {first.commit}{several} ({counts})"
    if any(one.sources != sources_hash() for one in compared):
        line += ", an earlier state of the code: src has changed since"
    for what, of in (
        ("failed", [name for name in with_figures if name in confirmations and confirmations[name].error]),
        ("not confirmed", [name for name in with_figures if name not in confirmations]),
        ("without figures that can be compared", [name for name in names if name not in with_figures]),
    ):
        line += f"; {what}: {', '.join(of)}" if of else ""
    return f"{line}."


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
