"""Runs the studies of this folder and writes docs/ablations.md with their figures. Goes on where it was stopped.

`--quick` does everything in tiny sizes into out/ablations-quick, to see whether it runs.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

import truant
from truant.charts import in_rows, save_chart, styled_title
from truant.files import written_whole
from truant.sweeps.charts import one_point_each, ways_of
from truant.sweeps.result import SweepResult

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
READINGS = tomllib.loads((HERE / "readings.toml").read_text(encoding="utf-8"))


def main() -> None:
    quick = "--quick" in sys.argv
    out = ROOT / "out" / ("ablations-quick" if quick else "ablations")
    docs = out if quick else ROOT / "docs"
    (docs / "images").mkdir(parents=True, exist_ok=True)
    parts = [READINGS["introduction"].strip()]
    for name, reading in READINGS["studies"].items():
        study = HERE / f"{name}.toml"
        result = truant.sweep(smaller(study) if quick else study, out=out / name)
        image = docs / "images" / f"ablation-{name}.png"
        save_chart(picture(result), image, scale=1)
        parts += section(name, result, reading.strip())
        print(
            f"{name}: {result.kernel_seconds:,.0f} s in the compiled loop, {result.seconds:,.0f} s now",
            flush=True,
        )
    with written_whole(docs / "ablations.md") as temporary:
        temporary.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"Wrote {docs / 'ablations.md'}")


def smaller(study: Path) -> dict[str, Any]:
    """The same study with few and short runs."""
    table = tomllib.loads(study.read_text(encoding="utf-8"))
    for world in table["worlds"]:
        world.pop("horizon", None)
    return table | {"runs": 3, "horizon": 300}


def picture(result: SweepResult) -> Any:
    """The first chart of each world, under the world's name."""
    blocks = result.study.blocks
    charts = list(result.charts().items())
    if len(charts) == 1:
        return charts[0][1]
    drawn = []
    for block in blocks:
        chart = next(chart for name, chart in charts if name.startswith(f"world-{block.number + 1}-"))
        heading = f"{block.title}, {block.horizons[0]:,} rounds"
        drawn.append(chart.properties(title=styled_title(heading, "", 15)))
    return in_rows(drawn, columns=2)


def section(name: str, result: SweepResult, reading: str) -> list[str]:
    study = result.study
    made = f"`truant sweep ablations/{name}.toml`: {study.runs} runs at each point, seed {study.seed}."
    if one_point_each(study):
        whole = [overview(result)]
    else:
        tables = [(f"`{block.title}`:", table(block, result.table())) for block in study.blocks]
        whole = [part for pair in tables for part in pair]
    return [
        f"## {study.title}",
        study.description,
        f"![{study.title}](images/ablation-{name}.png)",
        reading,
        made + " Mean regret; in brackets its standard error.",
        *whole,
    ]


def table(block: Any, rows: pd.DataFrame) -> str:
    """A row per policy (without what varies in it), a column per value of what varies most."""
    own = rows[rows["block"] == block.number + 1].copy()
    varied = [key for choice in block.choices for key in choice.varied]
    ways = [(way.column, way.label) for way in sorted(ways_of(block), key=lambda way: -len(way.values))]
    column, label = (f"policy_{varied[0]}", varied[0]) if varied else ways[0]
    others = [way for way in ways if way[0] != column]
    own["cell"] = [
        figure(mean, error) for mean, error in zip(own["regret_mean"], own["regret_se"], strict=True)
    ]
    own["line"] = own["family"]
    for other, name in others:
        own["line"] += ", " + name + " = " + own[other].map(lambda value: f"{value:g}")
    values = list(dict.fromkeys(own[column].dropna()))
    lines = [[f"policy, by {label}", *(words(value) for value in values)], ["---"] * (len(values) + 1)]
    for line, cells in own.groupby("line", sort=False):
        found = dict(zip(cells[column], cells["cell"], strict=True))
        if cells[column].isna().all():
            lines.append([f"`{line}`", *[cells["cell"].iloc[0]] * len(values)])
        else:
            lines.append([f"`{line}`", *(found[value] for value in values)])
    return markdown(lines)


def overview(result: SweepResult) -> str:
    """A row per policy, a column per world."""
    rows = result.table()
    titles = {block.number + 1: block.title for block in result.study.blocks}
    lines = [["policy", *(f"`{title}`" for title in titles.values())], ["---"] * (len(titles) + 1)]
    for policy, cells in rows.groupby("policy", sort=False):
        found = {
            r.block: figure(r.regret_mean, r.regret_se) + (" ★" if r.best else "") for r in cells.itertuples()
        }
        lines.append([f"`{policy}`", *(found.get(number, "") for number in titles)])
    return markdown(lines)


def markdown(lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def words(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def figure(mean: float, error: float | None) -> str:
    def number(value: float) -> str:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

    return f"{number(mean)} ({number(error)})" if error is not None and error == error else number(mean)


if __name__ == "__main__":
    main()
