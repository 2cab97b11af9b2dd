"""`truant tell`: what came of a decision, or of many in a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truant.cli.base import say, wrote
from truant.cli.live.base import key_option, live_command, opened, options, print_document, told_values
from truant.documents import document
from truant.errors import InvalidValue

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
        help="Its mediator; the word missing says that it is known to be missing.",
    ),
    click.option(
        "--outcome",
        metavar="VALUE",
        help="Its outcome; the word missing says that it is known to be missing.",
    ),
    click.option(
        "--at", metavar="TIME", help="When it happened, e.g. '2026-03-02 09:00' (UTC).  [default: now]"
    ),
    click.option(
        "--followed-up",
        is_flag=True,
        help="The outcome is the answer to a follow-up; missing: it failed. With --csv, all lines are answers.",
    ),
)


@live_command("tell")
@click.argument("name")
@click.argument("id", required=False)
@key_option
@value_options
@click.option(
    "--csv",
    type=click.Path(path_type=Path),
    help="Tell many: a CSV file with the columns id or key, mediator, outcome, at and followed_up (yes or no). A blank "
    "is not told; the word missing says that a value is known to be missing.",
)
@click.option("--ignore-columns", is_flag=True, help="Leave out other columns of the file.")
@click.option(
    "--verdicts", type=click.Path(path_type=str), help="Write the verdict on each line of the file: .csv."
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
    """Tell what came of a decision: mediator, outcome, or both.

    The same again changes nothing. With --csv the exit code is 0 if all lines were taken, 1 if some were refused and
    the others kept, and 2 if the file was refused and nothing was told.
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
        told = experiment.tell(id, key=key, at=at, followed_up=followed_up, **values)
    if as_json:
        print_document(document("told", 1, {"experiment": name, **told.summary()}))
    else:
        say(f"Decision {told.id}: {VERDICTS[told.verdict]}.")


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
