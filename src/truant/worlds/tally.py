"""From the columns of an Arrow table to the cells of a `Replay`, by the rules that logs are read by.

Missing is NULL, NaN, blank, and in any case NA, N/A, NaN, null and None. A mediator `NAME:3` is cut at the smallest
values x with F(x) >= 1/3 and 2/3 over all rows that have an arm; ties go to the lower class.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from truant.errors import InvalidValue
from truant.setting import LARGEST_OUTCOME, FloatArray, IntArray
from truant.tables.arrow import decoded
from truant.tables.labels import in_order, mediator_levels
from truant.tables.limits import MOST_LEVELS, check_arms, check_distinct
from truant.tables.request import Request
from truant.tables.words import MARKERS, NO, YES, mixed
from truant.worlds.replay import Replay

if TYPE_CHECKING:  # slow to import, and not needed by worlds without a table
    import pyarrow


def tally(table: pyarrow.Table, request: Request, untyped: bool) -> Replay:
    """The cells of a table whose columns have the names of `request.names()`; `untyped`: all is text."""
    arm_codes, values = _coded(request.arm, table["arm"])
    kept = table.filter(arm_codes >= 0)
    arms = in_order(values, untyped)
    check_arms(request, list(arms.values()), table.num_rows)
    check_distinct(request, len(arms))
    arm = _places(values, arms)[arm_codes[arm_codes >= 0]]
    mediator, mediators = _mediators(kept, request, untyped)
    outcome = _numbers(request.outcome, kept["outcome"])
    levels, low, high = _outcomes(request, outcome, _yes_or_no(kept["outcome"]))
    n, K = len(arms), len(mediators)
    observed, placed = ~np.isnan(outcome), mediator >= 0
    cell = arm * K + mediator
    rows = np.bincount(cell[placed], minlength=n * K).reshape(n, K)
    both = placed & observed
    order = np.argsort(cell[both], kind="stable")  # rows of a cell stay in the order of the table
    ends = np.cumsum(np.bincount(cell[both], minlength=n * K))[:-1]
    split = np.split(outcome[both][order], ends)
    astray = np.bincount(arm[~placed] * 2 + observed[~placed], minlength=2 * n).reshape(n, 2)
    replay = Replay(
        arms=tuple(arms.values()),
        mediators=mediators,
        rows=rows,
        outcomes=tuple(tuple(split[a * K : (a + 1) * K]) for a in range(n)),
        astray=astray,
        levels=levels,
        low=low,
        high=high,
    )
    _check_cells(request, replay)
    return replay


def _check_cells(request: Request, replay: Replay) -> None:
    """Each arm has a row with its mediator, each cell that occurs an outcome to draw."""
    for a, name in enumerate(replay.arms):
        if not replay.rows[a].any():
            raise InvalidValue(
                f"The mediator of arm {name!r} is missing in all of its {replay.astray[a].sum()} rows; "
                "leave the arm out, or the mediator."
            )
        for m, level in enumerate(replay.mediators):
            count = replay.rows[a, m]
            if count and not replay.outcomes[a][m].size:
                where = f" with mediator {level!r}" if request.mediators else ""
                remedy = "name a mediator with fewer levels, or leave these rows out"
                raise InvalidValue(
                    f"Each cell needs an observed outcome to draw from, and arm {name!r}{where} has none in its "
                    f"{count} rows; {remedy if request.mediators else 'leave the arm out'}."
                )


def _mediators(table: pyarrow.Table, request: Request, untyped: bool) -> tuple[IntArray, tuple[str, ...]]:
    """The level of each row (-1: missing), and what the levels are called."""
    if not request.mediators:
        return np.zeros(table.num_rows, np.int64), ("all",)
    codes, found, cuts = [], [], []
    for i, part in enumerate(request.mediators):
        column = table[f"mediator_{i}"]
        points: tuple[float, ...] = ()
        if part.classes:
            numbers = _numbers(part.column, column)
            points = _cut_points(numbers, part.classes)
            codes.append(np.where(np.isnan(numbers), -1, np.searchsorted(points, numbers)))
            found.append(list(range(len(points) + 1)))
        else:
            code, values = _coded(part.column, column)
            codes.append(code)
            found.append(values)
        cuts.append(points)
    check_distinct(request, 0, *map(len, found))
    known = np.all([code >= 0 for code in codes], axis=0)
    if not known.any():
        names = " or ".join(repr(part.column) for part in request.mediators)
        raise InvalidValue(
            f"The mediator is missing in every row: {names}; check the columns, or leave it out."
        )
    sizes = tuple(map(len, found))
    crossed = np.ravel_multi_index([code[known] for code in codes], sizes)
    distinct, inverse = np.unique(crossed, return_inverse=True)
    combined = zip(*np.unravel_index(distinct, sizes), strict=True)
    levels = [tuple(values[code] for values, code in zip(found, level, strict=True)) for level in combined]
    names_by_level = mediator_levels(levels, request.mediators, cuts, untyped)
    check_distinct(request, 0, len(levels))
    mediator = np.full(table.num_rows, -1)
    mediator[known] = _places(levels, names_by_level)[inverse]
    return mediator, tuple(names_by_level.values())


def _cut_points(numbers: FloatArray, classes: int) -> tuple[float, ...]:
    """The values of rank ceil(n j / classes), j = 1 .. classes-1; equal ones are one."""
    ranked = np.sort(numbers[~np.isnan(numbers)])
    ranks = [-(-len(ranked) * j // classes) for j in range(1, classes)]
    return tuple(sorted({float(ranked[rank - 1]) for rank in ranks if rank}))


def _outcomes(
    request: Request, outcome: FloatArray, yes_or_no: bool
) -> tuple[tuple[float, ...] | None, float, float]:
    """The levels of a discrete outcome (None: real), as given or found, and the range."""
    seen = np.unique(outcome[~np.isnan(outcome)])
    if not len(seen):
        raise InvalidValue(
            f"All {len(outcome)} outcomes in column {request.outcome!r} are missing; "
            "at least one must be observed."
        )
    if np.abs(seen).max() > LARGEST_OUTCOME:
        wrong = seen[np.abs(seen) > LARGEST_OUTCOME][0]
        raise InvalidValue(
            f"Outcomes must be missing or within ±{LARGEST_OUTCOME:g}, {request.outcome!r} holds {wrong:g}; "
            "if that stands for missing, leave it blank."
        )
    low, high = float(seen[0]), float(seen[-1])
    levels = request.levels
    if levels is None and yes_or_no and request.range is None:
        levels = (0.0, 1.0)
    if levels:
        others = seen[~np.isin(seen, levels)]
        if len(others):
            raise InvalidValue(
                f"Outcomes must be one of the levels {', '.join(f'{level:g}' for level in levels)}; "
                f"{request.outcome!r} holds {others[0]:g}; add the level, or leave it blank if it is missing."
            )
        return levels, levels[0], levels[-1]
    least, most = request.range or (low, high)
    if low < least or high > most:
        raise InvalidValue(
            f"Outcomes must be within the range {least:g} to {most:g}, {request.outcome!r} holds "
            f"{low if low < least else high:g}; widen the range, or leave it blank if it is missing."
        )
    if least == most:
        raise InvalidValue(
            f"All observed outcomes of {request.outcome!r} are {low:g}; say what else they could be, "
            "with levels or range."
        )
    # a range that the values do not span by themselves means a real outcome
    few = levels is None and len(seen) <= MOST_LEVELS and (least, most) == (low, high)
    return (tuple(seen.tolist()) if few else None), least, most


def _coded(name: str, column: pyarrow.ChunkedArray) -> tuple[IntArray, list[Any]]:
    """Each row's number among the distinct values (-1: missing), and these."""
    import pyarrow

    column = decoded(column)
    if pyarrow.types.is_nested(column.type):
        raise InvalidValue(f"Column {name!r} must hold plain values; name another column.")
    if pyarrow.types.is_null(column.type):
        return np.full(len(column), -1), []
    encoded = column.combine_chunks().dictionary_encode()
    numbers: dict[Any, int] = {}
    codes = [
        -1 if _is_missing(value) else numbers.setdefault(value, len(numbers))
        for value in encoded.dictionary.to_pylist()
    ]
    indices = encoded.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
    return np.array([*codes, -1], np.int64)[indices], list(numbers)


def _is_missing(value: Any) -> bool:
    return bool(value != value) or (isinstance(value, str) and value.strip().lower() in MARKERS)


def _places(values: list[Any], ordered: dict[Any, Any]) -> IntArray:
    """Where each value comes among the keys of `ordered`."""
    place = {value: i for i, value in enumerate(ordered)}
    return np.array([place[value] for value in values], np.int64)


def _yes_or_no(column: pyarrow.ChunkedArray) -> bool:
    """Whether the column is of true and false."""
    import pyarrow

    return bool(pyarrow.types.is_boolean(decoded(column).type))


def _numbers(name: str, column: pyarrow.ChunkedArray) -> FloatArray:
    """The column as numbers, NaN where it is missing; true and false, yes and no are 1 and 0."""
    from pyarrow import types

    column = decoded(column)
    kind = column.type
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        values: FloatArray = column.cast("float64", safe=False).to_numpy()
        return values
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if not (text or types.is_decimal(kind) or types.is_null(kind)):
        raise InvalidValue(f"Column {name!r} must be numbers, got {kind}; name another column.")
    codes, distinct = _coded(name, column)
    numbers = {value: _number(value) for value in distinct}
    strays = sorted(value for value, number in numbers.items() if number is None)[:3]
    if strays:
        came = " and ".join(map(repr, strays))
        raise InvalidValue(
            f"Column {name!r} must be numbers, it holds {came}; if that stands for missing, leave it blank."
        )
    words = sorted(value.strip() for value in distinct if _is_word(value))
    others = sorted(str(value).strip() for value in distinct if not _is_word(value))
    if words and others:
        raise InvalidValue(mixed(name, "words and numbers", words[0], others[0]))
    return np.array([*numbers.values(), math.nan], np.float64)[codes]  # code -1 is the last


def _number(value: Any) -> float | None:
    """The number that a text or a decimal is; None if it is none."""
    if not isinstance(value, str):
        return float(value)
    word = value.strip().lower()
    if word in YES + NO:
        return float(word in YES)
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in YES + NO
