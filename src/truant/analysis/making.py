"""Makes the analysis of counts: asks each assumption, compares arms, tests, and decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from truant.analysis.analysis import Analysis, Arm, ArmEstimate, Interval, MissingCell
from truant.analysis.verdict import FEW_OUTCOMES, Answer, Evidence, Verdict, decide
from truant.assumptions import Concern, Estimate
from truant.assumptions.follow_up import FOLLOW_UP, FollowedUp
from truant.assumptions.mcar import Mcar
from truant.collection.intervals import Collected, Collection
from truant.collection.weighted import checked_mix, mix_value
from truant.counts import OBSERVED, PULLS, Counts, needed_counts
from truant.errors import InvalidValue, NotIdentified, quoted, unknown
from truant.estimates.beliefs import Belief, Caution, Direction, Infeasible, Labels, OnFit, beliefs, each_arm
from truant.estimates.clusters import Clusters, Uncut
from truant.estimates.differences import Bounds, Difference, best_by_bounds, differences, worst_case
from truant.estimates.ranking import Ranking, more_follow_ups, more_rows, ranking
from truant.evidence.contradictions import Test, Untestable, contradictions, mediator_informs
from truant.evidence.course import OverTime
from truant.evidence.sensitivity import missing_shares, pooled_sd, tipping, tipping_curve
from truant.evidence.warnings import concerns_of, contradicted_by, flat_prior_warnings, warnings
from truant.setting import Setting, finite, is_number, positive_number
from truant.spec import Spec

LEAST_LEVEL = 0.5  # a winner that is less probable than not is none
SHAKY = {"thin-cell", "skewed", "no-interval"}  # concerns that say that an interval may not hold


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows reduced to counts, with what is known of the rows beside that."""

    counts: Counts
    setting: Setting  # of the counts
    labels: Labels  # what arms and mediator levels are called
    cautions: Sequence[Caution] = ()  # what the counts do not show; they come first
    clusters: Clusters | None = None  # which rows belong to one unit; all rows are independent unless given
    over_time: OverTime | None = None  # for warnings about it
    uncut: Uncut | None = None  # before a real outcome was cut; naive means, bounds and the range are its
    collected: Collected | None = None  # how a policy chose the rows; a fixed split unless given

    def checked(self) -> None:
        """That counts, setting and labels fit each other; or raises InvalidValue."""
        needed_counts(self.counts).checked(self.setting)
        if not isinstance(self.labels, Labels):
            raise InvalidValue(f"labels must be Labels, got {quoted(self.labels)}.")
        got = len(self.labels.arms), len(self.labels.mediators)
        wanted = self.setting.arms, self.setting.mediators
        if got != wanted:
            raise InvalidValue(
                f"labels must name {wanted[0]} arms and {wanted[1]} mediator levels, got {got[0]} and {got[1]}."
            )

    @property
    def alike(self) -> float:
        """How many rows count as one."""
        return self.clusters.alike if self.clusters else 1.0

    @property
    def real(self) -> Uncut:
        """Counts, setting and clusters of the outcome as it was."""
        return self.uncut or Uncut(self.counts, self.setting, self.clusters)


@dataclass(frozen=True, kw_only=True)
class AnalysisOptions:
    """What is asked of counts."""

    assume: str | Sequence[str] = ()  # names of assumptions; all built-in ones unless given
    level: float = 0.95  # of intervals, and the probability of being best from which a winner is clear
    tolerance: float | None = None  # expected loss up to which arms count as equal; never unless given
    control: str | None = None  # the arm that others are compared with
    expected_split: Sequence[float] | None = None  # of units, in the order of the arms
    value: Mapping[str, float] | None = None  # shares of arms whose mean outcome is asked for
    failed_follow_ups: str | None = (
        None  # of those without an answer: "worst-case" unless given, or "ignorable"
    )

    def checked(self, labels: Labels) -> AnalysisOptions:
        """The options as names and numbers, if they fit the labels; or raises InvalidValue."""
        assume, control = assumption_names(self.assume), self.control
        if not is_number(self.level) or not 0 < self.level < 1:
            raise InvalidValue(f"level must be between 0 and 1, got {quoted(self.level)}.")
        if self.level < LEAST_LEVEL:
            raise InvalidValue(f"level must be at least {LEAST_LEVEL}, got {quoted(self.level)}.")
        if control is not None and (not isinstance(control, str) or control not in labels.arms):
            raise unknown("arm", control, labels.arms)
        split = None if self.expected_split is None else finite("expected_split", self.expected_split)
        if split is not None and (split.shape != (len(labels.arms),) or np.any(split <= 0)):
            raise InvalidValue(
                f"expected_split must be {len(labels.arms)} positive shares, one for each of the arms "
                f"{', '.join(labels.arms)}, got {quoted(self.expected_split)}."
            )
        return replace(
            self,
            assume=assume,
            tolerance=None if self.tolerance is None else positive_number("tolerance", self.tolerance),
            expected_split=None if split is None else split.tolist(),
            value=None if self.value is None else checked_mix(self.value, labels),
        )


def assumption_names(assume: object) -> list[str]:
    """Names of assumptions, one or several; or raises InvalidValue."""
    names = [assume] if isinstance(assume, str) else assume
    if isinstance(names, Sequence) and all(isinstance(name, str) for name in names):
        return list(names)
    raise InvalidValue(f"assume must be names of assumptions, got {quoted(assume)}.")


def analyze_counts(
    rows: CountedRows, options: AnalysisOptions | None = None, on_fit: OnFit | None = None
) -> Analysis:
    """Estimates side by side, diagnosis and sensitivity.

    `on_fit` is told of each arm that was fitted: the assumption, and the seconds that it took.
    """
    rows.checked()
    options = (options or AnalysisOptions()).checked(rows.labels)
    counts, labels, level, collected = rows.counts, rows.labels, options.level, rows.collected
    findings = _Findings.of(rows, options, on_fit)
    found, rankings, direction = findings.beliefs, findings.rankings, Direction(rows.setting.minimize)
    naive = [_naive(rows, arm, level) for arm in range(rows.setting.arms)]
    arms = _arms(rows, options, naive, findings)
    ranked = [one.belief for one in rankings]
    upward, range_upward = direction.counts(counts), direction.setting(rows.real.setting)
    assumed = [one for one in ranked if one.part != FOLLOW_UP]  # which says nothing that could be wrong
    tips = [tipping(belief, upward, range_upward, labels) for belief in assumed]
    z = NormalDist().inv_cdf((1 + level) / 2)
    curves = {belief.name: tipping_curve(belief, upward, z) for belief in assumed}
    if direction.minimize:
        curves = {name: [point.reflected() for point in curve] for name, curve in curves.items()}
    mix = options.value
    return Analysis(
        verdict=_verdict(rows, options, arms, findings),
        arms=arms,
        infeasible=tuple(findings.infeasible),
        winner=_winners(naive, ranked, labels, direction),
        expected_loss={one.belief.name: one.expected_loss(one.leader) for one in rankings},
        warnings=_cautions(rows, options, findings),
        tests=tuple(findings.tests),
        untestable=tuple(findings.untestable),
        sensitivity=tuple(tip for tip in tips if tip),
        tipping_curves=curves,
        missing=tuple(_cells(counts, labels)),
        level=level,
        control=options.control,
        outcome_sd=pooled_sd(counts),
        over_time=rows.over_time,
        value=None if mix is None else mix_value(mix, found, labels, level, collected),
        collection=collected.collection() if collected else Collection.fixed([one.name for one in found]),
        failures_ignored=_failures_ignored(found, counts),
        counts=counts,
        setting=rows.setting,
        labels=labels,
    )


class _Findings(NamedTuple):
    """What the assumptions make of the rows, and what contradicts them."""

    beliefs: list[Belief]
    infeasible: list[Infeasible]
    tests: list[Test]
    untestable: list[Untestable]
    rankings: list[Ranking]  # of the beliefs, in their order, with more being better
    concerns: dict[str, list[Sequence[Concern]]]  # by assumption, of each arm

    @classmethod
    def of(cls, rows: CountedRows, options: AnalysisOptions, on_fit: OnFit | None) -> _Findings:
        counts, setting, labels = rows.counts, rows.setting, rows.labels
        found, impossible = beliefs(
            counts, setting, labels, options.assume, options.failed_follow_ups, on_fit
        )
        tests, untestable = contradictions(counts, setting, found, labels, rows.alike)
        if rows.uncut is not None:
            found, refused = rows.uncut.beliefs(found, counts, setting, labels)
            impossible += refused
        if rows.clusters is not None:
            rows.clusters.check(labels)
            found = [rows.clusters.belief(belief, counts, setting) for belief in found]
        if rows.collected is not None:
            found = rows.collected.beliefs(found, counts, setting)
        direction = Direction(setting.minimize)
        return cls(
            found,
            impossible,
            tests,
            untestable,
            [ranking(direction.belief(belief)) for belief in found],
            {belief.name: concerns_of(belief) for belief in found},
        )


def _cautions(rows: CountedRows, options: AnalysisOptions, findings: _Findings) -> tuple[Caution, ...]:
    """All of them, those about the rows first."""
    clusters, over_time, split = rows.clusters, rows.over_time, options.expected_split
    sizes = rows.counts.pulls if clusters is None else np.array([arm.units for arm in clusters.arms])
    return (
        *rows.cautions,
        *(clusters.warnings(rows.labels) if clusters else ()),
        *(over_time.warnings(rows.alike, rows.collected is not None) if over_time else ()),
        *warnings(
            rows.counts,
            rows.labels,
            findings.concerns,
            findings.tests,
            None if split is None else np.array(split),
            sizes,
        ),
        *flat_prior_warnings(findings.rankings, rows.labels),
    )


def _failures_ignored(found: Sequence[Belief], counts: Counts) -> bool:
    """Whether follow-ups failed, and are taken to be like the others."""
    stated = [one.assumption for one in found if isinstance(one.assumption, FollowedUp)][:1]
    return bool(stated and stated[0].failures == "ignorable" and np.any(counts.follow_ups > counts.answered))


def _naive(rows: CountedRows, arm: int, level: float) -> Interval | None:
    real = rows.real

    def naive(some: Counts) -> Estimate:
        return Mcar().estimate(some, arm, real.setting)

    try:
        estimate = naive(real.counts)
    except NotIdentified:
        return None
    if real.clusters is not None:
        estimate = real.clusters.stretched(estimate, real.counts, arm, lambda some: naive(some).mean)
    if rows.collected is not None:
        estimate = rows.collected.naive(estimate, real.counts, arm)
    return Interval(estimate.mean, *estimate.interval(level))


def _arms(
    rows: CountedRows, options: AnalysisOptions, naive: Sequence[Interval | None], findings: _Findings
) -> tuple[Arm, ...]:
    counts, labels = rows.counts, rows.labels
    control = None if options.control is None else labels.arms.index(options.control)
    estimates = _estimates(findings.beliefs, findings.rankings, options.level, control)
    bounds, shares = _bounds(rows, options.level), missing_shares(counts)
    return tuple(
        Arm(
            name,
            int(counts.pulls[a]),
            int(counts.observed[a]),
            float(shares[a]),
            naive[a],
            {belief: row[a] for belief, row in estimates.items()},
            bounds[a],
            int(counts.follow_ups[a]),
            int(counts.answered[a]),
        )
        for a, name in enumerate(labels.arms)
    )


def _bounds(rows: CountedRows, level: float) -> list[Bounds | None]:
    """Of each arm; none where the range of the outcome is not known."""
    real, collected = rows.real, rows.collected
    if not real.setting.range_known:
        return [None] * real.setting.arms
    levels = [
        collected.limit_level(level, rows.counts, a) if collected else level for a in range(real.setting.arms)
    ]
    return [worst_case(real.counts, real.setting, a, own, real.clusters) for a, own in enumerate(levels)]


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


def _cells(counts: Counts, labels: Labels) -> Iterator[MissingCell]:
    real = counts.real()
    later = np.zeros_like(real.table) if real.followed_up is None else real.followed_up
    for a, arm in enumerate(labels.arms):
        for m in range(real.table.shape[1]):
            pulls, observed = map(int, real.table[a, m, [PULLS, OBSERVED]])
            if m < len(labels.mediators) or pulls:
                share = 1 - observed / pulls if pulls else None
                later_numbers = map(int, later[a, m, [PULLS, OBSERVED]])
                names = arm, labels.mediator(m), labels.place(m)
                yield MissingCell(*names, pulls, observed, share, *later_numbers)


def _verdict(
    rows: CountedRows, options: AnalysisOptions, arms: Sequence[Arm], findings: _Findings
) -> Verdict:
    names, pulls = [arm.arm for arm in arms], sum(arm.pulls for arm in arms)
    rankings, concerns = findings.rankings, findings.concerns
    refuted, real = contradicted_by(findings.tests), rows.real
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
    proof = [one for one in usable if one.belief.part == FOLLOW_UP][:1]
    leaders = dict.fromkeys(one.leader for one in rankings)
    needed = [more_rows(one, names, pulls, options.level) for one in rankings] if len(names) > 1 else []
    unseen = {name for name, own in concerns.items() if _never_observed(own)}
    return decide(
        Evidence(
            answers=answers,
            arms=names,
            not_tried=[item.assumption for item in findings.infeasible if not item.repeats],
            has_mediator=real.setting.mediators > 1,
            mediator_informs=mediator_informs(rows.counts, findings.tests),
            missing_share=1 - sum(arm.observed for arm in arms) / max(pulls, 1),
            best_by_bounds=best_by_bounds(names, [arm.bounds for arm in arms], real.setting.minimize),
            doubtful_arms=_doubtful(arms, usable, concerns),
            more_rows={
                one.assumption: replace(one, rows=None) if one.rows and one.assumption in unseen else one
                for one in needed
                if one is not None
            },
            losses={one.belief.name: {names[a]: one.expected_loss(a) for a in leaders} for one in rankings},
            level=options.level,
            tolerance=options.tolerance,
            proof=proof[0].belief.name if proof else None,
            proof_doubts=_doubtful(arms, proof, concerns),
            more_follow_ups=_more_follow_ups(proof, real.counts, real.setting, options.level),
            unused_follow_ups=_unused_follow_ups(proof, findings.infeasible),
            doubtful_labels=[arm for one in rows.cautions for arm in one.arms],
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
