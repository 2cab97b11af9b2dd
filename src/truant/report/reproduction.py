"""The page of a reproduction: every figure in two versions, with its claims and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from truant.charts.panels import RegretPanel, panel_charts
from truant.charts.style import short
from truant.report.document import Cell, PageChart, Table, rendered, spec_of

WIDTH, HEIGHT = 290, 240  # of a plot; two fit beside each other


@dataclass(frozen=True)
class CheckedClaim:
    """A claim, what became of it, and the numbers that decide."""

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
class FigureVersion:
    """The charts of one version of a figure, and the files that have them."""

    heading: str
    charts: Sequence[PageChart]
    files: Sequence[str]
    note: str = ""


@dataclass(frozen=True)
class ReproducedFigure:
    """One figure of the paper; `rows` has the final regret of each line, as in summary.json."""

    name: str
    title: str
    shows: str
    findings: Sequence[str]
    claims: Sequence[CheckedClaim]
    versions: Sequence[FigureVersion]
    choices: Sequence[str]
    note: str
    rows: Sequence[Mapping[str, Any]]

    @property
    def table(self) -> Table:
        """Final regret of each policy in each world, once."""
        rows = list({(cells[0], cells[1]): cells for cells in map(_texts, self.rows)}.values())
        caption = "Final regret: mean, median and standard deviation over the runs"
        return Table(caption, list(COLUMNS), [[Cell(text) for text in row] for row in rows], words=2)


def figure_version(
    name: str,
    heading: str,
    panels: Sequence[RegretPanel],
    *,
    log: bool,
    files: Sequence[str],
    alternative: str,
    note: str,
) -> FigureVersion:
    """Draw the panels of one version.

    Parameters
    ----------
    name : begins the ids of the charts.
    heading : above the charts.
    panels : what is drawn.
    log : a logarithmic regret axis.
    files : pictures of the same, beside the page.
    alternative : what is said to those who do not see the charts.
    note : below the charts.
    """
    charts = panel_charts(panels, log=log, width=WIDTH, height=HEIGHT)
    drawn = [
        PageChart(
            f"{name}-{number}",
            spec_of(chart),
            f"Line chart of regret over rounds, {panel.title}: {heading}. {alternative}",
            fluid=False,
        )
        for number, (chart, panel) in enumerate(zip(charts, panels, strict=True))
    ]
    return FigureVersion(heading, drawn, files, note)


def reproduction_page(
    figures: Sequence[ReproducedFigure], summary: Mapping[str, Any], *, paper: str, verdict: str, lines: int
) -> str:
    """The whole page, with its charts and the scripts that draw them; it loads nothing from elsewhere.

    Parameters
    ----------
    figures : in their order.
    summary : as in summary.json: settings, versions, left_out, choices, seconds.
    paper : its authors, title and where it is.
    verdict : the whole in one sentence.
    lines : how many different lines are drawn.
    """
    claims = [claim for figure in figures for claim in figure.claims]
    charts = [chart for figure in figures for version in figure.versions for chart in version.charts]
    facts = [
        ("figures", f"{len(figures)}"),
        ("curves", f"{lines}"),
        ("seed", f"{summary['settings']['seed']}"),
        ("time taken", duration(summary["seconds"])),
    ]
    return rendered(
        "reproduction.html",
        charts,
        title="Reproduction of the paper's figures",
        about=_about(summary, paper),
        verdict=verdict,
        facts=facts,
        common=summary["choices"],
        figures=list(figures),
        failed=[claim for claim in claims if claim.tone == "bad"],
        mixed=[claim for claim in claims if claim.tone == "mixed"],
        held=[claim for claim in claims if claim.tone == "good"],
    )


def duration(seconds: float) -> str:
    """38 s, 2 min 5 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def _about(summary: Mapping[str, Any], paper: str) -> list[str]:
    """The lines below the heading: which paper, what was run, with what, and what is left out."""
    settings = summary["settings"]
    extent = "quick: a tenth of the rounds, half the runs" if settings["quick"] else "full size"
    if settings["runs"]:
        extent += f", {settings['runs']:,} runs each"
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    lines = [f"{paper}.", f"{extent}. {versions}."]
    lines += [f"{name} is left out: {why}" for name, why in summary["left_out"].items()]
    return [line[0].upper() + line[1:] for line in lines]


COLUMNS = (
    "policy",
    "world",
    "rounds",
    "runs",
    "regret",
    "median",
    "sd",
    "2nd / 1st half",
    "lower-bound rate",
)


def _texts(row: Mapping[str, Any]) -> list[str]:
    """A row of the table of final regrets."""
    sd, ratio, bound = row["regret_sd"], row["second_half_ratio"], row["lower_bound"]
    return [
        row["policy"],
        _world(row),
        f"{row['horizon']:,}",
        f"{row['runs']:,}",
        short(row["regret_mean"]),
        short(row["regret_median"]),
        "–" if sd is None else short(sd),
        "–" if ratio is None else f"{ratio:.2f}",
        "–" if bound is None else short(bound),
    ]


def _world(row: Mapping[str, Any]) -> str:
    """A world with its parameters."""
    settings = ",".join(f"{key}={value}" for key, value in row["parameters"].items())
    return f"{row['world']}:{settings}" if settings else str(row["world"])
