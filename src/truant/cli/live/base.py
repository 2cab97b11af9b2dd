"""What the commands of live experiments share: where the store is, who acts, and how an answer is printed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from truant.cli.base import as_json, cli, number, print_document, say
from truant.envelope import plain
from truant.errors import InvalidValue, quoted

if TYPE_CHECKING:
    from truant.cli.live.records import ExperimentState
    from truant.live.experiment import Experiment
    from truant.live.store import Store

ACTOR = "TRUANT_ACTOR"  # of the environment: who acts, unless --actor says
MISSING = "missing"  # the word for a value that is known to be missing

Function = TypeVar("Function", bound=Callable[..., Any])
Option = Callable[[Any], Any]


def login_name() -> str | None:
    """Who acts unless --actor says: of TRUANT_ACTOR, or the name of the login."""
    import getpass

    named = os.environ.get(ACTOR)
    if named:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without users
        return None


store_option = click.option(
    "--store",
    metavar="URL",
    help="Where experiments are stored: sqlite:///mails.db, postgresql://user@host/database, or the path of an "
    "SQLite file.  "
    "[default: TRUANT_STORE, or sqlite:///truant.db]",
)
actor_option = click.option(
    "--actor",
    default=login_name,
    metavar="WHO",
    help="Who does this; shown by `truant events`.  [default: TRUANT_ACTOR, or the login name]",
)
why_option = click.option("--why", metavar="TEXT", help="Why this is done; shown by `truant events`.")
key_option = click.option(
    "--key", metavar="KEY", help="Key of a customer, patient or visit, instead of the id of its decision."
)


def options(*several: Option) -> Option:
    """Several options as one decorator, in this order."""

    def decorate(function: Any) -> Any:
        for option in reversed(several):
            function = option(function)
        return function

    return decorate


def live_command(name: str, *, changes: bool = False, epilog: str | None = None) -> Option:
    """A command of live experiments; with `changes`, one that says who and why; with `epilog` below its options."""
    shared = (actor_option, why_option) if changes else ()
    command = cli.command(name, epilog=epilog)

    def decorate(function: Any) -> Any:
        own, function.__click_params__ = getattr(function, "__click_params__", []), []
        options(*shared, store_option, as_json)(function)
        function.__click_params__ += (
            own  # click lists them from the last: what all commands share comes below
        )
        return command(function)

    return decorate


@contextmanager
def opened_store(store: str | None, create: bool = False) -> Iterator[Store]:
    """The store, closed at the end."""
    from truant.live.store.opening import open_store

    place = open_store(store, create=create)
    try:
        yield place
    finally:
        place.close()


@contextmanager
def opened(name: str, store: str | None, settles: bool = True) -> Iterator[Experiment]:
    """The experiment of that name; its store is closed at the end."""
    from truant.live.experiment import Experiment

    with opened_store(store) as place:
        yield Experiment.open(name, store=place, settles=settles)


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number of at least this; without numpy."""
    if not isinstance(value, int) or value < least:
        raise InvalidValue(f"{name} must be a whole number of at least {least}, got {quoted(value)}.")


def command_line(*words: str, store: str | None) -> str:
    """A command to type next, with the store if that was named."""
    import shlex

    return shlex.join([*words, *(["--store", store] if store else [])])


def told_values(experiment: Experiment, mediator: str | None, outcome: str | None) -> dict[str, Any]:
    """What was typed of a mediator and an outcome, as the library takes it; None: not given."""
    configuration, values = experiment.state.configuration, dict[str, Any]()
    if mediator is not None:
        if mediator == MISSING and MISSING not in configuration.mediator_levels:
            values["mediator"] = None
        else:
            values["mediator"] = _figure("mediator", mediator) if configuration.mediator_cuts else mediator
    if outcome is not None:
        values["outcome"] = None if outcome == MISSING else _figure("outcome", outcome)
    return values


def _figure(name: str, text: str) -> float:
    """A number as it was typed; or raises InvalidValue, in the words of those who type."""
    found = number(text)
    if isinstance(found, str) or not math.isfinite(found):
        raise InvalidValue(f"{name} must be a finite number, or the word {MISSING}, got {quoted(text)}.")
    return float(found)


def written(moment: datetime) -> str:
    """A moment as JSON and tables show it."""
    return moment.isoformat().replace("+00:00", "Z")


def experiment_state(experiment: Experiment) -> ExperimentState:
    """An experiment and its configuration, as it is now."""
    from truant.cli.live.records import ExperimentState

    head, configuration = experiment.state.head, experiment.state.configuration
    return ExperimentState(
        name=head.name,
        status=head.status,
        revision=head.revision,
        learning_starts=written(experiment.learning_starts),
        learning=experiment.learning_sentence,
        configuration=configuration.summary(),
    )


def answer(as_json: bool, record: Any, sentence: str) -> None:
    """Print the document of a record, or a sentence for people."""
    if as_json:
        print_document(plain(record))
    else:
        say(sentence)
