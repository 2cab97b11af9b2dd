"""Commands that change an experiment: each is an event with who and why."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.base import as_json as json_option
from truant.cli.base import cli, integer
from truant.cli.live.base import (
    actor_option,
    answer,
    experiment_fields,
    live_command,
    opened,
    options,
    store_option,
    why_option,
)
from truant.cli.live.settings import changeable_options
from truant.cli.sections import SectionedGroup
from truant.text import named

STATUSES = {
    "pause": ("is paused", "Stop making decisions until the experiment is resumed."),
    "resume": ("is running", "Make decisions again after a pause."),
    "end": ("has ended", "End an experiment: no decision is made any more."),
}


OUTCOMES = "Outcomes of earlier decisions are still taken and counted."


def _status_command(word: str, now: str, summary: str) -> None:
    """Add pause, resume or end."""

    @live_command(word, changes=True)
    @click.argument("name")
    def command(name: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
        with opened(name, store) as experiment:
            getattr(experiment, word)(actor=actor, why=why)
            answer(as_json, "experiment", experiment_fields(experiment), f"Experiment {named(name)} {now}.")

    command.help = f"{summary}\n\n{OUTCOMES}"


for _word, (_now, _summary) in STATUSES.items():
    _status_command(_word, _now, _summary)


@live_command("change", changes=True)
@click.argument("name")
@changeable_options
@click.option(
    "--unset", multiple=True, metavar="SETTING", help="Setting to remove, e.g. control; may be repeated."
)
@click.option(
    "--revision",
    type=integer,
    metavar="N",
    help="Change nothing if the experiment is no longer at this revision.",
)
def change(
    name: str,
    unset: tuple[str, ...],
    revision: int | None,
    actor: str | None,
    why: str | None,
    store: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Change settings of an experiment for later decisions.

    Each change, such as --policy mar-ucb, makes a new revision. Use `truant arm` to add or retire arms; the settings of
    the mediator and of the outcome cannot be changed.
    """
    given = {setting: value for setting, value in settings.items() if value is not None}
    given |= {setting.strip().replace("-", "_"): None for setting in unset}
    with opened(name, store) as experiment:
        before = experiment.state.head.revision
        experiment.change(actor=actor, why=why, revision=revision, **given)
        fields = experiment_fields(experiment)
    if fields["revision"] == before:
        sentence = f"Experiment {named(name)} has these settings already; it stays at revision {before}."
    else:
        sentence = f"Experiment {named(name)} is at revision {fields['revision']} now."
    answer(as_json, "experiment", fields, sentence)


@cli.group("arm", cls=SectionedGroup, no_args_is_help=False)
def arm() -> None:
    """Add an arm to a running experiment, or retire one."""


arm_options = options(
    click.argument("name"), click.argument("arm"), actor_option, why_option, store_option, json_option
)


@arm.command("add")
@arm_options
def add(name: str, arm: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
    """Add an arm, or use a retired one again.

    The arm gets an equal share of the decisions until its first ones are counted.
    """
    with opened(name, store) as experiment:
        experiment.add_arm(arm, actor=actor, why=why)
        answer(as_json, "experiment", experiment_fields(experiment), f"Arm {named(arm)} was added.")


@arm.command("retire")
@arm_options
def retire(name: str, arm: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
    """Stop choosing an arm.

    Its decisions are kept, and so are the estimates of its mean.
    """
    with opened(name, store) as experiment:
        experiment.retire_arm(arm, actor=actor, why=why)
        answer(as_json, "experiment", experiment_fields(experiment), f"Arm {named(arm)} is retired.")


@live_command("close-windows")
@click.argument("name")
@click.option("--now", metavar="TIME", help="Close windows that were over at this time.  [default: now]")
def close_windows(name: str, now: str | None, store: str | None, as_json: bool) -> None:
    """Count the decisions whose waiting time is over.

    The shares of the arms are then computed again. `tell`, `status` and `watch` do the same, so this command is needed
    only if none of them is used.
    """
    with opened(name, store) as experiment:
        closed = experiment.close_windows(now)
    counted = "1 decision was" if closed == 1 else f"{closed:,} decisions were"
    answer(as_json, "closed-windows", {"experiment": name, "decisions": closed}, f"{counted} counted.")
