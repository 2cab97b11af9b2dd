"""The page of a reproduction: every figure in two versions, with its claim and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from truant.report.document import Figure, Table, rendered


@dataclass(frozen=True)
class Judged:
    """A claim, what became of it, and the figures that decide."""

    figure: str
    claim: str
    verdict: str
    sentence: str
    ours: bool

    @property
    def tone(self) -> str:
        """How it is coloured."""
        return {"survives": "good", "does not survive": "bad"}.get(self.verdict, "mixed")


@dataclass(frozen=True)
class Version:
    """The charts of one version of a figure, and the files that have them."""

    heading: str
    charts: Sequence[Figure]
    files: Sequence[str]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """One figure of the paper."""

    name: str
    title: str
    shows: str
    findings: Sequence[str]
    claims: Sequence[Judged]
    versions: Sequence[Version]
    choices: Sequence[str]
    note: str
    table: Table


def reproduction_page(
    sections: Sequence[Section],
    *,
    title: str,
    about: Sequence[str],
    verdict: str,
    facts: Sequence[tuple[str, str]],
    common: Sequence[str],
) -> str:
    """The whole page, with its charts and the scripts that draw them; it loads nothing from elsewhere.

    Parameters
    ----------
    sections : the figures in their order.
    title, about : heading of the page, and lines below it.
    verdict : the whole in one sentence.
    facts : name and value of what was run.
    common : choices that hold for every figure.
    """
    claims = [claim for section in sections for claim in section.claims]
    charts = [chart for section in sections for version in section.versions for chart in version.charts]
    return rendered(
        "reproduction.html",
        charts,
        title=title,
        about=list(about),
        verdict=verdict,
        facts=list(facts),
        common=list(common),
        sections=list(sections),
        failed=[claim for claim in claims if claim.tone == "bad"],
        mixed=[claim for claim in claims if claim.tone == "mixed"],
        held=[claim for claim in claims if claim.tone == "good"],
    )
