"""What all commands share: the group, how it refuses, and the kinds of values that options take."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from truant.cli.interrupts import exit_stopped, interruptible
from truant.cli.sections import SectionedGroup
from truant.errors import InvalidValue, TruantError, problem, problem_document
from truant.text import visible

if TYPE_CHECKING:
    from rich.console import Console


class Commands(SectionedGroup):
    """Commands whose refusals are one sentence on stderr and exit code 2; with --json a problem document."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember whether a command was asked for JSON: its errors are then JSON too."""
        ctx.meta["truant.json"] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what truant refuses is said in one sentence."""
        try:
            with interruptible():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            before = _written(ctx)
            exit_stopped(f"Stopped after writing {before}." if before else "Stopped.")
        except MemoryError:
            _refuse(
                ctx, InvalidValue("This needs more memory than there is; ask for fewer arms, levels or runs.")
            )
        except OSError as error:  # standard output is closed, or its disk is full
            if isinstance(error, BrokenPipeError):
                raise
            _refuse(ctx, InvalidValue(f"Cannot print the result: {error.strerror or error}."))
        except (TruantError, click.UsageError) as error:
            if isinstance(error, click.UsageError) and not ctx.meta["truant.json"]:
                # click says it well, with a hint at --help, and quotes what was typed
                raise click.UsageError(visible(error.format_message()), ctx=error.ctx) from None
            _refuse(ctx, error)
        except Exception as error:
            from truant.plugins import said
            from truant.registry import package_at_fault

            package = package_at_fault(error)
            if package is None:
                raise
            _refuse(ctx, InvalidValue(f"A part of {package} failed: {said(error)}."))


def wrote(path: Path) -> Path:
    """Note that an output of the command is there: whatever happens later, its end says so."""
    click.get_current_context().meta.setdefault("truant.written", []).append(path)
    return path


def _written(ctx: click.Context) -> str:
    return ", ".join(visible(str(path)) for path in ctx.meta.get("truant.written", []))


def _refuse(ctx: click.Context, error: TruantError | click.UsageError) -> NoReturn:
    if isinstance(error, TruantError) and _written(ctx):
        error = error.advising(f"Written before: {_written(ctx)}.")
    if isinstance(error, click.UsageError):
        document = problem_document("Invalid usage", 400, visible(error.format_message()))
    else:
        document = problem(error)
    click.echo(json.dumps(document) if ctx.meta["truant.json"] else document["detail"], err=True)
    ctx.exit(2)


# What is not a number is handed on as it was typed: the library refuses it, in the same words as in Python.


def number(text: str) -> Any:
    """A number."""
    with contextlib.suppress(ValueError):
        return float(text)
    return text


def integer(text: str) -> Any:
    """A whole number, also written 1e5 or 100_000."""
    with contextlib.suppress(ValueError):
        return int(text)
    found = number(text)
    return int(found) if isinstance(found, float) and found.is_integer() else found


def numbers(text: str) -> Any:
    """Numbers with commas between them."""
    with contextlib.suppress(ValueError):
        return tuple(float(part) for part in text.split(","))
    return text


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="truant", prog_name="truant", message="%(prog)s %(version)s")
def cli() -> None:
    """Bandits and adaptive experiments with missing outcomes.

    Every command has its own help: truant COMMAND --help
    """


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON; errors are JSON, too.")
seeded = click.option(
    "--seed",
    type=integer,
    default=0,
    show_default=True,
    help="Seed of the random numbers; the same seed gives the same result.",
)


def say(sentence: str, *, err: bool = False) -> None:
    """Print a sentence; whatever it quotes cannot give orders to the terminal."""
    click.echo(visible(sentence), err=err)


def is_terminal() -> bool:
    """Whether a person sees what is printed."""
    return sys.stdout is not None and sys.stdout.isatty()


def console() -> Console:
    """Where tables are printed."""
    from rich.console import Console

    # what is piped or kept in a file has no width: leave nothing out
    return Console() if is_terminal() else Console(width=200)
