"""Where tasks run: on threads, on processes, or on Ray, all through joblib."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any

from truant.errors import TruantError, unknown
from truant.extras import require
from truant.play.run import cores
from truant.setting import whole_number

BACKENDS = ("threads", "processes", "ray")
IDLE_SECONDS = 10  # of a process
CONNECT_SECONDS = 10  # for a cluster to answer; Ray itself waits for minutes, and may then end the process

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

    with _joblib_name(backend, count) as name:
        jobs = count or (-1 if backend == "ray" else cores())
        # processes whose parent was killed end by themselves, soon after their last task
        options = {"idle_worker_timeout": IDLE_SECONDS} if backend == "processes" else {}
        # one task at a time: a batch would be lost as a whole, and its results held back
        parallel = joblib.Parallel(
            n_jobs=jobs,
            backend=name,
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch="2*n_jobs",
            **options,
        )

        def run(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Generator[Any]:
            calls = (joblib.delayed(function)(*each) for each in arguments)
            with _interrupts_held_back() if backend == "processes" else contextlib.nullcontext():
                results: Generator[Any] = parallel(calls)
            return results

        try:
            yield run
        except BrokenExecutor as error:
            raise LostWorker("A worker process was ended from outside.") from error


@contextmanager
def _joblib_name(backend: str, count: int | None) -> Iterator[str]:
    if backend != "ray":
        yield {"threads": "threading", "processes": "loky"}[backend]
        return
    require("ray", "Sweeps with backend='ray'")
    import joblib
    import ray
    from ray.util.joblib.ray_backend import RayBackend

    class Streaming(RayBackend):  # type: ignore[misc]
        """Ray's own says that it cannot give results as they come; its pool can."""

        supports_return_generator = True

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
        # Ray reports lost workers on stdout, where JSON may be awaited
        with contextlib.redirect_stdout(sys.stderr):
            yield "truant-ray"
    except ray.exceptions.RayError as error:
        if isinstance(error, ray.exceptions.RayTaskError):  # it says what a task raised
            raise
        raise LostWorker("A worker of the cluster was lost.") from error
    finally:
        if own:
            ray.shutdown()


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
