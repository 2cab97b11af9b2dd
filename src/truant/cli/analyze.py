"""`truant analyze`: compare the arms of a table with missing outcomes."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.base import as_json, cli, console, examples, print_document, say, wrote
from truant.cli.table_questions import save_question_file, stated_options, table_options
from truant.logs.question import Question
from truant.logs.question_file import QUESTIONS


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
def analyze(
    data: str,
    file: dict[str, Any],
    save_question: str | None,
    html: str | None,
    out: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare the arms of a table with missing outcomes.

    The means are estimated under each assumption about why outcomes are missing. DATA is a CSV or Parquet file (or a
    quoted pattern such as 'logs/*.csv'), or the URL of a database table.
    """
    from truant.files import PAGES, TABLES, check_outputs
    from truant.logs.calls import analyze as run
    from truant.logs.places import inputs_of

    check_outputs([(html, PAGES), (out, TABLES), (save_question, QUESTIONS)], inputs_of(data))
    asked = stated_options(file, options)
    result = run(data, **asked)
    written = [wrote(result.save(out))] if out else []
    written += [wrote(result.report(html))] if html else []
    written += [wrote(save_question_file(data, asked, save_question))] if save_question else []
    if as_json:
        print_document(result.summary())
    else:
        console().print(result)
        if names := _to_check(result):
            from truant.cli.next_steps import table_command

            command = table_command("plan", data, Question(**asked))
            click.echo()
            say(f"Next: check {names} with follow-ups: {command}")
    for path in written:
        say(f"Wrote {path}", err=as_json)
