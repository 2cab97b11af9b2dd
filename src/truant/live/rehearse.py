"""Rehearse: a world with delays and faults drives a real experiment many times, before anybody is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from truant.defaults import LEVEL
from truant.durations import DAY, duration_text
from truant.live.configuration import Configuration
from truant.live.rehearsal_plan import RehearsalPlan, Variant, plan_of
from truant.live.rehearsal_result import Rehearsal
from truant.live.rehearsal_run import RunFigures, run_figures
from truant.play.run import cores
from truant.setting import switch, whole_number
from truant.spec import Spec
from truant.terminal.progress import progress_bar
from truant.worlds import World
from truant.worlds.delays import Delay, DependsOn

IDLE_SECONDS = 10  # of a worker process
Task = tuple[Variant, int, bool]  # a variant, the number of a run, and whether it is in the null world


def rehearse(
    world: World | Spec | str,
    *,
    windows: Sequence[str] | str = ("1d", "3d", "7d"),
    assume: Sequence[str] | str | None = None,
    policy: str | None = None,
    settle: Sequence[str] | str = "at_close",
    delay: Delay | str = "exponential:2d",
    late_depends_on: DependsOn | None = None,
    late_factor: float = 4.0,
    rate: float | str = "100/d",
    days: float = 28,
    decisions: int | None = None,
    step: str | None = None,
    duplicates: float = 0.0,
    reorder: bool = False,
    lose: float = 0.0,
    null: bool = True,
    runs: int = 10,
    seed: int = 0,
    level: float = LEVEL,
    minimize: bool = False,
    parameters: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    workers: int | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> Rehearsal:
    """Simulate a live experiment in a world before it starts, and compare windows and assumptions.

    Every decision is asked of, and every outcome told to, a real `Experiment` in memory, at its own time of a clock
    that is moved by hand. All variants of a run meet the same outcomes, delays and faults, so that differences are
    paired. What is known at the end is judged by confidence sequences.

    Parameters
    ----------
    world : a name (a new instance for each run; parameters as in "mar:gamma=0.5,1.0"), or one world. Real outcomes
        that are drawn outside of its range widen the range that the experiment is told.
    windows, assume, settle : what is compared: texts, or lists of them; see `Experiment.create`. `assume` is the
        assumption that the world is named after, unless given.
    policy : a policy such as "mar-ucb", or an index such as "ucb", which each assumption is combined with; as for
        `Experiment.create` unless given.
    delay : how long outcomes take, such as "exponential:2d", "constant:12h", "lognormal:2d" or "none"; a mediator is
        told after a tenth of that time.
    late_depends_on, late_factor : "arm", "mediator" or "outcome", on which the mean delay depends, and how many times
        longer it is at the highest than at the lowest.
    rate : decisions in a time, such as "100/d" or "5/h", evenly spaced; a number is a number a day.
    days : how long the experiment runs; decisions that are pending at the end are not known.
    decisions : their number in all, instead of `days`.
    step : how often windows are closed and shares updated; a quarter of the shortest window unless given.
    duplicates : probability that a mediator or outcome is told a second time, some hours later.
    reorder : tell half of the mediators after their outcome.
    lose : probability that a mediator or outcome is never told.
    null : also rehearse the null world, in which every arm has the outcomes of one of the arms.
    runs : of each variant, and as many in the null world.
    seed : the same seed gives the same numbers, whatever the number of workers.
    level : of intervals, and the probability from which a winner is clear.
    minimize : less is better: the best arm has the lowest mean. False: as the world says.
    parameters : of a named world.
    settings : more settings of `Experiment.create`, such as {"minimum_share": 0.01}.
    workers : runs at a time, each in a process of its own; all cores unless given, and 1 stays in this process.
    progress : show a progress bar; by default if standard error is a terminal. Or a function, which is told the share
        that is done.

    Examples
    --------
    >>> found = truant.rehearse("mar:arms=2", windows=["1d", "3d"], rate="20/d", days=8, runs=2, workers=1)
    >>> [row.window for row in found.rows]
    ['1d', '3d']
    """
    plan = plan_of(
        world,
        windows=windows,
        assume=assume,
        policy=policy,
        settle=settle,
        delay=delay,
        late_depends_on=late_depends_on,
        late_factor=late_factor,
        rate=rate,
        days=days,
        decisions=decisions,
        step=step,
        duplicates=duplicates,
        reorder=reorder,
        lose=lose,
        level=level,
        seed=seed,
        minimize=minimize,
        parameters=parameters,
        settings=settings,
    )
    runs = whole_number("runs", runs, at_least=1)
    workers = whole_number("workers", cores() if workers is None else workers, at_least=1)
    worlds = (False, True) if switch("null", null) else (False,)
    configurations = plan.check()
    tasks = [(variant, run, which) for run in range(runs) for which in worlds for variant in plan.variants]
    found: dict[Task, RunFigures] = {}
    with progress_bar("rehearsing", progress) as show:
        for task, figures in _figures(plan, tasks, min(workers, len(tasks)), configurations):
            found[task] = figures
            show(len(found) / len(tasks))
    figures_by = {
        (variant, which): [found[variant, run, which] for run in range(runs)]
        for variant in plan.variants
        for which in worlds
    }
    return Rehearsal.of(_about(plan, runs, null), figures_by)


def _figures(
    plan: RehearsalPlan, tasks: Sequence[Task], workers: int, configurations: Sequence[Configuration]
) -> Iterator[tuple[Task, RunFigures]]:
    """The figures of every task, as they come."""
    if workers == 1:
        for task in tasks:
            yield run_task(plan, task)
        return
    import joblib

    from truant.live.allocation import compile_policy

    for configuration in configurations:  # once, here: the workers then read the compiled code
        compile_policy(configuration)
    parallel = joblib.Parallel(
        n_jobs=workers,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        idle_worker_timeout=IDLE_SECONDS,
    )
    yield from parallel(joblib.delayed(run_task)(plan, task) for task in tasks)


def run_task(plan: RehearsalPlan, task: Task) -> tuple[Task, RunFigures]:
    """One run, in whichever process."""
    return task, run_figures(plan, *task)


def _about(plan: RehearsalPlan, runs: int, null: bool) -> dict[str, Any]:
    """What was rehearsed, as plain values."""
    world = plan.world
    return {
        "world": world.name,
        "parameters": dict(world.texts) if isinstance(world, Spec) else {},
        "delay": str(plan.delay),
        "late_depends_on": plan.delay.depends_on,
        "late_factor": plan.delay.factor,
        "decisions": plan.decisions,
        "days": plan.length / DAY,
        "step": duration_text(plan.step),
        "duplicates": plan.duplicates,
        "reorder": plan.reorder,
        "lose": plan.lose,
        "level": plan.level,
        "runs": runs,
        "null": null,
        "seed": plan.seed,
        "settings": dict(plan.settings),
    }
