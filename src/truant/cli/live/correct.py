"""`truant correct`, `withdraw` and `forget`: changes of what was told."""

from __future__ import annotations

import click

from truant.cli.live.base import answer, key_option, live_command, opened, told_values
from truant.cli.live.tell import value_options


@live_command("correct", changes=True)
@click.argument("name")
@click.argument("id", required=False)
@key_option
@value_options
def correct(
    name: str,
    id: str | None,
    key: str | None,
    mediator: str | None,
    outcome: str | None,
    at: str | None,
    followed_up: bool,
    actor: str | None,
    why: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Replace the mediator or the outcome of a decision.

    This also works for decisions that are counted already. `truant events` shows the old values.
    """
    with opened(name, store) as experiment:
        values = told_values(experiment, mediator, outcome)
        experiment.correct(id, key=key, at=at, followed_up=followed_up, actor=actor, why=why, **values)
    _answer(as_json, name, "corrected", id, f"{_decision(id)} was corrected.")


@live_command("withdraw", changes=True)
@click.argument("name")
@click.argument("id", required=False)
@key_option
def withdraw(
    name: str,
    id: str | None,
    key: str | None,
    actor: str | None,
    why: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Remove an outcome, e.g. if a patient withdraws consent.

    The decision is kept, and its outcome counts as missing.
    """
    with opened(name, store) as experiment:
        experiment.withdraw(id, key=key, actor=actor, why=why)
    _answer(as_json, name, "withdrawn", id, f"{_decision(id)} was withdrawn; its outcome counts as missing.")


@live_command("forget", changes=True)
@click.argument("name")
@click.option("--key", required=True, metavar="KEY", help="Key of a customer, patient or visit.")
def forget(name: str, key: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
    """Remove a key; its decision is kept without it.

    After that nobody can find out whose decision it was.
    """
    with opened(name, store) as experiment:
        found = experiment.forget(key, actor=actor, why=why)
    sentence = "The key was removed; its decision stays." if found else "No decision has this key."
    _answer(as_json, name, "forgotten" if found else "unknown", None, sentence)


def _answer(as_json: bool, name: str, action: str, id: str | None, sentence: str) -> None:
    answer(as_json, "decision-change", {"experiment": name, "action": action, "id": id}, sentence)


def _decision(id: str | None) -> str:
    return f"Decision {id}" if id else "The decision with this key"
