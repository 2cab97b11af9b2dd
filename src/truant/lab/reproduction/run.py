"""Reproduce: simulate what the figures need, judge their claims, write charts, data, summary and page."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.charts import save_chart
from truant.errors import InvalidValue, MissingExtra, unknown
from truant.files import output_path, written_whole
from truant.lab.progress import Told, shown
from truant.lab.reproduction.catalogue import COMMON, FIGURES
from truant.lab.reproduction.claims import Verdict, judged
from truant.lab.reproduction.data import save_data
from truant.lab.reproduction.figure import Figure, Scene
from truant.lab.reproduction.page import page, section
from truant.lab.reproduction.pictures import picture
from truant.lab.reproduction.results import Results
from truant.lab.reproduction.words import findings
from truant.lab.simulate import plan_of, simulate
from truant.report.document import write_page
from truant.report.reproduction import Section
from truant.setting import whole_number

if TYPE_CHECKING:
    from truant.lab.reproduction.display import ReproductionDisplay

DATA, SUMMARY, PAGE = "reproduction.parquet", "summary.json", "index.html"
# about how long a round takes beside those of other policies, for the time that is left
SLOW = {"mnar-thompson": 80, "mnar-ucb": 12, "mnar-ucb:level=cautious": 12, "paper-mediator-mnar": 10}
DRAWING = 5e7  # a figure, beside a round of a plain policy


@dataclass(frozen=True)
class Reproduction:
    """What was made, and where it is."""

    folder: Path
    summary: dict[str, Any] = field(repr=False)
    stopped: bool  # by an interrupt, before all figures were made

    @property
    def page(self) -> Path:
        """The page with everything on it."""
        return self.folder / PAGE

    def __rich__(self) -> ReproductionDisplay:
        from truant.lab.reproduction.display import ReproductionDisplay

        return ReproductionDisplay(self.summary)


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
    """Make the paper's figures again, with its policies and with truant's, and see what becomes of its claims.

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
        "quick": bool(quick),
        "runs": None if runs is None else whole_number("runs", runs, at_least=1),
        "seed": whole_number("seed", seed, at_least=0),
        "threads": None if threads is None else whole_number("threads", threads, at_least=1),
    }
    folder = _folder(out)
    results, done, verdicts = Results(), list[Figure](), dict[str, list[Verdict]]()
    sections: list[Section] = []
    try:
        with shown("reproducing (the first time compiles, too)", progress) as tell:
            work = _Work(wanted, settings, results, tell)
            for figure in wanted:
                work.play(figure)
                verdicts[figure.name] = [judged(claim, results) for claim in figure.claims]
                _draw(figure, results, folder)
                sections.append(section(figure, results, verdicts[figure.name]))
                done.append(figure)
                work.tell_done(DRAWING)
    except KeyboardInterrupt:
        if not done:
            raise
    summary = _summary(done, results, verdicts, settings, left_out)
    save_data(folder / DATA, done, results)
    summary["seconds"] = round(time.perf_counter() - start, 1)
    curves = {(curve.scene, curve.policy) for figure in done for curve in figure.curves()}
    every = [verdict for figure in done for verdict in verdicts[figure.name]]
    write_page(page(sections[: len(done)], len(curves), every, summary), folder / PAGE)
    with written_whole(folder / SUMMARY) as temporary:
        temporary.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return Reproduction(folder, summary, stopped=len(done) < len(wanted))


class _Work:
    """Plays scenes once each, with all policies that any figure wants there, and tells how far it is."""

    def __init__(
        self, figures: Sequence[Figure], settings: dict[str, Any], results: Results, tell: Told
    ) -> None:
        self.settings, self.results, self.tell, self.done = settings, results, tell, 0.0
        self.policies: dict[Scene, list[str]] = {}
        for figure in figures:
            cases = [case for claim in figure.claims for case in claim.cases]
            for curve in [*figure.curves(), *(curve for case in cases for curve in case.curves)]:
                policies = self.policies.setdefault(curve.scene, [])
                if curve.policy not in policies:
                    policies.append(curve.policy)
        self.total = sum(self.cost(scene) for scene in self.policies) + DRAWING * len(figures)

    def cost(self, scene: Scene) -> float:
        """About how long a scene takes."""
        rounds, runs = self.size(scene)
        return rounds * runs * sum(_slowness(policy) for policy in self.policies[scene])

    def size(self, scene: Scene) -> tuple[int, int]:
        """Rounds and runs of a scene."""
        return scene.size(self.settings["quick"], self.settings["runs"])

    def play(self, figure: Figure) -> None:
        """Simulate what a figure needs and does not have yet."""
        for scene in dict.fromkeys(curve.scene for curve in figure.curves()):
            if scene in self.results.simulations:
                continue
            rounds, runs = self.size(scene)
            before, cost = self.done, self.cost(scene)
            simulation = simulate(
                scene.world,
                self.policies[scene],
                horizon=rounds,
                runs=runs,
                seed=self.settings["seed"],
                threads=self.settings["threads"],
                progress=lambda share, b=before, c=cost: self.tell((b + share * c) / self.total),  # type: ignore[misc]
            )
            if simulation.runs < runs:  # stopped: half a figure would not be what it says
                raise KeyboardInterrupt
            self.results.simulations[scene] = simulation
            self.tell_done(cost)

    def tell_done(self, cost: float) -> None:
        """So much more is done."""
        self.done += cost
        self.tell(self.done / self.total)


def _slowness(policy: str) -> float:
    return next((slow for name, slow in SLOW.items() if policy.endswith(name)), 1)


def _chosen(figures: Sequence[str] | str | None) -> tuple[list[Figure], dict[str, str]]:
    """The figures, and those that cannot be made here, with the reason; a figure asked for by name must be."""
    names = [figures] if isinstance(figures, str) else list(dict.fromkeys(figures or FIGURES))
    for name in names:
        if name not in FIGURES:
            raise unknown("figure", name, FIGURES)
    chosen, left_out = list[Figure](), dict[str, str]()
    for figure in (FIGURES[name] for name in names):
        try:
            for curve in figure.curves():
                plan_of(curve.scene.world, curve.policy, 1, 0, {}).instance(0)
        except MissingExtra as error:
            if figures:
                raise
            left_out[figure.name] = str(error)
        else:
            chosen.append(figure)
    return chosen, left_out


def _folder(out: str | os.PathLike[str]) -> Path:
    """The folder, made if need be and found writable, before the work begins."""
    if not isinstance(out, str | os.PathLike):
        raise InvalidValue(f"out must be a folder, got {out!r}.")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidValue(f"Cannot make the folder {os.fspath(out)!r}: {why}.") from error
    for name in (DATA, SUMMARY, PAGE):
        output_path(folder / name, (Path(name).suffix,))
    return folder


def _draw(figure: Figure, results: Results, folder: Path) -> None:
    for name in figure.versions:
        chart = picture(figure, name, results)
        for kind in ("png", "svg"):
            save_chart(chart, folder / f"{figure.name}-{name}.{kind}")


def _summary(
    figures: Sequence[Figure],
    results: Results,
    verdicts: dict[str, list[Verdict]],
    settings: dict[str, Any],
    left_out: dict[str, str],
) -> dict[str, Any]:
    return {
        "settings": settings,
        "versions": {
            "truant": version("truant"),
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "numba": version("numba"),
        },
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
                    for v in verdicts[figure.name]
                ],
                "choices": list(figure.choices),
                "note": figure.note,
            }
            for figure in figures
        ],
        "curves": [row for figure in figures for row in results.rows(figure)],
    }
