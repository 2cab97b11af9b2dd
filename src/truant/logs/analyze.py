"""Analyze: a table with missing outcomes, read where it lies, and what it says under each assumption."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from truant.analysis import Analysis, AnalysisOptions, CountedRows, Labels, analyze_counts
from truant.analysis.analysis import AnalysisBy, LeftOut
from truant.collection.by_policy import FEWEST_REPLAYS, REPLAYS, ByPolicy
from truant.collection.intervals import ByUnknownPolicy, Collected
from truant.collection.weighted import ByProbability, parsed_mix
from truant.documents.progress import Pace, progress_bar
from truant.errors import InvalidValue, quoted
from truant.logs.log import Log
from truant.logs.places import inputs_of, is_url, without_password
from truant.logs.question import Question
from truant.logs.read import read
from truant.policies import Policy, named
from truant.provenance import Provenance
from truant.setting import is_list, whole_number


@dataclass(frozen=True)
class Statement:
    """How the rows were collected: by a fixed split, or by a policy of which more or less is known."""

    collected: str = "fixed"
    policy: Policy | None = None
    horizon: int = 0
    replays: int = REPLAYS
    probability: str | None = None
    value: dict[str, float] | None = None

    @classmethod
    def of(cls, question: Question) -> Statement:
        """The statement, if its parts fit each other; or raises InvalidValue."""
        probability, unit, by = question.probability, question.unit, question.by
        mix = None if question.value is None else parsed_mix(question.value)
        policy = _policy(question.collected_by, question.horizon, question.replays)
        stated = cls(question.collected, *policy, probability, mix)
        if stated.policy is not None and probability is not None:
            raise InvalidValue(
                "Name either collected_by, to replay the policy, or probability, to weight its choices; got both."
            )
        if stated.adaptive and unit is not None:
            raise InvalidValue(
                "unit cannot be used with rows that a policy chose: it chose row by row, and units are taken as "
                "wholes; leave out unit, or collected, collected_by and probability."
            )
        if stated.policy is not None and by is not None:
            raise InvalidValue(
                "collected_by cannot be used with by: the policy chose among all rows, not within a group; use "
                "collected adaptive."
            )
        named_options = {"collected_by": question.collected_by, "probability": probability}
        for name in (name for name, given in named_options.items() if given is not None):
            if question.cut_outcome is not None:
                raise InvalidValue(
                    f"{name} cannot be used with cut_outcome: the policy saw the outcome as it is, and the whole "
                    "outcome is needed; use collected adaptive."
                )
        return stated

    @property
    def adaptive(self) -> bool:
        """Whether a policy chose the rows."""
        return self.collected != "fixed" or self.policy is not None or self.probability is not None

    def collection_of(self, log: Log, level: float, progress: Callable[[float], None]) -> Collected | None:
        """What mends the intervals of the log; None for a fixed split."""
        if self.policy is not None:
            return ByPolicy(self.policy, self.horizon, self.replays, level, progress)
        if log.weighted is not None:
            return ByProbability(log.weighted)
        return ByUnknownPolicy() if self.adaptive else None


def _policy(collected_by: object, horizon: object, replays: object) -> tuple[Policy | None, int, int]:
    count = REPLAYS if replays is None else whole_number("replays", replays, at_least=FEWEST_REPLAYS)
    if collected_by is None:
        for name, value in (("horizon", horizon), ("replays", replays)):
            if value is not None:
                raise InvalidValue(
                    f"{name} describes the policy that collected the rows; name that policy with collected_by."
                )
        return None, 0, count
    if not isinstance(collected_by, str | Policy):
        raise InvalidValue(f"collected_by must be the name of a policy, got {quoted(collected_by)}.")
    if horizon is None:
        raise InvalidValue("collected_by needs the horizon that the policy was told, a number of rows.")
    policy = collected_by if isinstance(collected_by, Policy) else named(collected_by)
    if policy.follow_up is not None:
        raise InvalidValue(
            f"Policy {policy.name!r} follows up missing outcomes, so that it cannot be replayed from a log; say "
            "collected='adaptive' (--collected adaptive) instead."
        )
    return policy, whole_number("horizon", horizon, at_least=1), count


def analyze_table(
    data: Any, question: Question, progress: bool | Callable[[float], None] | None
) -> Analysis | AnalysisBy:
    """The analysis of a table, or one for each value of `by`."""
    stated = Statement.of(question)
    _check_follow_ups(question)
    control = None if question.control is None else _label(question.control)
    inputs = inputs_of(data)
    log = read(data, question)
    if control is not None and control in map(str, log.set_aside):
        raise InvalidValue(
            f"The control {control!r} has a single row, or no observed outcome; name another arm."
        )
    columns = question.columns("arm", "outcome", "mediator", "observed", "by", "unit", "time", "probability")
    if question.followed_up is not None:
        columns["followed_up"] = question.followed_up
    asked = Asked(
        question=question,
        source=source_name(data),
        columns=columns,
        control=control,
        expected_split=_split_of(log, question.expected_split),
        stated=stated,
        progress=progress,
        inputs=inputs,
    )
    return asked.analyzed(log) if question.by is None else asked.analyzed_by(log, question.by)


@dataclass(frozen=True)
class Asked:
    """What was asked of a log, beside the counts that it was reduced to."""

    question: Question
    source: str
    columns: dict[str, Any]
    control: str | None
    expected_split: Sequence[float] | None
    stated: Statement
    progress: bool | Callable[[float], None] | None
    inputs: tuple[str, ...]

    def analyzed(self, log: Log) -> Analysis:
        """The analysis of a log, whole or the group of one value."""
        # a bar for replays; all else takes no time, but for fits of very many levels
        wanted = self.progress if self.stated.policy is not None else False
        sizes = log.setting.arms, log.setting.mediators, len(log.setting.levels or ())
        slow = False if self.stated.policy is not None else self.progress
        with progress_bar("replaying", wanted) as show, Pace(*sizes, slow) as pace:
            rows = CountedRows(
                log.counts,
                log.setting,
                Labels.of(log.arms, log.mediators, self.columns["outcome"], log.mediator_column),
                log.warnings,
                log.clusters,
                log.over_time,
                log.uncut,
                self.stated.collection_of(log, self.question.level, show),
            )
            found = analyze_counts(rows, self.options, lambda assumption, seconds: pace(assumption, seconds))
        return replace(found, provenance=self.provenance(log))

    @property
    def options(self) -> AnalysisOptions:
        """What is asked of the counts."""
        return AnalysisOptions(
            assume=self.question.assume,
            level=self.question.level,
            tolerance=self.question.tolerance,
            control=self.control,
            expected_split=self.expected_split,
            value=self.stated.value,
            failed_follow_ups=self.question.failed_follow_ups,
        )

    def provenance(self, log: Log) -> Provenance:
        """Where the counts of a log came from."""
        return Provenance(
            source=self.source,
            columns=self.columns,
            rows=log.rows,
            skipped=log.skipped,
            units=log.units,
            where=log.where,
            filtered_out=log.filtered_out,
            missing_markers=log.missing_markers,
            cut_outcome=log.cut_outcome,
            notes=log.notes,
            inputs=self.inputs,
        )

    def analyzed_by(self, log: Log, by: str) -> AnalysisBy:
        """The analysis of each group; one that cannot be analysed is listed with the reason."""
        self.options.checked(Labels.of(log.arms, log.mediators))
        groups, left_out = {}, []
        for group in log.groups:
            reason = group.reason
            if group.log is not None and self.control not in (None, *map(str, group.log.arms)):
                aside = self.control in list(map(str, group.log.set_aside))
                rows = "a single row, or no observed outcome," if aside else "no rows"
                reason = f"The control {self.control!r} has {rows} here."
            if reason or group.log is None:
                left_out.append(LeftOut(group.label, group.rows, reason))
                continue
            split = self.expected_split
            if split is not None:
                split = [share for share, arm in zip(split, log.arms, strict=True) if arm in group.log.arms]
            groups[group.label] = replace(self, expected_split=split).analyzed(group.log)
        if not groups:
            raise InvalidValue(f"None of the groups of {by!r} can be analysed: {left_out[0].reason}")
        return AnalysisBy(by=by, groups=groups, left_out=tuple(left_out), provenance=self.provenance(log))


def _split_of(log: Log, expected: Sequence[float] | None) -> Sequence[float] | None:
    """The expected split without the shares of arms that were set aside."""
    if expected is None or not log.set_aside or not is_list(expected):
        return expected
    shares = list(expected)
    if len(shares) != len(log.asked_arms):
        return shares
    return [share for share, arm in zip(shares, log.asked_arms, strict=True) if arm in log.arms]


def _label(control: object) -> str:
    """The label of an arm: a text, or what is written as one, such as a number."""
    try:
        return str(control)
    except Exception:  # an object of a user whose own text fails
        raise InvalidValue(f"control must be the label of an arm, got {quoted(control)}.") from None


def _check_follow_ups(question: Question) -> None:
    """Whether the options of follow-ups fit each other; or raises InvalidValue."""
    if question.failed_follow_ups is not None and question.followed_up is None:
        raise InvalidValue(
            "failed_follow_ups is about rows that were followed up; name their column with followed_up."
        )
    if question.followed_up is not None and question.unit is not None:
        raise InvalidValue(
            "unit cannot be used with followed_up: follow-ups are taken as independent rows; leave out one of them."
        )


def source_name(data: Any) -> str:
    """What to call the data: a file's name without its folders (and a database's without its password)."""
    if isinstance(data, str | os.PathLike):
        text = os.fspath(data)
        return Path(without_password(text) if is_url(text) else text).name
    return f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
