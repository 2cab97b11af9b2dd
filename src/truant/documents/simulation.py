"""The document of a simulation: a row for each policy, the best marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truant.documents.blocks import Block, Cell, Column, Document, Sentence, Table, Tone
from truant.documents.words import UNKNOWN, number

Row = Mapping[str, Any]  # of Simulation.table
LEAVES = ("ns/round", "p90", "sd", "se", "median", "best arm", "difference", "follow-ups")
"""Columns that leave a narrow terminal, in their turn; table() has them all."""


def simulation_document(rows: Sequence[Row], title: str, subtitle: str) -> Document:
    """A table, what its columns mean, and a sentence for each policy with runs that went astray."""
    best = best_policy(rows)
    notes = [
        "regret: mean over the runs; sd, median, p90: over the runs; best arm: share of rounds with the best arm."
    ]
    if len(rows) > 1:
        what = "total cost" if _with_follow_ups(rows) else "regret"
        notes.append(
            f"difference: {what} minus that of {rows[0]['policy']}, paired by run; se: its standard error."
        )
    if best:
        what = "mean total cost (regret and follow-ups)" if _with_follow_ups(rows) else "mean regret"
        notes.append(f"★ lowest {what}, oracles excluded.")
    blocks: list[Block] = [_table(rows, best), *(Sentence(note, "faint") for note in notes)]
    for row in rows:
        share = row["share_above_10x_median"]
        if share > 0:
            text = f"{row['policy']}: {share:.1%} of the runs had a regret of more than 10 times the median."
            blocks.append(Sentence(text, "doubt"))
    return Document(title, [], blocks, subtitle)


def _table(rows: Sequence[Row], best: str | None) -> Table:
    cells = [_cells(row, first=row is rows[0]) for row in rows]
    dropped = ("difference", "se") if len(rows) == 1 else ()
    names = [name for name in cells[0] if name not in dropped]
    turns = {name: turn for turn, name in enumerate(LEAVES, 1)}
    tones: dict[int, Tone] = {i: "faint" for i, row in enumerate(rows) if _is_oracle(row["policy"])}
    tones |= {i: "good" for i, row in enumerate(rows) if row["policy"] == best}
    return Table(
        "Regret of each policy",
        [Column(name, name == "policy", turns.get(name, 0)) for name in names],
        [
            [Cell(own[name], star=name == "policy" and row["policy"] == best) for name in names]
            for row, own in zip(rows, cells, strict=True)
        ],
        tones=tones,
    )


def best_policy(rows: Sequence[Row]) -> str | None:
    """The lowest mean regret of two or more (with follow-ups: total cost); an oracle is only a yardstick."""
    contest = [row for row in rows if not _is_oracle(row["policy"])]
    figure = "total_cost_mean" if _with_follow_ups(rows) else "regret_mean"
    return str(min(contest, key=lambda row: row[figure])["policy"]) if len(contest) > 1 else None


def _with_follow_ups(rows: Sequence[Row]) -> bool:
    return "total_cost_mean" in rows[0]


def _is_oracle(policy: str) -> bool:
    return policy.startswith("oracle-")


def _cells(row: Row, first: bool) -> dict[str, str]:
    """The texts of a policy, by column."""
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
    covered = {}
    if "interval_coverage" in row:
        share = row["interval_coverage"]
        covered = {"covered": UNKNOWN if share is None else f"{share:.1%}"}
    return {
        "policy": row["policy"],
        "regret": number(row["regret_mean"]),
        **bought,
        "sd": number(row[f"{spread}_sd"]),
        "median": number(row[f"{spread}_median"]),
        "p90": number(row[f"{spread}_p90"]),
        "best arm": f"{row['best_arm_share']:.1%}",
        **covered,
        "difference": "" if first else number(row["difference_mean"], sign=True),
        "se": "" if first else number(row["difference_se"]),
        "ns/round": f"{row['nanoseconds_per_round']:,.0f}",
    }
