"""Where tasks run: on threads, on processes, or on Ray, all through joblib."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any

from truant.errors import MissingExtra, TruantError, unknown
from truant.play.run import cores
from truant.setting import whole_number

BACKENDS = ("threads", "processes", "ray")
IDLE_SECONDS = 10  # of a process


@contextmanager
def workers(
    backend: str, count: int | None = None
) -> Iterator[Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Generator[Any]]]:
    """A function that calls another with each of some arguments, and gives the results as they come.

    Parameters
    ----------
    backend : "threads", "processes" or "ray" (a cluster that RAY_ADDRESS names, else this machine).
    count : how many at a time; all cores, or all of the cluster's, unless given.
    """
    if backend not in BACKENDS:
        raise unknown("backend", str(backend), BACKENDS)
    if count is not None:
        count = whole_number("workers", count, at_least=1)
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
            results: Generator[Any] = parallel(joblib.delayed(function)(*each) for each in arguments)
            return results

        try:
            yield run
        except BrokenExecutor:
            raise _lost_worker() from None


@contextmanager
def _joblib_name(backend: str, count: int | None) -> Iterator[str]:
    if backend != "ray":
        yield {"threads": "threading", "processes": "loky"}[backend]
        return
    try:
        import ray
        from ray.util.joblib.ray_backend import RayBackend
    except ImportError:
        raise MissingExtra('The backend "ray" needs the ray extra: pip install "truant[ray]".') from None
    import joblib

    class Streaming(RayBackend):  # type: ignore[misc]
        """Ray's own says that it cannot give results as they come; its pool can."""

        supports_return_generator = True

    joblib.register_parallel_backend("truant-ray", Streaming)
    own = not ray.is_initialized()
    if own:
        local = (
            {} if "RAY_ADDRESS" in os.environ else {"num_cpus": count or cores(), "include_dashboard": False}
        )
        try:
            ray.init(log_to_driver=False, logging_level="ERROR", **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            said = str(error).strip().partition("\n")[0].rstrip(".")
            raise TruantError(f"Ray does not start: {said}; check RAY_ADDRESS and the cluster.") from error
    try:
        yield "truant-ray"
    except ray.exceptions.RayError as error:
        if isinstance(error, ray.exceptions.RayTaskError):  # it says what a task raised
            raise
        raise _lost_worker() from None
    finally:
        if own:
            ray.shutdown()


def _lost_worker() -> TruantError:
    return TruantError(
        "A worker process was ended from outside, perhaps for want of memory; what was done is kept: run the sweep "
        "again, with fewer workers."
    )
