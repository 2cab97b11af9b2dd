"""`truant follow-up`: which missing outcomes to obtain after all."""

from __future__ import annotations

import click

from truant.cli.base import console, integer, say, wrote
from truant.cli.live.base import actor_option, live_command, opened, print_document


@live_command("follow-up")
@click.argument("name")
@click.option("--n", type=integer, metavar="N", help="Number of decisions to draw now.")
@click.option(
    "--budget",
    type=integer,
    metavar="N",
    help="Largest number of follow-ups in total, earlier ones included.",
)
@click.option("--out", type=click.Path(path_type=str), help="Write the list: .csv or .parquet.")
@actor_option
def follow_up(
    name: str,
    n: int | None,
    budget: int | None,
    out: str | None,
    actor: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Draw decisions with missing outcomes to follow up.

    More are drawn from arms where answers help most to find the best arm. Tell each answer with `truant tell
    --followed-up`; or fill in a column outcome in the file of --out and tell it with --csv and --followed-up. The word
    missing says that a follow-up did not obtain the outcome.
    """
    from truant.files import TABLES, check_outputs

    check_outputs([(out, TABLES)])
    with opened(name, store) as experiment:
        found = experiment.follow_up(n, budget=budget, actor=actor)
    path = wrote(found.save(out)) if out else None
    if as_json:
        print_document(found.summary())
    else:
        from truant.terminal.live_tables import FollowUpsDisplay

        console().print(FollowUpsDisplay(found.summary()))
    if path:
        say(f"Wrote {path}", err=as_json)
