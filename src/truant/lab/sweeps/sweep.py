"""Sweep: a whole study, on threads, processes or Ray; what is done is kept, and not done again."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from truant.errors import InvalidValue
from truant.files import remove_unfinished, written_whole
from truant.lab.play import played
from truant.lab.progress import progress_bar
from truant.lab.sweeps.backend import workers
from truant.lab.sweeps.result import SweepResult, gather
from truant.lab.sweeps.study import Study, check, plan_at
from truant.lab.sweeps.study_file import read_study, study_of
from truant.lab.sweeps.task import Parts, Task, tasks, work

FILES = ("study.toml", "results.parquet", "summary.json", "index.html")  # beside the parts


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
    with _locked(_folder(study, out)) as folder:
        parts = _prepared(folder, study)
        everything = list(tasks(study, fingerprints))
        left = [task for task in (parts.missing(task) for task in everything) if task is not None]
        if left:
            _compile(left)
            _do(left, parts, backend, workers, progress, done=_rounds(everything) - _rounds(left))
        return gather(study, everything, parts, folder, seconds=time.monotonic() - start)


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
    left: list[Task], parts: Parts, backend: str, count: int | None, progress: bool | None, done: int
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
                    parts.write(left[number], result)
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
            pair = (task.point.world, policy)
            if pair not in seen:
                seen.add(pair)
                plan = plan_at(task.seed, task.point, [policy])
                played(plan.policies[0], plan.instance(0), plan.generator(0), plan.horizon, np.array([1]))


def _rounds(several: list[Task]) -> int:
    return sum(task.rounds for task in several)


def _folder(study: Study, out: str | os.PathLike[str] | None) -> Path:
    path = (
        Path(out)
        if out is not None
        else Path(study.file).with_suffix("").with_name(f"{Path(study.file).stem}-results")
    )
    if out is not None and not os.fspath(out):
        raise _unfit(out, "it has no name")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise _unfit(path, "it is a file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        raise _unfit(path, getattr(error, "strerror", error)) from None
    if not os.access(path, os.W_OK):
        raise _unfit(path, "it is not writable")
    taken = [name for name in FILES if (path / name).exists() and not _same(path / name, study.file)]
    if taken and not (path / "parts").is_dir():
        raise _unfit(path, f"it has a file {taken[0]} that no sweep made")
    return path


def _unfit(path: str | os.PathLike[str], reason: object) -> InvalidValue:
    return InvalidValue(f"Cannot use {os.fspath(path)!r} as the folder of results: {reason}; choose another.")


def _same(path: Path, file: str) -> bool:
    return os.path.exists(file) and os.path.samefile(path, file)


def _prepared(folder: Path, study: Study) -> Parts:
    """The folder as a sweep begins or goes on, with the study that these are the results of."""
    parts = Parts(folder / "parts")
    try:
        parts.folder.mkdir(exist_ok=True)
    except OSError as error:
        raise _unfit(folder, f"{error.strerror} ({parts.folder.name})") from None
    for place in (folder, *parts.folder.iterdir()):
        remove_unfinished(place)
    target = folder / "study.toml"
    if study.source and not (target.exists() and _same(target, study.file)):
        with written_whole(target) as temporary:
            temporary.write_text(study.source, encoding="utf-8")
    return parts


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """One sweep at a time in a folder; the system lets go of the lock if the process is killed."""
    try:
        import fcntl
    except ImportError:  # not on this system: two sweeps in one folder only do some work twice
        yield folder
        return
    try:
        file = open(folder / ".lock", "w")  # noqa: SIM115 - closed below
    except OSError as error:
        raise _unfit(folder, f"{error.strerror} (.lock)") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidValue(
                f"Another sweep is at work in {os.fspath(folder)!r}; wait for it, or choose another folder."
            ) from None
        yield folder
