"""`truant plan`: how many missing outcomes to follow up, and which rows."""

from __future__ import annotations

import json
from typing import Any

import click

from truant.cli.base import as_json, cli, console, integer, number, numbers, say, wrote
from truant.cli.sections import examples
from truant.defaults import LEVEL


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else text.split(",") if text else []


@cli.command(
    epilog=examples(
        "truant plan visits.csv --arm mail --outcome spent --out calls.csv",
        "truant plan visits.csv --arm mail --outcome spent --budget 60",
    )
)
@click.argument("data")
@click.option("--arm", required=True, metavar="COLUMN", help="Column with the arm of each row.")
@click.option(
    "--outcome", required=True, metavar="COLUMN", help="Column with the outcome, empty where it is missing."
)
@click.option(
    "--mediator",
    multiple=True,
    metavar="COLUMN[:N]",
    help="Column known before the outcome and related to it; may be repeated. NAME:3 cuts a number into thirds.",
)
@click.option(
    "--id", metavar="COLUMN", help="Column with the name of each row.  [default: the number of the row]"
)
@click.option(
    "--budget",
    type=integer,
    metavar="N",
    help="Number of follow-ups that you can make.  [default: truant finds how many are needed]",
)
@click.option(
    "--chance",
    type=number,
    default=0.8,
    show_default=True,
    help="Probability with which the follow-ups must show a clear winner.",
)
@click.option(
    "--level",
    type=number,
    default=LEVEL,
    show_default=True,
    help="A clear winner is the best arm with at least this probability.",
)
@click.option(
    "--differ",
    type=number,
    default=0.5,
    show_default=True,
    help="How much the mean of the missing outcomes of an arm may differ from that of its observed ones, in standard "
    "deviations.",
)
@click.option(
    "--success",
    type=number,
    default=1.0,
    show_default=True,
    help="Share of follow-ups that obtain the outcome.",
)
@click.option(
    "--seed",
    type=integer,
    default=0,
    show_default=True,
    help="Seed of the random numbers; the same seed draws the same rows.",
)
@click.option(
    "--followed-up",
    metavar="COLUMN",
    help="Column that marks rows that were followed up before; they are not listed again.",
)
@click.option(
    "--failed-follow-ups",
    metavar="WAY",
    help="How outcomes that follow-ups do not obtain will be treated, as in `truant analyze`: worst-case (they may "
    "have any value) or ignorable (they are like the obtained ones).  [default: worst-case]",
)
@click.option("--observed", metavar="COLUMN", help="Column that says whether the outcome was observed.")
@click.option(
    "--range", "range_", type=numbers, metavar="LOW,HIGH", help="Lowest and highest possible outcome."
)
@click.option(
    "--levels",
    type=numbers,
    metavar="0,1,...",
    help="Values of a discrete outcome.  [default: from the data]",
)
@click.option("--minimize", is_flag=True, help="Lower outcomes are better, as for costs, churn or deaths.")
@click.option(
    "--missing-values",
    metavar="-99,?",
    help="Values that mean missing, in addition to empty, NA, N/A, NaN, null and None.",
)
@click.option(
    "--only-missing-values", metavar="-99,?", help="The only values that mean missing, apart from empty."
)
@click.option(
    "--decimal",
    default=".",
    show_default=True,
    metavar="SIGN",
    help="Decimal sign of the numbers: a point or a comma.",
)
@click.option(
    "--filter",
    multiple=True,
    metavar="CONDITION",
    help="Rows to keep, as in \"country = 'DE' and age >= 18\"; may be repeated.",
)
@click.option(
    "--encoding",
    metavar="NAME",
    help="Encoding of CSV files, e.g. latin-1, cp1252 or utf-16.  [default: utf-8]",
)
@click.option("--partitioned", is_flag=True, help="Read folder names such as day=3 as columns.")
@click.option("--out", type=click.Path(path_type=str), help="Write the list of rows: .csv or .parquet.")
@click.option("--html", type=click.Path(path_type=str), help="Write a page with a chart: .html.")
@as_json
def plan(
    data: str,
    mediator: tuple[str, ...],
    range_: tuple[float, float] | None,
    missing_values: str | None,
    only_missing_values: str | None,
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
    from truant.logs.inputs import inputs_of
    from truant.logs.plan import plan as run

    check_outputs([(html, PAGES), (out, TABLES)], inputs_of(data))
    result = run(
        data,
        mediator=mediator,
        range=range_,
        missing_values=_listed(missing_values) or (),
        only_missing_values=_listed(only_missing_values),
        **options,
    )
    written = [wrote(result.save(out))] if out else []
    written += [wrote(result.report(html))] if html else []
    if as_json:
        click.echo(json.dumps(result.summary(), indent=2))
    else:
        console().print(result)
    for path in written:
        say(f"Wrote {path}", err=as_json)
    if out and result.follow_ups and not as_json:
        from truant.cli.next_steps import calls_steps

        click.echo()
        say("Next")
        for number, step in enumerate(calls_steps(click.get_current_context().params, out), start=1):
            say(f"{number}. {step}")
