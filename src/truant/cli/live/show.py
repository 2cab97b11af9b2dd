"""Commands that show what is known: status, watch, events, list, doctor, and follow-up."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

import click

from truant.cli.base import console, exit_stopped, gone, integer, is_terminal, print_document, say, wrote
from truant.cli.live.base import actor_option, check_whole, live_command, opened, opened_store, written
from truant.envelope import plain

if TYPE_CHECKING:
    from truant.documents.terminal import Printed
    from truant.live.experiment import Experiment


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
        from truant.cli.live.records import Event, Events

        print_document(plain(Events(name, [Event(**row) for row in rows])))
        return
    from truant.documents.lists import events_table
    from truant.documents.terminal import FittingTable

    if rows:
        console().print(FittingTable(events_table(rows)))
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
    from truant.errors import unknown
    from truant.live.doctor import examine_named
    from truant.live.experiment import experiments

    check_whole("allocations", allocations, 1)
    with opened_store(store) as place:
        known = [one["name"] for one in experiments(place)]
        if name is not None and name not in known:
            raise unknown("experiment", name, known)
        found = [examine_named(place, one, allocations) for one in ([name] if name else known)]
    healthy = all(one.healthy for one in found)
    if as_json:
        from truant.cli.live.records import StoreDiagnosis

        print_document(plain(StoreDiagnosis(healthy, found)))
    else:
        for one in found:
            for line in str(one).splitlines():
                say(line)
        if not found:
            say("The store has no experiments.")
    if not healthy:
        click.get_current_context().exit(1)


LAST = 5  # events below the table
PAUSE = 2  # seconds between two looks
PAGE = 1000  # events of one query


@live_command("watch")
@click.argument("name")
@gone(
    "--every",
    f"was removed: `truant watch` looks every {PAUSE} seconds; for another pace, repeat `truant status`",
)
@click.option(
    "--times",
    type=integer,
    metavar="N",
    help="Number of updates.  [default: until Ctrl-C; 1 if the output is piped]",
)
def watch(name: str, times: int | None, store: str | None, as_json: bool) -> None:
    """Show the status and the last events every two seconds.

    Intervals are confidence sequences here; `truant status` calibrates them. If the output is piped it is plain text,
    or with --json one document in each line.
    """
    if times is not None:
        check_whole("times", times, 1)
    try:
        with opened(name, store) as experiment:
            if is_terminal() and not as_json:
                _live(Looks(experiment), times)
            else:
                _plain(Looks(experiment), times or 1, as_json)
    except KeyboardInterrupt:  # which is how a watch ends
        exit_stopped()


class Looks:
    """One look after the other at an experiment; only new events are read."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment, self._after = experiment, 0
        self._events: deque[dict[str, Any]] = deque(maxlen=LAST)

    def document(self) -> dict[str, Any]:
        """The status, for JSON."""
        return self._experiment.status(calibrate=False, progress=False).summary()

    def display(self) -> Printed:
        """The status and the last events."""
        from truant.documents.status import watch_document
        from truant.documents.terminal import Printed

        status = self._experiment.status(calibrate=False, progress=False)
        while new := self._experiment.events(self._after, PAGE):
            self._after = new[-1]["number"]
            self._events.extend(one | {"at": written(one["at"])} for one in new)
        return Printed(watch_document(status, list(self._events)))


def _live(looks: Looks, times: int | None) -> None:
    from rich.live import Live

    with Live(looks.display(), console=console(), auto_refresh=False, vertical_overflow="crop") as live:
        live.refresh()
        done = 1
        while times is None or done < times:
            time.sleep(PAUSE)
            live.update(looks.display(), refresh=True)
            done += 1


def _plain(looks: Looks, times: int, as_json: bool) -> None:
    for done in range(times):
        if done:
            time.sleep(PAUSE)
        if as_json:
            print_document(looks.document(), indent=None)
        else:
            console().print(looks.display())


@live_command("list")
def list_experiments(store: str | None, as_json: bool) -> None:
    """List the experiments of a store."""
    from truant.live.experiment import experiments

    with opened_store(store) as place:
        rows = [one | {"created": written(one["created"])} for one in experiments(place)]
    if as_json:
        from truant.cli.live.records import ListedExperiment, ListedExperiments

        print_document(plain(ListedExperiments([ListedExperiment(**row) for row in rows])))
    elif rows:
        from truant.documents.lists import experiments_table
        from truant.documents.terminal import FittingTable

        console().print(FittingTable(experiments_table(rows)))
    else:
        say("The store has no experiments.")


@live_command("follow-up")
@click.argument("name")
@click.option("--n", type=integer, metavar="N", help="Number of decisions to draw now.")
@click.option(
    "--budget",
    type=integer,
    metavar="N",
    help="Largest number of follow-ups in total, earlier ones included.",
)
@click.option("--out", type=click.Path(path_type=str), help="Write the list: .csv or .parquet.")
@actor_option
def follow_up(
    name: str,
    n: int | None,
    budget: int | None,
    out: str | None,
    actor: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Draw decisions with missing outcomes to follow up.

    More are drawn from arms where answers help most to find the best arm. Tell each answer with `truant tell
    --followed-up`; or fill in a column outcome in the file of --out and tell it with --csv and --followed-up. The word
    missing says that a follow-up did not obtain the outcome.
    """
    from truant.files import TABLES, check_outputs

    check_outputs([(out, TABLES)])
    with opened(name, store) as experiment:
        found = experiment.follow_up(n, budget=budget, actor=actor)
    path = wrote(found.save(out)) if out else None
    if as_json:
        print_document(found.summary())
    else:
        from truant.documents.lists import follow_ups_document
        from truant.documents.terminal import Printed

        console().print(Printed(follow_ups_document(found.summary())))
    if path:
        say(f"Wrote {path}", err=as_json)
