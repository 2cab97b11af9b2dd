"""What is asked of a rehearsal, and the plan that follows: a world, how its outcomes arrive, and the variants."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from truant.durations import DAY, UNITS, duration, duration_text
from truant.errors import LEVEL, InvalidValue, quoted
from truant.logs.question import LEVEL_HELP
from truant.questions import ask

if TYPE_CHECKING:
    from truant.live.configuration import Configuration
    from truant.setting import FloatArray, Setting
    from truant.spec import Spec
    from truant.worlds import World
    from truant.worlds.delays import Delay, DependsOn

MOST_DECISIONS = 1_000_000  # of one run
STEPS = 4  # closings of windows in the shortest window, unless given
_RATE = re.compile(r"\s*([0-9][0-9_,]*(?:\.[0-9]+)?)\s*/\s*([wdhms])\s*")


@dataclass(frozen=True)
class RehearsalQuestion:
    """What is asked of a rehearsal: keyword arguments of `truant.rehearse`, and options of `truant rehearse`."""

    world: World | Spec | str = ask(
        help="World to draw outcomes from, see `truant worlds`.",
        python='a name (a new instance for each run; parameters as in "mar:gamma=0.5,1.0"), or one world. Real '
        "outcomes that are drawn outside of its range widen the range that the experiment is told.",
    )
    _: KW_ONLY
    parameters: Mapping[str, Any] | None = ask(
        None,
        help="Parameter of the world, e.g. gamma=0.5,1.0; may be repeated.",
        python="of a named world.",
        flags=("--set",),
        metavar="KEY=VALUE",
        several=True,
    )
    windows: Sequence[str] | str = ask(
        ("1d", "3d", "7d"),
        help="How long to wait for an outcome, e.g. 7d; several with commas between them.",
        python="how long to wait for an outcome: a text, or a list of several that are compared.",
        flags=("--window",),
        metavar="TIME",
        default_words="1d,3d,7d",
        several=True,
    )
    assume: Sequence[str] | str | None = ask(
        None,
        help="Assumptions to compare, see `truant assumptions`; several with commas between them.",
        metavar="NAMES",
        default_words="the one that the world is named after",
    )
    policy: str | None = ask(
        None,
        help="How arms are chosen: an index such as ucb, combined with each assumption, or a policy such as mar-ucb.",
        default_words="ucb",
    )
    settle: Sequence[str] | str = ask(
        "at_close",
        help="When a decision is counted: at_close, on_arrival, or both with a comma between them.",
    )
    delay: Delay | str = ask(
        "exponential:2d",
        help="Distribution and mean of the time that outcomes take: exponential:2d, lognormal:2d, constant:12h or "
        "none.",
        python='how long outcomes take, such as "exponential:2d", "constant:12h", "lognormal:2d" or "none"; a '
        "mediator is told after a tenth of that time.",
    )
    late_depends_on: DependsOn | None = ask(
        None,
        help="What the mean delay depends on.",
        python='"arm", "mediator" or "outcome", on which the mean delay depends.',
        metavar="[arm|mediator|outcome]",
    )
    late_factor: float = ask(
        4.0,
        help="How many times longer the mean delay is at the highest arm, mediator level or outcome than at the "
        "lowest.",
    )
    rate: float | str = ask(
        "100/d",
        help="Number of decisions per day, hour or minute, evenly spaced.",
        python='decisions in a time, such as "100/d" or "5/h", evenly spaced; a number is a number a day.',
    )
    days: float = ask(
        28,
        help="Duration of the experiment.",
        python="how long the experiment runs; decisions that are pending at the end are not known.",
    )
    decisions: int | None = ask(None, help="Number of decisions in total, instead of {days}.")
    step: str | None = ask(
        None,
        help="Time between two updates of the shares of the arms, e.g. 6h.",
        default_words="a quarter of the shortest window",
    )
    runs: int = ask(10, help="Number of runs of each variant.")
    null: bool = ask(
        True,
        help="Do not run the null world, in which all arms are equal.",
        python="also rehearse the null world, in which every arm has the outcomes of one of the arms.",
        flags=("--no-null",),
    )
    seed: int = ask(0, help="Seed of the random numbers; the same seed gives the same result.")
    level: float = ask(LEVEL, help=LEVEL_HELP)
    minimize: bool = ask(
        False,
        help="Lower outcomes are better, as for costs, churn or deaths.",
        python="lower outcomes are better, as for costs, churn or deaths. False: as the world says.",
    )
    workers: int | None = ask(
        None,
        help="Number of processes.",
        python="runs at a time, each in a process of its own; all cores unless given, and 1 stays in this process.",
        default_words="one per core",
    )
    settings: Mapping[str, Any] | None = ask(
        None,
        python='more settings of `Experiment.create`, such as {"minimum_share": 0.01}.',
        flags=(),
    )
    progress: bool | Callable[[float], None] | None = ask(
        None,
        python="show a progress bar; by default if standard error is a terminal. Or a function, which is told the "
        "share that is done.",
        flags=(),
    )


class Variant(NamedTuple):
    """One way to set up the experiment."""

    window: str
    assume: str
    policy: str
    settle: str


@dataclass(frozen=True, kw_only=True)
class RehearsalPlan:
    """Everything that a run needs to know, but for its number; durations are in microseconds."""

    world: World | Spec
    variants: tuple[Variant, ...]
    delay: Delay
    gap: float  # between two decisions
    decisions: int
    step: int  # between two closings of windows
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
        import numpy as np

        from truant.play.run import RunPlan

        rounds = np.ones(1, np.int64)
        return RunPlan(self.world, [], self.decisions, self.seed, rounds, minimize=self.minimize).instance(
            run
        )

    def configuration(
        self, variant: Variant, setting: Setting, outcomes: FloatArray | None = None
    ) -> dict[str, Any]:
        """The settings of `Experiment.create` in a world of this setting.

        A real outcome that is outside the setting's range would be refused, so the range is widened to `outcomes`.
        """
        import numpy as np

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
        from truant.live.question import configure

        setting = self.instance(0).setting
        return [configure(**self.configuration(variant, setting)) for variant in self.variants]


def plan_of(question: RehearsalQuestion) -> RehearsalPlan:
    """A checked plan of what is asked."""
    from truant import registry
    from truant.assumptions import named_after
    from truant.setting import positive_number, switch, whole_number
    from truant.worlds.delays import Delay

    world, gap = _world(question), _gap(question.rate)
    length = positive_number("days", question.days) * DAY
    wanted = max(round(length / gap), 1) if question.decisions is None else question.decisions
    decisions = whole_number("decisions", wanted, at_least=1)
    if decisions > MOST_DECISIONS:
        raise InvalidValue(
            f"A rehearsal makes at most {MOST_DECISIONS:,} decisions in a run, got {decisions:,}."
        )
    windows = [duration("window", one) for one in _listed("windows", question.windows)]
    assumptions = question.assume or named_after(world.name, registry.names("assumption"))
    variants = tuple(
        Variant(duration_text(window), assume, _policy(question.policy, assume), settle)
        for settle in _listed("settle", question.settle)
        for assume in _listed("assume", assumptions)
        for window in windows
    )
    delay = question.delay
    if not isinstance(delay, Delay):
        delay = Delay.parse(delay, question.late_depends_on, question.late_factor)
    elif question.late_depends_on is not None:
        raise InvalidValue("late_depends_on is for a delay given as a text; this Delay says it already.")
    usual = max(min(windows) // STEPS, round(gap))
    return RehearsalPlan(
        world=world,
        variants=variants,
        delay=delay,
        gap=gap,
        decisions=decisions,
        step=usual if question.step is None else max(duration("step", question.step), 1),
        level=question.level,
        seed=whole_number("seed", question.seed, at_least=0),
        minimize=switch("minimize", question.minimize),
        settings=dict(question.settings or {}),
    )


def _world(question: RehearsalQuestion) -> World | Spec:
    from truant import registry
    from truant.spec import Spec
    from truant.worlds import World

    world, parameters = question.world, question.parameters or {}
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


def _policy(policy: str | None, assume: str) -> str:
    """A whole policy such as mar-ucb, or an index such as ucb, with which each assumption makes one."""
    from truant import registry
    from truant.live.configuration import USUAL_INDEX
    from truant.spec import Spec

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
    from truant.setting import positive_number

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
