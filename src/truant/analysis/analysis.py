"""All that counts can tell, in one value that tables, pages and JSON are made from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truant.analysis.verdict import Answer, Evidence, Verdict, decide
from truant.assumptions import REFERENCE, Concern, Estimate
from truant.assumptions.follow_up import FOLLOW_UP, FollowUp
from truant.assumptions.mcar import Mcar
from truant.collection.intervals import Collected, Collection
from truant.collection.weighted import Value, checked_mix, mix_value
from truant.counts import OBSERVED, PULLS, Counts, needed_counts
from truant.envelope import document, plain
from truant.errors import InvalidValue, NotIdentified, counted, quoted, unknown
from truant.estimates.beliefs import Belief, Caution, Direction, Infeasible, Labels, OnFit, beliefs, each_arm
from truant.estimates.clusters import Clusters, Uncut
from truant.estimates.differences import Bounds, Difference, best_by_bounds, differences, worst_case
from truant.estimates.ranking import Ranking, more_follow_ups, more_rows, ranking
from truant.evidence.contradictions import Test, Untestable, contradictions, mediator_informs
from truant.evidence.course import OverTime
from truant.evidence.sensitivity import Tipping, missing_shares, pooled_sd, tipping, tipping_curve
from truant.evidence.warnings import concerns_of, contradicted_by, flat_prior_warnings, warnings
from truant.provenance import Provenance
from truant.setting import IntArray, Setting, finite, is_number, positive_number
from truant.shown import Shown, save_table
from truant.spec import Spec
from truant.tables.arrow import make_table

if TYPE_CHECKING:
    import pyarrow as pa

ADJUSTMENT = "Dunnett: simultaneous intervals and p-values of all differences to the control"
LEAST_LEVEL = 0.5  # a winner that is less probable than not is none
FEW_OUTCOMES = 10  # observed, of a leader or a runner-up, below which no winner is clear
SHAKY = {"thin-cell", "skewed", "no-interval"}  # concerns that say that an interval may not hold


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence limits; these are nan where no interval can be given."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class ArmEstimate(Interval):
    """An arm under one assumption."""

    standard_error: float  # nan where no interval can be given, as the next
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
    follow_ups: int = field(default=0, repr=False)  # of missing outcomes
    answered: int = field(default=0, repr=False)  # follow-ups that brought an outcome


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis(Shown):
    """Estimates, verdict, tests and warnings: the mean of each arm under each assumption, and how far to rely on it.

    Nothing is chosen: assumptions stand side by side, in `arms`; `winner` says which arm each prefers, and `verdict`
    whether these answers decide.
    """

    _views: ClassVar = {
        "document": "truant.documents.analysis:analysis_document",
        "sentence": "truant.documents.verdict:verdict_sentence",
        "to_settle": "truant.documents.verdict:settling_sentences",
        "about": "truant.documents.analysis:about_sentences",
    }

    verdict: Verdict
    arms: tuple[Arm, ...]
    infeasible: tuple[Infeasible, ...]
    winner: dict[str, str]  # by assumption, and for the naive mean
    expected_loss: dict[str, float]  # of choosing that winner now
    warnings: tuple[Caution, ...]
    tests: tuple[Test, ...]
    untestable: tuple[Untestable, ...]
    sensitivity: tuple[Tipping, ...]
    tipping_curves: dict[str, list[dict[str, float]]]
    missing: tuple[dict[str, Any], ...]  # arm, mediator, place, pulls, observed, missing_share of each cell
    level: float
    control: str | None
    outcome_sd: float
    over_time: OverTime | None = None
    value: Value | None = None  # of a mix that was asked for
    collection: Collection  # how the rows came about, and what intervals were made of that
    failures_ignored: bool = field(default=False, repr=False)  # follow-ups failed, stated to be like others
    counts: Counts = field(repr=False)  # that everything was computed from
    setting: Setting = field(repr=False)  # of the counts: arms, levels, range of the outcome
    labels: Labels = field(repr=False)  # names of arms and mediator levels
    provenance: Provenance = field(default=Provenance(), repr=False)  # where the counts came from

    @property
    def verdict_sentence(self) -> str:
        """The verdict in words, as terminal, page and JSON show it."""
        return str(self._view("sentence", self))

    @property
    def to_settle(self) -> list[str]:
        """What would settle the question, a sentence each; none where it is settled."""
        sentences: list[str] = self._view("to_settle", self)
        return sentences

    @property
    def source(self) -> str:
        """The file, table or database that was read."""
        return self.provenance.source

    @property
    def rows(self) -> int:
        """Rows that were read."""
        return self.provenance.rows if self.provenance.is_table else int(self.counts.pulls.sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """How values were read, one sentence each."""
        return self.provenance.notes

    @property
    def missing_markers(self) -> Mapping[str, Mapping[str, int]]:
        """By column and then by marker: how many rows hold it in place of a value."""
        return self.provenance.missing_markers

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"M{self.provenance.means[1:]}" if self.provenance.is_table else "Analysis"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        lines: list[str] = self._view("about", self, self.provenance) if self.provenance.is_table else []
        return lines

    @property
    def assumptions(self) -> list[str]:
        """Those that could be estimated."""
        return list(self.arms[0].estimates)

    @property
    def minimize(self) -> bool:
        """Whether the lowest value is the best."""
        return self.setting.minimize

    @property
    def sorted_by(self) -> str:
        """The assumption whose values the arms are sorted by in reports; naive if there is none."""
        names = [answer.assumption for answer in self.verdict.remaining] or self.assumptions
        if self.verdict.evidence is not None:
            return self.verdict.evidence
        return REFERENCE if REFERENCE in names else next(iter(names), "naive")

    @property
    def sorted_arms(self) -> list[Arm]:
        """The arms, best value first; those without one last."""
        name, direction = self.sorted_by, Direction(self.minimize)

        def value(arm: Arm) -> float:
            interval = arm.naive if name == "naive" else arm.estimates[name]
            return math.inf if interval is None else -direction.value(interval.mean)

        return sorted(self.arms, key=value)

    @property
    def has_follow_ups(self) -> bool:
        """Whether missing outcomes were followed up."""
        return self.counts.followed_up is not None

    @property
    def agree(self) -> bool:
        """Whether the naive mean and every assumption name the same winner."""
        return len(set(self.winner.values())) == 1

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        found: dict[str, Any] = plain(self)
        found["verdict"] |= {"sentence": self.verdict_sentence, "to_settle": self.to_settle}
        if self.has_follow_ups:
            for row, arm in zip(found["arms"], self.arms, strict=True):
                row |= {"follow_ups": arm.follow_ups, "answered": arm.answered}
            own_fields = ("by_follow_up", "more_follow_ups")
            found["verdict"] |= {name: getattr(self.verdict, name) for name in own_fields}
        adjustment = ADJUSTMENT if self.control is not None else None
        own = {"minimize": self.minimize, "adjustment": adjustment, "sorted_by": self.sorted_by}
        own |= self.provenance.summary() if self.provenance.is_table else {}
        return document("analysis", 2, found | own)

    def table(self) -> pa.Table:
        """One row for each arm and assumption (the naive mean among them)."""
        rows: list[dict[str, Any]] = []
        for arm in self.arms:
            followed_up = ("follow_ups", "answered") if self.has_follow_ups else ()
            shown = ("arm", "pulls", "observed", "missing_share", *followed_up)
            own = {key: getattr(arm, key) for key in shown}
            if arm.bounds:
                own |= {f"bounds_{key}": value for key, value in asdict(arm.bounds).items()}
            nothing = dict.fromkeys(("mean", "low", "high"))
            rows.append({**own, "assumption": "naive", **(asdict(arm.naive) if arm.naive else nothing)})
            for name, estimate in arm.estimates.items():
                values = asdict(estimate)
                change = values.pop("difference") or {}
                lift = change.pop("lift", None) or dict.fromkeys(("mean", "low", "high") if change else ())
                rows.append(
                    {**own, "assumption": name, **values}
                    | {f"difference_{key}": value for key, value in change.items()}
                    | {f"lift_{key}": value for key, value in lift.items()}
                )
        names = dict.fromkeys(name for row in rows for name in row)
        return make_table({name: [row.get(name) for row in rows] for name in names})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `table()` as .csv or .parquet; refused if the log was read from there."""
        return save_table(self.table(), path, "analysis-table", self.provenance.inputs)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with charts and plain sentences, which needs no network."""
        return self._save_page(path, self.provenance.inputs)

    def __repr__(self) -> str:
        return f"<analysis of {counted(self.rows, 'row')}: {self.verdict_sentence}>"


def analyze_counts(
    counts: Counts,
    setting: Setting,
    labels: Labels,
    *,
    assume: str | Sequence[str] = (),
    level: float = 0.95,
    tolerance: float | None = None,
    control: str | None = None,
    expected_split: Sequence[float] | None = None,
    found_before: Sequence[Caution] = (),
    clusters: Clusters | None = None,
    over_time: OverTime | None = None,
    uncut: Uncut | None = None,
    collected: Collected | None = None,
    value: Mapping[str, float] | None = None,
    failed_follow_ups: str | None = None,
    on_fit: OnFit | None = None,
) -> Analysis:
    """Estimates side by side, diagnosis and sensitivity.

    Parameters
    ----------
    counts, setting, labels : the counts, what they are about, and what arms and mediator levels are called.
    assume : names of assumptions; all built-in ones unless given.
    level : of confidence intervals, and the probability of being best from which a winner is clear.
    tolerance : the expected loss, in units of the outcome, up to which arms count as equal; never unless given.
    control : the arm that others are compared with.
    expected_split : the shares of units that each arm should have, in the order of the arms.
    found_before : warnings about the data that the counts do not show; they come first.
    clusters : which rows belong to one unit; all rows are independent unless given.
    over_time : the course over time, for warnings about it.
    uncut : the counts before a real outcome was cut into levels: naive means, bounds and the range are theirs.
    collected : how a policy chose the rows; a fixed split unless given.
    value : shares of arms whose mean outcome is asked for.
    failed_follow_ups : what is known of follow-ups without an answer: "worst-case" unless given, or "ignorable".
    on_fit : is told of each arm that was fitted: the assumption, and the seconds that it took.
    """
    needed_counts(counts).checked(setting)
    _check_labels(labels, setting)
    assume = assumption_names(assume)
    split = check_options(labels, level, control, expected_split)
    if tolerance is not None:
        tolerance = positive_number("tolerance", tolerance)
    if value is not None:
        value = checked_mix(value, labels)
    direction = Direction(setting.minimize)
    found, impossible = beliefs(counts, setting, labels, assume, failed_follow_ups, on_fit)
    tests, untestable = contradictions(counts, setting, found, labels, clusters.alike if clusters else 1.0)
    if uncut is not None:
        found, refused = uncut.beliefs(found, counts, setting, labels)
        impossible += refused
    if clusters is not None:
        clusters.check(labels)
        found = [clusters.belief(belief, counts, setting) for belief in found]
    if collected is not None:
        found = collected.beliefs(found, counts, setting)
    real = Uncut(counts, setting, clusters) if uncut is None else uncut
    naive = [
        _naive(real.counts, real.setting, arm, level, real.clusters, collected) for arm in range(setting.arms)
    ]
    rankings = [ranking(direction.belief(belief)) for belief in found]
    estimates = _estimates(found, rankings, level, None if control is None else labels.arms.index(control))
    arms = _arms(counts, labels, naive, estimates, _bounds(real, counts, level, collected))
    concerns = {belief.name: concerns_of(belief) for belief in found}
    ranked = [one.belief for one in rankings]
    upward = direction.counts(counts)
    z = NormalDist().inv_cdf((1 + level) / 2)
    assumed = [
        belief for belief in ranked if belief.part != FOLLOW_UP
    ]  # which says nothing that could be wrong
    tips = [tipping(belief, upward, direction.setting(real.setting), labels) for belief in assumed]
    return Analysis(
        verdict=_verdict(
            arms,
            real.counts,
            real.setting,
            mediator_informs(counts, tests),
            rankings,
            concerns,
            tests,
            impossible,
            level,
            tolerance,
            [arm for warning in found_before for arm in warning.arms],
        ),
        arms=arms,
        infeasible=tuple(impossible),
        winner=_winners(naive, ranked, labels, direction),
        expected_loss={one.belief.name: one.expected_loss(one.leader) for one in rankings},
        warnings=(
            *found_before,
            *(clusters.warnings(labels) if clusters else ()),
            *(
                over_time.warnings(clusters.alike if clusters else 1.0, collected is not None)
                if over_time
                else ()
            ),
            *warnings(counts, labels, concerns, tests, split, _sizes(counts, clusters)),
            *flat_prior_warnings(rankings, labels),
        ),
        tests=tuple(tests),
        untestable=tuple(untestable),
        sensitivity=tuple(tip for tip in tips if tip),
        tipping_curves={belief.name: direction.curve(tipping_curve(belief, upward, z)) for belief in assumed},
        missing=tuple(_cells(counts, labels)),
        level=level,
        control=control,
        outcome_sd=pooled_sd(counts),
        over_time=over_time,
        value=None if value is None else mix_value(value, found, labels, level, collected),
        collection=collected.collection() if collected else Collection.fixed([one.name for one in found]),
        failures_ignored=_failures_ignored(found, counts),
        counts=counts,
        setting=setting,
        labels=labels,
    )


def _failures_ignored(found: Sequence[Belief], counts: Counts) -> bool:
    """Whether follow-ups failed, and are taken to be like the others."""
    stated = [one.assumption for one in found if isinstance(one.assumption, FollowUp)][:1]
    return bool(stated and stated[0].failures == "ignorable" and np.any(counts.follow_ups > counts.answered))


def _arms(
    counts: Counts,
    labels: Labels,
    naive: Sequence[Interval | None],
    estimates: Mapping[str, Sequence[ArmEstimate]],
    bounds: Sequence[Bounds | None],
) -> tuple[Arm, ...]:
    pulls, observed, shares = counts.pulls, counts.observed, missing_shares(counts)
    follow_ups, answered = counts.follow_ups, counts.answered
    return tuple(
        Arm(
            name,
            int(pulls[a]),
            int(observed[a]),
            float(shares[a]),
            naive[a],
            {belief: row[a] for belief, row in estimates.items()},
            bounds[a],
            int(follow_ups[a]),
            int(answered[a]),
        )
        for a, name in enumerate(labels.arms)
    )


def _bounds(real: Uncut, counts: Counts, level: float, collected: Collected | None) -> list[Bounds | None]:
    """Of each arm; none where the range of the outcome is not known."""
    if not real.setting.range_known:
        return [None] * real.setting.arms
    levels = [
        collected.limit_level(level, counts, a) if collected else level for a in range(real.setting.arms)
    ]
    return [worst_case(real.counts, real.setting, a, own, real.clusters) for a, own in enumerate(levels)]


def _verdict(
    arms: Sequence[Arm],
    counts: Counts,
    setting: Setting,
    informs: bool,
    rankings: Sequence[Ranking],
    concerns: Mapping[str, Sequence[Sequence[Concern]]],
    tests: Sequence[Test],
    impossible: Sequence[Infeasible],
    level: float,
    tolerance: float | None,
    doubtful_labels: Sequence[str],
) -> Verdict:
    names = [arm.arm for arm in arms]
    rows = sum(arm.pulls for arm in arms)
    refuted = contradicted_by(tests)
    answers = [
        Answer(
            one.belief.name,
            names[one.leader],
            float(one.probabilities[one.leader]),
            one.expected_loss(one.leader),
            one.belief.name in refuted,
        )
        for one in rankings
    ]
    usable = [one for one in rankings if one.belief.name not in refuted]
    evidence = [one for one in usable if one.belief.part == FOLLOW_UP][:1]
    leaders = dict.fromkeys(one.leader for one in rankings)
    needed = [more_rows(one, names, rows, level) for one in rankings] if len(names) > 1 else []
    return decide(
        Evidence(
            answers=answers,
            arms=names,
            not_tried=[item.assumption for item in impossible if not item.repeats],
            has_mediator=setting.mediators > 1,
            mediator_informs=informs,
            missing_share=1 - sum(arm.observed for arm in arms) / max(rows, 1),
            best_by_bounds=best_by_bounds(names, [arm.bounds for arm in arms], setting.minimize),
            doubtful_arms=_doubtful(arms, usable, concerns),
            more_rows={
                one.assumption: replace(one, rows=None)
                if one.rows and _never_observed(concerns[one.assumption])
                else one
                for one in needed
                if one is not None
            },
            losses={one.belief.name: {names[a]: one.expected_loss(a) for a in leaders} for one in rankings},
            level=level,
            tolerance=tolerance,
            proof=evidence[0].belief.name if evidence else None,
            proof_doubts=_doubtful(arms, evidence, concerns),
            more_follow_ups=_more_follow_ups(evidence, counts, setting, level),
            unused_follow_ups=_unused_follow_ups(evidence, impossible),
            doubtful_labels=doubtful_labels,
        )
    )


def _unused_follow_ups(evidence: Sequence[Ranking], impossible: Sequence[Infeasible]) -> str | None:
    """Why the follow-ups cannot be used; None if they can, or were not asked for."""
    refused = [item.reason_alone for item in impossible if Spec.parse(item.assumption).name == FOLLOW_UP]
    return refused[0] if refused and not evidence else None


def _more_follow_ups(
    evidence: Sequence[Ranking], counts: Counts, setting: Setting, level: float
) -> int | None:
    """That make the leader clear; None where that is not known."""
    if not evidence or evidence[0].curves is None or counts.followed_up is None:
        return None
    clear = evidence[0].probabilities[evidence[0].leader] >= level
    return 0 if clear else more_follow_ups(evidence[0], counts, setting, level)


def _doubtful(
    arms: Sequence[Arm], rankings: Sequence[Ranking], concerns: Mapping[str, Sequence[Sequence[Concern]]]
) -> list[str]:
    """Leaders and runners-up whose interval may not hold: few outcomes, or one or two that decide the mean."""
    found = []
    for one in rankings:
        for a in np.argsort(-np.nan_to_num(one.probabilities), kind="stable")[:2]:
            codes = {concern.code for concern in concerns[one.belief.name][a]}
            if _few_outcomes(arms[a], one.belief.part) or codes & SHAKY:
                found.append(arms[a].arm)
    return list(dict.fromkeys(found))


def _few_outcomes(arm: Arm, part: str) -> bool:
    """Whether a mean rests on few outcomes; with follow-ups, that of its missing outcomes on few answers."""
    if part != FOLLOW_UP:
        return arm.observed < FEW_OUTCOMES
    few_answers = arm.answered < min(FEW_OUTCOMES, arm.pulls - arm.observed)
    return few_answers or arm.observed + arm.answered < FEW_OUTCOMES


def _never_observed(concerns: Sequence[Sequence[Concern]]) -> bool:
    """Whether a mediator level has no observed outcome, which more rows of the same kind do not change."""
    return any(concern.code == "empty-cell" for own in concerns for concern in own)


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
    if level < LEAST_LEVEL:
        raise InvalidValue(f"level must be at least {LEAST_LEVEL}, got {quoted(level)}.")
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
    found: Sequence[Belief], rankings: Sequence[Ranking], level: float, control: int | None
) -> dict[str, list[ArmEstimate]]:
    estimates = {}
    for belief, ranked in zip(found, rankings, strict=True):
        changes: list[Difference | None] = [None] * len(belief.estimates)
        if control is not None:
            changes = differences(belief.estimates, control, level)
        ends = each_arm(lambda estimate: estimate.interval(level), belief.estimates)
        estimates[belief.name] = [
            ArmEstimate(e.mean, *limits, e.standard_error, float(p), change)
            for e, limits, p, change in zip(
                belief.estimates, ends, ranked.probabilities, changes, strict=True
            )
        ]
    return estimates


def _winners(
    naive: Sequence[Interval | None], ranked: Sequence[Belief], labels: Labels, direction: Direction
) -> dict[str, str]:
    seen = {a: direction.value(interval.mean) for a, interval in enumerate(naive) if interval}
    winners = {"naive": labels.arms[max(seen, key=lambda a: seen[a])]} if seen else {}
    return winners | {belief.name: labels.arms[belief.winner] for belief in ranked}


def _cells(counts: Counts, labels: Labels) -> list[dict[str, Any]]:
    real = counts.real()
    table, later = real.table, real.followed_up
    rows: list[dict[str, Any]] = []
    for a, arm in enumerate(labels.arms):
        for m in range(table.shape[1]):
            pulls, observed = int(table[a, m, PULLS]), int(table[a, m, OBSERVED])
            if m < len(labels.mediators) or pulls:
                share = 1 - observed / pulls if pulls else None
                rows.append(
                    {
                        "arm": arm,
                        "mediator": labels.mediator(m),
                        "place": labels.place(m),
                        "pulls": pulls,
                        "observed": observed,
                        "missing_share": share,
                    }
                )
                if later is not None:
                    asked, answered = later[a, m, [PULLS, OBSERVED]]
                    rows[-1] |= {"follow_ups": int(asked), "answered": int(answered)}
    return rows
