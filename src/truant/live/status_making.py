"""Makes the status of an experiment: reads it in one state of the store, and analyses what is settled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from truant import registry
from truant.analysis import Analysis, AnalysisOptions, CountedRows, Labels
from truant.counts import PULLS
from truant.errors import NotIdentified
from truant.estimates.beliefs import Caution
from truant.evidence.live_tests import LateTest, late_tests, share_test
from truant.live import counting
from truant.live.clock_repair import compare_clocks
from truant.live.configuration import AT_CLOSE, Configuration
from truant.live.course import (
    AllocationPoint,
    allocation_course,
    course_by_day,
    find_drift,
    without_clear_winner,
)
from truant.live.status import ArmStatus, Holdout, Status, Stopping
from truant.live.store import Transaction, decision_statements, statements
from truant.live.store.statements import Head
from truant.live.times import shown
from truant.setting import FloatArray, Setting

if TYPE_CHECKING:
    from truant.counts import Counts
    from truant.live.experiment import Experiment

LAST_PART = 2  # bins at the end of the window: its last tenth
ENOUGH_ARRIVED = 50
ENOUGH_SETTLED = 100  # decisions, from which a level that none of them has is worth a sentence


@dataclass(frozen=True, eq=False)
class _Read:
    """What status is made from, read in one state of the store."""

    head: Head
    configuration: Configuration
    cells: counting.Cells
    pending: list[int]
    waiting: list[int]  # pending decisions of the holdout
    told_early: int  # pending decisions with an outcome
    late: list[decision_statements.LateOutcome]
    follow_ups: dict[str, int]
    points: list[AllocationPoint]
    shares: list[float]
    next_due: int | None
    disturbed: str | None  # why the policy cannot be replayed

    @classmethod
    def of(cls, transaction: Transaction, experiment: int) -> _Read:
        head = statements.head_of(transaction, experiment)
        configuration = Configuration.from_json(
            statements.configuration_text(transaction, experiment, head.revision)
        )
        arms = len(configuration.arms)
        history = [
            Configuration.from_json(text) for _, _, text in statements.revisions(transaction, experiment)
        ]
        imported = bool(statements.events_of_kind(transaction, experiment, "imported"))
        return cls(
            head,
            configuration,
            statements.day_cells(transaction, experiment),
            decision_statements.pending_by_arm(transaction, experiment, arms),
            decision_statements.pending_by_arm(transaction, experiment, arms, holdout=True),
            decision_statements.pending_with_outcome(transaction, experiment),
            decision_statements.late_outcomes(transaction, experiment),
            decision_statements.follow_up_numbers(transaction, experiment),
            allocation_course(transaction, experiment, configuration),
            statements.allocation_of(transaction, experiment, head.allocation).probabilities,
            decision_statements.first_due(transaction, experiment),
            _disturbed(history, imported),
        )


def _disturbed(history: Sequence[Configuration], imported: bool) -> str | None:
    """Why a replay of the policy would not be what happened; None if it would."""
    now = history[-1]
    if imported:
        return "past decisions were imported that the policy did not make"
    if any((one.arms, one.retired) != (now.arms, now.retired) for one in history):
        return "arms were added or retired while it ran"
    if any((one.policy, one.minimum_share) != (now.policy, now.minimum_share) for one in history):
        return "the policy was changed while it ran"
    if now.minimum_share or now.warm_up:
        return "it has a minimum share or a warm-up, which replays do not have"
    return None


def status_of(
    experiment: Experiment, calibrate: bool | None, progress: Callable[[float], None] | bool | None
) -> Status:
    """The status; its analyses are made once for each version of the counts and revision of the configuration."""
    from truant.documents.progress import progress_bar

    read = experiment.store.read(lambda transaction: _Read.of(transaction, experiment.number))
    now = max(experiment.now(), read.head.clock)
    counts = counting.total_counts(read.cells, read.configuration)
    # pending decisions are not in it, though they decide how a policy is replayed: they change with every ask
    key = (read.head.counts_version, read.head.revision, read.disturbed, calibrate)
    if key not in experiment.cached:
        with progress_bar("replaying", progress) as show:
            analysis = sequences = _judged(read, counts, _analysis(read, counts, now, calibrate, show))
        if calibrate is not False and _has_stop_rule(read.configuration):
            sequences = _judged(read, counts, _analysis(read, counts, now, False, lambda share: None))
        experiment.cached.clear()
        experiment.cached[key] = analysis, sequences
    analysis, sequences = experiment.cached[key]
    return _status(experiment, read, counts, analysis, sequences, now)


def never_told(counts: Counts, configuration: Configuration) -> list[Caution]:
    """Levels of mediator and outcome that no settled decision has, although many are settled."""
    settled = int(counts.pulls.sum())
    if settled < ENOUGH_SETTLED:
        return []
    by_mediator = counts.real().table[..., PULLS].sum(axis=0)
    columns: list[tuple[str, Sequence[str | float], FloatArray]] = [
        ("mediator", configuration.mediator_levels, by_mediator)
    ]
    if configuration.levels is not None and counts.observed.sum():
        columns.append(("outcome", configuration.levels, counts.table.sum(axis=(0, 1))))
    found = []
    for column, levels, numbers in columns:
        untold = [level for level, number in zip(levels, numbers, strict=False) if not number]
        facts = {
            "column": column,
            "levels": untold,
            "settled": settled,
            "missing": int(numbers[-1]),
            "can_be_absent": len(untold) < len(levels)
            and not (column == "mediator" and configuration.mediator_cuts),
        }
        if untold:
            found.append(Caution("never-told", facts=facts))
    return found


def _judged(read: _Read, counts: Counts, analysis: Analysis) -> Analysis:
    """The analysis, with levels that are never told; no winner is clear where arms are compared on different days."""
    analysis = replace(analysis, warnings=(*never_told(counts, read.configuration), *analysis.warnings))
    drift = find_drift(read.cells, read.configuration)
    return without_clear_winner(analysis, drift) if drift.matters else analysis


def _analysis(
    read: _Read, counts: Counts, now: int, calibrate: bool | None, progress: Callable[[float], None]
) -> Analysis:
    """The analysis of the arms that have an outcome; of all of them, which says what is missing, if none has."""
    from truant.analysis.live_analysis import LivePolicy, analyze_live
    from truant.policies import named

    configuration = read.configuration
    seen = np.flatnonzero(counts.observed + counts.answered > 0)
    seen = seen if len(seen) else np.arange(len(configuration.arms))
    arms = [configuration.arms[arm] for arm in seen]
    decided = int(counts.pulls.sum()) + sum(read.pending)
    passed = max(now - read.head.created, 1)
    waited = configuration.window + configuration.grace
    why_not = read.disturbed
    if len(arms) < len(configuration.arms):
        why_not = "not every arm has an outcome yet"
    levels = configuration.mediator_levels
    rows = CountedRows(
        counts.of_arms(seen),
        replace(configuration.setting(), arms=len(arms)),
        Labels.of(arms, levels or ("all",), mediator_column="mediator" if levels else ""),
        over_time=course_by_day(read.cells, configuration),
    )
    live = LivePolicy(
        named(configuration.policy),
        configuration.assume,
        max(configuration.horizon, decided),
        min(round(decided * waited / passed), decided),
        None if why_not is None else f"The policy cannot be replayed, since {why_not}.",
    )
    options = AnalysisOptions(
        level=configuration.level,
        tolerance=configuration.tolerance,
        control=configuration.control if configuration.control in arms else None,
    )
    return analyze_live(rows, live, options, calibrate, progress)


def _status(
    experiment: Experiment, read: _Read, counts: Counts, analysis: Analysis, sequences: Analysis, now: int
) -> Status:
    configuration, head = read.configuration, read.head
    setting = configuration.setting()
    tally = counting.total_tally(read.cells, setting.arms)
    held = counting.total_counts(read.cells, configuration, counting.HOLDOUT)
    settled = int(counts.pulls.sum() + held.pulls.sum())
    waiting = sum(read.pending) + sum(read.waiting)
    arrivals = tuple(int(count) for count in tally["arrivals"])
    arrived = sum(arrivals)
    return Status(
        experiment=head.name,
        status=head.status,
        at=shown(now),
        revision=head.revision,
        counts_version=head.counts_version,
        configuration=configuration.summary(),
        decisions=settled + waiting,
        pending=waiting,
        pending_with_outcome=read.told_early,
        settled=settled,
        observed=int(counts.observed.sum() + held.observed.sum()),
        reasons={reason: int(sum(numbers)) for reason, numbers in tally["reasons"].items()},
        late=len(read.late),
        next_close=None if read.next_due is None else shown(read.next_due),
        learning=experiment.learning_sentence,
        arms=tuple(_arms(read, counts, held, tally, analysis)),
        follow_ups=read.follow_ups,
        holdout=_holdout(configuration, held, counts),
        share_tests={
            name: share_test(tally[name][0], tally[name][1], tally[name][2], configuration.arms)
            for name in counting.SHARES
            # on arrival, which decisions are settled depends on the arm
            if sum(tally[name][0]) and configuration.settle == AT_CLOSE
        },
        late_tests=_late_tests(read, counts, setting),
        told_late=sum(one.happened_in_time for one in read.late),
        arrivals=arrivals,
        last_arrivals=sum(arrivals[-LAST_PART:]) / arrived if arrived >= ENOUGH_ARRIVED else None,
        allocations=tuple(read.points),
        clocks=tuple(compare_clocks(experiment)),
        stopping=_stopping(configuration, sequences),
        analysis=analysis,
    )


def _arms(
    read: _Read, counts: Counts, held: Counts, tally: dict[str, Any], analysis: Analysis
) -> list[ArmStatus]:
    configuration = read.configuration
    pulls, observed = counts.pulls + held.pulls, counts.observed + held.observed
    late = np.bincount([one.arm for one in read.late], minlength=len(configuration.arms))
    analysed = {arm.arm: arm.estimates for arm in analysis.arms}
    found = []
    for number, arm in enumerate(configuration.arms):
        estimate = analysed.get(arm, {}).get(configuration.assume)
        pending = read.pending[number] + read.waiting[number]
        settled = int(pulls[number])
        found.append(
            ArmStatus(
                arm=arm,
                active=configuration.active[number],
                share=read.shares[number],
                asked=settled + pending,
                pending=pending,
                settled=settled,
                observed=int(observed[number]),
                missing=settled - int(observed[number]),
                withdrawn=int(tally["reasons"]["withdrawn"][number]),
                late=int(late[number]),
                mean=None if estimate is None else estimate.mean,
                low=None if estimate is None else estimate.low,
                high=None if estimate is None else estimate.high,
                probability_best=None if estimate is None else estimate.probability_best,
            )
        )
    return found


def _late_tests(read: _Read, counts: Counts, setting: Setting) -> tuple[LateTest, ...]:
    """None where an outcome that is absent has a value: a late outcome is no missing one then."""
    if read.configuration.absent is not None:
        return ()
    return tuple(late_tests(counts, _late_counts(read, setting), setting, read.configuration.assume))


def _late_counts(read: _Read, setting: Setting) -> Counts:
    """Late outcomes by arm and by the mediator as it was known in the window."""
    from truant.counts import Counts

    counts = Counts.empty(setting)
    if read.late:
        codes = [
            0 if setting.mediators == 1 else -1 if one.mediator is None else one.mediator for one in read.late
        ]
        outcomes = np.array([one.outcome for one in read.late], np.float64)
        counts.extend([one.arm for one in read.late], codes, outcomes)
    return counts


def _holdout(configuration: Configuration, held: Counts, counts: Counts) -> Holdout | None:
    """Both means under the experiment's assumption, each arm with its share of the decisions."""
    if not configuration.holdout and not held.pulls.sum():
        return None
    assumption = registry.find("assumption", configuration.assume).build()
    setting = configuration.setting()

    def mean(one: Counts) -> float | None:
        rows = one.pulls
        try:
            return float(
                sum(
                    rows[arm] * assumption.estimate(one, arm, setting).mean
                    for arm in range(setting.arms)
                    if rows[arm]
                )
                / max(rows.sum(), 1)
            )
        except NotIdentified:
            return None

    known = held.pulls.sum() > 0 and counts.pulls.sum() > 0
    return Holdout(
        int(held.pulls.sum()),
        int(held.observed.sum()),
        mean(held) if known else None,
        mean(counts) if known else None,
    )


def _has_stop_rule(configuration: Configuration) -> bool:
    return configuration.stop_loss is not None or configuration.stop_level is not None


def _stopping(configuration: Configuration, analysis: Analysis) -> Stopping | None:
    """Whether the stop rule is met, under the experiment's own assumption.

    It is judged by confidence sequences, since whoever stops at the first moment at which it is met looks often.
    """
    if not _has_stop_rule(configuration):
        return None
    name = configuration.assume
    parts, met = [], []
    if configuration.stop_loss is not None:
        loss = analysis.expected_loss.get(name, math.inf)
        parts.append(f"expected loss at most {configuration.stop_loss:g}, now {loss:.3g}")
        met.append(loss <= configuration.stop_loss)
    if configuration.stop_level is not None:
        chance = max(
            (arm.estimates[name].probability_best for arm in analysis.arms if name in arm.estimates),
            default=0.0,
        )
        chance = 0.0 if math.isnan(chance) else chance
        parts.append(f"probability of being the best at least {configuration.stop_level:g}, now {chance:.3g}")
        met.append(chance >= configuration.stop_level)
    rule = "; ".join(parts)
    drifts = any(one.code == "drift" for one in analysis.warnings)
    done = all(met) and not drifts
    words = "is met: the experiment may stop" if done else "is not met yet"
    return Stopping(rule, done, f"The stop rule ({rule}) {words}.")
