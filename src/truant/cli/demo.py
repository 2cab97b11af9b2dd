"""`truant demo`: shows what truant does, on simulated mails whose outcomes are often missing."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from pathlib import Path

import click

from truant.cli.base import as_json, cli, is_terminal, say
from truant.cli.interrupts import exit_stopped
from truant.cli.sections import examples

OPENING = (
    "Three mails, simulated, so that the true mean of each is known. Everything is computed now; the first run also "
    "compiles code and takes about a minute."
)

WIDEST = 100  # columns of a line that is read with ease


@cli.command(epilog=examples("truant demo", "truant demo --out first-look --json"))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/demo"),
    show_default=True,
    help="Folder for the page, a picture, the tables and the SQLite file of the experiment; made if it is not there.",
)
@as_json
def demo(out: Path, as_json: bool) -> None:
    """Show what truant does, in about a minute.

    A table on which dropping the rows with a missing outcome names the wrong mail, and what truant says; a policy that
    learns although outcomes are missing, beside one that does not; and a live experiment on SQLite. All of it goes to
    one page. Files of an earlier demo in the folder are replaced.
    """

    def progress(line: str) -> None:
        say(_wrapped(line), err=as_json)

    from truant.demo.extras import require_extras

    require_extras()
    progress(OPENING)  # before anything that takes time
    from truant.demo.run import run_demo

    try:
        made = run_demo(out, say=progress, program=_program())
    except KeyboardInterrupt:
        exit_stopped(f"Stopped before the page was written; finished tables, if any, are in {out}.")
    if as_json:
        click.echo(json.dumps(made.summary(), indent=2))
        return
    say(f"Computed in {made.seconds:.0f} s. All of it on one page: {_shown(made.page)}")
    say("Next:")
    for what, command in made.commands:
        say(f"  # {what.rstrip(':')}")
        say(f"  {command}")


def _wrapped(line: str) -> str:
    """A line of progress; in a terminal, its second line is indented as the first."""
    if not is_terminal():
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    width = min(shutil.get_terminal_size().columns, WIDEST)
    return textwrap.fill(line, width, subsequent_indent=indent)


def _program() -> str:
    """How this command was called, so that the next commands can be copied."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" and "truant" in called.parts:
        return "python -m truant"
    found = shutil.which("truant")
    if called.stem != "truant" or (found is not None and Path(found).resolve() == called.resolve()):
        return "truant"
    return os.path.relpath(called)


def _shown(page: Path) -> str:
    """A link for a terminal, else the path."""
    return page.resolve().as_uri() if is_terminal() else os.fspath(page)
