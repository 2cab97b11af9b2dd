"""Results for the terminal (rich): the best marked, as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import pyarrow as pa

    from truant.sweeps.result import SweepResult

# on a narrow terminal these go first; table() has them all
_DROPPED_FIRST = ("ns/round", "p90", "sd", "se", "median", "best arm", "difference")


@dataclass(frozen=True)
class Display:
    """A heading, a table, and a sentence for each policy with runs that went astray."""

    table: pa.Table  # as of Simulation.table
    title: str
    subtitle: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text.assemble((self.title, "bold"), "  ", (self.subtitle, "dim"))
        yield Text("")
        rows = self.table.to_pylist()
        unlimited = options.update(max_width=10_000)
        for dropped in range(len(_DROPPED_FIRST) + 1):
            drawn = _draw(rows, _DROPPED_FIRST[:dropped])
            if Measurement.get(console, unlimited, drawn).maximum <= options.max_width:
                break
        yield drawn
        yield Text("")
        if len(rows) > 1:
            yield Text(
                f"difference: minus {rows[0]['policy']}, paired run by run; se: its standard error.", "dim"
            )
        if best_policy(rows):
            yield Text(
                "\N{BLACK STAR} lowest mean regret among those that do not see what is missing.", "dim"
            )
        for row in rows:
            if (share := row["share_above_10x_median"]) > 0:
                yield Text(
                    f"{row['policy']}: {share:.1%} of the runs lost more than 10 times the median.", "yellow"
                )


@dataclass(frozen=True)
class SweepDisplay:
    """Who wins how often, and where the results are."""

    result: SweepResult

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from truant.sweeps.page import verdict

        study = self.result.study
        points = sum(1 for _ in study.points())
        size = f"{points:,} point{'s' if points > 1 else ''}, {study.runs:,} runs of each policy"
        yield Text.assemble((study.title, "bold"), "  ", (size, "dim"))
        yield Text(verdict(self.result))
        yield Text("")
        yield Text(f"Every run: {self.result.results}")
        yield Text(f"Page: {self.result.page}")


def number(value: float | None, sign: bool = False) -> str:
    """Three figures below 100, whole with thousands separators above; a dash for what is not known."""
    if value is None or value != value:
        return "–"
    plus = "+" if sign else ""
    return f"{value:{plus},.0f}" if abs(value) >= 100 else f"{value:{plus}.3g}"


def best_policy(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The lowest mean regret of two or more; an oracle sees everything and is only a yardstick."""
    contest = [row for row in rows if not _is_oracle(row["policy"])]
    return str(min(contest, key=lambda row: row["regret_mean"])["policy"]) if len(contest) > 1 else None


def _is_oracle(name: object) -> bool:
    return str(name).startswith("oracle-")


def _draw(table: Sequence[Mapping[str, Any]], dropped: Sequence[str]) -> Table:
    rows = {row["policy"]: _cells(row["policy"], row, table[0]["policy"]) for row in table}
    if len(rows) == 1:
        dropped = (*dropped, "difference", "se")
    shown = [column for column in next(iter(rows.values())) if column not in dropped]
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column in shown:
        drawn.add_column(column, justify="left" if column == "policy" else "right", no_wrap=True)
    best = best_policy(table)
    for name, cells in rows.items():
        if name == best:
            cells["policy"] += " \N{BLACK STAR}"
        style = "bold green" if name == best else "dim" if _is_oracle(name) else ""
        drawn.add_row(*(cells[column] for column in shown), style=style)
    return drawn


def _cells(name: str, row: Mapping[str, Any], first: str) -> dict[str, str]:
    return {
        "policy": name,
        "regret": number(row["regret_mean"]),
        "sd": number(row["regret_sd"]),
        "median": number(row["regret_median"]),
        "p90": number(row["regret_p90"]),
        "best arm": f"{row['best_arm_share']:.1%}",
        "difference": "" if name == first else number(row["difference_mean"], sign=True),
        "se": "" if name == first else number(row["difference_se"]),
        "ns/round": f"{row['nanoseconds_per_round']:,.0f}",
    }
