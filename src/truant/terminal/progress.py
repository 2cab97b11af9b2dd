"""A progress bar on standard error, with the time left; or a function that is called instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from truant.setting import switch

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
