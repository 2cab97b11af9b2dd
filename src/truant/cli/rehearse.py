"""`truant rehearse`: run an experiment in a world before it runs in earnest."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.base import as_json, cli, console, exit_stopped, gone, print_document, say, wrote
from truant.cli.question_options import question_options
from truant.rehearsal.plan import RehearsalQuestion

FAULTS = (
    "was removed: a rehearsal compares windows and assumptions; that outcomes which come twice, in another order or "
    "never do no harm is tested with truant itself"
)


@cli.command()
@question_options(RehearsalQuestion)
@click.option("--html", type=click.Path(path_type=str), help="Write a page with charts: .html.")
@click.option("--out", type=click.Path(path_type=str), help="Write a row for each run: .csv or .parquet.")
@as_json
@gone("--duplicates", FAULTS)
@gone("--reorder", FAULTS, is_flag=True)
@gone("--lose", FAULTS)
def rehearse(html: str | None, out: str | None, as_json: bool, **asked: Any) -> None:
    """Try an experiment on simulated outcomes before it starts.

    Outcomes come late or never, on a simulated clock. For each window and assumption the table shows regret, coverage
    of the intervals, how often an arm is called the winner although all are equal, and the day on which learning
    starts.
    """
    from truant.files import PAGES, TABLES, check_outputs, named_files
    from truant.spec import Spec, parse_parameters

    asked["world"] = Spec.parse(asked["world"], **parse_parameters(asked.pop("parameters")))
    asked["windows"] = ",".join(asked["windows"]) or RehearsalQuestion.windows
    check_outputs([(html, PAGES), (out, TABLES)], named_files(asked["world"].parameters.values()))
    from truant.rehearsal.rehearse import rehearse as run

    try:
        found = run(**asked)
    except KeyboardInterrupt:
        exit_stopped("Stopped; nothing was written.")
    written = [wrote(found.save(out))] if out else []
    written += [wrote(found.report(html))] if html else []
    if as_json:
        print_document(found.summary())
    else:
        console().print(found)
    for path in written:
        say(f"Wrote {path}", err=as_json)
