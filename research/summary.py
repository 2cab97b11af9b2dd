"""The table at the top of the validation page: what holds, what does not, and whom that concerns."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from research.figures import table
from research.record import RECORDS, Record, read_record
from research.sections import HERE, Group

CLAIMS = HERE / "validation" / "pages" / "claims.toml"
NAMED = 4  # worlds with rows that do not meet a criterion


class Claim(NamedTuple):
    """What a section tests.

    Parameters
    ----------
    claim : in a sentence.
    concerns : who must know where it does not hold.
    column : the column whose figures are printed for rows that do not meet the criterion.
    figure : what these figures are called; the name of the column unless given.
    reported : what stands in place of a number of rows where the section reports without judging.
    """

    claim: str
    concerns: str
    column: str = ""
    figure: str = ""
    reported: str = ""


def read_claims() -> dict[str, Claim]:
    """The claim of each section that has one."""
    content = tomllib.loads(CLAIMS.read_text(encoding="utf-8"))
    return {name: Claim(**claim) for name, claim in content.items()}


def summary(group: Group, headings: Mapping[str, str], records: Path = RECORDS) -> str:
    """A row for each claim: where it holds, where not, whom that concerns, and the section with all figures.

    Parameters
    ----------
    headings : of the sections that were made.
    """
    rows = []
    for name, claim in read_claims().items():
        record = read_record(name, records)
        link = f"[figures]({group.page_of(name).path}#{anchor(headings[name])})" if name in headings else "-"
        rows.append([claim.claim, holds_in(claim, record), exceptions(claim, record), claim.concerns, link])
    return table(("claim", "holds in", "does not hold in", "whom it concerns", ""), rows)


def holds_in(claim: Claim, record: Record | None) -> str:
    """How many rows meet the criterion."""
    if record is None:
        return "not made yet"
    if not record.judged:
        return claim.reported
    kept = record.judged - len(record.failing)
    return f"{'all ' if kept == record.judged else f'{kept} of '}{record.judged} rows"


def exceptions(claim: Claim, record: Record | None) -> str:
    """The worlds in which a claim does not hold, with the range of the figures that say so."""
    if record is None or not record.failing:
        return "-"
    worlds: dict[str, list[float]] = {}
    for row in record.failing:
        figure = record.figures.get(f"{row}: {claim.column}")
        values = worlds.setdefault(row.partition(",")[0], [])
        values += [figure.value] if figure is not None else []
    named = [f"{world}{_range(claim, values)}" for world, values in worlds.items()]
    more = len(named) - NAMED
    return "; ".join(named[:NAMED]) + (f"; and {more} more" if more > 0 else "")


def _range(claim: Claim, values: list[float]) -> str:
    if not values:
        return ""
    ends = list(dict.fromkeys(f"{value:,.3g}" for value in (min(values), max(values))))
    return f": {claim.figure or claim.column} {' to '.join(ends)}"


def anchor(heading: str) -> str:
    """The place of a heading in a page, as Markdown readers name it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
