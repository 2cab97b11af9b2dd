"""All that counts can tell, in one value that tables, pages and JSON are made from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from truant.analysis.best import best_probabilities
from truant.analysis.bounds import Bounds, worst_case
from truant.analysis.clusters import Clusters
from truant.analysis.collection import Collected, Collection
from truant.analysis.contradictions import Test, Untestable, contradictions
from truant.analysis.diagnosis import Warning, warnings
from truant.analysis.differences import Difference, differences
from truant.analysis.direction import Direction
from truant.analysis.estimates import Belief, Infeasible, beliefs
from truant.analysis.labels import Labels
from truant.analysis.over_time import OverTime
from truant.analysis.sensitivity import Tipping, missing_shares, pooled_sd, tipping, tipping_curve
from truant.analysis.uncut import Uncut
from truant.assumptions import Estimate
from truant.assumptions.mcar import Mcar
from truant.counts import OBSERVED, PULLS, Counts, needed_counts
from truant.documents import document
from truant.errors import InvalidValue, NotIdentified, unknown
from truant.setting import IntArray, Setting, finite, is_number
from truant.tables.arrow import make_table
from truant.text import quoted

if TYPE_CHECKING:
    import pyarrow as pa

ADJUSTMENT = "Dunnett: the intervals of all differences to the control hold together at the stated level"


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence limits."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class ArmEstimate(Interval):
    """An arm under one assumption."""

    standard_error: float
    probability_best: float
    difference: Difference | None  # to the control; None for the control itself, or without one


@dataclass(frozen=True)
class Arm:
    """An arm under every assumption."""

    arm: str
    pulls: int
    observed: int
    missing_share: float
    naive: Interval | None  # mean of the observed; None if there are none
    estimates: dict[str, ArmEstimate]
    bounds: Bounds | None  # None if the range of the outcome is not known


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis:
    """What each arm is worth under each assumption, and how far to believe it.

    Nothing is chosen: assumptions stand side by side, in `arms`; `winner` says which arm each prefers.
    """

    arms: tuple[Arm, ...]
    infeasible: tuple[Infeasible, ...]
    winner: dict[str, str]  # by assumption, and for the naive mean
    expected_loss: dict[str, float]  # of settling for that winner now
    warnings: tuple[Warning, ...]
    tests: tuple[Test, ...]
    untestable: tuple[Untestable, ...]
    sensitivity: tuple[Tipping, ...]
    tipping_curves: dict[str, list[dict[str, float]]]
    missing: tuple[dict[str, Any], ...]  # arm, mediator, pulls, observed, missing_share of each cell
    level: float
    control: str | None
    outcome_sd: float
    over_time: OverTime | None = None
    collection: Collection  # how the rows came about, and what intervals were made of that
    counts: Counts = field(repr=False)
    setting: Setting = field(repr=False)
    labels: Labels = field(repr=False)

    @property
    def assumptions(self) -> list[str]:
        """Those that could be estimated."""
        return list(self.arms[0].estimates)

    @property
    def minimize(self) -> bool:
        """Whether the lowest value is the best."""
        return self.setting.minimize

    @property
    def agree(self) -> bool:
        """Whether the naive mean and every assumption name the same winner."""
        return len(set(self.winner.values())) == 1

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        plain: dict[str, Any] = _plain(self)
        adjustment = ADJUSTMENT if self.control is not None else None
        return document("analysis", 1, plain | {"minimize": self.minimize, "adjustment": adjustment})

    def table(self) -> pa.Table:
        """One row for each arm and assumption (the naive mean among them)."""
        rows: list[dict[str, Any]] = []
        for arm in self.arms:
            own = {key: getattr(arm, key) for key in ("arm", "pulls", "observed", "missing_share")}
            if arm.naive:
                rows.append({**own, "assumption": "naive", **asdict(arm.naive)})
            for name, estimate in arm.estimates.items():
                values = asdict(estimate)
                change = values.pop("difference") or {}
                rows.append(
                    {**own, "assumption": name, **values}
                    | {f"difference_{key}": value for key, value in change.items()}
                )
        names = dict.fromkeys(name for row in rows for name in row)
        return make_table({name: [row.get(name) for row in rows] for name in names})


def analyze_counts(
    counts: Counts,
    setting: Setting,
    labels: Labels,
    *,
    assume: str | Sequence[str] = (),
    level: float = 0.95,
    control: str | None = None,
    expected_split: Sequence[float] | None = None,
    found_before: Sequence[Warning] = (),
    clusters: Clusters | None = None,
    over_time: OverTime | None = None,
    uncut: Uncut | None = None,
    collected: Collected | None = None,
) -> Analysis:
    """Estimates side by side, diagnosis and sensitivity.

    Parameters
    ----------
    counts, setting, labels : the counts, what they are about, and what arms and mediator levels are called.
    assume : names of assumptions; all built-in ones unless given.
    level : of confidence intervals.
    control : the arm that others are compared with.
    expected_split : the shares of units that each arm should have, in the order of the arms.
    found_before : warnings about the data that the counts do not show; they come first.
    clusters : which rows belong to one unit; all rows are independent unless given.
    over_time : the course over time, for warnings about it.
    uncut : the counts before a real outcome was cut into levels: naive means, bounds and the range are theirs.
    collected : how a policy chose the rows; a fixed split unless given.
    """
    needed_counts(counts).checked(setting)
    _check_labels(labels, setting)
    assume = assumption_names(assume)
    split = check_options(labels, level, control, expected_split)
    direction = Direction(setting.minimize)
    found, impossible = beliefs(counts, setting, labels, assume)
    tests, untestable = contradictions(counts, setting, found, labels, clusters.alike if clusters else 1.0)
    if uncut is not None:
        found = [uncut.belief(belief, counts, setting) for belief in found]
    if clusters is not None:
        clusters.check(labels)
        found = [clusters.belief(belief, counts, setting) for belief in found]
    if collected is not None:
        found = collected.beliefs(found, counts, setting)
    real = Uncut(counts, setting, clusters) if uncut is None else uncut
    naive = [
        _naive(real.counts, real.setting, arm, level, real.clusters, collected) for arm in range(setting.arms)
    ]
    z = NormalDist().inv_cdf((1 + level) / 2)
    limit_levels = [
        collected.limit_level(level, counts, a) if collected else level for a in range(setting.arms)
    ]
    estimates, losses = _estimates(
        found, level, None if control is None else labels.arms.index(control), direction
    )
    ranked = [direction.belief(belief) for belief in found]
    upward = direction.counts(counts)
    tips = [tipping(belief, upward, direction.setting(real.setting), labels) for belief in ranked]
    return Analysis(
        arms=tuple(
            Arm(
                name,
                int(counts.pulls[a]),
                int(counts.observed[a]),
                float(missing_shares(counts)[a]),
                naive[a],
                {belief: row[a] for belief, row in estimates.items()},
                worst_case(real.counts, real.setting, a, limit_levels[a], real.clusters)
                if real.setting.range_known
                else None,
            )
            for a, name in enumerate(labels.arms)
        ),
        infeasible=tuple(impossible),
        winner=_winners(naive, ranked, labels, direction),
        expected_loss=losses,
        warnings=(
            *found_before,
            *(clusters.warnings(labels) if clusters else ()),
            *(
                over_time.warnings(clusters.alike if clusters else 1.0, collected is not None)
                if over_time
                else ()
            ),
            *warnings(counts, labels, found, tests, split, _sizes(counts, clusters)),
        ),
        tests=tuple(tests),
        untestable=tuple(untestable),
        sensitivity=tuple(tip for tip in tips if tip),
        tipping_curves={belief.name: direction.curve(tipping_curve(belief, upward, z)) for belief in ranked},
        missing=tuple(_cells(counts, labels)),
        level=level,
        control=control,
        outcome_sd=pooled_sd(counts),
        over_time=over_time,
        collection=collected.collection() if collected else Collection.fixed([one.name for one in found]),
        counts=counts,
        setting=setting,
        labels=labels,
    )


def assumption_names(assume: object) -> list[str]:
    """Names of assumptions, one or several; or raises InvalidValue."""
    names = [assume] if isinstance(assume, str) else assume
    if isinstance(names, Sequence) and all(isinstance(name, str) for name in names):
        return list(names)
    raise InvalidValue(f"assume must be names of assumptions, got {quoted(assume)}.")


def _check_labels(labels: object, setting: Setting) -> None:
    if not isinstance(labels, Labels):
        raise InvalidValue(f"labels must be Labels, got {quoted(labels)}.")
    got, wanted = (len(labels.arms), len(labels.mediators)), (setting.arms, setting.mediators)
    if got != wanted:
        raise InvalidValue(
            f"labels must name {wanted[0]} arms and {wanted[1]} mediator levels, got {got[0]} and {got[1]}."
        )


def check_options(
    labels: Labels, level: float, control: str | None, expected_split: Sequence[float] | None
) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """The expected split as numbers, if these options fit the labels; or raises InvalidValue."""
    if not is_number(level) or not 0 < level < 1:
        raise InvalidValue(f"level must be between 0 and 1, got {quoted(level)}.")
    if control is not None and (not isinstance(control, str) or control not in labels.arms):
        raise unknown("arm", control, labels.arms)
    if expected_split is None:
        return None
    split = finite("expected_split", expected_split)
    if split.shape != (len(labels.arms),) or np.any(split <= 0):
        raise InvalidValue(
            f"expected_split must be {len(labels.arms)} positive shares, one for each of the arms "
            f"{', '.join(labels.arms)}, got {quoted(expected_split)}."
        )
    return split


def _sizes(counts: Counts, clusters: Clusters | None) -> IntArray:
    """What was split over the arms: rows, or units."""
    return counts.pulls if clusters is None else np.array([arm.units for arm in clusters.arms])


def _naive(
    counts: Counts,
    setting: Setting,
    arm: int,
    level: float,
    clusters: Clusters | None,
    collected: Collected | None,
) -> Interval | None:
    def naive(some: Counts) -> Estimate:
        return Mcar().estimate(some, arm, setting)

    try:
        estimate = naive(counts)
    except NotIdentified:
        return None
    if clusters is not None:
        estimate = clusters.stretched(estimate, counts, arm, lambda some: naive(some).mean)
    if collected is not None:
        estimate = collected.naive(estimate, counts, arm)
    return Interval(estimate.mean, *estimate.interval(level))


def _estimates(
    found: Sequence[Belief], level: float, control: int | None, direction: Direction
) -> tuple[dict[str, list[ArmEstimate]], dict[str, float]]:
    estimates, losses = {}, {}
    for belief in found:
        best, losses[belief.name] = best_probabilities(direction.belief(belief).estimates)
        changes: list[Difference | None] = [None] * len(best)
        if control is not None:
            changes = differences(belief.estimates, control, level)
        estimates[belief.name] = [
            ArmEstimate(e.mean, *e.interval(level), e.standard_error, float(p), change)
            for e, p, change in zip(belief.estimates, best, changes, strict=True)
        ]
    return estimates, losses


def _winners(
    naive: Sequence[Interval | None], ranked: Sequence[Belief], labels: Labels, direction: Direction
) -> dict[str, str]:
    seen = {a: direction.value(interval.mean) for a, interval in enumerate(naive) if interval}
    winners = {"naive": labels.arms[max(seen, key=lambda a: seen[a])]} if seen else {}
    return winners | {belief.name: labels.arms[belief.winner] for belief in ranked}


def _cells(counts: Counts, labels: Labels) -> list[dict[str, Any]]:
    table = counts.real().table
    rows = []
    for a, arm in enumerate(labels.arms):
        for m in range(table.shape[1]):
            pulls, observed = int(table[a, m, PULLS]), int(table[a, m, OBSERVED])
            if m < len(labels.mediators) or pulls:
                share = 1 - observed / pulls if pulls else None
                rows.append(
                    {
                        "arm": arm,
                        "mediator": labels.mediator(m),
                        "pulls": pulls,
                        "observed": observed,
                        "missing_share": share,
                    }
                )
    return rows


def _plain(value: Any) -> Any:
    """Dataclasses as dicts of the fields they show, tuples as lists, and numbers that JSON does not know as null."""
    if is_dataclass(value):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value) if part.repr}
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
