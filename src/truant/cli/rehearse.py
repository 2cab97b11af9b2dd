"""`truant rehearse`: run an experiment in a world before it runs in earnest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truant.cli.base import as_json, cli, console, integer, number, say, wrote
from truant.cli.interrupts import exit_stopped

if TYPE_CHECKING:
    from truant.live.rehearsal_result import Rehearsal


@cli.command()
@click.option("--world", required=True, help="See `truant worlds`.")
@click.option(
    "--set",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the world; may be repeated.",
)
@click.option(
    "--window",
    "windows",
    multiple=True,
    metavar="TIME",
    help="How long to wait for an outcome, such as 7d; several with commas, or repeated.  [default: 1d,3d,7d]",
)
@click.option(
    "--assume",
    metavar="NAMES",
    help="See `truant assumptions`; several with commas.  [default: the one that the world is named after]",
)
@click.option(
    "--policy", help="Such as ucb, with each assumption, or mar-ucb, with all.  [default: as `create`]"
)
@click.option(
    "--settle", default="at_close", show_default=True, help="at_close, on_arrival, or both with a comma."
)
@click.option(
    "--delay",
    default="exponential:2d",
    show_default=True,
    help="How long outcomes take: none, constant:12h, exponential:2d or lognormal:2d, with any mean.",
)
@click.option("--late-depends-on", metavar="[arm|mediator|outcome]", help="What the mean delay grows with.")
@click.option(
    "--late-factor",
    type=number,
    default=4.0,
    show_default=True,
    help="How many times longer the delay is at the highest than at the lowest.",
)
@click.option("--rate", default="100/d", show_default=True, help="Decisions in a time, evenly spaced.")
@click.option("--days", type=number, default=28, show_default=True, help="How long the experiment runs.")
@click.option("--decisions", type=integer, default=None, help="Their number in all, instead of --days.")
@click.option(
    "--step", default=None, help="How often windows are closed.  [default: a quarter of the shortest]"
)
@click.option("--duplicates", type=number, default=0.0, help="Probability that a message comes twice.")
@click.option("--reorder", is_flag=True, help="Tell half of the mediators after their outcome.")
@click.option("--lose", type=number, default=0.0, help="Probability that a message never comes.")
@click.option("--runs", type=integer, default=10, show_default=True, help="Of each variant.")
@click.option("--no-null", is_flag=True, help="Leave the null world out, in which all arms are equal.")
@click.option("--seed", type=integer, default=0, show_default=True, help="The same seed, the same numbers.")
@click.option("--level", type=number, default=0.95, show_default=True, help="Of intervals and clear winners.")
@click.option("--minimize", is_flag=True, help="Lower outcomes are better.")
@click.option("--workers", type=integer, default=None, help="Runs at a time.  [default: all cores]")
@click.option("--html", type=click.Path(path_type=str), help="Write a page.")
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
    """Rehearse an experiment: compare windows and assumptions before anybody is asked.

    A world with delays, duplicates, reordering and losses drives the real experiment on a clock that is moved by hand.
    Regret, coverage, false winners in a world where all arms are equal, and the day on which learning starts stand side
    by side for each window and assumption.
    """
    from truant.files import check_outputs, named_files
    from truant.spec import Spec, parse_parameters

    place = Spec.parse(world, **parse_parameters(parameters))
    check_outputs(
        [(html, (".html", ".htm")), (out, (".csv", ".parquet"))], named_files(place.parameters.values())
    )
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
