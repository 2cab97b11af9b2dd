"""One run of a rehearsal: a world drives a real experiment, on a clock that is moved by hand."""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from truant.durations import DAY
from truant.live.experiment import Experiment
from truant.live.store import statements
from truant.live.times import ManualClock
from truant.rehearsal.plan import RehearsalPlan, Variant
from truant.setting import FloatArray, IntArray, Setting
from truant.worlds import World
from truant.worlds.world import EQUAL

START = "2030-01-07 00:00"  # a Monday; no run depends on it
NAME = "rehearsal"
SAME = 1e-9  # shares that differ by less have not changed
EARLY = 0.1  # of an outcome's delay, after which its mediator is told


class Message(NamedTuple):
    """A tell on its way."""

    after: int  # microseconds from its decision to its arrival
    name: str  # mediator or outcome
    value: Any


@dataclass(frozen=True)
class RunDraws:
    """Drawn once for a run, so that all variants meet the same visitors and delays."""

    means: FloatArray  # true mean of each arm
    gaps: FloatArray  # loss of each arm
    mediators: IntArray  # (decisions, arms); -1: missing
    outcomes: FloatArray  # (decisions, arms); NaN: missing
    delays: IntArray  # (decisions, arms), of outcomes, in microseconds
    mediated: bool  # there is a mediator to tell
    seed: int  # of the experiment's own draws

    def messages(self, decision: int, arm: int) -> list[Message]:
        """What is told of a decision, and when: its mediator, then its outcome."""
        delay, found = int(self.delays[decision, arm]), []
        mediator, outcome = int(self.mediators[decision, arm]), float(self.outcomes[decision, arm])
        if self.mediated and mediator >= 0:
            found.append(Message(int(EARLY * delay), "mediator", f"level {mediator + 1}"))
        if not math.isnan(outcome):
            found.append(Message(delay, "outcome", outcome))
        return found

    def in_time(self, window: int, chosen: IntArray) -> npt.NDArray[np.bool_]:
        """Whether the outcome of each decision, of its chosen arm, arrives in its window."""
        found: npt.NDArray[np.bool_] = self.delays[np.arange(len(chosen)), chosen] < window
        return found


def draws_of(plan: RehearsalPlan, world: World, run: int, null: bool) -> RunDraws:
    """The draws of a run; in the null world every arm has the outcomes of one of the arms.

    Parameters
    ----------
    plan, world : what is rehearsed, and the instance of this run.
    run : its number, which with the seed of the plan decides everything.
    null : all arms are equal; delays may still depend on the arm.
    """
    pulls, delays, _, own = streams(plan, run, null)
    arms, number = world.setting.arms, plan.decisions
    places = np.tile(np.arange(arms), number)
    means, gaps, drawn = world.means, world.gaps, places
    if null:
        one = int(own.integers(arms))
        means, gaps, drawn = np.full(arms, means[one]), np.zeros(arms), np.full(len(places), one)
    mediators, outcomes = world.pulls(drawn, pulls)
    times = plan.delay.draw(delays, world.setting, places, mediators, outcomes)
    shape = (number, arms)
    return RunDraws(
        means,
        gaps,
        mediators.reshape(shape),
        outcomes.reshape(shape),
        times.reshape(shape),
        world.setting.mediators > 1,
        int(own.integers(2**62)),
    )


def streams(plan: RehearsalPlan, run: int, null: bool) -> list[np.random.Generator]:
    """Random numbers of a run: for pulls, delays, faults (of studies and tests), and the experiment's own."""
    parts = np.random.SeedSequence(plan.seed, spawn_key=(run, int(null), 0)).spawn(4)
    return [np.random.Generator(np.random.SFC64(part)) for part in parts]


class RunFigures(NamedTuple):
    """What is kept of a run, as plain values; arms in their order, NaN where there is no estimate."""

    regret: float
    decisions: list[int]
    settled: list[int]
    truth: list[float]
    estimate: list[float]
    low: list[float]
    high: list[float]
    winner: int | None  # the arm that is clearly best, if there is one
    right: bool  # it is a best one
    first_learning: float  # days until the shares of arms changed by what was learned; NaN: they did not
    arrived: int  # outcomes that arrived in their window
    shown: int  # outcomes that were not missing, of windows that were over


class Rehearsed(NamedTuple):
    """A run that is over: the experiment, what was drawn, and which arm each decision got."""

    experiment: Experiment
    draws: RunDraws
    chosen: IntArray


def run_figures(plan: RehearsalPlan, variant: Variant, run: int, null: bool) -> RunFigures:
    """Rehearse a variant once, and sum it up."""
    world = plan.instance(run)
    rehearsed = drive(plan, variant, world.setting, draws_of(plan, world, run, null))
    return figures_of(plan, variant, rehearsed)


def drive(plan: RehearsalPlan, variant: Variant, setting: Setting, draws: RunDraws) -> Rehearsed:
    """Ask and tell until the last day is over, each message at its own time."""
    clock = ManualClock(START)
    begin = clock()
    settings = plan.configuration(variant, setting, draws.outcomes)
    created = Experiment.create(NAME, store="sqlite://", clock=clock, seed=draws.seed, **settings)
    # windows are closed at fixed times, not with each ask, so that a run has as many allocations as it has steps
    experiment = Experiment.open(NAME, store=created.store, clock=clock, seed=draws.seed, settles=False)
    messages = Messages(experiment, clock, plan.step)
    numbers = {name: arm for arm, name in enumerate(settings["arms"])}
    chosen = np.empty(plan.decisions, np.int64)
    for decision in range(plan.decisions):
        now = begin + round(decision * plan.gap)
        messages.deliver(now)
        clock.advance(now - clock())
        asked = experiment.ask()
        chosen[decision] = numbers[asked.arm]
        messages.send(asked.id, now, draws.messages(decision, numbers[asked.arm]))
    messages.deliver(begin + plan.length)
    clock.advance(begin + plan.length - clock())
    experiment.close_windows()
    return Rehearsed(experiment, draws, chosen)


class Messages:
    """Tells on their way, in the order of their arrival, and the times at which windows are closed."""

    def __init__(self, experiment: Experiment, clock: ManualClock, step: int) -> None:
        self._experiment, self._clock, self._step = experiment, clock, step
        self._closing = clock() + step
        self._queue: list[tuple[int, int, str, Message]] = []
        self._sent = itertools.count()

    def send(self, id: str, now: int, messages: list[Message]) -> None:
        """Put what will be told of a decision into the queue."""
        for message in messages:
            heapq.heappush(self._queue, (now + message.after, next(self._sent), id, message))

    def deliver(self, until: int) -> None:
        """Tell what arrives until then, and close windows when it is time; what arrives at that time is told first."""
        while True:
            arrival = self._queue[0][0] if self._queue else until + 1
            if min(arrival, self._closing) > until:
                return
            if arrival <= self._closing:
                at, _, id, message = heapq.heappop(self._queue)
                self._clock.advance(at - self._clock())
                self._experiment.tell(id, **{message.name: message.value})
            else:
                self._clock.advance(self._closing - self._clock())
                self._experiment.close_windows()
                self._closing += self._step


def figures_of(plan: RehearsalPlan, variant: Variant, rehearsed: Rehearsed) -> RunFigures:
    """What a run cost, and what is known at its end."""
    experiment, draws, chosen = rehearsed
    arms = len(draws.means)
    status = experiment.status(calibrate=False, progress=False)
    analysis, names = status.analysis, experiment.configuration.arms
    estimates = {arm.arm: arm.estimates.get(variant.assume) for arm in analysis.arms}
    known = [estimates.get(name) for name in names]  # an arm of which nothing was seen has none
    clear = analysis.verdict.kind == "clear" and analysis.verdict.arm is not None
    winner = names.index(str(analysis.verdict.arm)) if clear else None
    arrived, shown = _arrivals(plan, experiment.configuration.window, draws, chosen)
    return RunFigures(
        regret=float(draws.gaps[chosen].sum()),
        decisions=np.bincount(chosen, minlength=arms).tolist(),
        settled=[arm.settled for arm in status.arms],
        truth=draws.means.tolist(),
        estimate=[math.nan if one is None else one.mean for one in known],
        low=[math.nan if one is None else one.low for one in known],
        high=[math.nan if one is None else one.high for one in known],
        winner=winner,
        right=winner is not None and bool(draws.gaps[winner] <= EQUAL),
        first_learning=_first_learning(experiment),
        arrived=arrived,
        shown=shown,
    )


def _first_learning(experiment: Experiment) -> float:
    rows = experiment.store.read(lambda transaction: statements.allocations(transaction, experiment.number))
    first: FloatArray = np.array(rows[0].probabilities)
    for row in rows[1:]:
        if row.counts_version > 0 and np.abs(row.probabilities - first).max() > SAME:
            return (row.at - rows[0].at) / DAY
    return math.nan


def _arrivals(plan: RehearsalPlan, window: int, draws: RunDraws, chosen: IntArray) -> tuple[int, int]:
    """Outcomes that arrived in their window, and all that were not missing, of windows that were over at the end."""
    rows = np.arange(plan.decisions)
    over = np.rint(rows * plan.gap) + window <= plan.length
    shown = over & ~np.isnan(draws.outcomes[rows, chosen])
    arrived = shown & draws.in_time(window, chosen)
    return int(arrived.sum()), int(shown.sum())
