"""`truant rehearse`: run an experiment in a world before it runs in earnest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truant.cli.base import as_json, cli, console, integer, number, say, seeded, wrote
from truant.cli.interrupts import exit_stopped
from truant.defaults import LEVEL

if TYPE_CHECKING:
    from truant.live.rehearsal_result import Rehearsal


@cli.command()
@click.option("--world", required=True, help="World to draw outcomes from, see `truant worlds`.")
@click.option(
    "--set",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    help="Parameter of the world, e.g. gamma=0.5,1.0; may be repeated.",
)
@click.option(
    "--window",
    "windows",
    multiple=True,
    metavar="TIME",
    help="How long to wait for an outcome, e.g. 7d; several with commas between them.  [default: 1d,3d,7d]",
)
@click.option(
    "--assume",
    metavar="NAMES",
    help="Assumptions to compare, see `truant assumptions`; several with commas between them.  "
    "[default: the one that the world is named after]",
)
@click.option(
    "--policy",
    help="How arms are chosen: an index such as ucb, combined with each assumption, or a policy such as mar-ucb.  "
    "[default: ucb]",
)
@click.option(
    "--settle",
    default="at_close",
    show_default=True,
    help="When a decision is counted: at_close, on_arrival, or both with a comma between them.",
)
@click.option(
    "--delay",
    default="exponential:2d",
    show_default=True,
    help="Distribution and mean of the time that outcomes take: exponential:2d, lognormal:2d, constant:12h or none.",
)
@click.option("--late-depends-on", metavar="[arm|mediator|outcome]", help="What the mean delay depends on.")
@click.option(
    "--late-factor",
    type=number,
    default=4.0,
    show_default=True,
    help="How many times longer the mean delay is at the highest arm, mediator level or outcome than at the lowest.",
)
@click.option(
    "--rate",
    default="100/d",
    show_default=True,
    help="Number of decisions per day, hour or minute, evenly spaced.",
)
@click.option("--days", type=number, default=28, show_default=True, help="Duration of the experiment.")
@click.option(
    "--decisions", type=integer, default=None, help="Number of decisions in total, instead of --days."
)
@click.option(
    "--step",
    default=None,
    help="Time between two updates of the shares of the arms, e.g. 6h.  [default: a quarter of the shortest window]",
)
@click.option(
    "--duplicates",
    type=number,
    default=0.0,
    show_default=True,
    help="Probability that a message comes twice.",
)
@click.option("--reorder", is_flag=True, help="Tell half of the mediators after their outcome.")
@click.option(
    "--lose", type=number, default=0.0, show_default=True, help="Probability that a message never comes."
)
@click.option("--runs", type=integer, default=10, show_default=True, help="Number of runs of each variant.")
@click.option("--no-null", is_flag=True, help="Do not run the null world, in which all arms are equal.")
@seeded
@click.option(
    "--level",
    type=number,
    default=LEVEL,
    show_default=True,
    help="Level of the intervals; a clear winner is the best arm with at least this probability.",
)
@click.option("--minimize", is_flag=True, help="Lower outcomes are better, as for costs, churn or deaths.")
@click.option("--workers", type=integer, default=None, help="Number of processes.  [default: one per core]")
@click.option("--html", type=click.Path(path_type=str), help="Write a page with charts: .html.")
@click.option("--out", type=click.Path(path_type=str), help="Write a row for each run: .csv or .parquet.")
@as_json
def rehearse(
    world: str,
    parameters: tuple[str, ...],
    windows: tuple[str, ...],
    assume: str | None,
    policy: str | None,
    settle: str,
    delay: str,
    late_depends_on: str | None,
    late_factor: float,
    rate: str,
    days: float,
    decisions: int | None,
    step: str | None,
    duplicates: float,
    reorder: bool,
    lose: float,
    runs: int,
    no_null: bool,
    seed: int,
    level: float,
    minimize: bool,
    workers: int | None,
    html: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Try an experiment on simulated outcomes before it starts.

    Outcomes come late, twice, in the wrong order or never, on a simulated clock. For each window and assumption the
    table shows regret, coverage of the intervals, how often an arm is called the winner although all are equal, and the
    day on which learning starts.
    """
    from truant.files import PAGES, TABLES, check_outputs, named_files
    from truant.spec import Spec, parse_parameters

    place = Spec.parse(world, **parse_parameters(parameters))
    check_outputs([(html, PAGES), (out, TABLES)], named_files(place.parameters.values()))
    from truant.live.rehearse import rehearse as run

    try:
        found = run(
            place,
            windows=",".join(windows) or "1d,3d,7d",
            assume=assume,
            policy=policy,
            settle=settle,
            delay=delay,
            late_depends_on=late_depends_on,  # type: ignore[arg-type]
            late_factor=late_factor,
            rate=rate,
            days=days,
            decisions=decisions,
            step=step,
            duplicates=duplicates,
            reorder=reorder,
            lose=lose,
            null=not no_null,
            runs=runs,
            seed=seed,
            level=level,
            minimize=minimize,
            workers=workers,
        )
    except KeyboardInterrupt:
        exit_stopped("Stopped; nothing was written.")
    written = _write(found, html, out)
    if as_json:
        click.echo(json.dumps(found.summary(), indent=2))
    else:
        console().print(found)
    for path in written:
        say(f"Wrote {path}", err=as_json)


def _write(found: Rehearsal, html: str | None, out: str | None) -> list[Path]:
    written = []
    if out:
        written.append(wrote(found.save(out)))
    if html:
        written.append(wrote(found.report(html)))
    return written
