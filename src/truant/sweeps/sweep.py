"""Sweep: a whole study, on threads, processes or Ray; what is done is kept, and not done again."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any

import numpy as np

from truant.errors import InvalidValue, TruantError
from truant.files import locked
from truant.play.run import play
from truant.setting import IntArray
from truant.spec import Spec
from truant.sweeps.backend import LostWorker, check_workers, workers
from truant.sweeps.folder import prepared, results_folder
from truant.sweeps.kept_runs import KeptRuns
from truant.sweeps.result import SweepResult, gather
from truant.sweeps.study import Study, check, plan_at
from truant.sweeps.study_file import read_study, study_of
from truant.sweeps.task import Columns, Task, tasks, work
from truant.terminal.progress import progress_bar
from truant.text import quoted

NAMED = 4  # tasks in the sentence about lost workers


def sweep(
    study: str | os.PathLike[str] | Mapping[str, Any] | Study,
    *,
    out: str | os.PathLike[str] | None = None,
    backend: str = "threads",
    workers: int | None = None,
    progress: bool | None = None,
) -> SweepResult:
    """Run a study: worlds x parameters x policies x runs; finished runs are kept and not repeated.

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
    check_workers(backend, workers)
    study = _read(study)
    start = time.monotonic()
    fingerprints = check(study)
    with locked(results_folder(study, out), "sweep") as folder:
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
    if isinstance(study, Mapping):
        return study_of(study)
    if not isinstance(study, str | os.PathLike) or not isinstance(os.fspath(study), str):
        raise InvalidValue(f"study must be the path of a TOML file or a dict, got {quoted(study)}.")
    return read_study(study)


def _do(
    left: list[Task], kept: KeptRuns, backend: str, count: int | None, progress: bool | None, done: int
) -> None:
    """Do all tasks, and keep each result as it comes.

    When a worker is lost, all are started anew; a task that was out at two such losses is named.
    """
    total = done + _rounds(left)
    waiting, lost = dict(enumerate(left)), set[int]()
    with progress_bar("sweeping", progress) as show:
        show(done / total)
        while waiting:
            begun: list[int] = []
            try:
                with closing(_results(waiting, begun, backend, count)) as results:
                    for number, result in results:
                        if result is not None:
                            kept.write(waiting[number], result)
                        done += waiting.pop(number).rounds
                        show(done / total)
            except LostWorker as error:
                out = [number for number in begun if number in waiting]
                twice = [left[number] for number in out if number in lost]
                if twice:
                    raise _lost_twice(twice) from error
                lost.update(out)


def _results(
    waiting: Mapping[int, Task], begun: list[int], backend: str, count: int | None
) -> Generator[tuple[int, dict[Spec, Columns] | None]]:
    """Hand out tasks, noting which; the number and result of each as it comes."""
    stop = np.zeros(1, np.int64)
    several = list(waiting.items())  # the caller takes from `waiting` what is done

    def handed_out() -> Iterator[tuple[int, Task, IntArray]]:
        for number, task in several:
            begun.append(number)
            yield number, task, stop

    # a thread or process without a task is of no use
    with workers(backend, None if count is None else min(count, len(several))) as run:
        results = run(work, handed_out())
        try:
            for result in results:  # noqa: UP028 - `yield from` would close them before threads are told
                yield result
        except BaseException:
            stop[0] = 1  # threads that are still at work end soon
            with warnings.catch_warnings():  # joblib would count what it throws away
                warnings.simplefilter("ignore")
                results.close()
            raise


def _lost_twice(several: list[Task]) -> TruantError:
    places = list(dict.fromkeys(f"{task.point.words}, runs from {task.first}" for task in several))
    shown = " or ".join(places[:NAMED]) + (" or another" if len(places) > NAMED else "")
    return TruantError(
        f"A worker process was ended from outside, and so was the one that took its place, at {shown}; "
        "perhaps because memory ran out. Finished runs are kept: run the sweep again, with fewer workers."
    )


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
