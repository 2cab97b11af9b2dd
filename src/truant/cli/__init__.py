"""Thin commands over the library. Heavy imports sit inside the commands, so that help comes at once."""

from __future__ import annotations

import io
import sys
import warnings

# each adds its commands
from truant.cli import lab, listings, live, rehearse, tables, which  # noqa: F401
from truant.cli.base import OWN_PROCESS, announce_compiling, cli
from truant.errors import visible

__all__ = ["cli", "main"]


def main() -> None:
    """The entry point of the `truant` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a sign gets "?" in its place
    warnings.formatwarning = _sentence  # a user of commands has no use for the line of code
    announce_compiling()
    cli(prog_name="truant", obj=OWN_PROCESS)


def _sentence(message: Warning | str, *place: object, **more: object) -> str:
    return f"{visible(str(message))}\n"
