"""What is rehearsed: a world, how its outcomes arrive, and the variants of an experiment that are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from truant import registry
from truant.durations import DAY, UNITS, duration, duration_text
from truant.errors import InvalidValue
from truant.live.checked import configure
from truant.live.configuration import USUAL_INDEX, Configuration
from truant.play.run import Plan
from truant.setting import FloatArray, Setting, positive_number, share, switch, whole_number
from truant.spec import Spec
from truant.text import quoted
from truant.worlds import World
from truant.worlds.delays import Delay

MOST_DECISIONS = 1_000_000  # of one run
STEPS = 4  # closings of windows in the shortest window, unless given
_RATE = re.compile(r"\s*([0-9][0-9_,]*(?:\.[0-9]+)?)\s*/\s*([wdhms])\s*")


class Variant(NamedTuple):
    """One way to set up the experiment."""

    window: str
    assume: str
    policy: str
    settle: str


@dataclass(frozen=True, kw_only=True)
class RehearsalPlan:
    """Everything that a run needs to know, but for its number.

    Durations are in microseconds. `reorder`, `duplicates` and `lose` are about messages: the tell of a mediator, and
    the tell of an outcome.
    """

    world: World | Spec
    variants: tuple[Variant, ...]
    delay: Delay
    gap: float  # between two decisions
    decisions: int
    step: int  # between two closings of windows
    duplicates: float
    reorder: bool
    lose: float
    level: float
    seed: int
    minimize: bool
    settings: Mapping[str, Any] = field(default_factory=dict)  # more of Experiment.create

    @property
    def length(self) -> int:
        """How long the experiment runs."""
        return round(self.gap * self.decisions)

    def instance(self, run: int) -> World:
        """The instance of a run: that of `truant simulate` with the same seed."""
        rounds = np.ones(1, np.int64)
        return Plan(self.world, [], self.decisions, self.seed, rounds, minimize=self.minimize).instance(run)

    def configuration(
        self, variant: Variant, setting: Setting, outcomes: FloatArray | None = None
    ) -> dict[str, Any]:
        """The settings of `Experiment.create` in a world of this setting.

        A real outcome that is outside the setting's range would be refused, so the range is widened to `outcomes`.
        """
        outcome: dict[str, Any] = {"levels": setting.levels}
        if setting.levels is None:
            seen = np.append([setting.low, setting.high], () if outcomes is None else outcomes)
            outcome = {"range": (float(np.nanmin(seen)), float(np.nanmax(seen)))}
        mediated = setting.mediators > 1
        return {
            "arms": [f"arm {arm + 1}" for arm in range(setting.arms)],
            "mediator_levels": [f"level {m + 1}" for m in range(setting.mediators)] if mediated else [],
            **outcome,
            "minimize": setting.minimize,
            "horizon": self.decisions,
            "level": self.level,
            **self.settings,
            **variant._asdict(),
        }

    def check(self) -> list[Configuration]:
        """The configuration of each variant; raises what is wrong with one before any run is made."""
        setting = self.instance(0).setting
        return [configure(**self.configuration(variant, setting)) for variant in self.variants]


def plan_of(
    world: World | Spec | str,
    *,
    windows: Sequence[str] | str,
    assume: Sequence[str] | str | None,
    policy: str | None,
    settle: Sequence[str] | str,
    delay: Delay | str,
    late_depends_on: Any,
    late_factor: float,
    rate: float | str,
    days: float,
    decisions: int | None,
    step: str | None,
    duplicates: float,
    reorder: bool,
    lose: float,
    level: float,
    seed: int,
    minimize: bool,
    parameters: Mapping[str, Any] | None,
    settings: Mapping[str, Any] | None,
) -> RehearsalPlan:
    """A checked plan; parameters are those of `rehearse`."""
    place = _world(world, parameters or {})
    gap = _gap(rate)
    length = positive_number("days", days) * DAY
    count = whole_number(
        "decisions", max(round(length / gap), 1) if decisions is None else decisions, at_least=1
    )
    if count > MOST_DECISIONS:
        raise InvalidValue(f"A rehearsal makes at most {MOST_DECISIONS:,} decisions in a run, got {count:,}.")
    names = _listed("assume", assume or _own_assumption(place))
    waits = [duration_text(duration("window", one)) for one in _listed("windows", windows)]
    variants = tuple(
        Variant(window, name, _policy(policy, name), settled)
        for settled in _listed("settle", settle)
        for name in names
        for window in waits
    )
    if not isinstance(delay, Delay):
        delay = Delay.parse(delay, late_depends_on, late_factor)
    elif late_depends_on is not None:
        raise InvalidValue("late_depends_on is for a delay given as a text; this Delay says it already.")
    shortest = min(duration("window", wait) for wait in waits)
    usual = max(shortest // STEPS, round(gap))
    return RehearsalPlan(
        world=place,
        variants=variants,
        delay=delay,
        gap=gap,
        decisions=count,
        step=usual if step is None else max(duration("step", step), 1),
        duplicates=share("duplicates", duplicates),
        reorder=switch("reorder", reorder),
        lose=share("lose", lose),
        level=level,
        seed=whole_number("seed", seed, at_least=0),
        minimize=switch("minimize", minimize),
        settings=dict(settings or {}),
    )


def _world(world: object, parameters: Mapping[str, Any]) -> World | Spec:
    if isinstance(world, World):
        if parameters:
            raise InvalidValue("parameters are for a world given by name; this one is built already.")
        return world
    if isinstance(world, str):
        world = Spec.parse(world)
    if not isinstance(world, Spec):
        raise InvalidValue(f"world must be a name or a World, got {quoted(world)}.")
    registry.find("world", world.name)
    return Spec(world.name, {**world.parameters, **parameters})


def _own_assumption(world: World | Spec) -> str:
    """The assumption that a world is named after; mar for others."""
    named_after = [name for name in registry.names("assumption") if f"{world.name}-".startswith(f"{name}-")]
    return max(named_after, key=len, default="mar")


def _policy(policy: str | None, assume: str) -> str:
    """A whole policy such as mar-ucb, or an index such as ucb, with which each assumption makes one."""
    if policy is None:
        return f"{assume}-{USUAL_INDEX}"
    if not isinstance(policy, str):
        raise InvalidValue(f"policy must be a name such as 'ucb' or 'mar-ucb', got {quoted(policy)}.")
    return f"{assume}-{policy}" if Spec.parse(policy).name in registry.names("index") else policy


def _listed(name: str, values: object) -> list[str]:
    """Different texts, from a list or from one text with commas."""
    found = values.split(",") if isinstance(values, str) else values
    if not isinstance(found, Sequence) or not found or not all(isinstance(one, str) for one in found):
        raise InvalidValue(f"{name} must be a text or a list of texts, got {quoted(values)}.")
    return list(dict.fromkeys(one.strip() for one in found))


def _gap(rate: object) -> float:
    """The time between two decisions, from a rate such as 100/d, 5/h, or a number a day."""
    if isinstance(rate, str):
        match = _RATE.fullmatch(rate)
        if match is None:
            raise InvalidValue(
                f"rate must be a number of decisions such as '100/d' or '5/h', got {quoted(rate)}."
            )
        number, unit = float(re.sub("[_,]", "", match[1])), UNITS[match[2]]
    else:
        number, unit = positive_number("rate", rate), DAY
    gap = unit / number if number else 0.0
    if not 1 <= gap <= 365 * DAY:
        raise InvalidValue(
            f"rate must be between a decision a year and one a microsecond, got {quoted(rate)}."
        )
    return gap
