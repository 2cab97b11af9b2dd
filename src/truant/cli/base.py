"""What all commands share: the group and its help, how it refuses and is stopped, what it prints, values of options.

With --json, standard output holds the document and nothing else, whatever libraries print. It is set aside for the
document when the option is parsed; from then on everything else that is printed there goes to standard error. If the
process ends with the command, file descriptor 1 leads there, too: this includes output of child processes, of code in
C, and of threads that outlive the command.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from truant.errors import InvalidValue, TruantError, problem, problem_document, visible

if TYPE_CHECKING:
    from rich.console import Console

OWN_PROCESS = "the process ends with the command"  # the `obj` of its context
OUTPUT = "truant.document-output"  # in `meta` of a context: the file descriptor or stream of documents


def set_output_aside(ctx: click.Context, parameter: click.Parameter, asked: bool) -> bool:
    """If --json is asked for: for the rest of the process if it ends with the command, else until the command ends."""
    if asked and not ctx.resilient_parsing:
        if ctx.obj is OWN_PROCESS and _descriptor(sys.stdout) == 1:
            ctx.meta[OUTPUT] = _redirect_descriptor()
        else:
            ctx.meta[OUTPUT] = sys.stdout
            ctx.with_resource(contextlib.redirect_stdout(sys.stderr))
    return asked


def _descriptor(stream: TextIO | None) -> int | None:
    with contextlib.suppress(OSError, AttributeError):  # in memory, or None because it is closed
        return stream.fileno()  # type: ignore[union-attr]
    return None


def _redirect_descriptor() -> int:
    """Lead descriptor 1 to standard error; returns a copy of what it was, which child processes do not inherit."""
    standard_error = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else 2  # None: it is closed
    copy = os.dup(1)
    os.dup2(standard_error, 1)
    sys.stdout.flush()  # what was printed before and not yet written goes to standard error, too
    sys.stdout = sys.stderr
    return copy


def print_document(document: Mapping[str, Any], *, indent: int | None = 2) -> None:
    """Print a JSON document on standard output; `indent` is that of `json.dumps`."""
    text = json.dumps(document, indent=indent)
    output = click.get_current_context().meta.get(OUTPUT)
    if isinstance(output, int):
        with open(output, "w", encoding="utf-8", closefd=False) as stream:
            stream.write(f"{text}\n")
    elif output is not None:
        click.echo(text, file=output)


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


SECTIONS = {
    "Start here": ("demo", "which"),
    "Analyse a table": ("analyze", "plan"),
    "Run an experiment": (
        "create",
        "ask",
        "lookup",
        "tell",
        "status",
        "watch",
        "follow-up",
        "export",
    ),
    "Change an experiment": (
        "change",
        "arm",
        "pause",
        "resume",
        "end",
        "correct",
        "withdraw",
        "forget",
        "import",
        "close-windows",
    ),
    "Look after experiments": ("list", "events", "settle", "doctor", "clock", "backup", "restore"),
    "Simulate": ("simulate", "rehearse", "sweep"),
    "Look up names": ("worlds", "policies", "assumptions", "indices", "completion"),
}
OTHERS = "Commands"


def in_sections(names: list[str]) -> dict[str, list[str]]:
    """These commands by the heading that they come under, in the order in which they are listed."""
    placed = {name for listed in SECTIONS.values() for name in listed}
    found = {heading: [name for name in listed if name in names] for heading, listed in SECTIONS.items()}
    found[OTHERS] = [name for name in names if name not in placed]
    return {heading: listed for heading, listed in found.items() if listed}


class SectionedGroup(click.Group):
    """Commands that help lists by what a person wants to do, each with its first sentence, which is never cut."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the headings and their commands."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        shown = {name: command for name, command in found.items() if command and not command.hidden}
        width = max(map(len, shown))
        for heading, names in in_sections(list(shown)).items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(f"{name:<{width}}", shown[name].get_short_help_str(limit=1000)) for name in names]
                )


def examples(*lines: str) -> str:
    """The examples below the options of a command, each in a line of its own."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


SENTENCE = "Compiling for the first use; this takes some seconds, and later starts are quick ..."


class CompileNotice(logging.Handler):
    """Prints a line on standard error when the first function is compiled that was not kept on disk."""

    def __init__(self) -> None:
        super().__init__()
        self._said = False

    def emit(self, record: logging.LogRecord) -> None:
        """Say it, once."""
        if not self._said:
            self._said = True
            click.echo(SENTENCE, err=True)


def announce_compiling() -> None:
    """Have the line printed from now on."""
    logger = logging.getLogger("truant.compile")
    logger.setLevel(logging.INFO)
    logger.addHandler(CompileNotice())


# commands that are no more, with their successors
REPLACED = {"reproduce": "python -m research reproduce, in a clone of truant's repository"}


class Commands(SectionedGroup):
    """Commands whose refusals are one sentence on stderr and exit code 2; with --json a problem document."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember whether a command was asked for JSON: its errors are then JSON too."""
        ctx.meta["truant.json"] = "--json" in args
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; one that is no more answers with its successor."""
        if args[0] in REPLACED:
            raise click.UsageError(f"truant {args[0]} was replaced by {REPLACED[args[0]]}.", ctx)
        return super().resolve_command(ctx, args)

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
            from truant.registry import package_at_fault, said

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


def given_once(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str | None:
    """The value of an option that may be given once: click would take the last of several without a word."""
    if len(values) > 1:
        raise click.UsageError(f"{parameter.opts[0]} may be given once, got {len(values)} of them.", ctx)
    return values[0] if values else None


def removed(option: str, successor: str, difference: str) -> Callable[[Any], Any]:
    """An option that is no more, which answers with its successor."""
    return gone(option, f"was replaced by {successor}, {difference}")


def gone(option: str, what: str, *, is_flag: bool = False) -> Callable[[Any], Any]:
    """An option that is no more, which says what became of it."""

    def refuse(ctx: click.Context, parameter: click.Parameter, values: Any) -> None:
        if values:
            raise click.UsageError(f"{option} {what}.", ctx)

    kind: Any = {"is_flag": True} if is_flag else {"multiple": True}
    words = f"{what[0].upper()}{what[1:]}."
    return click.option(option, hidden=True, expose_value=False, callback=refuse, help=words, **kind)


as_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=set_output_aside,
    help="Print JSON; errors are JSON, too.",
)
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
