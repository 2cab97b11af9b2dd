"""Progress on standard error: a bar with the time left, and how long estimates will take where that is long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

from truant.setting import switch

SOON = 8.0  # seconds, about which nobody needs to be told
MANY = 200  # levels of mediator times outcome, below which all is quick, but for loading compiled code
LIMITS = 1.6  # at least, times what the maxima take: limits, tests and tipping points come after them

OnProgress = Callable[[float], None]  # the share that is done


@contextmanager
def progress_bar(text: str, wanted: bool | OnProgress | None) -> Iterator[OnProgress]:
    """Yield a function to call with the share that is done.

    Parameters
    ----------
    text : before the bar.
    wanted : whether to draw it; None if standard error is a terminal; a function is called in its place.
    """
    if callable(wanted):
        yield wanted
        return
    if wanted is not None:
        switch("progress", wanted)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    off = not console.is_terminal if wanted is None else not wanted
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=False))
    with Progress(*columns, *times, console=console, transient=True, disable=off) as bar:
        task = bar.add_task(text, total=1.0)
        yield lambda share: bar.update(task, completed=share)


class Pace:
    """Is told of each arm that was fitted; says how long the others will take, by the first of them.

    Parameters
    ----------
    arms, mediators, outcomes : how many there are of each.
    wanted : False says and shows nothing; a function is told elsewhere.
    """

    def __init__(self, arms: int, mediators: int, outcomes: int, wanted: bool | OnProgress | None) -> None:
        self.sizes = arms, mediators, outcomes
        self.wanted = wanted
        self._opened = ExitStack()
        self._show: OnProgress | None = None
        self._seconds: dict[str, list[float]] = {}

    def __enter__(self) -> Pace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def __call__(self, assumption: str, seconds: float) -> None:
        """An arm was fitted under this assumption, which took so long."""
        if self.wanted is False or callable(self.wanted):
            return
        times = self._seconds.setdefault(assumption, [])
        times.append(seconds)
        arms = self.sizes[0]
        expected = LIMITS * seconds * arms
        many = self.sizes[1] * self.sizes[2] >= MANY
        if self._show is None and len(times) == 1 and many and expected > SOON:
            print(self.sentence(assumption, expected), file=sys.stderr, flush=True)
            self._show = self._opened.enter_context(progress_bar(assumption, self.wanted))
        if self._show is not None:
            self._show(len(times) / arms / LIMITS)

    def sentence(self, assumption: str, seconds: float) -> str:
        """How long, why, and what would be faster."""
        arms, mediators, outcomes = self.sizes
        about = f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
        return (
            f"{assumption} takes at least {about} for {arms} arms x {mediators} mediator levels x {outcomes} outcome "
            "levels; coarser levels are faster: cut the mediator, as in NAME:5, or the outcome (--cut-outcome 5)."
        )
