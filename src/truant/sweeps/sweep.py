"""Sweep: a whole study, on threads, processes or Ray; what is done is kept, and not done again."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from truant.play.run import play
from truant.sweeps.backend import workers
from truant.sweeps.folder import locked, prepared, results_folder
from truant.sweeps.result import SweepResult, gather
from truant.sweeps.study import Study, check, plan_at
from truant.sweeps.study_file import read_study, study_of
from truant.sweeps.task import KeptRuns, Task, tasks, work
from truant.terminal.progress import progress_bar


def sweep(
    study: str | os.PathLike[str] | Mapping[str, Any] | Study,
    *,
    out: str | os.PathLike[str] | None = None,
    backend: str = "threads",
    workers: int | None = None,
    progress: bool | None = None,
) -> SweepResult:
    """Run a study, or what is left of it.

    Parameters
    ----------
    study : path of a TOML file, or what such a file says as a dict.
    out : folder of the results; beside the study's file, with its name and "-results", unless given.
    backend : "threads", "processes" or "ray"; the numbers are the same.
    workers : how many tasks at a time; all cores unless given.
    progress : show a progress bar with the time left; by default if standard error is a terminal.

    Returns
    -------
    The results, which are in `out` as results.parquet, summary.json and index.html, too.
    """
    study = _read(study)
    start = time.monotonic()
    fingerprints = check(study)
    with locked(results_folder(study, out)) as folder:
        kept = prepared(folder, study)
        everything = list(tasks(study, fingerprints))
        left = [task for task in (kept.missing(task) for task in everything) if task is not None]
        if left:
            _compile(left)
            _do(left, kept, backend, workers, progress, done=_rounds(everything) - _rounds(left))
        return gather(study, everything, kept, folder, seconds=time.monotonic() - start)


def size(study: str | os.PathLike[str] | Mapping[str, Any] | Study) -> dict[str, int]:
    """Check a study, and say how large it is; nothing is run."""
    study = _read(study)
    everything = list(tasks(study, check(study)))
    return {
        "points": sum(1 for _ in study.points()),
        "policies": max(len(block.choices) for block in study.blocks),
        "runs": study.runs,
        "tasks": len(everything),
        "rounds": _rounds(everything),
    }


def _read(study: str | os.PathLike[str] | Mapping[str, Any] | Study) -> Study:
    if isinstance(study, Study):
        return study
    return study_of(study) if isinstance(study, Mapping) else read_study(study)


def _do(
    left: list[Task], kept: KeptRuns, backend: str, count: int | None, progress: bool | None, done: int
) -> None:
    """Hand out tasks, and keep each result as it comes."""
    stop = np.zeros(1, np.int64)
    total = done + _rounds(left)
    if count is not None:
        count = min(count, len(left))  # a thread or process without a task is of no use
    with progress_bar("sweeping", progress) as show, workers(backend, count) as run:
        show(done / total)
        results = run(work, ((n, task, stop) for n, task in enumerate(left)))
        try:
            for number, result in results:
                if result is not None:
                    kept.write(left[number], result)
                done += left[number].rounds
                show(done / total)
        except BaseException:
            stop[0] = 1  # threads that are still at work end soon
            with warnings.catch_warnings():  # joblib would count what it throws away
                warnings.simplefilter("ignore")
                results.close()
            raise


def _compile(left: list[Task]) -> None:
    """Before tasks are handed out: else every process would compile the same."""
    seen = set()
    for task in left:
        for policy in task.policies:
            kind = (task.point.world.name, policy, task.point.delay > 0)
            if kind not in seen:
                seen.add(kind)
                plan = plan_at(task.seed, task.point, [policy])
                first, rng = plan.instance(0), plan.generator(0)
                play(plan.policies[0], first, rng, plan.horizon, np.array([1]), delay=plan.delay)


def _rounds(several: list[Task]) -> int:
    return sum(task.rounds for task in several)
