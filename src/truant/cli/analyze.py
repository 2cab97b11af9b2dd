"""`truant analyze`: compare the arms of a table with missing outcomes."""

from __future__ import annotations

import json
from typing import Any

import click
from click.shell_completion import CompletionItem

from truant.cli.base import as_json, cli, console, integer, number, numbers, say, wrote
from truant.cli.sections import examples
from truant.defaults import LEVEL


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


def _to_check(result: Any) -> str:
    """The assumptions that a clear winner rests on and the data cannot test; empty if there is none."""
    from truant.analysis.verdict import LITTLE
    from truant.analysis.words import listed

    analysis = getattr(result, "analysis", None)  # several analyses (--by) have several verdicts
    if analysis is None or analysis.has_follow_ups:
        return ""
    verdict = analysis.verdict
    if verdict.kind != "clear" or verdict.by_bounds or verdict.missing_share <= LITTLE:
        return ""
    beyond = {item.assumption for item in analysis.untestable}
    names = [answer.assumption for answer in verdict.remaining if answer.assumption in beyond]
    return listed(names) if names else ""


@cli.command(
    epilog=examples(
        "truant analyze visits.csv --arm mail --outcome spent --mediator opened",
        "truant analyze trial.parquet --arm drug --outcome dead --minimize",
        "truant analyze 'logs/*.csv' --arm page --outcome bought --html report.html",
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
@click.option("--control", metavar="ARM", help="The arm that the others are compared with.")
@click.option(
    "--assume",
    multiple=True,
    shell_complete=_complete_assumptions,
    help="Assumption about why outcomes are missing, see `truant assumptions`; may be repeated.  "
    "[default: all that these data allow]",
)
@click.option(
    "--level",
    type=number,
    default=LEVEL,
    show_default=True,
    help="Level of the intervals; a clear winner is the best arm with at least this probability.",
)
@click.option(
    "--tolerance",
    type=number,
    help="Largest expected loss, in units of the outcome, at which arms count as equal.",
)
@click.option(
    "--range", "range_", type=numbers, metavar="LOW,HIGH", help="Lowest and highest possible outcome."
)
@click.option(
    "--levels",
    type=numbers,
    metavar="0,1,...",
    help="Values of a discrete outcome.  [default: from the data]",
)
@click.option(
    "--cut-outcome",
    type=_cut,
    metavar="3|10,50",
    help="Cut a real outcome into classes, for mnar: 3 cuts into thirds, 10,50 at these points (one point: 10,).",
)
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
@click.option("--observed", metavar="COLUMN", help="Column that says whether the outcome was observed.")
@click.option(
    "--followed-up",
    metavar="COLUMN",
    help="Column that marks rows whose outcome was missing at first and then obtained by a follow-up.",
)
@click.option(
    "--failed-follow-ups",
    metavar="WAY",
    help="How outcomes that follow-ups did not obtain are treated: worst-case (they may have any value) or ignorable "
    "(they are like the obtained ones).  [default: worst-case]",
)
@click.option(
    "--expected-split",
    type=numbers,
    metavar="1,1,...",
    help="Planned shares of the arms, sorted by arm; truant warns if those of the rows differ.",
)
@click.option("--minimize", is_flag=True, help="Lower outcomes are better, as for costs, churn or deaths.")
@click.option(
    "--filter",
    multiple=True,
    metavar="CONDITION",
    help="Rows to keep, as in \"country = 'DE' and age >= 18\"; may be repeated.",
)
@click.option("--by", metavar="COLUMN", help="One analysis for each value of this column, on one page.")
@click.option(
    "--time",
    metavar="COLUMN",
    help="Column with the time of each row: shows the shares of arms and of missing outcomes over time.",
)
@click.option(
    "--unit",
    metavar="COLUMN",
    help="Column with the unit (e.g. customer) of each row, if units have several rows: standard errors are clustered.",
)
@click.option(
    "--collected",
    default="fixed",
    show_default=True,
    metavar="WAY",
    help="How arms were chosen: fixed, or adaptive (by earlier outcomes; intervals are then confidence sequences).",
)
@click.option(
    "--collected-by",
    metavar="POLICY",
    help="Policy that chose the arms, e.g. mar-ucb: intervals are calibrated by replaying it.",
)
@click.option(
    "--horizon",
    type=integer,
    metavar="ROWS",
    help="Horizon that the policy of --collected-by was given; required with it.",
)
@click.option(
    "--replays", type=integer, help="Number of replays of the policy of --collected-by.  [default: 800]"
)
@click.option(
    "--probability",
    metavar="COLUMN",
    help="Column with the probability with which the arm of the row was chosen: estimates are adaptively weighted.",
)
@click.option(
    "--value",
    metavar="A=.5,B=.5",
    help="Also estimate the mean outcome if arms are chosen with these shares.",
)
@click.option(
    "--encoding",
    metavar="NAME",
    help="Encoding of CSV files, e.g. latin-1, cp1252 or utf-16.  [default: utf-8]",
)
@click.option("--partitioned", is_flag=True, help="Read folder names such as day=3 as columns.")
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
    followed_up: str | None,
    failed_follow_ups: str | None,
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
    """Compare the arms of a table with missing outcomes.

    The means are estimated under each assumption about why outcomes are missing. DATA is a CSV or Parquet file (or a
    quoted pattern such as 'logs/*.csv'), or the URL of a database table.
    """
    from truant.files import PAGES, TABLES, check_outputs
    from truant.logs.analyze import analyze as run
    from truant.logs.inputs import inputs_of

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
        followed_up=followed_up,
        failed_follow_ups=failed_follow_ups,
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
        if names := _to_check(result):
            from truant.cli.next_steps import follow_up_command

            command = follow_up_command(click.get_current_context().params)
            click.echo()
            say(f"Next: check {names} with follow-ups: {command}")
    for path in written:
        say(f"Wrote {path}", err=as_json)
