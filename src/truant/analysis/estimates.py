"""Each arm under each assumption, side by side; what cannot be estimated is listed with the reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from truant import registry
from truant.analysis.labels import Labels
from truant.analysis.parallel import each_arm
from truant.assumptions import Assumption, Estimate, Reading
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified
from truant.setting import Setting
from truant.spec import Spec

FOLLOW_UP = "follow-up"  # the assumption that is none: missing outcomes were followed up


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

    assumption: str
    reason: str
    # the reason without the assumption's name in front, for pages that have it there already
    reason_alone: str = field(repr=False)
    repeats: bool = field(default=False, repr=False)  # another assumption, which says the same here


def beliefs(
    counts: Counts, setting: Setting, labels: Labels, names: Sequence[str] = (), failures: str | None = None
) -> tuple[list[Belief], list[Infeasible]]:
    """Every assumption that was asked for (all built-in ones if none was); `failures` are those of follow-ups."""
    found, impossible = [], []
    wanted = {spec: _built(spec, failures) for spec in names} or _that_apply(_built_in(), counts, failures)
    for spec, assumption in wanted.items():
        same = None if names else assumption.same_as(counts)
        try:
            if same is not None:
                raise NotIdentified(
                    f"{same.because}, so {{assumption}} gives the same estimates as {same.assumption}."
                )
            found.append(_belief(spec, assumption, counts, setting))
        except NotIdentified as refused:
            error = refused.about(assumption=spec)
            impossible.append(
                Infeasible(spec, labels.sentence(error), labels.reason(error), same is not None)
            )
    return found, impossible


def usual_assumptions(counts: Counts) -> dict[str, Assumption]:
    """Those with a place of their own in listings, by name."""
    built = _that_apply([name for name in _built_in() if _can_be_built(name)], counts)
    return {name: assumption for name, assumption in built.items() if assumption.listing_order < math.inf}


def _built_in() -> list[str]:
    """Code of another package has no part in an analysis that did not ask for it."""
    return registry.built_in_names("assumption")


def _that_apply(names: Sequence[str], counts: Counts, failures: str | None = None) -> dict[str, Assumption]:
    """Those that can be used without being asked for, in the order of listings."""
    built = {name: _built(name, failures) for name in names}
    usable = {name: one for name, one in built.items() if one.applies(counts)}
    return dict(sorted(usable.items(), key=lambda item: item[1].listing_order))


def _built(spec: str, failures: str | None = None) -> Assumption:
    parsed = Spec.parse(spec)
    parameters = dict(parsed.parameters)
    if failures is not None and parsed.name == FOLLOW_UP:
        parameters.setdefault("failures", failures)
    assumption: Assumption = registry.find("assumption", parsed.name).build(**parameters)
    return assumption


def _can_be_built(name: str) -> bool:
    """A package that cannot be loaded is no harm to an analysis that did not ask for it."""
    try:
        _built(name)
    except InvalidValue:
        return False
    return True


def _belief(name: str, assumption: Assumption, counts: Counts, setting: Setting) -> Belief:
    assumption.check(setting)
    readings = tuple(each_arm(lambda arm: assumption.read(counts, arm, setting), range(setting.arms)))
    return Belief(name, assumption, tuple(reading.estimate for reading in readings), readings)
