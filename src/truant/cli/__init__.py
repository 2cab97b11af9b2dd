"""Thin commands over the library. Heavy imports sit inside the commands, so that help comes at once."""

from __future__ import annotations

import io
import sys
import warnings

# each adds its commands
from truant.cli import (  # noqa: F401
    analyze,
    completion,
    demo,
    listings,
    live,
    plan,
    rehearse,
    reproduce,
    simulate,
    sweep,
    which,
)
from truant.cli.base import cli
from truant.cli.notices import announce_compiling
from truant.text import visible

__all__ = ["cli", "main"]


def main() -> None:
    """The entry point of the `truant` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a sign gets "?" in its place
    warnings.formatwarning = _sentence  # a user of commands has no use for the line of code
    announce_compiling()
    cli(prog_name="truant")


def _sentence(message: Warning | str, *place: object, **more: object) -> str:
    return f"{visible(str(message))}\n"
