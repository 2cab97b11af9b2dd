"""Rehearse: the runs of all variants of a plan, here or in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from truant.documents.progress import progress_bar
from truant.documents.rehearsal import RehearsalTerms
from truant.durations import DAY, duration_text
from truant.play.run import cores
from truant.questions import asked
from truant.rehearsal.plan import RehearsalPlan, RehearsalQuestion, Variant, plan_of
from truant.rehearsal.result import Rehearsal
from truant.rehearsal.run import RunFigures, run_figures
from truant.setting import switch, whole_number
from truant.spec import Spec

IDLE_SECONDS = 10  # of a worker process
Task = tuple[Variant, int, bool]  # a variant, the number of a run, and whether it is in the null world


@asked(RehearsalQuestion)
def rehearse(question: RehearsalQuestion) -> Rehearsal:
    """Simulate a live experiment in a world before it starts, and compare windows and assumptions.

    Every decision is asked of, and every outcome told to, a real `Experiment` in memory, at its own time of a clock
    that is moved by hand. All variants of a run meet the same outcomes and delays, so that differences are paired.
    What is known at the end is judged by confidence sequences.

    Parameters
    ----------
    {fields}

    Examples
    --------
    >>> found = truant.rehearse("mar:arms=2", windows=["1d", "3d"], rate="20/d", days=8, runs=2, workers=1)
    >>> [row.window for row in found.rows]
    ['1d', '3d']
    """
    plan = plan_of(question)
    runs = whole_number("runs", question.runs, at_least=1)
    workers = whole_number("workers", cores() if question.workers is None else question.workers, at_least=1)
    worlds = (False, True) if switch("null", question.null) else (False,)
    configurations = plan.check()
    tasks = [(variant, run, which) for run in range(runs) for which in worlds for variant in plan.variants]
    if min(workers, len(tasks)) > 1:
        from truant.live.settle import compile_policy

        for configuration in configurations:  # once, here: the workers then read the compiled code
            compile_policy(configuration)
    figures: dict[Task, RunFigures] = {}
    with progress_bar("rehearsing", question.progress) as show:
        for task, own in _run(plan, tasks, min(workers, len(tasks))):
            figures[task] = own
            show(len(figures) / len(tasks))
    figures_by = {
        (variant, which): [figures[variant, run, which] for run in range(runs)]
        for variant in plan.variants
        for which in worlds
    }
    world = plan.world
    about: RehearsalTerms = {  # what was rehearsed, as plain values
        "world": world.name,
        "parameters": dict(world.texts) if isinstance(world, Spec) else {},
        "delay": str(plan.delay),
        "late_depends_on": plan.delay.depends_on,
        "late_factor": plan.delay.factor,
        "decisions": plan.decisions,
        "days": plan.length / DAY,
        "step": duration_text(plan.step),
        "level": plan.level,
        "runs": runs,
        "null": question.null,
        "seed": plan.seed,
        "settings": dict(plan.settings),
    }
    return Rehearsal.of(about, figures_by)


def _run(plan: RehearsalPlan, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, RunFigures]]:
    """The figures of every task, as they come."""
    if workers == 1:
        yield from (run_task(plan, task) for task in tasks)
        return
    import joblib

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
