"""A figure and its results as charts and the page take them: panels with tables, sentences and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from truant.charts.panels import RegretPanel, looks_of_lines
from truant.report.reproduction import CheckedClaim, FigureVersion, ReproducedFigure, figure_version
from truant.reproduction.claims import Verdict
from truant.reproduction.figure import Figure
from truant.reproduction.results import Results
from truant.reproduction.words import BOUNDED, VERSIONS, bound_note, findings, size

PICTURES = ("png", "svg")


def panels_of(figure: Figure, results: Results) -> dict[str, list[RegretPanel]]:
    """The panels of each version, the lower bound as a reference line in one of them."""
    return {
        version: [
            RegretPanel(
                title=panel.title,
                curves=results.curves(panel),
                looks=looks_of_lines({line.name: line.policy for line in panel.lines}),
                reference=results.reference(panel) if version == BOUNDED else None,
            )
            for panel in panels
        ]
        for version, panels in figure.versions.items()
    }


def picture_name(figure: Figure, version: str, kind: str) -> str:
    """The file name of a version's picture."""
    return f"{figure.name}-{version}.{kind}"


def reproduced(
    figure: Figure,
    panels: Mapping[str, Sequence[RegretPanel]],
    results: Results,
    verdicts: Sequence[Verdict],
) -> ReproducedFigure:
    """A figure as the page shows it."""
    found = findings(figure, results)
    return ReproducedFigure(
        name=figure.name,
        title=figure.title,
        shows=f"{figure.shows} {size(figure, results)}.",
        findings=found,
        claims=[CheckedClaim(figure.name, v.claim, v.word, v.sentence, v.ours) for v in verdicts],
        versions=[_version(figure, version, own, found) for version, own in panels.items()],
        choices=figure.choices,
        note=figure.note,
        rows=results.rows(figure),
    )


def _version(
    figure: Figure, version: str, panels: Sequence[RegretPanel], found: Sequence[str]
) -> FigureVersion:
    return figure_version(
        f"{figure.name}-{version}",
        VERSIONS[version],
        panels,
        log=version in figure.log,
        files=[picture_name(figure, version, kind) for kind in PICTURES],
        alternative=" ".join(found),
        note=bound_note(figure) if version == BOUNDED else "",
    )
