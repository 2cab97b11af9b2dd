"""A real outcome cut into a few classes, each with the mean of its outcomes as value: what mnar can work on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from truant.counts import OBSERVED, SQUARES, SUM, Counts
from truant.errors import InvalidValue
from truant.provenance import CutCost, CutOutcome, OutcomeLevel
from truant.setting import FloatArray
from truant.tables.request import Request, interval, written

CLASS = "outcome_class"  # key of the aggregate


def give_levels(
    request: Request, points: Sequence[float], cells: Sequence[dict[str, Any]], pivot: float, mediators: int
) -> tuple[tuple[float, ...], FloatArray]:
    """Write the value of its class into each cell's `outcome`; all values, and the variance within each class.

    Raises InvalidValue where the classes are no use.
    """
    classes: dict[int, list[dict[str, Any]]] = {}
    for cell in cells:
        if cell["observed"]:
            classes.setdefault(int(cell[CLASS]), []).append(cell)
    ends = {
        code: (min(cell["low"] for cell in own), max(cell["high"] for cell in own))
        for code, own in classes.items()
    }
    _check_classes(request, points, ends)
    _check_mediators(request, len(ends), mediators)
    values, variances = {}, []
    for code in sorted(classes):
        n, total, squares = (
            math.fsum(cell[name] for cell in classes[code]) for name in ("observed", "sum", "squares")
        )
        mean = pivot + total / n
        values[code] = float(min(max(mean, ends[code][0]), ends[code][1]))  # but for rounding it lies there
        variances.append(max(squares - total**2 / n, 0.0) / max(n - 1, 1.0))
    for cell in cells:
        cell["outcome"] = values[int(cell[CLASS])] if cell["observed"] else None
    return tuple(values.values()), np.array(variances)


def level_means(
    cells: Iterable[Mapping[str, Any]], arms: int, levels: Sequence[float], pivot: float
) -> FloatArray:
    """The mean of the observed outcomes of each arm in each level; NaN where there are none."""
    column = {level: code for code, level in enumerate(levels)}
    sums = np.zeros((arms, len(levels), 2))
    for cell in cells:
        if cell["observed"]:
            sums[cell["place"][0], column[cell["outcome"]]] += cell["observed"], cell["sum"]
    with np.errstate(invalid="ignore"):
        means: FloatArray = pivot + sums[..., 1] / sums[..., 0]
    return means


def cut_of(
    outcome: str, points: tuple[float, ...], arms: Iterable[Any], counts: Counts, uncut: Counts
) -> CutOutcome:
    """What the cut did, from the counts after it and before it."""
    assert counts.levels is not None
    rows = counts.table.sum(axis=(0, 1))
    levels = tuple(
        OutcomeLevel(interval(outcome, points, code), value, int(rows[code]))
        for code, value in enumerate(counts.levels)
    )
    before = uncut.table.sum(axis=1)
    after = counts.table[..., :-1].sum(axis=1)
    costs = [
        _cost(str(arm), before[a], after[a], np.asarray(counts.levels), uncut.centre)
        for a, arm in enumerate(arms)
    ]
    return CutOutcome(outcome, points, levels, tuple(costs))


def _cost(arm: str, before: Any, after: Any, levels: Any, centre: float) -> CutCost:
    n = before[OBSERVED]
    if n == 0:
        return CutCost(arm, None, None, None)
    mean = float(centre + before[SUM] / n)
    cut = float(after @ levels / n)
    within = before[SQUARES] - before[SUM] ** 2 / n
    error = math.sqrt(within / (n - 1) / n) if n > 1 and within > 0 else 0.0
    return CutCost(arm, mean, cut, (cut - mean) / error if error else None)


def _check_classes(
    request: Request, points: Sequence[float], ends: Mapping[int, tuple[float, float]]
) -> None:
    """At least one outcome in each class, and more values than classes."""
    if all(low == high for low, high in ends.values()):
        found = sorted({low for low, _ in ends.values()})
        listed = " and ".join([", ".join(map(written, found[:-1])), written(found[-1])])
        fewer = ", or cut into fewer classes" if len(found) > 2 else ""
        raise InvalidValue(
            f"cut_outcome must make fewer levels than the outcome has values, {request.outcome!r} has only {listed} "
            f"and is discrete already; leave out cut_outcome{fewer}."
        )
    assert request.cut_outcome is not None
    classes = request.cut_outcome.classes
    if classes and (len(points) < classes - 1 or len(ends) < classes):
        raise InvalidValue(
            f"cut_outcome={classes} must find {classes} classes of about equal size, {request.outcome!r} is the same "
            f"in too many rows (its quantiles are {', '.join(map(written, points))}); cut it into fewer classes, or "
            "at points of your own, as in cut_outcome=[10, 50] (--cut-outcome 10,50)."
        )
    empty = [code for code in range(len(points) + 1) if code not in ends]
    if empty:
        raise InvalidValue(
            f"cut_outcome must leave observed outcomes in every class, there are none with "
            f"{interval(request.outcome, points, empty[0])}; leave out a point, or move it."
        )


def _check_mediators(request: Request, classes: int, mediators: int) -> None:
    """Not more levels than the mediator can tell apart."""
    if not request.mediators:
        raise InvalidValue(
            "cut_outcome prepares an outcome for mnar, which needs a mediator, and none was given; name one with "
            "mediator (--mediator), or leave out cut_outcome."
        )
    if classes > mediators:
        raise InvalidValue(
            f"cut_outcome must make at most as many classes as the mediator has levels, got {classes} classes and "
            f"{mediators} mediator {'level' if mediators == 1 else 'levels'}; cut into fewer classes, or use a finer "
            "mediator, as in 'NAME:3'."
        )
