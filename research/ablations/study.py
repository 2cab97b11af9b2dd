"""One section of the ablations: a study, its chart, what it shows, and its figures."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from research.ablations.tables import overview, table_of
from research.cache import NotKept
from research.markdown import picture
from truant.charts import in_rows, save_chart, styled_title
from truant.lab.study_file import read_study, study_of
from truant.lab.sweep import sweep

if TYPE_CHECKING:
    import altair as alt

    from research.workbench import Workbench
    from truant.lab.study import Study
    from truant.lab.sweep_result import SweepResult

CONFIRMED_SHARE = 0.2  # of the runs, to confirm the figures
HERE = Path(__file__).parent


def section(bench: Workbench, name: str) -> list[str]:
    file, reading = HERE / f"{name}.toml", HERE / f"{name}.md"
    study = study_for(bench, file)
    if bench.cache.only_kept:
        raise NotKept("its sweep may have to be run")
    folder = name if recorded(bench) else f"{name}-draw-{bench.draw}-runs-{study.runs}"
    result = sweep(study, out=bench.folder / "sweeps" / folder)
    if bench.share == 1:
        save_chart(chart(result), bench.images / f"ablation-{name}.png", scale=1)
    return paragraphs(name, result, reading.read_text(encoding="utf-8").strip())


def recorded(bench: Workbench) -> bool:
    """Whether the figures are those of the page, rather than others to compare with them."""
    return bench.share == 1 and bench.draw == 0


def study_for(bench: Workbench, file: Path) -> Study:
    """The study of a file as it is; or with few and short runs; or with fewer runs and other random numbers."""
    if bench.quick:
        return study_of(smaller(file))
    study = read_study(file)
    if recorded(bench):
        return study
    return replace(study, runs=bench.runs(study.runs, 3), seed=study.seed + bench.first, source="")


def smaller(file: Path) -> dict[str, Any]:
    """The same study with few and short runs."""
    study = tomllib.loads(file.read_text(encoding="utf-8"))
    for world in study["worlds"]:
        world.pop("horizon", None)
    return study | {"runs": 3, "horizon": 300}


def paragraphs(name: str, result: SweepResult, reading: str) -> list[str]:
    """The section: title, question, chart, reading, figures."""
    study = result.study
    command = f"`PYTHONPATH=research/plugin truant sweep research/ablations/{name}.toml`"
    return [
        f"## {study.title}",
        study.description,
        picture(f"ablation-{name}.png", study.title),
        reading,
        f"{command}: {study.runs} runs at each point, seed {study.seed}. Mean regret, with its standard error in "
        "brackets.",
        *figures(result),
    ]


def figures(result: SweepResult) -> Iterable[str]:
    """One table of all worlds if each is a single point, else a table for each world."""
    blocks = result.blocks()
    if all(block.is_point for block in blocks):
        return [overview(result)]
    tables = [(f"`{block.title}`:", table_of(block)) for block in blocks]
    return [part for pair in tables for part in pair]


def chart(result: SweepResult) -> alt.TopLevelMixin:
    """The chart of each world, under the world's name."""
    charts = result.charts()
    if len(charts) == 1:
        return next(iter(charts.values()))
    drawn = []
    for block in result.study.blocks:
        heading = f"{block.title}, {block.horizons[0]:,} rounds"
        one = charts[f"world-{block.number + 1}"]
        drawn.append(one.properties(title=styled_title(heading, "", 15)))
    return in_rows(drawn, columns=2)
