"""An experiment that runs: ask which arm to use, tell what came of it, see what is known."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from truant.errors import Conflict, InvalidValue, Unavailable, label, named, quoted, unknown
from truant.live.clock import ExperimentClock
from truant.live.configuration import Configuration, Note, name_of
from truant.live.decisions import Decisions
from truant.live.question import (
    CHANGEABLE,
    ChangeableSettings,
    ExperimentQuestion,
    ExperimentSettings,
    changed,
    with_arm,
    without_arm,
)
from truant.live.store import Store, Transaction, deadline, statements
from truant.live.store.opening import closed_on_error, open_store, store_at
from truant.live.store.statements import ENDED, PAUSED, RUNNING
from truant.live.times import Clock, as_datetime, in_words, moment
from truant.questions import keywords, options

if TYPE_CHECKING:
    from truant.live.doctor import Diagnosis
    from truant.live.follow_up import FollowUpList
    from truant.live.imports import Imported
    from truant.live.status import Status

Where = str | os.PathLike[str] | Store | None

MOST_ARMS, MOST_LETTERS = 10, 40  # of a representation


class Experiment(Decisions):
    """A live experiment, kept in a store; made with `create`, found again with `open`.

    Threads may share an experiment, and any number of processes may have it open.
    """

    @classmethod
    @keywords(ExperimentQuestion, leaving=["arms"])
    def create(
        cls,
        name: str,
        arms: Sequence[str],
        *,
        store: Where = None,
        actor: str | None = None,
        why: str | None = None,
        clock: Clock | None = None,
        seed: int | None = None,
        **settings: Unpack[ExperimentSettings],
    ) -> Self:
        """Create an experiment; raises NotIdentified if the assumption cannot be used with its outcomes and mediator.

        Of the settings, `window`, `assume` (or `policy`) and one of `range` and `levels` are needed.

        Parameters
        ----------
        name : by which it is found again.
        arms : names of at least two arms.
        store : sqlite:///mails.db, postgresql://user@host/database, or the path of an SQLite file; the environment
            variable TRUANT_STORE, or truant.db in this folder, unless given.
        actor, why : who creates it and why, for its list of events.
        clock : a truant.ManualClock, for trials; or a function that gives the time in microseconds since 1970, at
            most a day from the clock of this machine. Unless given, the time is that of the store: of the PostgreSQL
            server, or of the machine that has the SQLite file.
        seed : makes draws reproducible, for tests and rehearsals; by default they come from the operating system.

        Other Parameters
        ----------------
        {fields}

        Examples
        --------
        >>> experiment = Experiment.create(
        ...     "mail", ["old", "new"], levels=[0, 1], assume="mcar", window="7d", store="sqlite://"
        ... )
        >>> decision = experiment.ask(key="customer-17")
        >>> experiment.tell(decision.id, outcome=1).verdict
        'accepted'
        """
        from truant.live.settle import compile_policy, first_allocation

        _check_name(name)
        note = Note.of(actor, why)
        known = [setting for setting in options(ExperimentQuestion) if setting != "arms"]
        for setting in settings:
            if setting not in known:
                raise unknown("setting of an experiment:", setting, known)
        configuration = ExperimentQuestion(arms=arms, **settings).configuration()
        compile_policy(configuration)
        place, own = open_store(store), ExperimentClock(clock)

        def operation(transaction: Transaction) -> None:
            if statements.head_named(transaction, name) is not None:
                raise Conflict(f"There is an experiment {named(name)} already.").advising(
                    f"Open it with truant.Experiment.open({name!r}, store=...), or choose another name."
                )
            now = own.now(transaction, 0)
            row = first_allocation(configuration, now)
            number = statements.insert_experiment(transaction, name, now)
            statements.insert_revision(transaction, number, 1, now, configuration.as_json(), note)
            statements.insert_event(
                transaction, number, "created", now, note=note, body=configuration.summary()
            )
            statements.insert_allocation(transaction, number, row)

        with closed_on_error(place, given=store):
            experiment = cls(place, name, own, _generator(seed))
            place.write(operation)
            experiment.reach()
        return experiment

    @classmethod
    def open(
        cls,
        name: str,
        *,
        store: Where = None,
        clock: Clock | None = None,
        seed: int | None = None,
        settles: bool = True,
        fallback: str | None = None,
        timeout: float | None = None,
    ) -> Self:
        """Open the experiment of that name.

        With a fallback it opens even if the store does not answer: `ask` then gives the fallback, and the experiment
        itself as soon as the store answers.

        Parameters
        ----------
        name, store, clock, seed : as for `create`.
        settles : whether `ask` and `tell` close windows that are over, at most once in a while; if not, another process
            must (or `close_windows`), and asking stays free of what takes time.
        fallback : the arm to use if the store does not answer, now or later; that of the experiment unless given.
        timeout : seconds after which the store does not answer; 10 unless given.
        """
        _check_name(name)
        place = store_at(store, create=False)
        with (
            closed_on_error(place, given=store),
            deadline.within(deadline.seconds_of(timeout, deadline.USUAL)),
        ):
            experiment = cls(place, name, ExperimentClock(clock), _generator(seed), settles, fallback)
            try:
                experiment.reach()
            except Unavailable:
                if fallback is None:
                    raise
        return experiment

    @property
    def learning_starts(self) -> datetime:
        """The earliest moment at which the shares of the arms can change."""
        configuration, created = self._state.configuration, self._state.head.created
        return as_datetime(created + max(configuration.window + configuration.grace, configuration.warm_up))

    @property
    def learning_sentence(self) -> str:
        """The moment from which the shares of the arms can change, in a sentence."""
        configuration, created = self._state.configuration, self._state.head.created
        first = created + (
            0 if configuration.settle == "on_arrival" else configuration.window + configuration.grace
        )
        if configuration.settle == "on_arrival":
            return "Outcomes are counted as they arrive, so that shares may change from the first outcome on."
        words = f"No window closes before {in_words(first)}"
        if configuration.warm_up > first - created:
            return f"{words}, and shares stay fixed until {in_words(created + configuration.warm_up)}."
        return f"{words}; until then the shares of the arms do not change."

    # What is known

    def status(
        self, *, calibrate: bool | None = None, progress: bool | Callable[[float], None] | None = None
    ) -> Status:
        """The state now: analysis of the settled decisions, pending decisions, and tests of shares and late outcomes.

        Parameters
        ----------
        calibrate : allow for the policy by replaying it: always, never (intervals are then confidence sequences, which
            are wider), or, unless given, where that takes a second or two.
        progress : show a progress bar while the policy is replayed.
        """
        from truant.live.status_making import status_of

        self._settler.settle_if_due(self, force=True)
        return status_of(self, calibrate, progress)

    def events(self, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """What happened, oldest first: number, time, kind, id of the decision, actor, why and body of each event."""
        from truant.setting import whole_number

        after, limit = whole_number("after", after, at_least=0), whole_number("limit", limit, at_least=1)
        found = self._store.read(
            lambda transaction: statements.events(transaction, self.number, after, limit)
        )
        return [one | {"at": as_datetime(one["at"])} for one in found]

    def close_windows(self, now: datetime | str | None = None) -> int:
        """Count all decisions whose window is over, and update the shares; returns the number counted.

        Parameters
        ----------
        now : windows that were over by then; the present unless given, and not later than it.
        """
        limit = self.now()
        if now is not None:
            asked = moment("now", now)
            if asked > limit:
                raise InvalidValue(
                    f"now must not be in the future: windows close by themselves, got {quoted(now)}."
                )
            limit = asked
        return self._settler.settle(self, limit)

    def follow_up(
        self, n: int | None = None, *, budget: int | None = None, actor: str | None = None
    ) -> FollowUpList:
        """Pick decisions with a missing outcome at random for follow-up, and store that they were picked.

        Parameters
        ----------
        n : how many to pick now.
        budget : how many may be picked in all, those of earlier calls included.
        actor : who asks, for the list of events.
        """
        from truant.live.follow_up import pick

        self._settler.settle_if_due(self, force=True)
        return pick(self, n, budget, Note.of(actor))

    # Changes

    def pause(self, *, actor: str | None = None, why: str | None = None) -> None:
        """Make no new decisions until `resume`; keys keep their decisions, and outcomes are still taken."""
        self._set_status(PAUSED, "paused", Note.of(actor, why))

    def resume(self, *, actor: str | None = None, why: str | None = None) -> None:
        """Make decisions again."""
        self._set_status(RUNNING, "resumed", Note.of(actor, why))

    def end(self, *, actor: str | None = None, why: str | None = None) -> None:
        """Make no new decisions ever; outcomes of pending ones are still taken and counted."""
        self._set_status(ENDED, "ended", Note.of(actor, why))

    def _set_status(self, status: str, kind: str, note: Note) -> None:
        from truant.live.settle import set_status

        set_status(self._store, self.number, status, kind, self.now(), note)
        self.refresh()

    def add_arm(self, arm: str, *, actor: str | None = None, why: str | None = None) -> None:
        """Add an arm; it has an equal share until its first decisions are counted."""
        self._revise("arm_added", lambda before: with_arm(before, arm), Note.of(actor, why))

    def retire_arm(self, arm: str, *, actor: str | None = None, why: str | None = None) -> None:
        """Stop choosing an arm; its decisions and counts stay."""
        self._revise("arm_retired", lambda before: without_arm(before, arm), Note.of(actor, why))

    def change(
        self,
        *,
        actor: str | None = None,
        why: str | None = None,
        revision: int | None = None,
        **settings: Unpack[ChangeableSettings],
    ) -> None:
        """Change settings of `create` for decisions from now on; this makes a new revision.

        Parameters
        ----------
        actor, why : who changes it and why.
        revision : the revision that the change is meant for; refused if somebody else has changed it since.
        **settings : any of {changeable}. Arms, mediator and outcome stay as they are.
        """
        self._revise("changed", lambda before: changed(before, settings), Note.of(actor, why), revision)

    def _revise(
        self,
        kind: str,
        change: Callable[[Configuration], Configuration],
        note: Note,
        expected: int | None = None,
    ) -> None:
        from truant.live.settle import revise

        revise(self._store, self.number, kind, change, self.now(), note, expected)
        self.refresh()

    def reopen(self) -> None:
        """Use the store that is there now, after its file was deleted, replaced or restored while it was open."""
        self._store.reopen()
        self._forget_store()
        self.reach()

    # Its clock

    def accept_clock(self, *, actor: str | None = None, why: str | None = None) -> datetime:
        """Say that the clock of the store is right now, after it was set while processes ran; returns the time."""
        from truant.live.clock_repair import accept

        return as_datetime(accept(self, Note.of(actor, why)))

    def turn_clock_back(self, to: datetime | str, *, actor: str | None = None, why: str | None = None) -> int:
        """Undo what a clock that was ahead did: open windows again that were closed since; returns their number.

        Counts and shares are computed again from the decisions. What was told too late by the wrong clock, and in time
        by the right one, counts.

        Parameters
        ----------
        to : when the clock went wrong; windows that had ended by then stay closed.
        actor, why : who does it and why, for the list of events.
        """
        from truant.live.clock_repair import turn_back

        reopened = turn_back(self, to, Note.of(actor, why))
        self.close_windows()
        return reopened

    # Files

    def export(self, path: str | os.PathLike[str], *, all: bool = False) -> Path:
        """Write a row for each settled decision (or for all of them) as .csv or .parquet."""
        from truant.live.exchange import export

        return export(self, path, all)

    def import_rows(
        self,
        data: str | os.PathLike[str],
        *,
        source: str | None = None,
        identified_by: str | None = None,
        actor: str | None = None,
        why: str | None = None,
    ) -> Imported:
        """Add past decisions from a .csv or .parquet file as `export` writes them; returns the number added.

        Rows that were imported before are not added again: a file that has grown adds its new rows.

        Parameters
        ----------
        data : the file.
        source, identified_by : for a file without ids of truant: a name for where its rows come from, and the column
            that tells its rows apart, such as the number of an order.
        actor, why : who imports and why, for the list of events.
        """
        from truant.live.imports import import_rows

        return import_rows(self, data, Note.of(actor, why), source, identified_by)

    def doctor(self, *, allocations: int | None = 20) -> Diagnosis:
        """Recount everything from the decisions, and compare with the stored counts.

        Parameters
        ----------
        allocations : how many of the latest allocations are made again; None: all of them.
        """
        from truant.live.doctor import examine

        return examine(self, allocations)

    def __repr__(self) -> str:
        if self._known is None:
            return f"<Experiment {named(self.name)}: its store was not reached yet>"
        head, configuration = self._state.head, self._state.configuration
        shown = [label(arm, MOST_LETTERS) for arm in configuration.arms[:MOST_ARMS]]
        more = len(configuration.arms) - len(shown)
        arms = ", ".join([*shown, *([f"and {more:,} more"] if more else [])])
        return f"<Experiment {named(head.name)}: {head.status}, {configuration.policy}, arms {arms}>"


Experiment.change.__doc__ = str(Experiment.change.__doc__).replace("{changeable}", ", ".join(CHANGEABLE))


def experiments(store: Where = None) -> list[dict[str, Any]]:
    """The experiments of a store: name, status, revision, created."""
    place = open_store(store, create=False)
    try:
        found = place.read(statements.heads)
    finally:
        if place is not store:
            place.close()
    return [
        {
            "name": one.name,
            "status": one.status,
            "revision": one.revision,
            "created": as_datetime(one.created),
        }
        for one in found
    ]


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise InvalidValue(f"The name of an experiment must be a text, got {quoted(name)}.")
    name_of("The name of an experiment", name)


def _generator(seed: int | None) -> random.Random:
    """Draws from the operating system, which forked processes do not share; or reproducible ones."""
    return random.SystemRandom() if seed is None else random.Random(seed)
