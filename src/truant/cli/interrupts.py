"""Ctrl-C and SIGTERM: both end a command as an interrupt, which keeps what is finished; exit codes 130 and 143."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

from truant.text import visible

_received: int = signal.SIGINT  # the signal that came last; KeyboardInterrupt does not say


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block SIGTERM, as from a scheduler, does what Ctrl-C does; a signal that is ignored stays so."""
    global _received
    _received = signal.SIGINT
    before = {}
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) == usual:
            try:
                before[number] = signal.signal(number, _interrupt)
            except ValueError:  # signals come to the main thread, and this is another
                break
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    global _received
    _received = number
    raise KeyboardInterrupt


def exit_stopped(sentence: str = "") -> NoReturn:
    """End the command as its signal asks, after saying what is kept."""
    if sentence:
        click.echo(visible(sentence), err=True)
    sys.exit(128 + _received)
