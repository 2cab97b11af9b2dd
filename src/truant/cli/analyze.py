"""`truant analyze`: what each arm of a table with holes is worth."""

from __future__ import annotations

import json
from typing import Any

import click
from click.shell_completion import CompletionItem

from truant.cli.base import as_json, cli, console, integer, number, numbers, say, wrote


def _complete_assumptions(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from truant import registry

    return [CompletionItem(name) for name in registry.names("assumption") if name.startswith(incomplete)]


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else text.split(",") if text else []


def _cut(text: str) -> Any:
    """A number of classes, or points with commas between them or behind."""
    return numbers(text.removesuffix(",")) if "," in text else integer(text)


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
@click.option(
    "--level",
    type=number,
    default=0.95,
    show_default=True,
    help="Of confidence intervals, and the probability from which a winner is clear.",
)
@click.option(
    "--tolerance", type=number, help="Expected loss, in units of the outcome, up to which arms are equal."
)
@click.option(
    "--range", "range_", type=numbers, metavar="LOW,HIGH", help="Lowest and highest possible outcome."
)
@click.option(
    "--levels", type=numbers, metavar="0,1,...", help="Values of a discrete outcome.  [default: found out]"
)
@click.option(
    "--cut-outcome",
    type=_cut,
    metavar="3|10,50",
    help="Cut a real outcome into levels, for mnar: 3 at its tertiles, or at points (a single one is 10,).",
)
@click.option(
    "--missing-values",
    metavar="-99,?",
    help="Further values that mean missing, beside empty, NA, N/A, NaN, null and None.",
)
@click.option(
    "--only-missing-values", metavar="-99,?", help="Values that mean missing instead; empty ones always do."
)
@click.option(
    "--decimal", default=".", show_default=True, metavar="SIGN", help="Decimal sign of the numbers: . or ,"
)
@click.option("--observed", metavar="COLUMN", help="A column that says whether the outcome was observed.")
@click.option(
    "--expected-split",
    type=numbers,
    metavar="1,1,...",
    help="Share of units that each arm should have, sorted by arm.",
)
@click.option("--minimize", is_flag=True, help="Lower outcomes are better: costs, churn, deaths.")
@click.option(
    "--filter",
    multiple=True,
    metavar="CONDITION",
    help="Rows to keep, as in \"country = 'DE' and age >= 18\"; may be repeated.",
)
@click.option("--by", metavar="COLUMN", help="The analysis for each value of this column, on one page.")
@click.option("--time", metavar="COLUMN", help="When a row was: shows shares and missing outcomes over time.")
@click.option(
    "--unit", metavar="COLUMN", help="Several rows of one customer: errors are clustered by this column."
)
@click.option(
    "--collected",
    default="fixed",
    show_default=True,
    metavar="WAY",
    help="adaptive: a policy chose the arms by what it had seen; intervals are confidence sequences.",
)
@click.option(
    "--collected-by",
    metavar="POLICY",
    help="The policy that chose the arms, e.g. mar-ucb: intervals are calibrated by replaying it.",
)
@click.option("--horizon", type=integer, metavar="ROWS", help="Number of rows that this policy was told.")
@click.option("--replays", type=integer, help="How often it is replayed.  [default: 800]")
@click.option(
    "--probability",
    metavar="COLUMN",
    help="Probability with which the row's arm was chosen: adaptively weighted estimates.",
)
@click.option("--value", metavar="A=.5,B=.5", help="The mean outcome if arms were chosen with these shares.")
@click.option(
    "--encoding", metavar="NAME", help="Of CSV files, e.g. latin-1, cp1252 or utf-16.  [default: utf-8]"
)
@click.option("--partitioned", is_flag=True, help="Folder names such as day=3 are columns, too.")
@click.option("--html", type=click.Path(path_type=str), help="Write a page with charts: .html.")
@click.option("--out", type=click.Path(path_type=str), help="Write the estimates: .csv or .parquet.")
@as_json
def analyze(
    data: str,
    arm: str,
    outcome: str,
    mediator: tuple[str, ...],
    control: str | None,
    assume: tuple[str, ...],
    level: float,
    tolerance: float | None,
    range_: tuple[float, float] | None,
    levels: tuple[float, ...] | None,
    cut_outcome: int | tuple[float, ...] | None,
    missing_values: str | None,
    only_missing_values: str | None,
    decimal: str,
    observed: str | None,
    expected_split: tuple[float, ...] | None,
    minimize: bool,
    filter: tuple[str, ...],
    by: str | None,
    unit: str | None,
    time: str | None,
    collected: str,
    collected_by: str | None,
    horizon: int | None,
    replays: int | None,
    probability: str | None,
    value: str | None,
    encoding: str | None,
    partitioned: bool,
    html: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """What each arm of a table with holes is worth, under each assumption.

    DATA is a CSV or Parquet file (or a quoted glob of several), or the URL of a database table.
    """
    from truant.files import check_outputs
    from truant.logs.analyze import analyze as run
    from truant.logs.inputs import inputs_of
    from truant.logs.log_analysis import PAGES, TABLES

    check_outputs([(html, PAGES), (out, TABLES)], inputs_of(data))
    result = run(
        data,
        arm=arm,
        outcome=outcome,
        mediator=mediator,
        control=control,
        assume=assume,
        level=level,
        tolerance=tolerance,
        range=range_,
        levels=levels,
        cut_outcome=cut_outcome,
        missing_values=_listed(missing_values) or (),
        only_missing_values=_listed(only_missing_values),
        decimal=decimal,
        observed=observed,
        expected_split=expected_split,
        minimize=minimize,
        filter=filter,
        by=by,
        unit=unit,
        time=time,
        collected=collected,
        collected_by=collected_by,
        horizon=horizon,
        replays=replays,
        probability=probability,
        value=value,
        encoding=encoding,
        partitioned=partitioned,
    )
    written = [wrote(result.save(out))] if out else []
    written += [wrote(result.report(html))] if html else []
    if as_json:
        click.echo(json.dumps(result.summary(), indent=2))
    else:
        console().print(result)
    for path in written:
        say(f"Wrote {path}", err=as_json)
