"""A simulation in the terminal: a row for each policy, the best marked, as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from truant.terminal.plain import plain
from truant.text import label

# on a narrow terminal these go first; table() has them all
_DROPPED_FIRST = ("ns/round", "p90", "sd", "se", "median", "best arm", "difference", "follow-ups")


Row = Mapping[str, Any]


@dataclass(frozen=True)
class SimulationDisplay:
    """A heading, a table, and a sentence for each policy with runs that went astray."""

    rows: Sequence[Row]  # of Simulation.table
    title: str
    subtitle: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text.assemble(plain(self.title, "bold"), "  ", plain(self.subtitle, "dim"))
        yield plain("")
        unlimited = options.update(max_width=10_000)
        for dropped in range(len(_DROPPED_FIRST) + 1):
            drawn = _table(self.rows, _DROPPED_FIRST[:dropped])
            if Measurement.get(console, unlimited, drawn).maximum <= options.max_width:
                break
        yield drawn
        yield plain("")
        yield plain(
            "regret: mean over the runs; sd, median, p90: over the runs; best arm: share of rounds with the best arm.",
            "dim",
        )
        if len(self.rows) > 1:
            first, what = self.rows[0]["policy"], "total cost" if _with_follow_ups(self.rows) else "regret"
            yield plain(
                f"difference: {what} minus that of {first}, paired by run; se: its standard error.", "dim"
            )
        if best_policy(self.rows):
            what = "mean total cost (regret and follow-ups)" if _with_follow_ups(self.rows) else "mean regret"
            yield plain(f"\N{BLACK STAR} lowest {what}, oracles excluded.", "dim")
        for row in self.rows:
            share = row["share_above_10x_median"]
            if share > 0:
                yield plain(
                    f"{row['policy']}: {share:.1%} of the runs had a regret of more than 10 times the median.",
                    "yellow",
                )


def number(value: float | None, sign: bool = False) -> str:
    """Three figures below 100, whole with thousands separators above; a dash for what is not known."""
    if value is None or value != value:
        return "–"
    plus = "+" if sign else ""
    return f"{value:{plus},.0f}" if abs(value) >= 100 else f"{value:{plus}.3g}"


def best_policy(rows: Sequence[Row]) -> str | None:
    """The lowest mean regret of two or more (with follow-ups: total cost); an oracle is only a yardstick."""
    contest = [row for row in rows if not _is_oracle(row["policy"])]
    figure = "total_cost_mean" if _with_follow_ups(rows) else "regret_mean"
    return str(min(contest, key=lambda row: row[figure])["policy"]) if len(contest) > 1 else None


def _with_follow_ups(rows: Sequence[Row]) -> bool:
    return "total_cost_mean" in rows[0]


def _is_oracle(policy: str) -> bool:
    return policy.startswith("oracle-")


def _table(rows: Sequence[Row], dropped: Sequence[str]) -> Table:
    if len(rows) == 1:
        dropped = (*dropped, "difference", "se")
    cells = {row["policy"]: _cells(row, first=row is rows[0]) for row in rows}
    columns = [column for column in next(iter(cells.values())) if column not in dropped]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="left" if column == "policy" else "right", no_wrap=True)
    best = best_policy(rows)
    for policy, own in cells.items():
        if policy == best:
            own["policy"] += " \N{BLACK STAR}"
        style = "bold green" if policy == best else "dim" if _is_oracle(policy) else ""
        table.add_row(*(Text(own[column]) for column in columns), style=style)
    return table


def share(value: float | None) -> str:
    """A share with one decimal; a dash where there is none."""
    return f"{value:.1%}" if value is not None else "–"


def _cells(row: Row, first: bool) -> dict[str, str]:
    followed = "total_cost_mean" in row
    spread = "total_cost" if followed else "regret"  # sd, median and p90 are of what is compared
    bought = (
        {
            "follow-ups": number(row["follow_ups_mean"]),
            "their cost": number(row["follow_up_cost_mean"]),
            "total cost": number(row["total_cost_mean"]),
        }
        if followed
        else {}
    )
    return {
        "policy": label(row["policy"]),
        "regret": number(row["regret_mean"]),
        **bought,
        "sd": number(row[f"{spread}_sd"]),
        "median": number(row[f"{spread}_median"]),
        "p90": number(row[f"{spread}_p90"]),
        "best arm": f"{row['best_arm_share']:.1%}",
        **({"covered": share(row["interval_coverage"])} if "interval_coverage" in row else {}),
        "difference": "" if first else number(row["difference_mean"], sign=True),
        "se": "" if first else number(row["difference_se"]),
        "ns/round": f"{row['nanoseconds_per_round']:,.0f}",
    }
