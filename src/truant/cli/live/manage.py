"""Commands that make, change and move experiments: each change is an event with who and why."""

from __future__ import annotations

from typing import Any

import click

from truant.cli.base import (
    SectionedGroup,
    cli,
    console,
    examples,
    integer,
    print_document,
    removed,
    say,
    wrote,
)
from truant.cli.base import as_json as json_option
from truant.cli.live.base import (
    actor_option,
    answer,
    command_line,
    experiment_state,
    live_command,
    opened,
    opened_store,
    options,
    store_option,
    why_option,
)
from truant.cli.question_options import question_options
from truant.envelope import plain
from truant.errors import Conflict, named
from truant.live.question import CHANGEABLE, ExperimentQuestion
from truant.live.times import moment, shown


@live_command(
    "create",
    changes=True,
    epilog=examples(
        "truant create mails --arms old,new --levels 0,1 --assume mcar --window 7d",
        "truant create offers --arms a,b,c --range 0,9 --policy mcar-ucb --window 2d",
    ),
)
@click.argument("name")
@question_options(ExperimentQuestion, defaults=False)
def create(
    name: str,
    arms: list[str],
    minimize: bool,
    actor: str | None,
    why: str | None,
    store: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Create an experiment, which then chooses arms and learns.

    Outcomes may come late or never. The options --window, --assume (or --policy) and one of --range and --levels are
    required. An experiment whose arms could not be compared under its assumption is refused.
    """
    from truant.live.experiment import Experiment

    given = {setting: value for setting, value in settings.items() if value is not None}
    with opened_store(store, create=True) as place:
        try:
            experiment = Experiment.create(
                name, arms, minimize=minimize, store=place, actor=actor, why=why, **given
            )
        except Conflict as error:
            ready = command_line("truant", "ask", name, store=store)
            raise error.advising_instead(f"It is ready: {ready}; or choose another name.") from None
        state = experiment_state(experiment)
    if as_json:
        print_document(plain(state))
        return
    from truant.documents.lists import created_document
    from truant.documents.terminal import Printed

    console().print(Printed(created_document(plain(state))))
    elsewhere = "" if store else "; in another folder, name it with --store or TRUANT_STORE"
    say(f"Store: {place.place}{elsewhere}.")
    say(f"Next: {command_line('truant', 'ask', name, '--key', 'customer-1', store=store)}")


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
            answer(as_json, experiment_state(experiment), f"Experiment {named(name)} {now}.")

    command.help = f"{summary}\n\n{OUTCOMES}"


for _word, (_now, _summary) in STATUSES.items():
    _status_command(_word, _now, _summary)


@live_command("change", changes=True)
@click.argument("name")
@question_options(ExperimentQuestion, only=CHANGEABLE, defaults=False)
@removed("--unset", "an empty value of the setting", "such as --control ''")
@click.option(
    "--revision",
    type=integer,
    metavar="N",
    help="Change nothing if the experiment is no longer at this revision.",
)
def change(
    name: str,
    revision: int | None,
    actor: str | None,
    why: str | None,
    store: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Change settings of an experiment for later decisions.

    Each change, such as --policy mar-ucb, makes a new revision. An empty value removes a setting: --control ''. Use
    `truant arm` to add or retire arms; the settings of the mediator and of the outcome cannot be changed.
    """
    given: Any = {
        setting: None if value == "" else value for setting, value in settings.items() if value is not None
    }
    with opened(name, store) as experiment:
        before = experiment.state.head.revision
        experiment.change(actor=actor, why=why, revision=revision, **given)
        state = experiment_state(experiment)
    if state.revision == before:
        sentence = f"Experiment {named(name)} has these settings already; it stays at revision {before}."
    else:
        sentence = f"Experiment {named(name)} is at revision {state.revision} now."
    answer(as_json, state, sentence)


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
        answer(as_json, experiment_state(experiment), f"Arm {named(arm)} was added.")


@arm.command("retire")
@arm_options
def retire(name: str, arm: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
    """Stop choosing an arm.

    Its decisions are kept, and so are the estimates of its mean.
    """
    with opened(name, store) as experiment:
        experiment.retire_arm(arm, actor=actor, why=why)
        answer(as_json, experiment_state(experiment), f"Arm {named(arm)} is retired.")


@cli.group("clock", cls=SectionedGroup, no_args_is_help=False)
def clock() -> None:
    """Accept a clock that was set, or undo what a wrong clock did."""


clock_options = options(actor_option, why_option, store_option, json_option)


@clock.command("accept")
@click.argument("name")
@clock_options
def accept(name: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
    """Say that the clock is right now.

    A process refuses to ask and tell if the clock of the store moves by more than an hour beyond the time that has
    passed since the process opened the experiment. After this command all processes go on by the clock as it is.
    """
    from truant.cli.live.records import ClockChange

    with opened(name, store) as experiment:
        now = shown(moment("time", experiment.accept_clock(actor=actor, why=why)))
    answer(as_json, ClockChange(name, now, 0), f"The clock is accepted: {now}.")


@clock.command("back")
@click.argument("name")
@click.argument("time")
@clock_options
def back(name: str, time: str, actor: str | None, why: str | None, store: str | None, as_json: bool) -> None:
    """Undo what a clock that was ahead did since TIME.

    Windows that were closed since TIME, and had not ended by then, are open again; counts and shares are computed again
    from the decisions. Correct the clock first. TIME is when it went wrong, such as '2026-03-02 09:00' (UTC).
    """
    from truant.cli.live.records import ClockChange

    with opened(name, store) as experiment:
        reopened = experiment.turn_clock_back(time, actor=actor, why=why)
    limit = shown(moment("TIME", time))
    windows = "1 window was" if reopened == 1 else f"{reopened:,} windows were"
    answer(
        as_json, ClockChange(name, limit, reopened), f"The clock is back at {limit}; {windows} opened again."
    )


@live_command("close-windows")
@click.argument("name")
@click.option("--now", metavar="TIME", help="Close windows that were over at this time.  [default: now]")
def close_windows(name: str, now: str | None, store: str | None, as_json: bool) -> None:
    """Count the decisions whose waiting time is over.

    The shares of the arms are then computed again. `tell`, `status` and `watch` do the same, so this command is needed
    only if none of them is used.
    """
    from truant.cli.live.records import ClosedWindows

    with opened(name, store) as experiment:
        closed = experiment.close_windows(now)
    answer(as_json, ClosedWindows(name, closed), _were_counted(closed))


@live_command("settle")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--watch", is_flag=True, help="Go on until Ctrl-C, looking every second.")
def settle(names: tuple[str, ...], watch: bool, store: str | None, as_json: bool) -> None:
    """Count what is due in all experiments of a store, or in some.

    With --watch this is a process of its own that closes windows and computes shares, so that asks and tells of other
    processes need not (in Python: open(..., settles=False)). Several may run at once. Ctrl-C ends it after the batch
    that it is at.
    """
    from truant.cli.live.records import SettledExperiment, SettledExperiments
    from truant.live.settling import Settling

    def report(name: str, decisions: int) -> None:
        if watch and not as_json:
            say(f"{name}: {_were_counted(decisions)}")

    with opened_store(store) as place:
        settling = Settling(place, names, report=report)
        try:
            settling.once()
            if watch:
                settling.run()
        except KeyboardInterrupt:  # which is how it ends
            pass
    rows = [SettledExperiment(name, decisions) for name, decisions in settling.decisions.items()]
    if as_json:
        print_document(plain(SettledExperiments(rows)))
    elif not watch:
        for row in rows:
            say(f"{row.name}: {_were_counted(row.decisions)}")
        if not rows:
            say("The store has no experiments.")


def _were_counted(decisions: int) -> str:
    return "1 decision was counted." if decisions == 1 else f"{decisions:,} decisions were counted."


@live_command("export")
@click.argument("name")
@click.option("--out", required=True, type=click.Path(path_type=str), help="File to write: .csv or .parquet.")
@click.option("--all", "every", is_flag=True, help="Also write decisions that are not settled yet.")
def export(name: str, out: str, every: bool, store: str | None, as_json: bool) -> None:
    """Write a table with one row for each settled decision.

    `truant analyze` reads the file with --arm arm --mediator mediator --outcome outcome --probability probability.
    """
    from truant.cli.live.records import Transfer

    with opened(name, store) as experiment:
        path = wrote(experiment.export(out, all=every))
    answer(as_json, Transfer("exported", str(path), experiment=name), f"Wrote {path}")


@live_command("import", changes=True)
@click.argument("name")
@click.argument("rows", type=click.Path(path_type=str))
@click.option("--source", metavar="NAME", help="Where rows without an id of truant come from.")
@click.option(
    "--identified-by", metavar="COLUMN", help="Column that tells the rows of --source apart, e.g. order."
)
def import_(
    name: str,
    rows: str,
    source: str | None,
    identified_by: str | None,
    actor: str | None,
    why: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Add past decisions from a .csv or .parquet file.

    ROWS is an export of truant, or a table of --source with a column arm and perhaps key, probability, asked, mediator
    and outcome. Rows that were imported before are not added again, so a file that has grown can be imported every
    hour. If one row is refused, none is added.
    """
    from truant.cli.live.records import Transfer

    with opened(name, store) as experiment:
        added = experiment.import_rows(rows, source=source, identified_by=identified_by, actor=actor, why=why)
    numbers = {"decisions": int(added), "known": added.known, "differing": added.differing}
    answer(as_json, Transfer("imported", rows, experiment=name, **numbers), added.sentence)


@live_command("backup")
@click.option(
    "--out", required=True, type=click.Path(path_type=str), help="File to write: .db, .sqlite or .backup."
)
def backup(out: str, store: str | None, as_json: bool) -> None:
    """Write all experiments of a store into one file.

    Others can ask and tell at the same time.
    """
    from truant.cli.live.records import Transfer
    from truant.live.exchange import backup as run

    with opened_store(store) as place:
        path = wrote(run(place, out))
    answer(as_json, Transfer("backed-up", str(path)), f"Wrote {path}")


@live_command("restore")
@click.argument("file", type=click.Path(path_type=str))
def restore(file: str, store: str | None, as_json: bool) -> None:
    """Copy a backup into an empty store.

    The store may be of another kind: a backup of PostgreSQL can be restored into an SQLite file.
    """
    from truant.cli.live.records import Transfer
    from truant.live.exchange import restore as run

    found = run(file, store)  # which looks at the backup before it makes a store
    sentence = "1 experiment was restored." if found == 1 else f"{found:,} experiments were restored."
    answer(as_json, Transfer("restored", file, experiments=found), sentence)
