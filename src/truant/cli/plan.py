"""`truant plan`: how many missing outcomes to follow up, and which rows."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.base import as_json, cli, console, examples, print_document, say, wrote
from truant.cli.table_questions import save_question_file, stated_options, table_options
from truant.logs.question import PlanQuestion
from truant.logs.question_file import QUESTIONS


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
def plan(
    data: str,
    file: dict[str, Any],
    save_question: str | None,
    out: str | None,
    html: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Plan which missing outcomes of a table to follow up.

    Says how many follow-ups are needed to find the best arm, and lists as many rows, drawn at random. DATA is a CSV or
    Parquet file (or a quoted pattern such as 'logs/*.csv'), or the URL of a database table.
    """
    from truant.files import PAGES, TABLES, check_outputs
    from truant.logs.calls import plan as run
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
    for path in written:
        say(f"Wrote {path}", err=as_json)
    if out and result.follow_ups and not as_json:
        from truant.cli.next_steps import calls_steps

        click.echo()
        say("Next")
        for number, step in enumerate(calls_steps(data, PlanQuestion(**asked), out), start=1):
            say(f"{number}. {step}")
