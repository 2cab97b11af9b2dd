"""`truant create`: a new experiment."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.base import console
from truant.cli.live.base import experiment_fields, live_command, names, opened_store, print_document
from truant.cli.live.settings import changeable_options, mediator_options, outcome_options
from truant.documents import document


@live_command("create", changes=True)
@click.argument("name")
@click.option("--arms", required=True, type=names, metavar="old,new,...", help="Names of the arms.")
@mediator_options
@outcome_options
@changeable_options
@click.option("--warm-up", metavar="14d", help="How long decisions are drawn from the fixed split first.")
@click.option(
    "--settle",
    metavar="[at_close|on_arrival]",
    help="When a decision is counted: at the end of its window, or when its outcome is told, which is biased if how "
    "long an outcome takes depends on what it is.  [default: at_close]",
)
def create(
    name: str,
    arms: list[str],
    minimize: bool,
    actor: str | None,
    why: str | None,
    store: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Create an experiment.

    It chooses arms and learns from outcomes that come late or never. Needed are --window, --assume (or --policy), and
    --range or --levels. What could never be learned is refused.
    """
    from truant.live.experiment import Experiment

    given = {setting: value for setting, value in settings.items() if value is not None}
    with opened_store(store, create=True) as place:
        experiment = Experiment.create(
            name, arms, minimize=minimize, store=place, actor=actor, why=why, **given
        )
        fields = experiment_fields(experiment)
    if as_json:
        print_document(document("experiment", 1, fields))
        return
    from truant.terminal.live_tables import ExperimentDisplay

    console().print(ExperimentDisplay(fields))
