"""`truant watch`: an experiment in the terminal, again and again."""

from __future__ import annotations

import json
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import click

from truant.cli.base import console, integer, is_terminal
from truant.cli.interrupts import exit_stopped
from truant.cli.live.base import check_whole, live_command, opened, written

if TYPE_CHECKING:
    from truant.live.experiment import Experiment
    from truant.terminal.live import WatchDisplay

LAST = 5  # events below the table
PAGE = 1000  # events of one query


@live_command("watch")
@click.argument("name")
@click.option("--every", default="2s", show_default=True, metavar="2s", help="Time between two updates.")
@click.option(
    "--times",
    type=integer,
    metavar="N",
    help="Number of updates.  [default: until Ctrl-C; 1 if the output is piped]",
)
def watch(name: str, every: str, times: int | None, store: str | None, as_json: bool) -> None:
    """Show the status and the last events, again and again.

    Intervals are confidence sequences here; `truant status` calibrates them. If the output is piped it is plain text,
    or with --json one document in each line.
    """
    from truant.durations import SECOND, duration

    pause = duration("every", every) / SECOND
    if times is not None:
        check_whole("times", times, 1)
    try:
        with opened(name, store) as experiment:
            if is_terminal() and not as_json:
                _live(Looks(experiment), pause, times)
            else:
                _plain(Looks(experiment), pause, times or 1, as_json)
    except KeyboardInterrupt:  # which is how a watch ends
        exit_stopped()


class Looks:
    """One look after the other at an experiment; only new events are read."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment, self._after = experiment, 0
        self._events: deque[dict[str, Any]] = deque(maxlen=LAST)

    def document(self) -> dict[str, Any]:
        """The status, for JSON."""
        return self._experiment.status(calibrate=False, progress=False).summary()

    def display(self) -> WatchDisplay:
        """The status and the last events."""
        from truant.terminal.live import WatchDisplay

        status = self._experiment.status(calibrate=False, progress=False)
        while new := self._experiment.events(self._after, PAGE):
            self._after = new[-1]["number"]
            self._events.extend(one | {"at": written(one["at"])} for one in new)
        return WatchDisplay(status, list(self._events))


def _live(looks: Looks, pause: float, times: int | None) -> None:
    from rich.live import Live

    with Live(looks.display(), console=console(), auto_refresh=False, vertical_overflow="crop") as live:
        live.refresh()
        done = 1
        while times is None or done < times:
            time.sleep(pause)
            live.update(looks.display(), refresh=True)
            done += 1


def _plain(looks: Looks, pause: float, times: int, as_json: bool) -> None:
    for done in range(times):
        if done:
            time.sleep(pause)
        if as_json:
            click.echo(json.dumps(looks.document()))
        else:
            console().print(looks.display())
