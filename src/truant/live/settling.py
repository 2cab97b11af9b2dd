"""Settles all experiments of a store, so that asks need not: once, or in a thread until it is stopped."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

from truant.errors import TruantError
from truant.live.experiment import Experiment, experiments
from truant.live.store import Store
from truant.live.times import Clock

PAUSE = 1.0  # seconds between two looks


class Settling:
    """Looks again and again for windows that are over, and closes them; others may do the same at once.

    Used with `with`, it does so in a thread. What it has counted so far is in `decisions`, by experiment.

    Parameters
    ----------
    store : whose experiments; also those that are created later.
    names : of some experiments; all of them unless given.
    clock : as of `Experiment.open`.
    report : called with the name of an experiment and a number of decisions, whenever some were counted.
    """

    def __init__(
        self,
        store: Store,
        names: Sequence[str] = (),
        clock: Clock | None = None,
        report: Callable[[str, int], None] = lambda name, decisions: None,
    ) -> None:
        self._store, self._names, self._report = store, names, report
        self._options: dict[str, Any] = {} if clock is None else {"clock": clock}
        self._opened: dict[str, Experiment] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.decisions: dict[str, int] = {}
        self.error: TruantError | None = None  # of the last look, which is repeated

    def once(self) -> dict[str, int]:
        """Count everything that is due now, by experiment."""
        found = {}
        for name in self._names or [one["name"] for one in experiments(self._store)]:
            if name not in self._opened:
                self._opened[name] = Experiment.open(name, store=self._store, settles=False, **self._options)
                self.decisions[name] = 0
            found[name] = self._opened[name].close_windows()
            self.decisions[name] += found[name]
            if found[name]:
                self._report(name, found[name])
        self._store.tidy()
        return found

    def run(self) -> None:
        """Look about every second until `stop`; a store that cannot be reached is tried again."""
        while not self._stopped.is_set():
            try:
                self.once()
                self.error = None
            except TruantError as error:
                self.error = error
            self._stopped.wait(PAUSE * random.uniform(0.8, 1.2))  # several do not look at the same moment

    def stop(self) -> None:
        """End `run` after the look that it is at."""
        self._stopped.set()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.run, name="truant settle", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join()
