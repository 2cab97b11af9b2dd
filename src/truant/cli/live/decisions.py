"""Commands about decisions: ask and lookup, tell, correct, withdraw and forget.

No estimate is made by ask, and neither numpy nor numba is loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truant.cli.base import examples, integer, print_document, say, wrote
from truant.cli.live.base import (
    answer,
    command_line,
    key_option,
    live_command,
    opened,
    options,
    told_values,
)
from truant.envelope import plain
from truant.errors import AlreadyTold, InvalidValue

if TYPE_CHECKING:
    from truant.cli.live.outcomes_file import OutcomesFile
    from truant.cli.live.records import Action
    from truant.live.decision import Decision


@live_command("ask")
@click.argument("name")
@click.option("--n", type=integer, metavar="N", help="Number of decisions.  [default: 1]")
@click.option(
    "--key", metavar="KEY", help="Key of a customer, patient or visit; the same key gets the same decision."
)
def ask(name: str, n: int | None, key: str | None, store: str | None, as_json: bool) -> None:
    """Ask which arm to use.

    The arm is drawn at random with the present shares of the arms, and the decision is stored. Decisions whose window
    is over are counted by `tell`, `status`, `watch` and `close-windows`, not by `ask`.
    """
    with opened(name, store, settles=False) as experiment:
        found: Any = experiment.ask(n, key=key)
    _print(name, found if isinstance(found, list) else [found], as_json)


@live_command("lookup")
@click.argument("name")
@click.option("--key", required=True, metavar="KEY", help="Key of a customer, patient or visit.")
def lookup(name: str, key: str, store: str | None, as_json: bool) -> None:
    """Show the decision of a key, without making a new one.

    The exit code is 1 if the key has no decision.
    """
    with opened(name, store, settles=False) as experiment:
        found = experiment.lookup(key)
    _print(name, [found] if found else [], as_json)
    if found is None:
        if not as_json:
            say("No decision has this key.", err=True)
        click.get_current_context().exit(1)


def _print(name: str, decisions: list[Decision], as_json: bool) -> None:
    if as_json:
        from truant.cli.live.records import AskedDecisions

        print_document(plain(AskedDecisions(name, decisions)))
    elif decisions:
        from truant.documents.lists import decision_lines

        click.echo("\n".join(decision_lines([decision.summary() for decision in decisions])))


VERDICTS = {
    "accepted": "accepted",
    "repeated": "known already",
    "late": "late: kept, and not counted, as it happened after the window",
}
value_options = options(
    click.option(
        "--mediator",
        metavar="LEVEL",
        help="Mediator of the decision, or the word missing if it will never be known.",
    ),
    click.option(
        "--outcome",
        metavar="VALUE",
        help="Outcome of the decision, or the word missing if it will never be known.",
    ),
    click.option(
        "--at", metavar="TIME", help="When it happened, e.g. '2026-03-02 09:00' (UTC).  [default: now]"
    ),
    click.option(
        "--followed-up",
        is_flag=True,
        help="The outcome was obtained by a follow-up (missing: the follow-up failed). With --csv: all lines were.",
    ),
)


@live_command(
    "tell",
    epilog=examples(
        "truant tell mails --key anna --outcome 1",
        "truant tell mails --key ben --mediator opened --outcome missing",
        "truant tell mails --csv outcomes.csv --verdicts verdicts.csv",
    ),
)
@click.argument("name")
@click.argument("id", required=False)
@key_option
@value_options
@click.option(
    "--csv",
    type=click.Path(path_type=Path),
    help="Tell many decisions: a CSV file with a column id or key, and mediator, outcome, at or followed_up (yes or "
    "no). A blank cell tells nothing, so the value may still come; the word missing says that it never will.",
)
@click.option("--ignore-columns", is_flag=True, help="Ignore other columns of the file.")
@click.option(
    "--verdicts",
    type=click.Path(path_type=str),
    help="Write what became of each line of the file (accepted, repeated, late, blank or refused): .csv.",
)
def tell(
    name: str,
    id: str | None,
    key: str | None,
    mediator: str | None,
    outcome: str | None,
    at: str | None,
    followed_up: bool,
    csv: Path | None,
    ignore_columns: bool,
    verdicts: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Tell the mediator or the outcome of a decision.

    Telling the same again changes nothing. With --csv the exit code is 0 if no line was refused, 1 if some were refused
    and the others kept, and 2 if the whole file was refused.
    """
    if csv is not None:
        if any(value is not None for value in (id, key, mediator, outcome, at)):
            raise InvalidValue("Give --csv, or one decision and what came of it, not both.")
        from truant.cli.live.outcomes_file import OutcomesFile

        file = OutcomesFile(csv, ignore_columns, followed_up)
        _tell_file(name, store, file, verdicts, as_json)
        return
    if ignore_columns or verdicts:
        raise InvalidValue("--ignore-columns and --verdicts go with --csv.")
    with opened(name, store) as experiment:
        values: dict[str, Any] = told_values(experiment, mediator, outcome)
        try:
            told = experiment.tell(id, key=key, at=at, followed_up=followed_up, **values)
        except AlreadyTold as error:
            given = {"--key": key, "--mediator": mediator, "--outcome": outcome}
            command = _correction(name, id, given, followed_up, store)
            raise error.advising_instead(f"To change it: {command}") from None
    if as_json:
        from truant.cli.live.records import ToldOutcome

        print_document(plain(ToldOutcome(**vars(told), experiment=name)))
    else:
        say(f"Decision {told.id}: {VERDICTS[told.verdict]}.")


def _correction(
    name: str, id: str | None, given: dict[str, str | None], followed_up: bool, store: str | None
) -> str:
    """The command that replaces what was told before."""
    words = [word for option, value in given.items() if value is not None for word in (option, value)]
    words += ["--followed-up"] if followed_up else []
    return command_line("truant", "correct", name, *([id] if id else []), *words, store=store)


def _tell_file(name: str, store: str | None, file: OutcomesFile, verdicts: str | None, as_json: bool) -> None:
    from truant.cli.live.outcomes_file import tell_file, write_verdicts
    from truant.files import check_outputs

    check_outputs([(verdicts, (".csv",))], [str(file.path)])
    with opened(name, store) as experiment:
        result = tell_file(experiment, file)
    written = [wrote(write_verdicts(result, Path(verdicts)))] if verdicts else []
    if as_json:
        print_document(plain(result))
    else:
        from truant.documents.lists import verdict_lines

        say_lines(verdict_lines(result.verdicts, result.counts._asdict(), everything_written=bool(written)))
    for one in written:
        say(f"Wrote {one}", err=as_json)
    if result.counts.refused:
        click.get_current_context().exit(1)


def say_lines(lines: list[str]) -> None:
    """Print lines of text."""
    for line in lines:
        say(line)


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


def _answer(as_json: bool, name: str, action: Action, id: str | None, sentence: str) -> None:
    from truant.cli.live.records import DecisionChange

    answer(as_json, DecisionChange(name, action, id), sentence)


def _decision(id: str | None) -> str:
    return f"Decision {id}" if id else "The decision with this key"
