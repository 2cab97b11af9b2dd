"""Commands that show what is known: `truant status`, `events` and `doctor`."""

from __future__ import annotations

import click

from truant.cli.base import console, integer, say, wrote
from truant.cli.live.base import check_whole, live_command, opened, opened_store, print_document, written
from truant.documents import document


@live_command("status")
@click.argument("name")
@click.option("--html", type=click.Path(path_type=str), help="Write a page with charts: .html.")
@click.option(
    "--calibrate/--no-calibrate",
    default=None,
    help="Calibrate the intervals by replaying the policy; otherwise they are confidence sequences, which are wider.  "
    "[default: calibrate if it takes a second or two]",
)
def status(name: str, html: str | None, calibrate: bool | None, store: str | None, as_json: bool) -> None:
    """Compare the arms so far and say whether one is the best.

    Decisions whose window is over are counted first. The page of --html also has charts.
    """
    from truant.files import PAGES, check_outputs

    check_outputs([(html, PAGES)])
    with opened(name, store) as experiment:
        found = experiment.status(calibrate=calibrate)
        page = wrote(found.report(html)) if html else None
    if as_json:
        print_document(found.summary())
    else:
        console().print(found)
    if page:
        say(f"Wrote {page}", err=as_json)


@live_command("events")
@click.argument("name")
@click.option(
    "--after", type=integer, default=0, metavar="NUMBER", help="Only events after the one with this number."
)
@click.option(
    "--limit", type=integer, default=1000, show_default=True, metavar="N", help="Largest number of events."
)
def events(name: str, after: int, limit: int, store: str | None, as_json: bool) -> None:
    """List what happened, who did it and why, oldest first."""
    check_whole("after", after, 0)
    check_whole("limit", limit, 1)
    with opened(name, store) as experiment:
        rows = [one | {"at": written(one["at"])} for one in experiment.events(after, limit)]
    if as_json:
        print_document(document("events", 1, {"experiment": name, "events": rows}))
        return
    from truant.terminal.live_tables import events_table

    if rows:
        console().print(events_table(rows))
    if len(rows) == limit:
        say(f"There may be more: --after {rows[-1]['number']}.")


@live_command("doctor")
@click.argument("name", required=False)
@click.option(
    "--allocations",
    type=integer,
    default=20,
    show_default=True,
    metavar="N",
    help="How many of the latest allocations (shares of the arms) are computed again.",
)
def doctor(name: str | None, allocations: int, store: str | None, as_json: bool) -> None:
    """Check a store: count all decisions again and compare.

    Without NAME, all experiments of the store are checked. The exit code is 0 if nothing differs, 1 otherwise.
    """
    from truant.live.experiment import Experiment, experiments

    check_whole("allocations", allocations, 1)
    with opened_store(store) as place:
        known = [name] if name is not None else [one["name"] for one in experiments(place)]
        found = [
            Experiment.open(one, store=place, settles=False).doctor(allocations=allocations) for one in known
        ]
    healthy = all(one.healthy for one in found)
    if as_json:
        diagnoses = [one.summary() for one in found]
        print_document(document("doctor", 1, {"healthy": healthy, "experiments": diagnoses}))
    else:
        for one in found:
            for line in str(one).splitlines():
                say(line)
        if not found:
            say("The store has no experiments.")
    if not healthy:
        click.get_current_context().exit(1)
