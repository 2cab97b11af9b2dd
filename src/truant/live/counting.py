"""What is counted of settled decisions, by day of asking: a pure function of their rows.

Sums are exact (`exact.py`), so that the order of the rows does not matter, and a row that is corrected is taken away
and added anew, to the last bit as if it had been so from the start.

Kinds: `settled` (the counts that are learned from), `holdout` (decisions of the fixed split), `follow_up` (answers to
follow-ups), `tally` (how often arms were drawn and told of, why outcomes are missing, when they arrived) and `digest`
(a sum of hashes of the decisions without their keys, which shows an edit that leaves the counts as they are).
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np

from truant.counts import Counts
from truant.live.configuration import Configuration
from truant.live.decision import ABSENT, EXPIRED, REPORTED, WITHDRAWN, Row
from truant.live.exact import Rest, add_exactly, amounts_of, as_floats, exact, exact_sums
from truant.live.times import DAY
from truant.setting import Setting

SETTLED, HOLDOUT, FOLLOW_UP, TALLY, DIGEST = "settled", "holdout", "follow_up", "tally", "digest"
KINDS = (SETTLED, HOLDOUT, FOLLOW_UP, TALLY, DIGEST)
DIGEST_BITS = 256
# what is not in the digest may change after a decision is counted; keys can be forgotten
DIGESTED = itemgetter(
    *(
        Row._fields.index(name)
        for name in (
            "number",
            "tag",
            "arm",
            "probability",
            "allocation",
            "holdout",
            "asked",
            "deadline",
            "due",
            "state",
            "reason",
            "mediator",
            "mediator_at",
            "outcome",
            "outcome_at",
            "settled",
            "origin",
        )
    )
)
ANSWERED = itemgetter(
    *(
        Row._fields.index(name)
        for name in (
            "number",
            "tag",
            "listed_at",
            "pick_probability",
            "answer",
            "answered_at",
            "answer_settled",
        )
    )
)
REASONS = (EXPIRED, REPORTED, WITHDRAWN, ABSENT)
SHARES = ("asked", "told", "withdrawn")  # decisions of which the shares of arms are tested
CHUNK = 10_000  # rows that are in memory at once
BINS = 20  # parts of a window, in which arriving outcomes are counted

# By kind and day, as plain lists. A table whose sums are no floats is {"table": ..., "rest": ...}; likewise a sum of
# probabilities in a tally is a float or a list of floats.
Cells = dict[tuple[str, int], Any]


def day_of(row: Row) -> int:
    """The day of asking, counted from 1970."""
    return row.asked // DAY


def add_rows(
    cells: Cells,
    rows: Sequence[Row],
    answers: Sequence[Row],
    configuration: Configuration,
    probabilities: Mapping[int, Sequence[float]],
    sign: int = 1,
) -> None:
    """Add decisions and answers to the cells of their days, in place.

    Parameters
    ----------
    cells : what is counted so far; kinds and days that are missing have nothing yet.
    rows, answers : decisions that enter the counts, and those whose follow-up does.
    configuration : the arms, and what mediator and outcome can be.
    probabilities : of all arms, by version of the allocation.
    sign : -1 takes them away again.
    """
    setting = configuration.setting()
    for day, some in _by_day(rows).items():
        for kind, holdout in ((SETTLED, 0), (HOLDOUT, 1)):
            chosen = [row for row in some if row.holdout == holdout]
            if chosen:
                _add_pulls(cells, kind, day, setting, chosen, [row.outcome for row in chosen], sign)
        tally = cells.get((TALLY, day))
        cells[TALLY, day] = tallied(tally, some, len(configuration.arms), probabilities, sign)
        _add_digests(cells, day, some, DIGESTED, sign)
    for day, some in _by_day(answers).items():
        _add_pulls(cells, FOLLOW_UP, day, setting, some, [row.answer for row in some], sign)
        _add_digests(cells, day, some, ANSWERED, sign)


def _add_digests(
    cells: Cells, day: int, rows: Sequence[Row], fields: Callable[[Row], tuple[Any, ...]], sign: int
) -> None:
    total = int(cells.get((DIGEST, day), "0"), 16)
    for row in rows:
        # SQLite gives whole outcomes as integers where they have just been written
        values = [
            int(value) if isinstance(value, float) and value.is_integer() else value for value in fields(row)
        ]
        digest = hashlib.sha256(repr(values).encode()).digest()
        total += sign * int.from_bytes(digest, "big")
    cells[DIGEST, day] = _digest_cell(total)


def _digest_cell(total: int) -> str:
    return f"{total % (1 << DIGEST_BITS):x}"


def change_row(
    cells: Cells,
    before: Row,
    after: Row,
    configuration: Configuration,
    probabilities: Mapping[int, Sequence[float]],
) -> None:
    """Take a counted decision as it was out of the cells of its day, and add it as it is now, in place."""
    for row, sign in ((before, -1), (after, 1)):
        answers = [row] if row.answer_settled is not None else []
        add_rows(cells, [row], answers, configuration, probabilities, sign)


def _by_day(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(day_of(row), []).append(row)
    return found


def _add_pulls(
    cells: Cells,
    kind: str,
    day: int,
    setting: Setting,
    rows: Sequence[Row],
    outcomes: Sequence[float | None],
    sign: int,
) -> None:
    counts, rest = counts_of(cells.get((kind, day)), setting), _rest(cells.get((kind, day)))
    mediators = [_mediator(row, setting) for row in rows]
    values = [math.nan if outcome is None else outcome for outcome in outcomes]
    terms = counts.terms([row.arm for row in rows], mediators, np.array(values, np.float64))
    add_exactly(counts.table.reshape(-1), rest, exact_sums(*terms), sign)
    cells[kind, day] = _table_cell(counts, rest)


def _rest(cell: Any) -> Rest:
    """What the sums of a table have beyond their nearest floats."""
    return dict(cell["rest"]) if isinstance(cell, dict) else {}


def _table_cell(counts: Counts, rest: Rest) -> Any:
    table = counts.table.tolist()
    return {"table": table, "rest": rest} if rest else table


def _mediator(row: Row, setting: Setting) -> int:
    if setting.mediators == 1:
        return 0
    return -1 if row.mediator is None else row.mediator


def counts_of(table: Any, setting: Setting) -> Counts:
    """Counts from their cells; arms that were added since then have none."""
    if table is None:
        return Counts.empty(setting)
    nearest = table["table"] if isinstance(table, dict) else table
    counts = Counts(np.array(nearest, np.float64), setting.levels, setting.centre)
    return counts if len(counts.table) == setting.arms else counts.with_arms(setting.arms)


def merge_cells(cells: Cells, other: Cells, configuration: Configuration, sign: int = 1) -> None:
    """Add what other cells hold, in place, to the last bit; or take it away."""
    setting, arms = configuration.setting(), len(configuration.arms)
    for (kind, day), cell in other.items():
        before = cells.get((kind, day))
        if kind == DIGEST:
            cells[kind, day] = _digest_cell(int(before or "0", 16) + sign * int(cell, 16))
            continue
        if kind == TALLY:
            cells[kind, day] = _merged_tally(padded_tally(before, arms), padded_tally(cell, arms), sign)
            continue
        counts, rest = counts_of(before, setting), _rest(before)
        more = amounts_of(counts_of(cell, setting).table.reshape(-1), _rest(cell))
        add_exactly(counts.table.reshape(-1), rest, more, sign)
        cells[kind, day] = _table_cell(counts, rest)


def _merged_tally(tally: dict[str, Any], other: dict[str, Any], sign: int) -> dict[str, Any]:
    def merged(one: Any, more: Any) -> Any:
        if isinstance(one, dict):
            return {name: merged(one[name], more[name]) for name in one}
        return [a + sign * b for a, b in zip(one, more, strict=True)]

    found: dict[str, Any] = merged({name: tally[name] for name in tally if name not in SHARES}, other)
    for kind in SHARES:
        number, *sums = zip(tally[kind], other[kind], strict=True)
        added = [[_sum(exact(a) + sign * exact(b)) for a, b in zip(*lines, strict=True)] for lines in sums]
        found[kind] = [merged(*number), *added]
    return found


def is_same(kind: str, cell: Any, other: Any, configuration: Configuration) -> bool:
    """Whether two cells hold the same, to the last bit; one that is missing holds nothing."""
    if kind == DIGEST:
        return bool((cell or "0") == (other or "0"))
    if kind == TALLY:
        arms = len(configuration.arms)
        return padded_tally(cell, arms) == padded_tally(other, arms)
    setting = configuration.setting()
    same = np.array_equal(counts_of(cell, setting).table, counts_of(other, setting).table)
    return same and _rest(cell) == _rest(other)


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
    tally: Any,
    rows: Sequence[Row],
    arms: int,
    probabilities: Mapping[int, Sequence[float]],
    sign: int = 1,
) -> dict[str, Any]:
    """A tally with these decisions added, or taken away."""
    found = padded_tally(tally, arms)
    drawn = [row for row in rows if row.allocation is not None and not row.holdout]
    for kind in SHARES:
        some = [row for row in drawn if _is(kind, row)]
        found[kind] = _drawn(found[kind], some, probabilities, sign)
    reasons, arrivals, mediators = found["reasons"], found["arrivals"], found["missing_mediators"]
    for row in rows:
        if row.reason in reasons:
            reasons[row.reason][row.arm] += sign
        if row.mediator is None:
            mediators[row.arm] += sign
        if row.outcome is not None and row.outcome_at is not None and row.outcome_at < row.deadline:
            share = (row.outcome_at - row.asked) / max(row.deadline - row.asked, 1)
            arrivals[min(max(int(share * BINS), 0), BINS - 1)] += sign
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
    lines: list[list[Any]], rows: Sequence[Row], probabilities: Mapping[int, Sequence[float]], sign: int
) -> list[list[Any]]:
    """Decisions of each arm, their expected number, and its variance."""
    if not rows:
        return lines
    number, expected, variance = (list(line) for line in lines)
    for row in rows:
        number[row.arm] += sign
    for version, times in Counter(row.allocation for row in rows).items():
        for arm, share in enumerate(probabilities[version]):  # type: ignore[index]
            expected[arm] = _sum(exact(expected[arm]) + sign * times * exact(share))
            variance[arm] = _sum(exact(variance[arm]) + sign * times * exact(share * (1 - share)))
    return [number, expected, variance]


def _sum(total: int) -> float | list[float]:
    floats = as_floats(total)
    return floats if len(floats) > 1 else floats[0]


def _nearest(values: Sequence[Any]) -> list[float]:
    return [value[0] if isinstance(value, list) else value for value in values]


def total_tally(cells: Cells, arms: int) -> dict[str, Any]:
    """The tallies of all days together."""
    total = padded_tally(None, arms)
    for (kind, _), tally in cells.items():
        if kind != TALLY:
            continue
        own = padded_tally(tally, arms)
        for name in SHARES:
            more = np.array([_nearest(line) for line in own[name]], np.float64)
            total[name] = (np.array(total[name]) + more).tolist()
        for name in ("missing_mediators", "arrivals"):
            total[name] = [a + b for a, b in zip(total[name], own[name], strict=True)]
        for reason in REASONS:
            total["reasons"][reason] = [
                a + b for a, b in zip(total["reasons"][reason], own["reasons"][reason], strict=True)
            ]
    return total


def recounted(
    rows: Iterable[Row], configuration: Configuration, probabilities: Mapping[int, Sequence[float]]
) -> Cells:
    """All cells anew from decisions, in any order; those that are not counted are left out."""
    cells: Cells = {}
    rows = iter(rows)
    while some := list(islice(rows, CHUNK)):
        settled = [row for row in some if row.settled is not None]
        answers = [row for row in settled if row.answer_settled is not None]
        add_rows(cells, settled, answers, configuration, probabilities)
    return cells
