"""Simulate: policies against a world, many runs, all cores, one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from truant.collection.by_policy import run_intervals
from truant.documents.progress import progress_bar
from truant.errors import InvalidValue, quoted
from truant.files import named_files
from truant.lab.question import SimulationQuestion
from truant.lab.result import Simulation
from truant.play.run import RunPlan, RunResult, Watch, checkpoints, cores, play, rounds_late
from truant.policies import Policy, named
from truant.policies.follow_up_rules import FollowUps, terms_of
from truant.questions import asked
from truant.setting import FloatArray, IntArray, is_list, switch, whole_number
from truant.spec import Spec
from truant.worlds import World


@asked(SimulationQuestion)
def simulate(question: SimulationQuestion) -> Simulation:
    """Run policies in a world and note their regret.

    Parameters
    ----------
    {fields}

    Returns
    -------
    The finished runs; an interrupt (Ctrl-C) keeps those that were complete.
    """
    follow_up = terms_of(question.follow_up_cost, question.follow_up_success)
    plan = plan_of(
        question.world,
        question.policies,
        question.horizon,
        question.seed,
        {} if question.parameters is None else question.parameters,
        question.delay,
        question.minimize,
        follow_up,
    )
    runs = whole_number("runs", question.runs, at_least=1)
    threads = whole_number("threads", cores() if question.threads is None else question.threads, at_least=1)
    progress = question.progress
    # and refuse what cannot be, before the clock starts
    with _compiling(False if callable(progress) else progress):
        for policy in plan.policies:
            once = np.array([1])
            play(
                policy,
                plan.instance(0),
                plan.generator(0),
                plan.horizon,
                once,
                delay=plan.delay,
                follow_ups=plan.follow_ups,
            )
    wanted = Wanted(switch("estimates", question.estimates), switch("intervals", question.intervals))
    results = _play_all(plan, runs, threads, wanted, progress)
    finished = [run for run in results if run]
    if not finished:
        raise KeyboardInterrupt
    return Simulation(
        world=plan.world.name,
        parameters=dict(plan.world.parameters) if isinstance(plan.world, Spec) else {},
        horizon=plan.horizon,
        delay=plan.delay,
        minimize=plan.instance(0).setting.minimize,
        seed=plan.seed,
        policies=[policy.name for policy in plan.policies],
        rounds=plan.rounds,
        regret=_gather(finished, lambda result: result.regret),
        pulls=_gather(finished, lambda result: result.pulls),
        estimates=_gather(finished, _estimates),
        means=np.stack([run[0].means for run in finished]),
        nanoseconds=_gather(finished, lambda result: np.array(result.nanoseconds)),
        **_interval_ends(finished, wanted.intervals),
        follow_up=plan.follow_ups,
        follow_ups=None if plan.follow_ups is None else _gather(finished, _follow_ups),
        inputs=_inputs(plan.world),
    )


def plan_of(
    world: World | Spec | str,
    policies: Sequence[Policy | Spec | str] | Policy | Spec | str,
    horizon: int,
    seed: int,
    parameters: Mapping[str, Any],
    delay: int = 0,
    minimize: bool = False,
    follow_up: FollowUps | None = None,
) -> RunPlan:
    """What to run, checked."""
    if not isinstance(world, World | Spec | str):
        raise InvalidValue(f"world must be a name or a World, got {quoted(world)}.")
    policies = [policies] if isinstance(policies, Policy | Spec | str) else _listed(policies)
    if not policies:
        raise InvalidValue("simulate needs at least one policy, e.g. 'mar-ucb'.")
    built = [policy if isinstance(policy, Policy) else named(policy) for policy in policies]
    names = [policy.name for policy in built]
    if len(set(names)) < len(names):
        raise InvalidValue(f"Policies must have different names, got {', '.join(names)}.")
    if isinstance(world, str):
        world = Spec.parse(world)
    if isinstance(world, Spec):
        world = Spec(world.name, {**world.parameters, **Spec(world.name, parameters).parameters})
    elif parameters:
        raise InvalidValue("parameters are for a world given by name; this one is built already.")
    horizon = whole_number("horizon", horizon, at_least=1)
    seed = whole_number("seed", seed, at_least=0)
    delay = rounds_late(delay, horizon)
    switch("minimize", minimize)
    return RunPlan(world, built, horizon, seed, checkpoints(horizon), delay, minimize, follow_up)


def _inputs(world: World | Spec) -> tuple[str, ...]:
    """The files that a world was read from."""
    if isinstance(world, Spec):
        return named_files(world.parameters.values())
    return named_files([getattr(world, "inputs", ())])


def _listed(policies: object) -> list[Policy | Spec | str]:
    listed: list[Policy | Spec | str] = []
    for policy in policies if is_list(policies) else [policies]:
        if not isinstance(policy, Policy | Spec | str):
            raise InvalidValue(f"A policy must be a name or a Policy, got {quoted(policy)}.")
        listed.append(policy)
    return listed


class Wanted(NamedTuple):
    """What is computed at the end of each run."""

    estimates: bool
    intervals: bool


def _run_one(
    plan: RunPlan, run: int, number: int, wanted: Wanted, progress: IntArray, stop: IntArray
) -> RunResult:
    """One run of one policy; the counts are dropped, as those of many runs would fill the memory."""
    policy, world = plan.policies[number], plan.instance(run)
    rng = plan.generator(run)
    watch = Watch(progress, stop)
    ended = play(policy, world, rng, plan.horizon, plan.rounds, watch, plan.delay, plan.follow_ups)
    if wanted.intervals and ended.finished and ended.counts is not None:
        seed = plan.seed + 1 + run
        ends = run_intervals(
            policy, ended.counts, world.setting, plan.horizon, plan.delay, seed, stop, plan.follow_ups
        )
        ended = ended._replace(intervals=ends)
    if wanted.estimates and ended.finished:
        return ended.estimated(policy, world.setting)
    return ended._replace(counts=None)


def _play_all(
    plan: RunPlan, runs: int, threads: int, wanted: Wanted, progress: bool | Callable[[float], None] | None
) -> list[list[RunResult]]:
    """The results of each run, by policy; an empty list for a run that was not finished."""
    count = len(plan.policies)
    ticks = np.zeros((runs, count, 1), np.int64)
    stop = np.zeros(1, np.int64)
    futures: list[list[Future[RunResult]]] = []
    with ThreadPoolExecutor(threads) as pool, progress_bar("simulating", progress) as show:
        try:
            for run in range(runs):
                of_run = [(p, wanted, ticks[run, p], stop) for p in range(count)]
                futures.append([pool.submit(_run_one, plan, run, *arguments) for arguments in of_run])
            waiting = {future for row in futures for future in row}
            while waiting:
                done, waiting = wait(waiting, timeout=0.1, return_when="FIRST_EXCEPTION")
                played = float(ticks.sum()) / (ticks.size * len(plan.rounds))
                # replays take nearly all the time
                show(1 - len(waiting) / (runs * count) if wanted.intervals else played)
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


def _finished(row: list[Future[RunResult]]) -> list[RunResult]:
    if not all(future.done() and not future.cancelled() for future in row):
        return []
    results = [future.result() for future in row]
    return results if all(result.finished for result in results) else []


@contextmanager
def _compiling(wanted: bool | None) -> Iterator[None]:
    """Say what the first use of a policy waits for."""
    if wanted is not None:
        switch("progress", wanted)
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal if wanted is None else wanted:
        with console.status("compiling (once for each combination of policy and world)"):
            yield
    else:
        yield


def _interval_ends(finished: list[list[RunResult]], wanted: bool) -> dict[str, FloatArray]:
    """Low and high, each (policies, runs, arms); nothing unless asked for."""
    if not wanted:
        return {}
    ends = _gather(finished, lambda result: result.intervals)
    return {"low": ends[:, :, 0], "high": ends[:, :, 1]}


def _follow_ups(result: RunResult) -> FloatArray:
    return np.zeros_like(result.regret) if result.follow_ups is None else result.follow_ups


def _estimates(result: RunResult) -> FloatArray:
    return np.full(len(result.means), np.nan) if result.estimates is None else result.estimates


def _gather(finished: list[list[RunResult]], field: Callable[[RunResult], Any]) -> Any:
    """Stack a field as (policy, run, ...)."""
    return np.stack([[field(result) for result in run] for run in finished], axis=1)
