"""Compares recorded figures with those of a new run: which have moved, at a level that holds for all of them together.

Each figure is compared with its recorded self, and the figures of a column of a section are compared together, since
a change of the code usually moves them in one direction. Both kinds of comparison get half of the level, and each half
is divided by Holm's method. Ratios of speed have a band instead, and exact figures must be the same.

Figures of a column depend on each other: recorded runs of all worlds were drawn from the same seeds, and policies of a
world meet the same instances. So figures of one world count as one, and the recorded errors of a column as shared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from research.figures import EXACT, MEAN, SHARE, SPEED, Change, Figure

LEVEL = 0.01  # over all figures that are compared
BAND = 2.0  # a ratio of speed may differ by this factor: runs on the same machine differ by up to 1.6
POWER = 0.8
FEWEST = 3  # rows of a column, below which it is not compared as a whole
LARGEST = 12.0  # beyond it a deviate says no more

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """What became of the figures that were compared.

    Parameters
    ----------
    changes : all of them.
    moved : names of the figures that have moved, each with its two values.
    moved_columns : names of the columns that have moved as a whole, each with the direction.
    """

    changes: Sequence[Change]
    moved: dict[str, str]
    moved_columns: dict[str, str]


def compare(changes: Sequence[Change], level: float = LEVEL) -> Comparison:
    """Compare all changes at one level."""
    judged = [(change, deviate(change)) for change in changes if _kinds(change) in ({SHARE}, {MEAN})]
    columns = [Column(name, group) for name, group in _columns(judged)]
    moved = {
        change.place: _values(change)
        for change in changes
        if _kinds(change) not in ({SHARE}, {MEAN}) and not _within(change)
    }
    rejected = _rejected([z for _, z in judged], level / 2)
    moved |= {judged[place][0].place: _values(judged[place][0]) for place in rejected}
    rejected = _rejected([column.deviate for column in columns], level / 2)
    moved_columns = {columns[place].name: columns[place].in_words for place in rejected}
    return Comparison(changes, moved, moved_columns)


def found_if_moved(
    changes: Sequence[Change], level: float = LEVEL
) -> tuple[dict[str, float], dict[str, float]]:
    """For each kind of figure, the median of the smallest changes that are found with probability .8.

    First of a single figure, then of a whole column: of a share absolute, of a mean relative, of a ratio a factor.
    """
    judged = [(change, deviate(change)) for change in changes if _kinds(change) in ({SHARE}, {MEAN})]
    columns = [Column(name, group) for name, group in _columns(judged)]
    single = _smallest([change for change, _ in judged], _limit(level / 2, len(judged)), changes)
    return single, _smallest_of_columns(columns, _limit(level / 2, len(columns)))


def _kinds(change: Change) -> set[str]:
    return {change.recorded.kind, change.now.kind}


def deviate(change: Change) -> float:
    """How far a figure is from its recorded self, as a standard normal deviate."""
    recorded, now = change.recorded, change.now
    if not (math.isfinite(recorded.value) and math.isfinite(now.value)):
        return 0.0 if _same(recorded.value, now.value) else LARGEST
    z = _share_deviate(recorded, now) if recorded.kind == SHARE else _mean_deviate(change)
    return float(np.clip(z, -LARGEST, LARGEST))


def _share_deviate(recorded: Figure, now: Figure) -> float:
    """By the hypergeometric distribution of the new number, given both numbers together; half of a tie counts."""
    sizes = round(recorded.size), round(now.size)
    if min(sizes) < 1:
        return 0.0
    return float(_share_deviates(round(recorded.value * sizes[0]), sizes, round(now.value * sizes[1])))


def _share_deviates(recorded: int, sizes: tuple[int, int], now: npt.ArrayLike) -> FloatArray:
    """The same for several numbers that the new run could have given."""
    numbers = np.asarray(now)
    law = stats.hypergeom(sum(sizes), recorded + numbers, sizes[1])
    tie = law.pmf(numbers) / 2
    below, above = law.cdf(numbers - 1) + tie, law.sf(numbers) + tie
    z: FloatArray = np.where(above < below, stats.norm.isf(above), stats.norm.ppf(below))
    return z


def _mean_deviate(change: Change) -> float:
    """Welch's t, as a normal deviate."""
    error = error_of(change)
    difference = change.now.value - change.recorded.value
    if difference == 0 or not math.isfinite(error):  # of a single run
        return 0.0
    if error == 0:
        return math.copysign(LARGEST, difference)
    t = difference / error
    return float(math.copysign(stats.norm.isf(stats.t.sf(abs(t), _freedom(change))), t))


def _freedom(change: Change) -> float:
    return float(np.clip(change.now.size - 1, 1, 1e6))


def error_of(change: Change) -> float:
    """Standard error of the difference.

    A few runs that go astray make up much of some means. If none of them is among the new runs, the new standard
    error is too small; so it is at least what the recorded one is at the new number of runs.
    """
    recorded, now = change.recorded, change.now
    new = now.error if math.isfinite(now.error) else 0.0
    if recorded.size and now.size and math.isfinite(recorded.size) and math.isfinite(now.size):
        new = max(new, recorded.error * math.sqrt(recorded.size / now.size))
    return math.hypot(recorded.error, new)


@dataclass(frozen=True)
class Column:
    """The figures of a column with their deviates, which are compared as one."""

    name: str
    group: Sequence[tuple[Change, float]]

    @property
    def deviate(self) -> float:
        """The sum of the deviates, as a standard normal deviate; figures of the same world count as their mean."""
        by_world: dict[str, list[float]] = {}
        for change, z in self.group:
            by_world.setdefault(change.labels[0], []).append(z)
        return sum(sum(own) / len(own) for own in by_world.values()) / self.spread

    @property
    def worlds(self) -> int:
        """How many of its figures have runs of their own."""
        return len({change.labels[0] for change, _ in self.group})

    @property
    def spread(self) -> float:
        """Standard deviation of the sum of one deviate of each world, if the recorded errors are shared."""
        shared = float(np.mean([_recorded_part(change) for change, _ in self.group]))
        return math.sqrt(self.worlds * (1 - shared) + self.worlds**2 * shared)

    @property
    def in_words(self) -> str:
        """How it moved."""
        direction = "higher" if self.deviate > 0 else "lower"
        return f"all {len(self.group)} figures of the column, {direction} now (z = {self.deviate:.1f})"


def _recorded_part(change: Change) -> float:
    """The share of the recorded figure in the variance of the difference."""
    recorded, now = change.recorded, change.now
    if recorded.kind == SHARE:
        return now.size / max(recorded.size + now.size, 1)
    error = error_of(change)
    return (recorded.error / error) ** 2 if error > 0 and math.isfinite(error) else 0.0


def _columns(judged: Iterable[tuple[Change, float]]) -> list[tuple[str, list[tuple[Change, float]]]]:
    """The figures of each column, and of its rows with the same last label, such as a policy; if there are enough."""
    groups: dict[str, list[tuple[Change, float]]] = {}
    for change, z in judged:
        groups.setdefault(change.column, []).append((change, z))
        if len(change.labels) > 1:
            groups.setdefault(f"{change.column} of {change.labels[-1]}", []).append((change, z))
    return [(name, group) for name, group in groups.items() if len(group) >= FEWEST]


def _limit(level: float, number: int) -> float:
    """The deviate beyond which the first of so many comparisons is rejected."""
    return float(stats.norm.isf(level / max(number, 1) / 2))


def _rejected(deviates: Sequence[float], level: float) -> list[int]:
    """Holm: the places of those that are rejected, the largest first."""
    order = sorted(range(len(deviates)), key=lambda place: -abs(deviates[place]))
    rejected = []
    for rank, place in enumerate(order):
        if abs(deviates[place]) < _limit(level, len(deviates) - rank):
            break
        rejected.append(place)
    return rejected


def _within(change: Change) -> bool:
    """Whether a ratio of speed is in its band, or an exact figure the same; not if it is of another kind now."""
    recorded, now = change.recorded.value, change.now.value
    if len(_kinds(change)) > 1:
        return False
    if change.recorded.kind == EXACT:
        return _same(recorded, now)
    return bool(recorded / BAND <= now <= recorded * BAND)


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _smallest(judged: Sequence[Change], limit: float, changes: Sequence[Change]) -> dict[str, float]:
    """For each kind, what a single figure must change by to be found with the stated power."""
    found: dict[str, list[float]] = {}
    for change in judged:
        kind = change.recorded.kind
        found.setdefault(kind, []).append(
            _share_found(change, limit) if kind == SHARE else _mean_found(change, limit)
        )
    smallest = _medians(found)
    if any(change.recorded.kind == SPEED for change in changes):
        smallest[SPEED] = BAND
    if any(change.recorded.kind == EXACT for change in changes):
        smallest[EXACT] = 0.0
    return smallest


def _mean_found(change: Change, limit: float) -> float:
    """Relative to the mean."""
    freedom = _freedom(change)
    beyond = stats.t.isf(stats.norm.sf(limit), freedom) + stats.t.isf(1 - POWER, freedom)
    return float(beyond) * _relative_error(change)


def _share_found(change: Change, limit: float) -> float:
    """The smaller of the changes up and down, of those that are possible."""
    recorded, sizes = change.recorded, (round(change.recorded.size), round(change.now.size))
    if min(sizes) < 1:
        return math.nan
    numbers = np.arange(sizes[1] + 1)
    z = _share_deviates(round(recorded.value * sizes[0]), sizes, numbers)
    changes = []
    if (
        high := numbers[z > limit]
    ).size:  # at least so many, with the power, if the share is the quantile of a beta law
        changes.append(stats.beta.ppf(POWER, high[0], sizes[1] - high[0] + 1) - recorded.value)
    if (low := numbers[z < -limit]).size:
        changes.append(recorded.value - stats.beta.ppf(1 - POWER, low[-1] + 1, sizes[1] - low[-1]))
    return float(min(changes, default=math.nan))


def _smallest_of_columns(columns: Sequence[Column], limit: float) -> dict[str, float]:
    """The same for the median figure of a column, if all of them change by as many standard errors."""
    beyond = limit + float(stats.norm.ppf(POWER))
    found: dict[str, list[float]] = {}
    for column in columns:
        changes = [change for change, _ in column.group]
        kind = changes[0].recorded.kind
        units = [_share_error(change) if kind == SHARE else _relative_error(change) for change in changes]
        found.setdefault(kind, []).append(beyond * column.spread / column.worlds * _median(units))
    return _medians(found)


def _relative_error(change: Change) -> float:
    value = change.recorded.value
    return error_of(change) / abs(value) if value else math.nan


def _share_error(change: Change) -> float:
    """Where a share is 0 or 1, its error is not 0."""
    recorded, now = change.recorded, change.now
    share = (recorded.value * recorded.size + 1) / (recorded.size + 2)
    return math.sqrt(share * (1 - share) * (1 / max(recorded.size, 1) + 1 / max(now.size, 1)))


def _medians(found: dict[str, list[float]]) -> dict[str, float]:
    """Of each kind; a kind without a number is left out."""
    medians = {kind: _median(values) for kind, values in found.items()}
    return {kind: value for kind, value in medians.items() if math.isfinite(value)}


def _median(values: Sequence[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return float(np.median(finite)) if finite else math.nan


def _values(change: Change) -> str:
    return f"{_short(change.recorded)} recorded, {_short(change.now)} now"


def _short(figure: Figure) -> str:
    error = f" ± {figure.error:.2g}" if figure.kind in (SHARE, MEAN) else ""
    return f"{figure.value:.4g}{error}"
