"""Thin commands over the library. Heavy imports sit inside the commands, so that help comes at once."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import CompletionItem, get_completion_class

from truant.errors import InvalidValue, MissingExtra, NotIdentified, TruantError, UnknownName

if TYPE_CHECKING:
    from rich.console import Console

    from truant.lab.result import Simulation

PLURALS = {"assumption": "assumptions", "index": "indices", "policy": "policies", "world": "worlds"}
SHELLS = ("bash", "zsh", "fish")

# RFC 9457: the title of each kind of error, and the HTTP status that it would have
PROBLEMS: dict[type[Exception], tuple[str, int]] = {
    UnknownName: ("Unknown name", 404),
    NotIdentified: ("Not identified", 422),
    MissingExtra: ("Missing extra", 501),
    InvalidValue: ("Invalid value", 400),
    click.UsageError: ("Invalid usage", 400),
}


class Commands(click.Group):
    """Commands whose refusals are one sentence on stderr and exit code 2; with --json a problem document."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember whether a command was asked for JSON: its errors are then JSON too."""
        ctx.meta["truant.json"] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what truant refuses is said in one sentence."""
        try:
            return super().invoke(ctx)
        except MemoryError:
            _refuse(
                ctx, InvalidValue("This needs more memory than there is; ask for fewer arms, levels or runs.")
            )
        except (TruantError, click.UsageError) as error:
            if isinstance(error, click.UsageError) and not ctx.meta["truant.json"]:
                raise  # click says it well, with a hint at --help
            _refuse(ctx, error)


def _refuse(ctx: click.Context, error: TruantError | click.UsageError) -> NoReturn:
    detail = error.format_message() if isinstance(error, click.UsageError) else str(error)
    if ctx.meta["truant.json"]:
        found = [problem for kind, problem in PROBLEMS.items() if isinstance(error, kind)]
        title, status = found[0] if found else ("Error", 400)
        kind = "urn:truant:error:" + title.lower().replace(" ", "-")
        detail = json.dumps({"type": kind, "title": title, "status": status, "detail": detail})
    click.echo(detail, err=True)
    ctx.exit(2)


def integer(text: str) -> int:
    """A whole number, also written 1e5 or 100_000."""
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        if float(text).is_integer():
            return int(float(text))
    raise click.BadParameter(f"{text!r} is not a whole number.")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="truant", prog_name="truant", message="%(prog)s %(version)s")
def cli() -> None:
    """Bandits and adaptive experiments whose outcomes do not always show up."""


def _complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from truant import registry
    from truant.policies import policy_names

    known = registry.names("world") if param.name == "world" else policy_names()
    return [CompletionItem(name) for name in known if name.startswith(incomplete)]


def _complete_assumptions(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from truant import registry

    return [CompletionItem(name) for name in registry.names("assumption") if name.startswith(incomplete)]


def _complete_keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from truant import registry

    world = ctx.params.get("world")
    if world not in registry.names("world"):
        return []
    keys = registry.find("world", world).parameters
    return [CompletionItem(f"{key}=") for key in keys if f"{key}=".startswith(incomplete)]


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, and errors as JSON too.")


@cli.command()
@click.option("--world", required=True, shell_complete=_complete_names, help="See `truant worlds`.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    shell_complete=_complete_names,
    help="See `truant policies`; may be repeated, also with parameters as in mar-ucb:level=cautious.  "
    "[default: naive-ucb, the ucb of the world's own assumption, oracle-ucb]",
)
@click.option("--horizon", type=integer, default=10_000, show_default=True, help="Rounds of each run.")
@click.option("--runs", type=integer, default=20, show_default=True, help="Each a new instance of the world.")
@click.option("--seed", type=integer, default=0, show_default=True, help="The same seed, the same numbers.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=_complete_keys,
    help="A parameter of the world, e.g. gamma=0.5,1.0; may be repeated.",
)
@click.option("--threads", type=integer, default=None, help="[default: all cores]")
@click.option(
    "--chart", type=click.Path(path_type=Path), help="Write a chart: .png, .svg or interactive .html."
)
@click.option("--log", is_flag=True, help="A logarithmic regret axis in the chart.")
@click.option("--out", type=click.Path(path_type=Path), help="Write all runs to a .parquet file.")
@as_json
def simulate(
    world: str,
    policies: tuple[str, ...],
    horizon: int,
    runs: int,
    seed: int,
    settings: tuple[str, ...],
    threads: int | None,
    chart: Path | None,
    log: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare policies in a world.

    Every policy faces the same instances, so that differences are paired. The result is a table, and a
    chart, a file or JSON for those who ask.
    """
    from truant import registry
    from truant.files import CHARTS, TABLES, output_path

    # before the work: a long simulation must not end in a file that cannot be written
    if chart:
        output_path(chart, CHARTS)
    if out:
        output_path(out, TABLES)
    from truant.lab.simulate import simulate as run

    parameters = registry.parse_parameters(list(settings))
    try:
        simulation = run(
            world,
            list(dict.fromkeys(policies)) or _default_policies(world),
            horizon=horizon,
            runs=runs,
            seed=seed,
            threads=threads,
            parameters=parameters,
        )
    except KeyboardInterrupt:
        click.echo("Stopped before the first run was finished; there is nothing to show.", err=True)
        sys.exit(130)
    if simulation.runs < runs:
        click.echo(f"Stopped after {simulation.runs} of {runs} runs; what follows is about these.", err=True)
    written = _write(simulation, out, chart, log)  # before anything that can fail, such as a closed pipe
    if as_json:
        click.echo(json.dumps(simulation.summary(), indent=2))
    else:
        _console().print(simulation)
    for path in written:
        click.echo(f"Wrote {path}", err=as_json)  # with --json, stdout is JSON and nothing else


def numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not numbers with commas between them, e.g. 0,1.") from None


@cli.command()
@click.argument("data")
@click.option("--arm", required=True, metavar="COLUMN", help="The column that says which arm a unit got.")
@click.option(
    "--outcome", required=True, metavar="COLUMN", help="The column with the outcome, and its holes."
)
@click.option(
    "--mediator",
    multiple=True,
    metavar="COLUMN[:N]",
    help="What was known in between; may be repeated. NAME:3 cuts a continuous one into thirds.",
)
@click.option("--control", metavar="ARM", help="The arm that the others are compared with.")
@click.option(
    "--assume",
    multiple=True,
    shell_complete=_complete_assumptions,
    help="See `truant assumptions`; may be repeated.  [default: all that are possible]",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of confidence intervals.")
@click.option(
    "--range", "range_", type=numbers, metavar="LOW,HIGH", help="Lowest and highest possible outcome."
)
@click.option(
    "--levels", type=numbers, metavar="0,1,...", help="Values of a discrete outcome.  [default: found out]"
)
@click.option("--missing-values", metavar="-99,NA", help="Further values that mean missing.")
@click.option("--observed", metavar="COLUMN", help="A column that says whether the outcome was observed.")
@click.option(
    "--expected-split",
    type=numbers,
    metavar="1,1,...",
    help="Share of units that each arm should have, sorted by arm.",
)
@click.option("--html", type=click.Path(path_type=Path), help="Write a page with charts: .html.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the estimates: .csv or .parquet.")
@as_json
def analyze(
    data: str,
    arm: str,
    outcome: str,
    mediator: tuple[str, ...],
    control: str | None,
    assume: tuple[str, ...],
    level: float,
    range_: tuple[float, ...] | None,
    levels: tuple[float, ...] | None,
    missing_values: str | None,
    observed: str | None,
    expected_split: tuple[float, ...] | None,
    html: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """What each arm of a table with holes is worth, under each assumption.

    DATA is a CSV or Parquet file (or a quoted glob of several), or the URL of a database table.
    """
    from truant.files import output_path
    from truant.logs.analyze import PAGES, TABLES
    from truant.logs.analyze import analyze as run

    if html:
        output_path(html, PAGES)
    if out:
        output_path(out, TABLES)
    if range_ is not None and len(range_) != 2:
        raise click.BadParameter("--range takes two numbers, e.g. 0,1.")
    result = run(
        data,
        arm=arm,
        outcome=outcome,
        mediator=mediator,
        control=control,
        assume=assume,
        level=level,
        range=None if range_ is None else (range_[0], range_[1]),
        levels=levels,
        missing_values=missing_values.split(",") if missing_values else (),
        observed=observed,
        expected_split=expected_split,
    )
    written = [result.save(out)] if out else []
    written += [result.report(html)] if html else []
    if as_json:
        click.echo(json.dumps(result.summary(), indent=2))
    else:
        _console().print(result)
    for path in written:
        click.echo(f"Wrote {path}", err=as_json)


def _default_policies(world: str) -> list[str]:
    """Everyone's habit, what the world's own assumption would do, and what could be done at best."""
    from truant import registry

    name = registry.find("world", registry.parse(world)[0]).name  # an unknown world is the first thing to say
    named_after = [known for known in registry.names("assumption") if f"{name}-".startswith(f"{known}-")]
    return ["naive-ucb", f"{max(named_after, key=len, default='mar')}-ucb", "oracle-ucb"]


def _write(simulation: Simulation, out: Path | None, chart: Path | None, log: bool) -> list[Path]:
    written = []
    if out:
        written.append(simulation.save(out))
    if chart:
        from truant.charts import save_chart

        written.append(save_chart(simulation.chart(log=log), chart))
    return written


def _console() -> Console:
    from rich.console import Console

    # what is piped or kept in a file has no width: leave nothing out
    return Console() if sys.stdout.isatty() else Console(width=200)


def _listing(kind: str, summary: str) -> None:
    """Add the command that lists the parts of a kind."""

    @cli.command(PLURALS[kind], help=summary)
    @as_json
    def command(as_json: bool) -> None:
        rows = list(_policies()) if kind == "policy" else list(_parts(kind))
        if as_json:
            click.echo(json.dumps(rows, indent=2, default=str))
        else:
            _show(rows)
            if kind == "policy":  # said once, for all
                click.echo("All take first_pulls=N as well: pulls of each arm before any choice.")


def _parts(kind: str) -> Iterable[dict[str, Any]]:
    from truant import registry

    for name in registry.names(kind):
        try:
            part = registry.find(kind, name)
        except InvalidValue as error:  # a broken part of another package; the others are still good
            yield {"name": name, "summary": str(error), "parameters": {}}
            continue
        needs = {"needs": part.build().needs} if kind == "assumption" else {}
        yield {"name": name, "summary": part.summary, **needs, "parameters": part.parameters}


def _policies() -> Iterable[dict[str, Any]]:
    from truant import registry
    from truant.policies import named
    from truant.policies.policy import FIRST_PULLS

    for_all = {FIRST_PULLS: None}  # None: the policy's own number
    assumptions, indices = list(_parts("assumption")), list(_parts("index"))
    for assumption in assumptions:
        for index in indices:
            name = f"{assumption['name']}-{index['name']}"
            if name in registry.names("policy"):  # it has a way of its own
                continue
            parameters = assumption["parameters"] | index["parameters"] | for_all
            yield {"name": name, "summary": named(name).summary, "parameters": parameters}
    for row in _parts("policy"):
        yield row | {"parameters": row["parameters"] | for_all}


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    lines = []
    for row in rows:
        settable = {key: value for key, value in row["parameters"].items() if value is not None}
        settings = " ".join(f"{key}={_value(value)}" for key, value in settable.items())
        needs = f" Needs {row['needs']}." if "needs" in row else ""
        lines.append(Text.assemble(row["summary"], needs, "  ", (settings, "dim")))
    width = max(len(row["name"]) for row in rows)
    if not sys.stdout.isatty():  # one line each, however long
        for row, line in zip(rows, lines, strict=True):
            click.echo(f"{row['name']:<{width}}  {line.plain.rstrip()}")
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    for row, line in zip(rows, lines, strict=True):
        grid.add_row(row["name"], line)
    _console().print(grid)


def _value(value: Any) -> str:
    return ",".join(map(_value, value)) if isinstance(value, tuple | list) else str(value)


_listing("world", "List the worlds and what can be set.")
_listing("policy", "List the policies: ours, the paper's, baselines.")
_listing("assumption", "List why outcomes may be missing.")
_listing("index", "List how an estimate becomes a choice.")


@cli.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def completion(shell: str | None) -> None:
    """Print the script for completion in a shell.

    Put  eval "$(truant completion bash)"  into ~/.bashrc, the same with zsh into ~/.zshrc; for fish,
    truant completion fish > ~/.config/fish/completions/truant.fish
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    found = get_completion_class(shell) if shell in SHELLS else None
    if found is None:
        raise InvalidValue(f"The shell must be {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, got {shell!r}.")
    click.echo(found(cli, {}, "truant", "_TRUANT_COMPLETE").source())


def main() -> None:
    """The entry point of the `truant` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a sign gets "?" in its place
    cli(prog_name="truant")


if __name__ == "__main__":
    main()
