"""One section of the ablations: a study, its chart, what it shows, and its figures."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from research.ablations.tables import overview, table_of
from research.cache import NotKept
from research.markdown import picture
from research.sources import policy_modules, world_modules
from truant.charts import in_rows, save_chart, styled_title
from truant.charts.swept import one_point_each
from truant.sweeps.study_file import read_study, study_of
from truant.sweeps.sweep import sweep

if TYPE_CHECKING:
    import altair as alt

    from research.workbench import Workbench
    from truant.sweeps.result import SweepResult
    from truant.sweeps.study import Study

HERE = Path(__file__).parent


def section(bench: Workbench, name: str) -> list[str]:
    file, reading = bench.file(HERE / f"{name}.toml"), bench.file(HERE / f"{name}.md")
    study = study_of(smaller(file)) if bench.quick else read_study(file)
    bench.sources.modules |= modules_of(study)
    if bench.cache.only_kept:
        raise NotKept("its sweep may have to be run")
    result = sweep(study, out=bench.folder / "sweeps" / name)
    save_chart(chart(result), bench.images / f"ablation-{name}.png", scale=1)
    return paragraphs(name, result, reading.read_text(encoding="utf-8").strip())


def smaller(file: Path) -> dict[str, Any]:
    """The same study with few and short runs."""
    study = tomllib.loads(file.read_text(encoding="utf-8"))
    for world in study["worlds"]:
        world.pop("horizon", None)
    return study | {"runs": 3, "horizon": 300}


def modules_of(study: Study) -> set[str]:
    """Where the worlds and policies of a study are written."""
    policies = {choice.name for block in study.blocks for choice in block.choices}
    return world_modules(*(block.world for block in study.blocks)) | policy_modules(*policies)


def paragraphs(name: str, result: SweepResult, reading: str) -> list[str]:
    """The section: title, question, chart, reading, figures."""
    study = result.study
    command = (
        f"`truant sweep research/ablations/{name}.toml`: {study.runs} runs at each point, seed {study.seed}."
    )
    return [
        f"## {study.title}",
        study.description,
        picture(f"ablation-{name}.png", study.title),
        reading,
        f"{command} Mean regret, with its standard error in brackets.",
        *figures(result),
    ]


def figures(result: SweepResult) -> Iterable[str]:
    """One table of all worlds if each is a single point, else a table for each world."""
    blocks = result.blocks()
    if one_point_each(blocks):
        return [overview(result)]
    tables = [(f"`{block.title}`:", table_of(block)) for block in blocks]
    return [part for pair in tables for part in pair]


def chart(result: SweepResult) -> alt.TopLevelMixin:
    """The first chart of each world, under the world's name."""
    charts = list(result.charts().items())
    if len(charts) == 1:
        return charts[0][1]
    drawn = []
    for block in result.study.blocks:
        first = next(chart for name, chart in charts if name.startswith(f"world-{block.number + 1}-"))
        heading = f"{block.title}, {block.horizons[0]:,} rounds"
        drawn.append(first.properties(title=styled_title(heading, "", 15)))
    return in_rows(drawn, columns=2)
