"""Sweep: a whole study, on threads, processes or Ray; what is done is kept, and not done again."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from typing import Any

import numpy as np

from truant.documents.progress import progress_bar
from truant.errors import InvalidValue, TruantError, quoted, require, unknown
from truant.files import locked
from truant.lab.records import SweepSize
from truant.lab.study import Columns, Study, Task, check, plan_at, tasks, work
from truant.lab.study_file import read_study, study_of
from truant.lab.sweep_result import SweepResult, gather
from truant.lab.sweep_runs import KeptRuns, prepared, results_folder
from truant.play.run import cores, play
from truant.setting import IntArray, whole_number
from truant.spec import Spec

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


def size(study: str | os.PathLike[str] | Mapping[str, Any] | Study) -> SweepSize:
    """Check a study, and say how large it is; nothing is run."""
    study = _read(study)
    everything = list(tasks(study, check(study)))
    return SweepSize(
        points=sum(1 for _ in study.points()),
        policies=max(len(block.choices) for block in study.blocks),
        runs=study.runs,
        tasks=len(everything),
        rounds=_rounds(everything),
    )


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
        results = None
        try:
            results = run(work, handed_out())
            for result in results:  # noqa: UP028 - `yield from` would close them before threads are told
                yield result
        except BaseException:
            stop[0] = 1  # threads that are still at work end soon
            close_early(results)
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


BACKENDS = ("threads", "processes", "ray")
IDLE_SECONDS = 10  # of a process
CONNECT_SECONDS = 10  # for a cluster to answer; Ray itself waits for minutes, and may then end the process
END_SECONDS = 30  # for idle workers of Ray to end; Ray itself kills actors that need longer

TRY_CLUSTER = """
import ray
print("imported", flush=True)
ray.init(log_to_driver=False, logging_level="ERROR")
"""


class LostWorker(TruantError):
    """A worker process was ended from outside, with the task that it had."""


def check_workers(backend: object, count: object) -> int | None:
    """The number of workers, if it can be and the backend is known; or raises an error."""
    if not isinstance(backend, str) or backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    return None if count is None else whole_number("workers", count, at_least=1)


@contextmanager
def workers(
    backend: str, count: int | None = None
) -> Iterator[Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Generator[Any]]]:
    """A function that calls another with each of some arguments, and gives the results as they come.

    Parameters
    ----------
    backend : "threads", "processes" or "ray" (a cluster that RAY_ADDRESS names, else this machine).
    count : how many at a time; all cores, or all of the cluster's, unless given.

    A worker that is ended from outside raises LostWorker; others may have been at work, too.
    """
    count = check_workers(backend, count)
    import joblib

    with _joblib_backend(backend, count) as joblib_backend:
        jobs = count or (-1 if backend == "ray" else cores())
        # processes whose parent was killed end by themselves, soon after their last task
        options = {"idle_worker_timeout": IDLE_SECONDS} if backend == "processes" else {}
        # one task at a time: a batch would be lost as a whole, and its results held back
        parallel = joblib.Parallel(
            n_jobs=jobs,
            backend=joblib_backend,
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch="2*n_jobs",
            **options,
        )

        def run(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Generator[Any]:
            calls = (joblib.delayed(function)(*each) for each in arguments)
            results: Generator[Any] | None = None
            try:
                with _interrupts_held_back() if backend == "processes" else contextlib.nullcontext():
                    results = parallel(calls)
            except BaseException:  # an interrupt that was held back
                close_early(results)
                raise
            return results

        try:
            yield run
        except BrokenExecutor as error:
            raise LostWorker("A worker process was ended from outside.") from error


def close_early(results: Generator[Any] | None) -> None:
    """Give up the results that are still to come."""
    if results is not None:
        with warnings.catch_warnings():  # joblib would count what it throws away
            warnings.simplefilter("ignore")
            results.close()


@contextmanager
def _joblib_backend(backend: str, count: int | None) -> Iterator[Any]:
    """What joblib knows it by: its name, or an object."""
    if backend != "ray":
        yield "threading" if backend == "threads" else _processes()
        return
    require("ray", "Sweeps with backend='ray'")
    import joblib
    import ray
    from ray.util.joblib.ray_backend import RayBackend

    class Streaming(RayBackend):  # type: ignore[misc]
        """Ray's backend for joblib, which also gives results as they come and ends its workers without errors."""

        supports_return_generator = True  # Ray's own class says that it cannot; its pool can
        _pool: Any

        def terminate(self) -> None:
            """Let the workers end by themselves: Ray reports one as lost if it is killed while it ends."""
            pool, self._pool = self._pool, None
            if pool is not None:
                try:
                    pool.close()
                    pool._wait_for_stopping_actors(END_SECONDS)
                finally:
                    pool.terminate()  # kills those that have not ended
            super().terminate()

        def abort_everything(self, ensure_ready: bool = True) -> None:
            """Kill the workers, whatever they are doing."""
            if self._pool is not None:
                for worker, _ in self._pool._actor_pool:
                    ray.kill(worker)
            super().abort_everything(ensure_ready)

    joblib.register_parallel_backend("truant-ray", Streaming)
    own = not ray.is_initialized()
    if own:
        address = os.environ.get("RAY_ADDRESS")
        if address:
            _check_cluster(address)
        local = {} if address else {"num_cpus": count or cores(), "include_dashboard": False}
        try:
            with _signals_kept():
                ray.init(log_to_driver=False, logging_level="ERROR", **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            said = str(error).strip().partition("\n")[0].rstrip(".")
            raise TruantError(f"Ray does not start: {said}; check RAY_ADDRESS and the cluster.") from error
    try:
        yield "truant-ray"
    except ray.exceptions.RayError as error:
        if isinstance(error, ray.exceptions.RayTaskError):  # it says what a task raised
            raise
        raise LostWorker("A worker of the cluster was lost.") from error
    finally:
        if own:
            ray.shutdown()


def _processes() -> Any:
    """Joblib's own processes, which end without an error although tasks wait that no process has begun."""
    from joblib._parallel_backends import LokyBackend

    class Processes(LokyBackend):  # type: ignore[misc]
        """loky, whose thread would look up tasks that it has given up, and end with a KeyError."""

        def abort_everything(self, ensure_ready: bool = True) -> None:
            """End all processes at once."""
            waiting = self._workers._work_ids
            with contextlib.suppress(queue.Empty):
                while True:
                    waiting.get_nowait()
            super().abort_everything(ensure_ready)

    return Processes()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C reaches a whole group of processes: those that start here leave it to this one, which gets it later."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # else it is started below, and lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray puts a handler of its own in place of the one that ends the sweep in order."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    with contextlib.suppress(ValueError):  # not in the main thread, where Ray cannot do it either
        signal.signal(signal.SIGTERM, before)


def _check_cluster(address: str) -> None:
    """Refuse an address where no cluster answers: tried in a process of its own, since Ray cannot be called off."""
    command = [sys.executable, "-c", TRY_CLUSTER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as trial:
        try:
            trial.stdout.readline()  # type: ignore[union-attr]
            answered = trial.wait(CONNECT_SECONDS) == 0
        except subprocess.TimeoutExpired:
            answered = False
        finally:
            trial.kill()
    if not answered:
        raise TruantError(
            f"No Ray cluster answers at RAY_ADDRESS={address!r} within {CONNECT_SECONDS} seconds; check the address "
            "and the cluster, or unset RAY_ADDRESS to use this machine."
        )
