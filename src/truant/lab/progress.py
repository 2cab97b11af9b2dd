"""A progress bar on standard error, with the time left; none where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    word: str, total: int, wanted: bool | None, done: int = 0
) -> Iterator[Callable[[int], None]]:
    """Yields a function that is told how much is done; `wanted` None means: if standard error is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(word), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    off = not console.is_terminal if wanted is None else not wanted
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, console=console, transient=True, disable=off) as bar:
        task = bar.add_task("", total=total, completed=done)
        yield lambda now: bar.update(task, completed=now)
