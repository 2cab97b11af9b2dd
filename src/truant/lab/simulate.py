"""Simulate: policies against a world, many runs, all cores, one seed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from truant import registry
from truant.compile import link
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified
from truant.lab import loop
from truant.lab.progress import shown
from truant.lab.result import Simulation
from truant.policies import Policy, named
from truant.setting import FloatArray, IntArray, Setting, whole_number
from truant.worlds import World
from truant.worlds.world import instance

CHECKPOINTS = 160  # evenly spaced; some forty more are packed into the first of them


class Outcome(NamedTuple):
    """What one policy left after one run."""

    finished: bool
    regret: FloatArray
    pulls: IntArray
    estimates: FloatArray
    means: FloatArray
    nanoseconds: float


@dataclass(frozen=True)
class Plan:
    """Everything that a run needs to know, but for its number."""

    world: World | str
    parameters: dict[str, Any]
    policies: list[Policy]
    horizon: int
    seed: int
    rounds: IntArray

    def instance(self, run: int) -> World:
        """The instance that all policies of a run face."""
        if isinstance(self.world, World):
            return self.world
        return instance(self.world, np.random.default_rng(self._seeds(run)[0]), self.parameters)

    def generator(self, run: int) -> np.random.Generator:
        """The run's stream of pulls: the same for every policy, whoever else takes part."""
        return np.random.Generator(np.random.SFC64(self._seeds(run)[1]))

    def _seeds(self, run: int) -> list[np.random.SeedSequence]:
        return np.random.SeedSequence(self.seed, spawn_key=(run,)).spawn(2)


def simulate(
    world: World | str,
    policies: Sequence[Policy | str] | Policy | str,
    *,
    horizon: int,
    runs: int = 20,
    seed: int = 0,
    threads: int | None = None,
    parameters: dict[str, Any] | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> Simulation:
    """Run policies in a world and note their regret.

    Parameters
    ----------
    world : a name (a new instance for each run; parameters as in "mar:gamma=0.5,1.0"), or one world.
    policies : names such as "mar-ucb" or "mar-ucb:level=cautious", or Policy objects.
    horizon : rounds T of each run.
    runs : number of runs; all policies of a run face the same instance.
    seed : the same seed gives the same numbers, whatever the number of threads.
    threads : how many runs at a time; all cores unless given.
    parameters : of a named world.
    progress : show a progress bar; by default if standard error is a terminal. Or a function, which is told
        the share that is done, now and then.

    Returns
    -------
    The finished runs; an interrupt (Ctrl-C) keeps those that were complete.
    """
    plan = plan_of(world, policies, horizon, seed, parameters or {})
    runs = whole_number("runs", runs, at_least=1)
    threads = whole_number("threads", _cores() if threads is None else threads, at_least=1)
    with _compiling(
        False if callable(progress) else progress
    ):  # and refuse what cannot be, before the clock starts
        for number in range(len(plan.policies)):
            played(plan, 0, number, np.array([1]), np.zeros(1, np.int64), np.zeros(1, np.int64))
    outcomes = _play_all(plan, runs, threads, progress)
    finished = [run for run in outcomes if run]
    if not finished:
        raise KeyboardInterrupt
    return Simulation(
        world=plan.world if isinstance(plan.world, str) else plan.world.name,
        parameters=plan.parameters,
        horizon=plan.horizon,
        seed=plan.seed,
        policies=[policy.name for policy in plan.policies],
        rounds=plan.rounds,
        regret=_gather(finished, lambda outcome: outcome.regret),
        pulls=_gather(finished, lambda outcome: outcome.pulls),
        estimates=_gather(finished, lambda outcome: outcome.estimates),
        means=np.stack([run[0].means for run in finished]),
        nanoseconds=_gather(finished, lambda outcome: np.array(outcome.nanoseconds)),
    )


def plan_of(
    world: World | str,
    policies: Sequence[Policy | str] | Policy | str,
    horizon: int,
    seed: int,
    parameters: dict[str, Any],
) -> Plan:
    """What to run, checked."""
    if not isinstance(world, World | str):
        raise InvalidValue(f"world must be a name or a World, got {world!r}.")
    policies = [policies] if isinstance(policies, Policy | str) else _listed(policies)
    if not policies:
        raise InvalidValue("simulate needs at least one policy, e.g. 'mar-ucb'.")
    built = [policy if isinstance(policy, Policy) else named(policy) for policy in policies]
    names = [policy.name for policy in built]
    if len(set(names)) < len(names):
        raise InvalidValue(f"Policies must have different names, got {', '.join(names)}.")
    if isinstance(world, str):
        world, own = registry.parse(world)
        parameters = {**own, **parameters}
    elif parameters:
        raise InvalidValue("parameters are for a world given by name; this one is built already.")
    horizon = whole_number("horizon", horizon, at_least=1)
    seed = whole_number("seed", seed, at_least=0)
    return Plan(world, parameters, built, horizon, seed, checkpoints(horizon))


def _listed(policies: object) -> list[Policy | str]:
    listed: list[Policy | str] = []
    for policy in policies if isinstance(policies, Iterable) else [policies]:
        if not isinstance(policy, Policy | str):
            raise InvalidValue(f"A policy must be a name or a Policy, got {policy!r}.")
        listed.append(policy)
    return listed


def checkpoints(horizon: int) -> IntArray:
    """About 200 rounds at which regret is noted: even, denser at the start, half the horizon among them."""
    even = np.ceil(np.linspace(0, horizon, CHECKPOINTS + 1)[1:])
    early = np.geomspace(1, max(horizon / CHECKPOINTS, 1), 40)
    rounds = np.unique(np.concatenate([even, early, [max(1, horizon // 2), horizon]]).astype(np.int64))
    return rounds[rounds <= horizon]


def play(plan: Plan, run: int, number: int, progress: IntArray, stop: IntArray) -> Outcome:
    """One run of one policy."""
    return played(plan, run, number, plan.rounds, progress, stop)[0]


def played(
    plan: Plan, run: int, number: int, rounds: IntArray, progress: IntArray, stop: IntArray
) -> tuple[Outcome, Counts]:
    """One run of one policy up to the last of `rounds`, and the counts that it ended with."""
    policy = plan.policies[number]
    world = plan.instance(run)
    seen = world.revealed() if policy.reveals else world
    setting = seen.setting
    curve = policy.curve(setting, plan.horizon)
    knots = policy.index.knots(plan.horizon, curve.linear)
    counts = Counts.empty(setting)
    table = counts.table if curve.discrete else counts.real().table
    record, about = _recorder(setting, curve.discrete)
    regret, pulls = np.zeros(len(rounds)), np.zeros(setting.arms, np.int64)
    parts = {"follow": curve.follow, "fill": curve.fill, "choose": policy.index.choose}
    compiled = link(loop.run, draw=seen.draw, record=record, **parts)
    arguments = (
        plan.generator(run),
        seen.tables,
        world.gaps,
        about,
        curve.first_pulls,
        float(curve.growth),
        np.ascontiguousarray(curve.parameters),
        np.zeros((setting.arms, curve.memory(len(knots)))),
        np.zeros(curve.shared),
        knots,
        np.zeros((setting.arms, len(knots))),
        np.full(setting.arms, curve.first_pulls),
        policy.index.parameters(plan.horizon),
        np.zeros(policy.index.memory(setting.arms)),
        table,
        pulls,
        rounds,
        regret,
        progress,
        stop,
    )
    start = time.thread_time_ns()
    ending = compiled(*arguments)
    nanoseconds = time.thread_time_ns() - start
    if ending == loop.NO_SUCH_ARM:
        raise InvalidValue(
            f"The index of {policy.name!r} chose an arm that is not there; try check_index on it."
        )
    final = Counts(table, setting.levels if curve.discrete else None, setting.centre)
    estimates = np.array([_mean(policy, final, arm, setting) for arm in range(setting.arms)])
    finished = ending == loop.FINISHED
    return Outcome(finished, regret, pulls, estimates, world.means, nanoseconds), final


def _recorder(setting: Setting, discrete: bool) -> tuple[Callable[..., float], FloatArray]:
    if setting.levels is None:
        return loop.record_real_outcome, np.array([setting.centre])
    about = np.append(np.asarray(setting.levels) - setting.centre, np.nan)
    return (loop.record_level_outcome if discrete else loop.record_level_as_real), about


def _mean(policy: Policy, counts: Counts, arm: int, setting: Setting) -> float:
    try:
        return policy.estimate(counts, arm, setting).mean
    except NotIdentified:
        return float("nan")


def _play_all(
    plan: Plan, runs: int, threads: int, progress: bool | Callable[[float], None] | None
) -> list[list[Outcome]]:
    """Outcomes of each run, by policy; an empty list for a run that was not finished."""
    count = len(plan.policies)
    ticks = np.zeros((runs, count, 1), np.int64)
    stop = np.zeros(1, np.int64)
    futures: list[list[Future[Outcome]]] = []
    with ThreadPoolExecutor(threads) as pool, shown("simulating", progress) as show:
        try:
            for run in range(runs):
                futures.append([pool.submit(play, plan, run, p, ticks[run, p], stop) for p in range(count)])
            waiting = {future for row in futures for future in row}
            while waiting:
                done, waiting = wait(waiting, timeout=0.1, return_when="FIRST_EXCEPTION")
                show(float(ticks.sum()) / (ticks.size * len(plan.rounds)))
                for future in done:
                    future.result()  # an error in one run is an error of all
        except KeyboardInterrupt:
            stop[0] = 1
            pool.shutdown(cancel_futures=True)
        except BaseException:
            stop[0] = 1
            pool.shutdown(cancel_futures=True)
            raise
    return [_finished(row) for row in futures]


def _finished(row: list[Future[Outcome]]) -> list[Outcome]:
    if not all(future.done() and not future.cancelled() for future in row):
        return []
    outcomes = [future.result() for future in row]
    return outcomes if all(outcome.finished for outcome in outcomes) else []


@contextmanager
def _compiling(wanted: bool | None) -> Iterator[None]:
    """Say what the first use of a policy waits for."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal if wanted is None else wanted:
        with console.status("compiling (once for each combination of policy and world)"):
            yield
    else:
        yield


def _gather(finished: list[list[Outcome]], field: Callable[[Outcome], Any]) -> Any:
    """Stack a field as (policy, run, ...)."""
    return np.stack([[field(outcome) for outcome in run] for run in finished], axis=1)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
