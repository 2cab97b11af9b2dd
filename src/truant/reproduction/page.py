"""A reproduction's page: its figures as sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truant.report.document import Cell, Table, spec_of
from truant.report.document import Figure as Drawn
from truant.report.reproduction import Judged, Section, Version, reproduction_page
from truant.reproduction.catalogue import COMMON
from truant.reproduction.claims import Verdict
from truant.reproduction.figure import Figure
from truant.reproduction.pictures import VERSIONS, panel_charts
from truant.reproduction.results import Results
from truant.reproduction.words import COLUMNS, bound_note, findings, overall, size, table_cells

WIDTH, HEIGHT = 290, 240  # of a plot; two fit beside each other


def page(
    sections: Sequence[Section], curves: int, verdicts: Sequence[Verdict], summary: dict[str, Any]
) -> str:
    """The whole page."""
    settings, versions = summary["settings"], summary["versions"]
    names = ", ".join(f"{name} {version}" for name, version in versions.items())
    extent = "quick: a tenth of the rounds, half the runs" if settings["quick"] else "full size"
    if settings["runs"]:
        extent += f", {settings['runs']:,} runs each"
    facts = [
        ("figures", f"{len(sections)}"),
        ("curves", f"{curves}"),
        ("seed", f"{settings['seed']}"),
        ("time taken", duration(summary["seconds"])),
    ]
    about = ["“Multi-armed Bandits with Missing Outcome”, its experiments again.", f"{extent}. {names}."]
    if summary["left_out"]:
        about += [f"{name} is left out: {why}" for name, why in summary["left_out"].items()]
    return reproduction_page(
        sections,
        title="The paper's figures, again",
        about=[line[0].upper() + line[1:] for line in about],
        verdict=overall(verdicts, settings["quick"]),
        facts=facts,
        common=COMMON,
    )


def section(figure: Figure, results: Results, verdicts: Sequence[Verdict]) -> Section:
    """A figure as it stands on the page."""
    found = findings(figure, results)
    return Section(
        name=figure.name,
        title=figure.title,
        shows=f"{figure.shows} {size(figure, results)}.",
        findings=found,
        claims=[Judged(figure.name, v.claim, v.word, v.sentence, v.ours) for v in verdicts],
        versions=[_version(figure, version, results, found) for version in figure.versions],
        choices=figure.choices,
        note=figure.note,
        table=_table(figure, results),
    )


def _version(figure: Figure, version: str, results: Results, found: Sequence[str]) -> Version:
    charts = panel_charts(figure, version, results, width=WIDTH, height=HEIGHT)
    drawn = [
        Drawn(
            f"{figure.name}-{version}-{number}",
            spec_of(chart),
            f"Line chart of regret over rounds, {panel.title}: {VERSIONS[version]}. {' '.join(found)}",
            fluid=False,
        )
        for number, (chart, panel) in enumerate(zip(charts, figure.versions[version], strict=True))
    ]
    files = [f"{figure.name}-{version}.{kind}" for kind in ("png", "svg")]
    return Version(VERSIONS[version], drawn, files, bound_note(figure) if version == "truant" else "")


def _table(figure: Figure, results: Results) -> Table:
    unique = {(row["policy"], str(table_cells(row)[1])): row for row in results.rows(figure)}
    rows = [[Cell(text) for text in table_cells(row)] for row in unique.values()]
    return Table("Final regret: mean, median and standard deviation over the runs", COLUMNS, rows, words=2)


def duration(seconds: float) -> str:
    """38 s, 2 min 5 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
