"""One run of a rehearsal: a world drives a real experiment, on a clock that is moved by hand."""

from __future__ import annotations

import heapq
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from truant.durations import DAY
from truant.live.experiment import Experiment
from truant.live.rehearsal_draws import MEDIATOR, OUTCOME, Draws, draws_of
from truant.live.rehearsal_plan import RehearsalPlan, Variant
from truant.live.store import statements
from truant.live.times import ManualClock
from truant.setting import FloatArray, IntArray, Setting
from truant.worlds.world import EQUAL

START = "2030-01-07 00:00"  # a Monday; no run depends on it
NAME = "rehearsal"
SAME = 1e-9  # shares that differ by less have not changed


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
    draws: Draws
    chosen: IntArray


def run_figures(plan: RehearsalPlan, variant: Variant, run: int, null: bool) -> RunFigures:
    """Rehearse a variant once, and sum it up."""
    world = plan.instance(run)
    rehearsed = drive(plan, variant, world.setting, draws_of(plan, world, run, null))
    return figures_of(plan, variant, rehearsed)


def drive(plan: RehearsalPlan, variant: Variant, setting: Setting, draws: Draws) -> Rehearsed:
    """Ask and tell until the last day is over, each message at its own time."""
    clock = ManualClock(START)
    begin = clock()
    settings = plan.configuration(variant, setting, draws.outcomes)
    created = Experiment.create(NAME, store="sqlite://", clock=clock, seed=draws.seed, **settings)
    # windows are closed at fixed times, not with each ask, so that a run has as many allocations as it has steps
    experiment = Experiment.open(NAME, store=created.store, clock=clock, seed=draws.seed, settles=False)
    messages = Messages(experiment, clock, plan.step, begin, setting.mediators > 1)
    numbers = {name: arm for arm, name in enumerate(settings["arms"])}
    chosen = np.empty(plan.decisions, np.int64)
    for decision in range(plan.decisions):
        now = begin + round(decision * plan.gap)
        messages.deliver(now)
        clock.advance(now - clock())
        asked = experiment.ask()
        chosen[decision] = numbers[asked.arm]
        messages.send(draws, decision, numbers[asked.arm], now, asked.id)
    messages.deliver(begin + plan.length)
    clock.advance(begin + plan.length - clock())
    experiment.close_windows()
    return Rehearsed(experiment, draws, chosen)


class Messages:
    """Tells on their way, in the order of their arrival, and the times at which windows are closed."""

    def __init__(
        self, experiment: Experiment, clock: ManualClock, step: int, begin: int, mediated: bool
    ) -> None:
        self._experiment, self._clock, self._step, self._mediated = experiment, clock, step, mediated
        self._closing = begin + step
        self._queue: list[tuple[int, int, str, str, Any]] = []
        self._sent = itertools.count()

    def send(self, draws: Draws, decision: int, arm: int, now: int, id: str) -> None:
        """Put what will be told of a decision into the queue, once, twice or not at all."""
        times = draws.arrivals(decision, arm)
        mediator, outcome = int(draws.mediators[decision, arm]), float(draws.outcomes[decision, arm])
        found: list[tuple[int, str, Any]] = []
        if self._mediated and mediator >= 0:
            found.append((MEDIATOR, "mediator", f"level {mediator + 1}"))
        if not math.isnan(outcome):
            found.append((OUTCOME, "outcome", outcome))
        for place, name, value in found:
            if draws.lost[decision, place]:
                continue
            arrival, later = now + times[place], int(draws.again[decision, place])
            for at in (arrival, arrival + later) if later >= 0 else (arrival,):
                heapq.heappush(self._queue, (at, next(self._sent), id, name, value))

    def deliver(self, until: int) -> None:
        """Tell what arrives until then, and close windows when it is time; what arrives at that time is told first."""
        while True:
            arrival = self._queue[0][0] if self._queue else until + 1
            if min(arrival, self._closing) > until:
                return
            if arrival <= self._closing:
                at, _, id, name, value = heapq.heappop(self._queue)
                self._clock.advance(at - self._clock())
                self._experiment.tell(id, **{name: value})
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


def _arrivals(plan: RehearsalPlan, window: int, draws: Draws, chosen: IntArray) -> tuple[int, int]:
    """Outcomes that arrived in their window, and all that were not missing, of windows that were over at the end."""
    rows = np.arange(plan.decisions)
    over = np.rint(rows * plan.gap) + window <= plan.length
    shown = over & ~np.isnan(draws.outcomes[rows, chosen])
    arrived = shown & ~draws.lost[:, OUTCOME] & (draws.delays[rows, chosen] < window)
    return int(arrived.sum()), int(shown.sum())
