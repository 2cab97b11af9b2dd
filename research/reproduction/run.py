"""Reproduce: simulate what the figures need, judge their claims, write charts, data, summary and page."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from research import ROOT
from research.reproduction.catalogue import COMMON, FIGURES
from research.reproduction.charts import picture
from research.reproduction.claims import judgements
from research.reproduction.figure import READINGS, Figure, Reading, Scene
from research.reproduction.page import FigureOnPage, page_of
from research.reproduction.results import Results, save_data
from research.reproduction.words import VERSIONS, findings
from truant.charts import save_pictures
from truant.charts.style import themed_svg
from truant.documents import document
from truant.errors import InvalidValue, MissingExtra, unknown
from truant.files import locked, output_folder, written_whole
from truant.lab.result import versions
from truant.lab.simulate import plan_of, simulate
from truant.setting import positive_number, whole_number

OUT = ROOT / "out" / "reproduction"
DATA, SUMMARY, PAGE = "reproduction.parquet", "summary.json", "index.html"


@dataclass(frozen=True)
class Settings:
    """What is run; the summary has it, too."""

    figures: list[str]
    readings: list[Reading]  # as the text says, as published
    quick: bool
    runs: int | None  # of every scene; None: those of the paper
    horizon: int | None  # likewise
    alpha: float | None  # of every policy that takes one; None: its own
    seed: int
    threads: int | None


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


def reproduce(
    figures: Sequence[str] = (),
    *,
    out: str | os.PathLike[str] = OUT,
    reading: Reading | None = None,
    quick: bool = False,
    runs: int | None = None,
    horizon: int | None = None,
    alpha: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    say: Callable[[str], object] = lambda sentence: None,
) -> Reproduction:
    """Reproduce the paper's figures, with its policies and with truant's, and check its claims.

    Parameters
    ----------
    figures : names, such as "mar-peaked"; all unless given.
    out : folder for charts (PNG and SVG), data (Parquet), summary (JSON) and page (HTML); made if it is not there.
    reading : "text", what the paper's text describes, or "published", what the authors' notebooks ran; both unless
        given.
    quick : a tenth of the rounds and half the runs; no picture files, since drawing them takes as long as the runs.
    runs, horizon : of every scene; those of the paper unless given.
    alpha : of the paper's policies and UCB; the text's 2 and the notebooks' own unless given.
    seed : the same seed gives the same numbers, whatever the number of threads.
    threads : how many runs at a time; all cores unless given.
    say : is called with a sentence when a figure is made.

    Returns
    -------
    Where everything is, and the summary; an interrupt (Ctrl-C) keeps the figures that were finished.
    """
    start = time.perf_counter()
    if reading is not None and reading not in READINGS:
        raise unknown("reading", reading, READINGS)
    constant = None if alpha is None else positive_number("alpha", alpha)
    rounds = None if horizon is None else whole_number("horizon", horizon, at_least=2)
    wanted, left_out = chosen(figures, reading)
    wanted = [figure.changed(rounds, constant) for figure in wanted]
    settings = Settings(
        figures=[figure.name for figure in wanted],
        readings=[reading] if reading else list(READINGS),
        quick=quick,
        horizon=rounds,
        alpha=constant,
        runs=None if runs is None else whole_number("runs", runs, at_least=1),
        seed=whole_number("seed", seed, at_least=0),
        threads=None if threads is None else whole_number("threads", threads, at_least=1),
    )
    pictures = [
        f"{figure.name}-{version}.{kind}"
        for figure in wanted
        for version in figure.versions
        for kind in ("png", "svg")
        if not quick
    ]
    with locked(
        output_folder(out, "reproduction", [DATA, SUMMARY, PAGE, *pictures]), "reproduction"
    ) as folder:
        results, done = Results(), list[FigureOnPage]()
        try:
            for figure in wanted:
                before = time.perf_counter()
                play(figure, wanted, settings, results)
                drawings = draw(figure, results, None if quick else folder)
                verdicts = [verdict for claim in figure.claims for verdict in judgements(claim, results)]
                done.append(FigureOnPage.of(figure, verdicts, results, drawings, pictures=not quick))
                say(f"{figure.name}: made in {time.perf_counter() - before:.0f} s")
        except KeyboardInterrupt:
            if not done:
                raise
        summary = summary_of(done, results, settings, left_out)
        save_data(folder / DATA, [each.figure for each in done], results)
        summary["seconds"] = round(time.perf_counter() - start, 1)
        for name, text in (
            (PAGE, page_of(done, summary)),
            (SUMMARY, json.dumps(summary, indent=2, ensure_ascii=False) + "\n"),
        ):
            with written_whole(folder / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
    return Reproduction(folder, summary, stopped=len(done) < len(wanted))


def chosen(names: Sequence[str], reading: Reading | None = None) -> tuple[list[Figure], dict[str, str]]:
    """The figures, and those that cannot be made here, with the reason; a figure asked for by name must be."""
    figures, left_out = list[Figure](), dict[str, str]()
    for name in dict.fromkeys(names or FIGURES):
        if name not in FIGURES:
            raise unknown("figure", name, FIGURES)
        figure = FIGURES[name] if reading is None else FIGURES[name].shown_as(reading)
        if not figure.versions:
            why = "The paper has no such figure, so it was not published; it is made as text only."
            if names:
                raise InvalidValue(f"{name}: {why}")
            left_out[name] = why
            continue
        try:
            for line in figure.lines():
                if not line.scene.is_published:
                    plan_of(line.scene.spec, line.policy, 1, 0, {}).instance(0)
        except MissingExtra as error:
            if names:
                raise
            left_out[name] = str(error)
        else:
            figures.append(figure)
    return figures, left_out


def play(figure: Figure, wanted: Iterable[Figure], settings: Settings, results: Results) -> None:
    """Simulate what a figure needs and does not have yet, with the policies of all figures at once."""
    for scene in dict.fromkeys(line.scene for line in figure.lines()):
        if scene in results.simulations:
            continue
        rounds, runs = scene.size(settings.quick, settings.runs)
        simulation = simulate(
            scene.source,
            [scene.policy(name, rounds) for name in policies_in(scene, wanted)],
            horizon=rounds,
            runs=runs,
            seed=settings.seed,
            threads=settings.threads,
            estimates=False,
            progress=False,
        )
        if simulation.runs < runs:  # stopped: half a figure would not be what it says
            raise KeyboardInterrupt
        results.simulations[scene] = simulation


def policies_in(scene: Scene, figures: Iterable[Figure]) -> list[str]:
    """The policies that figures draw in a scene, or make claims about."""
    lines = [line for figure in figures for line in (*figure.lines(), *figure.claimed())]
    return list(dict.fromkeys(line.policy for line in lines if line.scene == scene))


def draw(figure: Figure, results: Results, folder: Path | None) -> dict[str, str]:
    """The drawings of the page, by version; picture files too, if there is a folder for them."""
    drawings = {}
    for version, panels in figure.versions.items():
        chart, name = picture(figure, version, results), f"{figure.name}-{version}"
        if folder is not None:
            save_pictures(chart, folder / f"{name}.png", folder / f"{name}.svg")
        drawings[version] = themed_svg(
            chart,
            name=name,
            alternative=f"Line chart of regret over rounds, {'; '.join(panel.title for panel in panels)}: "
            f"{VERSIONS[version]}. {' '.join(findings(figure, results))}",
        )
    return drawings


def summary_of(
    done: Sequence[FigureOnPage],
    results: Results,
    settings: Settings,
    left_out: dict[str, str],
) -> dict[str, Any]:
    """The document: schema.json describes its fields."""
    fields = {
        "settings": asdict(settings),
        "versions": versions(),
        "left_out": left_out,
        "choices": list(COMMON),
        "claims": [
            {
                "figure": each.figure.name,
                "claim": verdict.claim,
                "as": verdict.reading,
                "word": verdict.word,
            }
            for each in done
            for verdict in each.verdicts
        ],
        "figures": [
            {
                "name": each.figure.name,
                "title": each.figure.title,
                "shows": each.figure.shows,
                "findings": each.findings,
                "claims": [
                    {
                        "claim": v.claim,
                        "ours": v.ours,
                        "as": v.reading,
                        "verdict": v.word,
                        "figures": v.sentence,
                    }
                    for v in each.verdicts
                ],
                "choices": list(each.figure.choices),
                "ran": list(each.figure.ran),
                "stored_plots": results.beside_plots(each.figure),
                "note": each.figure.note,
            }
            for each in done
        ],
        "curves": [row for each in done for row in results.rows(each.figure)],
    }
    return document("reproduction", 1, fields)
