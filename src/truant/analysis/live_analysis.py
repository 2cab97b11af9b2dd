"""The analysis of an experiment that goes on: intervals that allow for its policy, within a second or two.

A live experiment knows its policy, so that its intervals can be calibrated by replaying it. Compared with
`truant analyze --collected-by`, which may take its time, it replays the policy half as often or less, checks the
calibration by the same replays (`shared_replays`), and calibrates the experiment's own assumption and those that cost
nothing beside it. All other intervals are confidence sequences, and so are all where the policy cannot be replayed:
plain intervals, which are too narrow after any policy, are never given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truant.analysis.analysis import Analysis
from truant.analysis.making import AnalysisOptions, CountedRows, analyze_counts
from truant.assumptions.by_likelihood import ByLikelihood
from truant.assumptions.mcar import MCAR, Mcar
from truant.collection.by_policy import NAIVE, ByPolicy, Calibrated
from truant.collection.calibration import Roots, in_closed_form
from truant.collection.intervals import SEQUENCE, ByUnknownPolicy, Collection, IntervalMethod
from truant.collection.replay import Neighbourhood, Target
from truant.collection.shared_replays import calibrate_and_check
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified
from truant.estimates.beliefs import Belief
from truant.policies import Policy
from truant.setting import FloatArray, Setting, whole_number

# by rows times arms, up to which so many replays are made: about a second of computing on each of two cores
REPLAYS = ((3_000, 400), (20_000, 300), (300_000, 200), (600_000, 150))
MOST_ARMS = 20
SEQUENCES = "so that all intervals are confidence sequences"


@dataclass(frozen=True)
class LivePolicy:
    """What chooses the arms of an experiment."""

    policy: Policy
    assumption: str  # the one that the experiment makes
    horizon: int  # that the policy is told
    delay: int = 0  # decisions after which an outcome enters the counts
    why_not: str | None = None  # a sentence: why it cannot be replayed, for reasons that counts do not show


def analyze_live(
    rows: CountedRows,
    live: LivePolicy,
    options: AnalysisOptions | None = None,
    calibrate: bool | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Analysis:
    """What the settled counts of an experiment tell; never an error because they are few.

    Without an observed outcome of some arm there is no estimate: the analysis has none, lists why, and its verdict is
    `not-identified`.

    Parameters
    ----------
    rows : the settled counts, what they are about, and names.
    live : what chose the arms; a reason why it cannot be replayed stands in `collection`.
    options : what is asked of the counts.
    calibrate : replay the policy always (True), never (False), or where that takes a second or two (None).
    progress : called with the share of the replays that is done.
    """
    horizon = whole_number("horizon", live.horizon, at_least=1)
    delay = whole_number("delay", live.delay, at_least=0)
    counts, setting, options = rows.counts, rows.setting, options or AnalysisOptions()
    replays = _replays(int(counts.pulls.sum()) * setting.arms)
    known = ByLivePolicy(
        live.policy,
        horizon,
        replays or REPLAYS[-1][1],
        options.level,
        progress,
        delay,
        own=live.assumption,
    )
    reason = live.why_not
    if reason is None and calibrate is not False:
        reason = known.why_not(counts, setting)
        if reason is None and calibrate is None:
            reason = _too_slow(known, replays, setting.arms)
        if reason is None:
            try:
                return analyze_counts(replace(rows, collected=known), options)
            except _NotReplayed as failed:
                reason = str(failed)
    return analyze_counts(replace(rows, collected=InSequence(live.policy.name, horizon, reason)), options)


class _NotReplayed(Exception):
    """A policy turned out to be one that cannot be replayed; the message is a sentence."""


@dataclass(eq=False)
class ByLivePolicy(ByPolicy):
    """Rows that the policy of a live experiment chose, which makes the assumption `own`."""

    own: str = ""

    def why_not(self, counts: Counts, setting: Setting) -> str | None:
        """Why the policy cannot be replayed, in a sentence; None if it can."""
        rows, name = int(counts.pulls.sum()), self.policy.name
        if self.policy.follow_up is not None:
            return f"{name} follows up missing outcomes and cannot be replayed, {SEQUENCES}."
        if rows > self.horizon:
            return (
                f"{rows:,} decisions are settled and {name} was told a horizon of {self.horizon:,}: it cannot be "
                f"replayed, {SEQUENCES}."
            )
        try:
            first = setting.arms * self.policy.curve(setting.maximizing(), self.horizon).first_pulls
        except NotIdentified as refused:
            return f"{name} cannot be replayed, {SEQUENCES}: {refused}"
        if rows < first:
            return f"{name} begins with {first:,} decisions that it does not choose; {rows:,} are settled, {SEQUENCES}."
        refused_by = super().why_not(counts, setting)
        return None if refused_by is None else f"{name} cannot be replayed, {SEQUENCES}: {refused_by}"

    def _targets(self, found: Sequence[Belief]) -> list[Target]:
        """The experiment's own assumption, and those whose intervals come from the same replays at no cost."""
        own = [Target(one.name, one.assumption) for one in found if one.name == self.own]
        if own and isinstance(own[0].assumption, ByLikelihood):
            return own
        beside = [
            Target(one.name, one.assumption)
            for one in found
            if one.name != self.own and in_closed_form(one.assumption)
        ]
        targets = [*own, *beside]
        naive = targets and not any(one.name == MCAR for one in targets)
        return [*targets, Target(NAIVE, Mcar())] if naive else targets

    def _calibrated(
        self, targets: Sequence[Target], counts: Counts, setting: Setting
    ) -> dict[str, Calibrated]:
        """Of what was seen at once: follow-ups are not chosen by the policy."""
        try:
            return super()._calibrated(targets, counts.without_follow_ups(), setting)
        except (
            InvalidValue,
            NotIdentified,
        ) as refused:  # a policy of another package, say, or a world without spread
            raise _NotReplayed(f"{self.policy.name} cannot be replayed, {SEQUENCES}: {refused}") from refused

    @property
    def _replays_in_all(self) -> int:
        return self.replays

    def _made(
        self, near: Neighbourhood, seed: np.random.SeedSequence, each: Callable[..., Iterable[Any]]
    ) -> tuple[list[list[Roots | None]], FloatArray]:
        """Calibrated and checked by the same replays."""
        return calibrate_and_check(near, self.replays, self.level, seed, each)


class InSequence(ByUnknownPolicy):
    """Rows of a policy that is known and not replayed, with the reason why."""

    def __init__(self, policy: str, horizon: int, reason: str | None = None) -> None:
        super().__init__()
        self.policy, self.horizon, self.reason = policy, horizon, reason

    def collection(self) -> Collection:
        """One method for all, and one reason."""
        plain = super().collection()
        methods = {name: IntervalMethod(SEQUENCE, reason=self.reason) for name in plain.intervals}
        return replace(plain, policy=self.policy, horizon=self.horizon, intervals=methods)


def _replays(size: int) -> int | None:
    """How many replays take a second or two; None if there is no such number."""
    return next((replays for most, replays in REPLAYS if size <= most), None)


def _too_slow(known: ByLivePolicy, replays: int | None, arms: int) -> str | None:
    """Why the replays would take longer than a status may, in a sentence; None if they do not."""
    name = known.policy.name
    if isinstance(known.policy.assumption, ByLikelihood):
        return f"Replaying {name}, which fits a likelihood, takes more than a few seconds, {SEQUENCES}."
    if arms > MOST_ARMS:
        return f"Replaying {name} with so many arms takes more than a few seconds, {SEQUENCES}."
    if replays is None:
        return f"Replaying {name} for so many decisions takes more than a few seconds, {SEQUENCES}."
    return None
