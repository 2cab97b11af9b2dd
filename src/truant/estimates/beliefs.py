"""What each assumption makes of the counts of all arms; what arms and levels are called, and which end is better."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from truant import registry
from truant.assumptions import Assumption, Estimate, Reading
from truant.assumptions.follow_up import FOLLOW_UP
from truant.counts import Counts
from truant.envelope import in_document
from truant.errors import InvalidValue, NotIdentified, label, named, visible
from truant.play.run import cores
from truant.setting import Setting
from truant.shown import made_above
from truant.spec import Spec


@dataclass(frozen=True)
class Caution:
    """Something to know before relying on a figure: a code with facts, of which documents make its sentence."""

    code: str  # short name of the kind of warning, such as `thin-cell`
    arm: str = ""  # the arm that it is about; empty if it is about all arms
    value: float | None = None  # the figure that caused it; None if there is none
    facts: Mapping[str, Any] = field(
        default_factory=dict, repr=False, hash=False
    )  # what its sentence says, by name
    arms: tuple[str, ...] = field(default=(), repr=False)  # that may be no arms of their own

    @property
    @in_document
    def message(self) -> str:
        """The warning in a sentence: what to know and what to do."""
        return str(made_above("truant.documents.cautions:caution_sentence", self))

    def __repr__(self) -> str:
        return f"<{self.code}: {self.message}>"


@dataclass(frozen=True)
class Labels:
    """Names of arms and of mediator levels, in the order of the counts."""

    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    outcome: str = "outcome"  # what is measured
    mediator_column: str = "mediator"  # what the levels are of; empty where they say it themselves

    @classmethod
    def of(
        cls,
        arms: Sequence[object],
        mediators: Sequence[object],
        outcome: str = "outcome",
        mediator_column: str = "mediator",
    ) -> Labels:
        """The labels as texts."""
        return cls(tuple(map(str, arms)), tuple(map(str, mediators)), outcome, mediator_column)

    def mediator(self, m: int) -> str:
        """The name of a row of the counts; the last row is that of missing mediators."""
        return self.mediators[m] if m < len(self.mediators) else "missing"

    def place(self, m: int) -> str:
        """The mediator level in a sentence: `opened = no`, or what a level that says it all is called."""
        if m == len(self.mediators):
            return f"{visible(self.mediator_column) or 'the mediator'} missing"
        if self.mediator_column:
            return f"{visible(self.mediator_column)} = {label(self.mediators[m])}"
        return label(self.mediators[m])

    def sentence(self, error: NotIdentified) -> str:
        """What an assumption refuses, which knows numbers only, with the names in their place."""
        return error.sentence(*self._places(error))

    def reason(self, error: NotIdentified) -> str:
        """The same without the assumption's name in front."""
        return error.reason(*self._places(error))

    def _places(self, error: NotIdentified) -> tuple[str | None, str | None]:
        arm = None if error.arm is None else f"arm {named(self.arms[error.arm])}"
        mediator = None if error.mediator is None else self.place(error.mediator)
        return arm, mediator


Item = TypeVar("Item")
Result = TypeVar("Result")

FEW_ARMS = 50  # up to which threads cost more than they save, and every arm's curve is looked at


def each_arm(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The function of every item, in their order."""
    listed = list(items)
    if len(listed) <= FEW_ARMS:
        return [function(item) for item in listed]
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(function, listed))


OnFit = Callable[[str, float], None]  # told the assumption and the seconds that one arm took


@dataclass(frozen=True)
class Belief:
    """What one assumption makes of all arms."""

    name: str  # as asked for, with its parameters
    assumption: Assumption
    estimates: tuple[Estimate, ...]
    readings: tuple[Reading, ...]  # what the estimates were taken from

    @property
    def part(self) -> str:
        """The assumption's name without its parameters."""
        return Spec.parse(self.name).name

    @property
    def means(self) -> list[float]:
        """The best guess for each arm."""
        return [estimate.mean for estimate in self.estimates]

    @property
    def winner(self) -> int:
        """The arm with the highest best guess."""
        return int(np.argmax(self.means))


@dataclass(frozen=True)
class Infeasible:
    """An assumption that these counts cannot be read under."""

    assumption: str  # name of the assumption
    reason: str  # why it cannot be used
    # the reason without the assumption's name in front, for pages that have it there already
    reason_alone: str = field(repr=False)
    repeats: bool = field(default=False, repr=False)  # another assumption, which says the same here


def beliefs(
    counts: Counts,
    setting: Setting,
    labels: Labels,
    names: Sequence[str] = (),
    failures: str | None = None,
    on_fit: OnFit | None = None,
) -> tuple[list[Belief], list[Infeasible]]:
    """Every assumption that was asked for (all built-in ones if none was); `failures` are those of follow-ups."""
    found, impossible = [], []
    wanted = {spec: built(spec, failures) for spec in names} or _that_apply(_built_in(), counts, failures)
    for spec, assumption in wanted.items():
        same = None if names else assumption.same_as(counts)
        try:
            if same is not None:
                raise NotIdentified(
                    f"{same.because}, so {{assumption}} gives the same estimates as {same.assumption}."
                )
            found.append(_belief(spec, assumption, counts, setting, on_fit))
        except NotIdentified as refused:
            error = refused.about(assumption=spec)
            impossible.append(
                Infeasible(spec, labels.sentence(error), labels.reason(error), same is not None)
            )
    return found, impossible


def usual_assumptions(counts: Counts) -> dict[str, Assumption]:
    """Those with a place of their own in listings, by name."""
    usual = _that_apply([name for name in _built_in() if _can_bebuilt(name)], counts)
    return {name: assumption for name, assumption in usual.items() if assumption.listing_order < math.inf}


def _built_in() -> list[str]:
    """Code of another package has no part in an analysis that did not ask for it."""
    return registry.built_in_names("assumption")


def _that_apply(names: Sequence[str], counts: Counts, failures: str | None = None) -> dict[str, Assumption]:
    """Those that can be used without being asked for, in the order of listings."""
    every = {name: built(name, failures) for name in names}
    usable = {name: one for name, one in every.items() if one.applies(counts)}
    return dict(sorted(usable.items(), key=lambda item: item[1].listing_order))


def built(spec: str, failures: str | None = None) -> Assumption:
    """The assumption of that name, with its parameters; `failures` are those of follow-ups."""
    parsed = Spec.parse(spec)
    parameters = dict(parsed.parameters)
    if failures is not None and parsed.name == FOLLOW_UP:
        parameters.setdefault("failures", failures)
    assumption: Assumption = registry.find("assumption", parsed.name).build(**parameters)
    return assumption


def _can_bebuilt(name: str) -> bool:
    """A package that cannot be loaded is no harm to an analysis that did not ask for it."""
    try:
        built(name)
    except InvalidValue:
        return False
    return True


def _belief(
    name: str, assumption: Assumption, counts: Counts, setting: Setting, on_fit: OnFit | None
) -> Belief:
    assumption.check(setting)

    def read(arm: int) -> Reading:
        begun = time.monotonic()
        reading = assumption.read(counts, arm, setting)
        if on_fit is not None:
            on_fit(name, time.monotonic() - begun)
        return reading

    readings = tuple(each_arm(read, range(setting.arms)))
    return Belief(name, assumption, tuple(reading.estimate for reading in readings), readings)


@dataclass(frozen=True)
class Direction:
    """Whether the lowest value is the best."""

    minimize: bool

    def counts(self, counts: Counts) -> Counts:
        """The counts with more being better."""
        return counts.reflected() if self.minimize else counts

    def setting(self, setting: Setting) -> Setting:
        """The setting with more being better."""
        return setting.maximizing()

    def belief(self, belief: Belief) -> Belief:
        """What an assumption makes of all arms, with more being better."""
        if not self.minimize:
            return belief
        return replace(belief, estimates=tuple(_reflected(estimate) for estimate in belief.estimates))

    def value(self, value: float) -> float:
        """A value as ranked, of one in outcome units, and the other way round."""
        return -value if self.minimize else value


def _reflected(estimate: Estimate) -> Estimate:
    """The estimate of -E[Y]."""
    return Estimate(-estimate.mean, lambda z: -estimate.at(-z))
