"""`truant analyze` and `truant plan`: a table with missing outcomes, and which of these to follow up."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from truant.cli.base import as_json, cli, console, examples, print_document, removed, say, wrote
from truant.cli.question_options import question_options
from truant.logs.places import is_url, without_password
from truant.logs.question import PlanQuestion, Question
from truant.logs.question_file import QUESTIONS
from truant.questions import options

Kind = type[Question] | type[PlanQuestion]
REMOVED = ("--filter", "--where", "which takes one condition in SQL words; join several with 'and'")


def table_options(kind: Kind) -> Callable[[Any], Any]:
    """DATA, the options of the question, and those of its file."""

    def read(ctx: click.Context, parameter: click.Parameter, path: str | None) -> dict[str, Any]:
        if path is None:
            return {}
        from truant.logs.question_file import read_question

        table = read_question(path, kind)
        needed = {one.name for one in ctx.command.params if one.required}
        ctx.default_map = {name: value for name, value in table.items() if name in needed}
        return table

    def decorate(function: Any) -> Any:
        for option in (
            click.option(
                "--save-question",
                type=click.Path(path_type=str),
                help="Write DATA and these options to a file for --question: .toml.",
            ),
            click.option(
                "--question",
                "file",
                type=click.Path(path_type=str),
                is_eager=True,
                callback=read,
                help="Read options, and DATA if it is left out, from a file that --save-question wrote; options given "
                "beside it win.",
            ),
            removed(*REMOVED),
            question_options(kind),
            click.argument("data"),
        ):
            function = option(function)
        return function

    return decorate


def stated_options(file: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says, and the options that were given on the command line, which win."""
    context = click.get_current_context()
    typed = {
        name: value
        for name, value in options.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    return {name: value for name, value in file.items() if name in options} | typed


def save_question_file(data: str, asked: Mapping[str, Any], path: str) -> Path:
    """Write DATA, without a password, and what was asked of it."""
    from truant.logs.question_file import DATA, save_question

    return save_question({DATA: shown_data(data)} | dict(asked), path)


def shown_data(data: str) -> str:
    """DATA, without the password of a database."""
    return without_password(data) if is_url(data) else data


MARK = "followed_up"  # a column that the user adds
FIRST = ("arm", "mediator", "outcome")
OWN = {"level", "followed_up", "failed_follow_ups"}  # of one command, though both have such an option


def table_command(command: str, data: str, question: Question | PlanQuestion, *more: str) -> str:
    """`truant COMMAND DATA --arm ...` with what another command was given about the same table, quoted for a shell."""
    known = {name: one for name, one in options(Question).items() if name in options(PlanQuestion)}
    # flags last
    shared = sorted(known, key=lambda name: known[name].kind == "flag")
    given = question.given()
    words = ["truant", command, shown_data(data)]
    for name in FIRST:
        words += _option(name, given[name]) if name in given else []
    words += more
    for name in shared:
        if name in given and name not in (*FIRST, *OWN):
            words += _option(name, given[name])
    return shlex.join(words)


def calls_steps(data: str, question: PlanQuestion, listed: str) -> list[str]:
    """What to do with the list of a plan, up to the analysis."""
    earlier, outcome = question.followed_up, question.outcome
    mark = earlier or MARK
    column = f"yes into column {mark!r}" if earlier else f"yes into a new column {mark!r}"
    failures = question.failed_follow_ups
    more = [] if failures is None else _option("failed_follow_ups", failures)
    command = table_command("analyze", data, question, *_option("followed_up", mark), *more)
    needs_range = (
        ""
        if question.range is not None or failures is not None
        else " (if a call fails, add --range LOW,HIGH: the lowest and highest possible outcome)"
    )
    return [
        f"Call the rows of {listed} in this order.",
        f"In your table, write each answer into column {outcome!r}, and {column} for every row that you called. If "
        "nobody answered, write yes as well and leave the outcome empty.",
        f"Then: {command}{needs_range}",
    ]


def _option(name: str, value: Any) -> list[str]:
    """An option and its value; one that begins with a hyphen must not be read as another option."""
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option]
    if options(Question)[name].several:
        return [
            word for one in ([value] if isinstance(value, str) else value) for word in _typed(option, one)
        ]
    if isinstance(value, str):
        return _typed(option, value)
    values = value if isinstance(value, list | tuple) else [value]
    text = ",".join(one if isinstance(one, str) else f"{one:.15g}" for one in values)
    return _typed(option, text)


def _typed(option: str, text: str) -> list[str]:
    return [f"{option}={text}"] if text.startswith("-") else [option, text]


def _answer(
    run: Callable[..., Any], data: str, as_json: bool, options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The result, printed and written to the files that were asked for, and what was asked."""
    from truant.files import PAGES, TABLES, check_outputs
    from truant.logs.places import inputs_of

    file, html, out, saved = (options.pop(name) for name in ("file", "html", "out", "save_question"))
    check_outputs([(html, PAGES), (out, TABLES), (saved, QUESTIONS)], inputs_of(data))
    asked = stated_options(file, options)
    result = run(data, **asked)
    written = [wrote(result.save(out))] if out else []
    written += [wrote(result.report(html))] if html else []
    written += [wrote(save_question_file(data, asked, saved))] if saved else []
    if as_json:
        print_document(result.summary())
    else:
        console().print(result)
    for path in written:
        say(f"Wrote {path}", err=as_json)
    return result, asked


def _to_check(result: Any) -> str:
    """The assumptions that a clear verdict rests on and the data cannot test; empty if there is none."""
    from truant.analysis.verdict import LITTLE
    from truant.documents.words import listed

    if hasattr(result, "groups") or result.has_follow_ups:  # several analyses (--by) have several verdicts
        return ""
    verdict = result.verdict
    if verdict.kind != "clear" or verdict.by_bounds or verdict.missing_share <= LITTLE:
        return ""
    beyond = {item.assumption for item in result.untestable}
    names = [answer.assumption for answer in verdict.remaining if answer.assumption in beyond]
    return listed(names) if names else ""


@cli.command(
    epilog=examples(
        "truant analyze visits.csv --arm mail --outcome spent --mediator opened",
        "truant analyze trial.parquet --arm drug --outcome dead --minimize",
        "truant analyze 'logs/*.csv' --arm page --outcome bought --html report.html",
    )
)
@table_options(Question)
@click.option("--html", type=click.Path(path_type=str), help="Write a page with charts: .html.")
@click.option("--out", type=click.Path(path_type=str), help="Write the estimates: .csv or .parquet.")
@as_json
def analyze(data: str, as_json: bool, **options: Any) -> None:
    """Compare the arms of a table with missing outcomes.

    The means are estimated under each assumption about why outcomes are missing. DATA is a CSV or Parquet file (or a
    quoted pattern such as 'logs/*.csv'), or the URL of a database table.
    """
    from truant.logs.calls import analyze as run

    result, asked = _answer(run, data, as_json, options)
    if not as_json and (names := _to_check(result)):
        click.echo()
        say(f"Next: check {names} with follow-ups: {table_command('plan', data, Question(**asked))}")


@cli.command(
    epilog=examples(
        "truant plan visits.csv --arm mail --outcome spent --out calls.csv",
        "truant plan visits.csv --arm mail --outcome spent --budget 60",
    )
)
@table_options(PlanQuestion)
@click.option("--out", type=click.Path(path_type=str), help="Write the list of rows: .csv or .parquet.")
@click.option("--html", type=click.Path(path_type=str), help="Write a page with a chart: .html.")
@as_json
def plan(data: str, as_json: bool, **options: Any) -> None:
    """Plan which missing outcomes of a table to follow up.

    Says how many follow-ups are needed to find the best arm, and lists as many rows, drawn at random. DATA is a CSV or
    Parquet file (or a quoted pattern such as 'logs/*.csv'), or the URL of a database table.
    """
    from truant.logs.calls import plan as run

    out = options["out"]
    result, asked = _answer(run, data, as_json, options)
    if out and result.follow_ups and not as_json:
        click.echo()
        say("Next")
        for number, step in enumerate(calls_steps(data, PlanQuestion(**asked), out), start=1):
            say(f"{number}. {step}")
