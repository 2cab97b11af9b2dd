"""What is counted of settled decisions, by day of asking: a pure function of their rows, in the order of settling.

Kinds: `settled` (the counts that are learned from), `holdout` (decisions of the fixed split), `follow_up` (answers to
follow-ups) and `tally` (how often arms were drawn and told of, why outcomes are missing, when they arrived).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from truant.counts import Counts
from truant.live.configuration import Configuration
from truant.live.decision import ABSENT, EXPIRED, REPORTED, WITHDRAWN, Row
from truant.live.times import DAY
from truant.setting import FloatArray, Setting

SETTLED, HOLDOUT, FOLLOW_UP, TALLY = "settled", "holdout", "follow_up", "tally"
KINDS = (SETTLED, HOLDOUT, FOLLOW_UP, TALLY)
REASONS = (EXPIRED, REPORTED, WITHDRAWN, ABSENT)
SHARES = ("asked", "told", "withdrawn")  # decisions of which the shares of arms are tested
BINS = 20  # parts of a window, in which arriving outcomes are counted

Cells = dict[tuple[str, int], Any]  # by kind and day, as plain lists


def day_of(row: Row) -> int:
    """The day of asking, counted from 1970."""
    return row.asked // DAY


def add_rows(
    cells: Cells,
    rows: Sequence[Row],
    answers: Sequence[Row],
    configuration: Configuration,
    probabilities: Mapping[int, Sequence[float]],
) -> None:
    """Add decisions and answers, in this order, to the cells of their days, in place.

    Parameters
    ----------
    cells : what is counted so far; kinds and days that are missing have nothing yet.
    rows, answers : decisions that enter the counts, and those whose follow-up does.
    configuration : the arms, and what mediator and outcome can be.
    probabilities : of all arms, by version of the allocation.
    """
    setting = configuration.setting()
    for day, some in _by_day(rows).items():
        for kind, holdout in ((SETTLED, 0), (HOLDOUT, 1)):
            chosen = [row for row in some if row.holdout == holdout]
            if chosen:
                _add_pulls(cells, kind, day, setting, chosen, [row.outcome for row in chosen])
        tally = cells.get((TALLY, day))
        cells[TALLY, day] = tallied(tally, some, len(configuration.arms), probabilities)
    for day, some in _by_day(answers).items():
        _add_pulls(cells, FOLLOW_UP, day, setting, some, [row.answer for row in some])


def _by_day(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(day_of(row), []).append(row)
    return found


def _add_pulls(
    cells: Cells, kind: str, day: int, setting: Setting, rows: Sequence[Row], outcomes: Sequence[float | None]
) -> None:
    counts = counts_of(cells.get((kind, day)), setting)
    mediators = [_mediator(row, setting) for row in rows]
    values = [math.nan if outcome is None else outcome for outcome in outcomes]
    counts.extend([row.arm for row in rows], mediators, np.array(values, np.float64))
    cells[kind, day] = counts.table.tolist()


def _mediator(row: Row, setting: Setting) -> int:
    if setting.mediators == 1:
        return 0
    return -1 if row.mediator is None else row.mediator


def counts_of(table: Any, setting: Setting) -> Counts:
    """Counts from their cells; arms that were added since then have none."""
    if table is None:
        return Counts.empty(setting)
    counts = Counts(np.array(table, np.float64), setting.levels, setting.centre)
    return counts if len(counts.table) == setting.arms else counts.with_arms(setting.arms)


def emptied(cells: Cells, configuration: Configuration) -> Cells:
    """The same kinds and days with nothing counted."""
    nothing = Counts.empty(configuration.setting()).table.tolist()
    return {
        (kind, day): padded_tally(None, len(configuration.arms)) if kind == TALLY else nothing
        for kind, day in cells
    }


def total_counts(cells: Cells, configuration: Configuration, kind: str = SETTLED) -> Counts:
    """The counts of all days, added in the order of the days; those of `settled` come with their follow-ups."""
    setting = configuration.setting()
    total = Counts.empty(setting)
    for (found, _), table in sorted(cells.items(), key=lambda item: item[0][1]):
        if found == kind:
            total.table += counts_of(table, setting).table
        elif found == FOLLOW_UP and kind == SETTLED:
            if total.followed_up is None:
                total.followed_up = np.zeros_like(total.table)
            total.followed_up += counts_of(table, setting).table
    return total


def tallied(
    tally: Any, rows: Sequence[Row], arms: int, probabilities: Mapping[int, Sequence[float]]
) -> dict[str, Any]:
    """A tally with these decisions added."""
    found = padded_tally(tally, arms)
    drawn = [row for row in rows if row.allocation is not None and not row.holdout]
    for kind in SHARES:
        some = [row for row in drawn if _is(kind, row)]
        found[kind] = _drawn(found[kind], some, arms, probabilities)
    reasons, arrivals, mediators = found["reasons"], found["arrivals"], found["missing_mediators"]
    for row in rows:
        if row.reason in reasons:
            reasons[row.reason][row.arm] += 1
        if row.mediator is None:
            mediators[row.arm] += 1
        if row.outcome is not None and row.outcome_at is not None and row.outcome_at < row.deadline:
            share = (row.outcome_at - row.asked) / max(row.deadline - row.asked, 1)
            arrivals[min(max(int(share * BINS), 0), BINS - 1)] += 1
    return found


def padded_tally(tally: Any, arms: int) -> dict[str, Any]:
    """A tally as it was kept, or an empty one; arms that were added since then have zeros."""

    def more(values: list[Any]) -> list[Any]:
        return [*values, *[0] * (arms - len(values))]

    tally = tally or {}
    empty: list[list[float]] = [[], [], []]
    return {
        **{kind: [more(line) for line in tally.get(kind, empty)] for kind in SHARES},
        "reasons": {reason: more(tally.get("reasons", {}).get(reason, [])) for reason in REASONS},
        "missing_mediators": more(tally.get("missing_mediators", [])),
        "arrivals": list(tally.get("arrivals", [0] * BINS)),
    }


def _is(kind: str, row: Row) -> bool:
    if kind == "told":
        return row.outcome_at is not None or row.mediator_at is not None
    return kind == "asked" or row.reason == WITHDRAWN


def _drawn(
    lines: list[list[float]], rows: Sequence[Row], arms: int, probabilities: Mapping[int, Sequence[float]]
) -> list[list[float]]:
    """Decisions of each arm, their expected number, and its variance."""
    if not rows:
        return lines
    number, expected, variance = (np.array(line, np.float64) for line in lines)
    np.add.at(number, [row.arm for row in rows], 1.0)
    shares = np.zeros((len(rows), arms))
    for i, row in enumerate(rows):
        own = probabilities[row.allocation]  # type: ignore[index]
        shares[i, : len(own)] = own
    return [number.tolist(), _added(expected, shares), _added(variance, shares * (1 - shares))]


def _added(start: FloatArray, lines: FloatArray) -> list[float]:
    """The sum in the order of the lines, to the last bit as if one by one."""
    total: list[float] = np.add.accumulate(np.vstack([start, lines]), axis=0)[-1].tolist()
    return total


def total_tally(cells: Cells, arms: int) -> dict[str, Any]:
    """The tallies of all days together."""
    total = padded_tally(None, arms)
    for (kind, _), tally in cells.items():
        if kind != TALLY:
            continue
        own = padded_tally(tally, arms)
        for name in SHARES:
            total[name] = (np.array(total[name]) + np.array(own[name])).tolist()
        for name in ("missing_mediators", "arrivals"):
            total[name] = [a + b for a, b in zip(total[name], own[name], strict=True)]
        for reason in REASONS:
            total["reasons"][reason] = [
                a + b for a, b in zip(total["reasons"][reason], own["reasons"][reason], strict=True)
            ]
    return total


def recounted(
    rows: Iterable[Row],
    configuration: Configuration,
    probabilities: Mapping[int, Sequence[float]],
    up_to: int | None = None,
) -> Cells:
    """All cells anew from decisions, which come in the order in which they were counted.

    Parameters
    ----------
    rows : settled decisions, ordered by version of the counts and number.
    configuration, probabilities : as for `add_rows`.
    up_to : a version of the counts; what was counted later is left out.
    """
    chosen = [row for row in rows if row.settled is not None and (up_to is None or row.settled <= up_to)]
    later = [
        row
        for row in chosen
        if row.answer_settled is not None and (up_to is None or row.answer_settled <= up_to)
    ]
    later.sort(key=lambda row: (row.answer_settled, row.number))
    cells: Cells = {}
    add_rows(cells, chosen, later, configuration, probabilities)
    return cells
