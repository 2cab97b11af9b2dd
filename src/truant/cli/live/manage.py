"""Commands that change an experiment: each is an event with who and why."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.base import as_json as json_option
from truant.cli.base import cli, integer
from truant.cli.live.base import (
    LiveCommand,
    LiveGroup,
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
from truant.text import named

STATUSES = {
    "pause": ("is paused", "Make no new decisions until resume."),
    "resume": ("is running", "Make decisions again after a pause."),
    "end": ("has ended", "Make no new decisions ever."),
}


OUTCOMES = "Outcomes are taken and counted in any case."


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
    "--unset", multiple=True, metavar="SETTING", help="A setting to leave out from now on, e.g. control."
)
@click.option(
    "--revision", type=integer, metavar="N", help="Refuse if the experiment is no longer at this revision."
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
    """Change settings for decisions from now on.

    Each change, such as --policy mar-ucb, is a new revision. Arms are changed by `truant arm`;
    mediator and outcome stay as they are.
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


@cli.group("arm", cls=LiveGroup, no_args_is_help=False)
def arm() -> None:
    """Add or retire an arm of a running experiment."""


arm_options = options(
    click.argument("name"), click.argument("arm"), actor_option, why_option, store_option, json_option
)


@arm.command("add", cls=LiveCommand)
@arm_options
def add(name: str, arm: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
    """Add an arm; it has an equal share until its first decisions are counted. A retired one comes back."""
    with opened(name, store) as experiment:
        experiment.add_arm(arm, actor=actor, why=why)
        answer(as_json, "experiment", experiment_fields(experiment), f"Arm {named(arm)} was added.")


@arm.command("retire", cls=LiveCommand)
@arm_options
def retire(name: str, arm: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
    """Choose an arm no more; its decisions and what was learned of it stay."""
    with opened(name, store) as experiment:
        experiment.retire_arm(arm, actor=actor, why=why)
        answer(as_json, "experiment", experiment_fields(experiment), f"Arm {named(arm)} is retired.")


@live_command("close-windows")
@click.argument("name")
@click.option("--now", metavar="TIME", help="Close windows that were over by then.  [default: now]")
def close_windows(name: str, now: str | None, store: str | None, as_json: bool) -> None:
    """Count the decisions whose window is over.

    The shares of the arms are then computed again. Tell, status and watch do the same when something is due.
    """
    with opened(name, store) as experiment:
        closed = experiment.close_windows(now)
    counted = "1 decision was" if closed == 1 else f"{closed:,} decisions were"
    answer(as_json, "closed-windows", {"experiment": name, "decisions": closed}, f"{counted} counted.")
