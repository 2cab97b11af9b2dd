"""The page of a reproduction: every figure in two versions, with its claims and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from research.reproduction.claims import Verdict
from research.reproduction.figure import Figure
from research.reproduction.results import Results
from research.reproduction.words import (
    BOUNDED,
    PAPER,
    READING_WORDS,
    VERSIONS,
    bound_note,
    duration,
    findings,
    overall,
    size,
    stored_line,
)
from truant.charts.style import dark_properties, short

COLUMNS = (
    *("policy", "world", "rounds", "runs", "regret", "median", "sd", "2nd / 1st half", "lower-bound rate"),
)


@dataclass(frozen=True)
class VersionOnPage:
    """The picture of one version of a figure, and the files that have it."""

    heading: str
    drawing: Markup
    files: list[str]
    note: str


@dataclass(frozen=True)
class FigureOnPage:
    """A figure of the paper as the page shows it."""

    figure: Figure
    shows: str
    findings: list[str]
    verdicts: list[Verdict]
    versions: list[VersionOnPage]
    rows: list[list[str]]  # the table of final regrets, each policy in each world once
    plots: list[str]  # the stored plots' values beside ours

    @classmethod
    def of(
        cls,
        figure: Figure,
        verdicts: list[Verdict],
        results: Results,
        drawings: Mapping[str, str],
        pictures: bool,
    ) -> FigureOnPage:
        """From the numbers, and the drawing of each version; pictures: whether there are files of them, too."""
        versions = [
            VersionOnPage(
                heading=VERSIONS[version],
                drawing=Markup(drawing),
                files=[f"{figure.name}-{version}.{kind}" for kind in ("png", "svg") if pictures],
                note=bound_note(figure) if version == BOUNDED else "",
            )
            for version, drawing in drawings.items()
        ]
        cells = [row_of(row) for row in results.rows(figure)]
        rows = list({(row[0], row[1]): row for row in cells}.values())
        shows = f"{figure.shows} {size(figure, results)}."
        plots = [stored_line(plot) for plot in results.beside_plots(figure)]
        return cls(figure, shows, findings(figure, results), verdicts, versions, rows, plots)


def page_of(figures: Sequence[FigureOnPage], summary: Mapping[str, Any]) -> str:
    """The whole page; it loads nothing from elsewhere and has no script.

    Parameters
    ----------
    figures : in their order.
    summary : as in summary.json: settings, versions, left_out, choices, seconds.
    """
    settings, verdicts = summary["settings"], [verdict for each in figures for verdict in each.verdicts]
    extent = "Quick: a tenth of the rounds, half the runs" if settings["quick"] else "Full size"
    if settings["runs"]:
        extent += f", {settings['runs']:,} runs each"
    if settings["horizon"]:
        extent += f", {settings['horizon']:,} rounds"
    if settings["alpha"]:
        extent += f", α = {settings['alpha']:g} throughout"
    made_with = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    lines = {(line.scene, line.policy) for each in figures for line in each.figure.lines()}
    headings = {
        "does not survive": "Claims that do not survive",
        "depends": "Claims that depend",
        "survives": "Claims that survive",
    }
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(
        about=[
            f"{PAPER}.",
            f"{extent}. {made_with}.",
            *(f"{name} is left out: {why}" for name, why in summary["left_out"].items()),
        ],
        overall=overall(verdicts, settings["quick"]),
        facts={
            "figures": len(figures),
            "curves": len(lines),
            "seed": settings["seed"],
            "time taken": duration(summary["seconds"]),
        },
        common=summary["choices"],
        figures=figures,
        judged={
            heading: [(each.figure.name, v) for each in figures for v in each.verdicts if v.word == word]
            for word, heading in headings.items()
        },
        readings=READING_WORDS,
        tones={"survives": "good", "does not survive": "bad", "depends": "mixed"},
        columns=COLUMNS,
        dark=Markup(dark_properties()),
    )


def row_of(row: Mapping[str, Any]) -> list[str]:
    """A row of the table of final regrets, from that of the summary."""
    parameters = ",".join(f"{key}={value}" for key, value in row["parameters"].items())
    sd, ratio, bound = row["regret_sd"], row["second_half_ratio"], row["lower_bound"]
    return [
        row["policy"],
        f"{row['world']}:{parameters}" if parameters else row["world"],
        f"{row['horizon']:,}",
        f"{row['runs']:,}",
        short(row["regret_mean"]),
        short(row["regret_median"]),
        "–" if sd is None else short(sd),
        "–" if ratio is None else f"{ratio:.2f}",
        "–" if bound is None else short(bound),
    ]
