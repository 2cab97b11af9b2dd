"""`truant tell`: what came of a decision, or of many in a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truant.cli.base import say, wrote
from truant.cli.live.base import (
    command_line,
    key_option,
    live_command,
    opened,
    options,
    print_document,
    told_values,
)
from truant.cli.sections import examples
from truant.documents import document
from truant.errors import AlreadyTold, InvalidValue

if TYPE_CHECKING:
    from truant.cli.live.outcomes_file import OutcomesFile

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
        print_document(document("told", 1, {"experiment": name, **told.summary()}))
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
    from truant.cli.live.tell_file import tell_file, write_verdicts
    from truant.files import check_outputs

    check_outputs([(verdicts, (".csv",))], [str(file.path)])
    with opened(name, store) as experiment:
        result = tell_file(experiment, file)
    written = [wrote(write_verdicts(result, Path(verdicts)))] if verdicts else []
    if as_json:
        print_document(document("told-file", 1, {"experiment": name, **result.summary()}))
    else:
        from truant.terminal.verdicts import verdict_lines

        say_lines(verdict_lines(result.verdicts, result.counts(), everything_written=bool(written)))
    for one in written:
        say(f"Wrote {one}", err=as_json)
    if result.counts()["refused"]:
        click.get_current_context().exit(1)


def say_lines(lines: list[str]) -> None:
    """Print lines of text."""
    for line in lines:
        say(line)
