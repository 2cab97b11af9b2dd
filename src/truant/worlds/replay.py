"""What a table says of each arm and mediator level, and the world that draws from it again.

Tables are read by the rules of logs. Missing is NULL, NaN, blank, - and in any case NA, N/A, #N/A, NaN, null and None.
A mediator `NAME:3` is cut at the smallest values x with F(x) >= 1/3 and 2/3 over all rows that have an arm; ties go to
the lower class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from truant.errors import InvalidValue
from truant.setting import LARGEST_OUTCOME, FloatArray, IntArray, finite, probabilities
from truant.tables.arrow import decoded
from truant.tables.request import (
    MARKERS,
    MOST_LEVELS,
    NO,
    YES,
    Request,
    check_arms,
    check_distinct,
    in_order,
    mediator_levels,
    mixed,
)
from truant.worlds.discrete import DiscreteWorld
from truant.worlds.real import RealWorld

if TYPE_CHECKING:  # slow to import, and not needed by worlds without a table
    import pyarrow


ESTIMATED = "estimated"  # as often as in the table

Chances = float | Sequence[Any] | str  # one number, one for each of several cells, or "estimated"


@dataclass(frozen=True, eq=False)
class Replay:
    """A table by its (arm, mediator level) cells: how many rows, and which outcomes were observed.

    Rows whose mediator is missing have no cell; `astray` counts them, so that their shares can be kept.
    """

    arms: tuple[Any, ...]  # names by code
    mediators: tuple[str, ...]
    rows: IntArray  # (arms, K)
    outcomes: tuple[tuple[FloatArray, ...], ...]  # outcomes[arm][level], in the order of the rows
    astray: IntArray  # (arms, 2) rows without a mediator: outcome missing, observed
    levels: tuple[float, ...] | None  # of a discrete outcome
    low: float
    high: float

    def world(
        self, gamma: Chances = ESTIMATED, mediator_gamma: Chances = ESTIMATED, minimize: bool = False
    ) -> RealWorld | DiscreteWorld:
        """The world with these cells; what is missing is as in the table, or as chosen."""
        p = self.rows / self.rows.sum(axis=1, keepdims=True)
        seen = self._gamma(gamma)
        mediator_seen = self._mediator_gamma(mediator_gamma)[:, None]
        world: RealWorld | DiscreteWorld
        if self.levels is None:
            both = np.stack([self._gamma_astray(seen, gamma), seen], axis=1)  # (arms, mediator seen, K)
            world = RealWorld(
                p,
                None,
                both,
                mediator_observation=mediator_seen,
                samples=self._samples(),
                low=self.low,
                high=self.high,
                minimize=minimize,
                name="table",
            )
        else:
            joint = p[..., None] * self._shares(self.levels)
            observation = seen if seen.ndim == 3 else seen[..., None]
            world = DiscreteWorld(
                joint, observation, mediator_seen, levels=self.levels, minimize=minimize, name="table"
            )
        world.arm_names, world.mediator_names = self.arms, self.mediators
        return world

    def _samples(self) -> list[list[FloatArray]]:
        """The outcomes to draw from; a cell that never occurs is never drawn, so its arm's will do."""
        return [[cell if cell.size else np.concatenate(row) for cell in row] for row in self.outcomes]

    def _shares(self, levels: tuple[float, ...]) -> FloatArray:
        """P(y|m,a), shape (arms, K, L); 0 in a cell that never occurs."""
        counts = np.array(
            [
                [np.bincount(np.searchsorted(levels, cell), minlength=len(levels)) for cell in row]
                for row in self.outcomes
            ]
        )
        shares: FloatArray = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)
        return shares

    def _gamma(self, value: Chances) -> FloatArray:
        """P(O=1|m,a), shape (arms, K); of a discrete outcome also P(O=1|m,y,a), shape (arms, K, L)."""
        if isinstance(value, str) and value == ESTIMATED:
            observed = np.array([[cell.size for cell in row] for row in self.outcomes], np.float64)
            return np.where(self.rows > 0, observed / np.maximum(self.rows, 1), 1.0)
        n, K = self.rows.shape
        shapes: list[tuple[int, ...]] = [(n, K)]
        ways = f"gamma must be one number or {n} rows (arms) of {K} (mediator levels)"
        if self.levels is not None:
            shapes.append((n, K, len(self.levels)))
            ways += f", or of {K} x {len(self.levels)} (outcome levels)"
        return _chosen("gamma", value, shapes, ways)

    def _gamma_astray(self, seen: FloatArray, value: Chances) -> FloatArray:
        """P(O=1|m,a) without a mediator: the table's, one for all levels, where it has such rows; else as with it."""
        if not isinstance(value, str):
            return seen
        total = self.astray.sum(axis=1, keepdims=True)
        return np.where(total > 0, self.astray[:, 1:] / np.maximum(total, 1), seen)

    def _mediator_gamma(self, value: Chances) -> FloatArray:
        """P(Q=1|a), shape (arms,)."""
        n = len(self.rows)
        if isinstance(value, str) and value == ESTIMATED:
            placed = self.rows.sum(axis=1)
            share: FloatArray = placed / (placed + self.astray.sum(axis=1))
            return share
        ways = f"mediator_gamma must be one number or {n} (one for each arm)"
        return _chosen("mediator_gamma", value, [(n,)], ways)


def _chosen(name: str, value: Any, shapes: Sequence[tuple[int, ...]], ways: str) -> FloatArray:
    """Chances that were given, in one of these shapes, or a refusal that says in which ways they can be given."""
    if isinstance(value, str):
        raise InvalidValue(f"{name} must be numbers or {ESTIMATED!r}, got {value!r}.")
    if isinstance(value, bool | np.bool_):
        raise InvalidValue(f"{ways}, got {value!r}.")
    chosen = _fitted(finite(name, value), shapes)
    if chosen is None:
        raise InvalidValue(f"{ways}, got {value!r}.")
    return probabilities(name, chosen, positive=True)


def _fitted(values: FloatArray, shapes: Sequence[tuple[int, ...]]) -> FloatArray | None:
    """The values in one of these shapes: one number, all of them in a row, or rows; None if none fits."""
    for shape in shapes:
        if values.size == 1:
            return np.full(shape, values.item())
        if values.shape == (prod(shape),):
            return values.reshape(shape)
        stretches = values.ndim == len(shape) and all(
            have in (1, want) for have, want in zip(values.shape, shape, strict=True)
        )
        if stretches:
            return np.ascontiguousarray(np.broadcast_to(values, shape))
    return None


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
