"""`truant create`: a new experiment."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.base import console, say
from truant.cli.live.base import (
    command_line,
    experiment_fields,
    live_command,
    names,
    opened_store,
    print_document,
)
from truant.cli.live.settings import changeable_options, mediator_options, outcome_options
from truant.cli.sections import examples
from truant.documents import document
from truant.errors import Conflict


@live_command(
    "create",
    changes=True,
    epilog=examples(
        "truant create mails --arms old,new --levels 0,1 --assume mcar --window 7d",
        "truant create offers --arms a,b,c --range 0,9 --policy mcar-ucb --window 2d",
    ),
)
@click.argument("name")
@click.option("--arms", required=True, type=names, metavar="old,new,...", help="Names of the arms.")
@mediator_options
@outcome_options
@changeable_options
@click.option(
    "--warm-up",
    metavar="14d",
    help="How long arms are drawn with the fixed shares of --split before the policy chooses.",
)
@click.option(
    "--settle",
    metavar="[at_close|on_arrival]",
    help="When a decision is counted: at the end of its window, or as soon as its outcome is told. The latter is "
    "biased if the waiting time depends on the outcome.  [default: at_close]",
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
    """Create an experiment, which then chooses arms and learns.

    Outcomes may come late or never. The options --window, --assume (or --policy) and one of --range and --levels are
    required. An experiment whose arms could not be compared under its assumption is refused.
    """
    from truant.live.experiment import Experiment

    given = {setting: value for setting, value in settings.items() if value is not None}
    with opened_store(store, create=True) as place:
        try:
            experiment = Experiment.create(
                name, arms, minimize=minimize, store=place, actor=actor, why=why, **given
            )
        except Conflict as error:
            ready = command_line("truant", "ask", name, store=store)
            raise error.advising_instead(f"It is ready: {ready}; or choose another name.") from None
        fields = experiment_fields(experiment)
    if as_json:
        print_document(document("experiment", 1, fields))
        return
    from truant.terminal.live_tables import ExperimentDisplay

    console().print(ExperimentDisplay(fields))
    elsewhere = "" if store else "; in another folder, name it with --store or TRUANT_STORE"
    say(f"Store: {place.place}{elsewhere}.")
    say(f"Next: {command_line('truant', 'ask', name, '--key', 'customer-1', store=store)}")
