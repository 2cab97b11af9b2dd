"""Reproduce: simulate what the figures need, judge their claims, write charts, data, summary and page."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from truant.charts import save_pictures
from truant.charts.panels import RegretPanel, panels_picture
from truant.documents import document
from truant.errors import InvalidValue, MissingExtra, unknown
from truant.files import locked, output_folder, written_whole
from truant.lab.simulate import plan_of
from truant.lab.versions import versions
from truant.report.document import write_page
from truant.report.reproduction import ReproducedFigure, reproduction_page
from truant.reproduction.catalogue import COMMON, FIGURES
from truant.reproduction.claims import Verdict, judge
from truant.reproduction.data import save_data
from truant.reproduction.describe import PICTURES, panels_of, picture_name, reproduced
from truant.reproduction.figure import Figure
from truant.reproduction.results import Results
from truant.reproduction.words import PAPER, findings, overall, picture_lines
from truant.reproduction.work import Work
from truant.setting import switch, whole_number
from truant.tables.request import is_list
from truant.terminal.progress import progress_bar
from truant.terminal.reproduction import ReproductionDisplay
from truant.text import quoted

DATA, SUMMARY, PAGE = "reproduction.parquet", "summary.json", "index.html"


@dataclass(frozen=True)
class Reproduction:
    """A finished reproduction: its folder and its summary."""

    folder: Path  # where pictures, data, summary and page are
    summary: dict[str, Any] = field(repr=False)  # the same as summary.json
    stopped: bool  # by an interrupt, before all figures were made

    @property
    def page(self) -> Path:
        """The page with everything on it."""
        return self.folder / PAGE

    def __rich__(self) -> ReproductionDisplay:
        return ReproductionDisplay(self.summary, PAPER)


class FinishedFigure(NamedTuple):
    """A figure that was simulated, judged and drawn."""

    figure: Figure
    verdicts: list[Verdict]
    on_page: ReproducedFigure


def reproduce(
    figures: Sequence[str] | str | None = None,
    *,
    out: str | os.PathLike[str] = "reproduction",
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> Reproduction:
    """Reproduce the paper's figures, with its policies and with truant's, and check its claims.

    Parameters
    ----------
    figures : names, such as "mar-peaked"; all unless given.
    out : folder for charts (PNG and SVG), data (Parquet), summary (JSON) and page (HTML); made if it is not there.
    quick : a tenth of the rounds and half the runs.
    runs : of every scene; those of the paper unless given.
    seed : the same seed gives the same numbers, whatever the number of threads.
    threads : how many runs at a time; all cores unless given.
    progress : show a progress bar; by default if standard error is a terminal.

    Returns
    -------
    Where everything is, and the summary; an interrupt (Ctrl-C) keeps the figures that were finished.
    """
    start = time.perf_counter()
    wanted, left_out = _chosen(figures)
    settings = {
        "figures": [figure.name for figure in wanted],
        "quick": switch("quick", quick),
        "runs": None if runs is None else whole_number("runs", runs, at_least=1),
        "seed": whole_number("seed", seed, at_least=0),
        "threads": None if threads is None else whole_number("threads", threads, at_least=1),
    }
    folder = output_folder(out, "reproduction", [DATA, SUMMARY, PAGE, *_pictures(wanted)])
    with locked(folder, "reproduction"):
        return _reproduced(wanted, left_out, settings, folder, start, progress)


def _reproduced(
    wanted: list[Figure],
    left_out: dict[str, str],
    settings: dict[str, Any],
    folder: Path,
    start: float,
    progress: bool | None,
) -> Reproduction:
    """Make the figures and write everything."""
    results, done = Results(), list[FinishedFigure]()
    try:
        with progress_bar("reproducing (the first time compiles, too)", progress) as tell:
            work = Work(wanted, settings, results, tell)
            for figure in wanted:
                work.play(figure)
                done.append(_finish(figure, results, folder))
                work.drawn()
    except KeyboardInterrupt:
        if not done:
            raise
    summary = _summary(done, results, settings, left_out)
    save_data(folder / DATA, [each.figure for each in done], results)
    summary["seconds"] = round(time.perf_counter() - start, 1)
    _write(folder, done, summary)
    return Reproduction(folder, summary, stopped=len(done) < len(wanted))


def _finish(figure: Figure, results: Results, folder: Path) -> FinishedFigure:
    """Judge the claims of a figure and draw it: its pictures, and its part of the page."""
    verdicts = [judge(claim, results) for claim in figure.claims]
    panels = panels_of(figure, results)
    _draw(figure, panels, results, folder)
    return FinishedFigure(figure, verdicts, reproduced(figure, panels, results, verdicts))


def _pictures(figures: Sequence[Figure]) -> list[str]:
    return [
        picture_name(figure, version, kind)
        for figure in figures
        for version in figure.versions
        for kind in PICTURES
    ]


def _draw(figure: Figure, panels: dict[str, list[RegretPanel]], results: Results, folder: Path) -> None:
    for version, own in panels.items():
        lines = picture_lines(figure, version, results)
        chart = panels_picture(own, title=figure.title, subtitle=lines, log=version in figure.log)
        save_pictures(chart, *(folder / picture_name(figure, version, kind) for kind in PICTURES))


def _write(folder: Path, done: Sequence[FinishedFigure], summary: dict[str, Any]) -> None:
    """The page and the summary."""
    lines = {(line.scene, line.policy) for each in done for line in each.figure.lines()}
    verdicts = [verdict for each in done for verdict in each.verdicts]
    page = reproduction_page(
        [each.on_page for each in done],
        summary,
        paper=PAPER,
        verdict=overall(verdicts, summary["settings"]["quick"]),
        lines=len(lines),
    )
    write_page(page, folder / PAGE)
    with written_whole(folder / SUMMARY) as temporary:
        temporary.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _chosen(figures: Sequence[str] | str | None) -> tuple[list[Figure], dict[str, str]]:
    """The figures, and those that cannot be made here, with the reason; a figure asked for by name must be."""
    if figures is not None and not isinstance(figures, str) and not is_list(figures):
        raise InvalidValue(f"figures must be names of figures, got {quoted(figures)}.")
    asked = [figures] if isinstance(figures, str) else list(() if figures is None else figures)
    names = asked or list(FIGURES)
    for name in names:
        if not isinstance(name, str) or name not in FIGURES:
            raise unknown("figure", name, FIGURES)
    chosen, left_out = list[Figure](), dict[str, str]()
    for figure in (FIGURES[name] for name in dict.fromkeys(names)):
        try:
            for line in figure.lines():
                plan_of(line.scene.spec, line.policy, 1, 0, {}).instance(0)
        except MissingExtra as error:
            if asked:
                raise
            left_out[figure.name] = str(error)
        else:
            chosen.append(figure)
    return chosen, left_out


def _summary(
    done: Sequence[FinishedFigure], results: Results, settings: dict[str, Any], left_out: dict[str, str]
) -> dict[str, Any]:
    fields = {
        "settings": settings,
        "versions": versions(),
        "left_out": left_out,
        "choices": list(COMMON),
        "figures": [
            {
                "name": figure.name,
                "title": figure.title,
                "shows": figure.shows,
                "findings": findings(figure, results),
                "claims": [
                    {"claim": v.claim, "ours": v.ours, "verdict": v.word, "figures": v.sentence}
                    for v in verdicts
                ],
                "choices": list(figure.choices),
                "note": figure.note,
            }
            for figure, verdicts, _ in done
        ],
        "curves": [row for each in done for row in results.rows(each.figure)],
    }
    return document("reproduction", 1, fields)
