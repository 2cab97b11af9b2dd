"""Any sequence of calls does what a simple model says: the same verdicts, refusals, states and counts."""

import copy
import itertools
import os
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.live.conftest import START
from tests.live.counted import assert_sound, folded, kept, rows
from tests.live.model import UNKNOWN, Made, Model
from truant.durations import duration, duration_text
from truant.errors import TruantError, Unavailable
from truant.live import counting, times
from truant.live.exchange import backup
from truant.live.experiment import Experiment
from truant.live.store.opening import open_store
from truant.live.times import ManualClock, as_datetime, shown

MEDIATORS = ("closed", "opened")
OUTCOMES = st.sampled_from([0.0, 0.75, 4.0, None])  # whose sums are exact in any order
KEYS = st.sampled_from(["anna", "ben", "cleo", "dora"])
ARMS = st.sampled_from(["a", "b", "c", "d"])
WHICH = st.integers(0, 10**6)
NAMES = itertools.count(1)
HOUR = duration("window", "1h")
values = st.fixed_dictionaries(
    {}, optional={"mediator": st.sampled_from([*MEDIATORS, None]), "outcome": OUTCOMES}
).filter(bool)


def _given(found):
    """The verdict of a tell in a list, or what it was refused with."""
    if isinstance(found, TruantError):
        raise found
    return found.verdict


class StoreClock:
    """The clock of the machine that has the store: it goes on as time passes, and jumps when somebody sets it."""

    def __init__(self):
        self.wall, self.passed = ManualClock(START)(), 0

    def __call__(self):
        return self.wall

    def advance(self, by):
        """Time passes."""
        self.passed += duration("by", by)
        self.wall += duration("by", by)

    def as_module(self):
        """In place of the module time."""
        return SimpleNamespace(
            time_ns=lambda: 1000 * self.wall,
            monotonic_ns=lambda: 1000 * self.passed,
            clock_gettime_ns=lambda which: 1000 * self.passed,
        )


class Calls(RuleBasedStateMachine):
    """Two openings of one experiment, called in any order."""

    url = ""
    settle = "at_close"
    patch = None  # given: the time is that of the store, whose clock jumps

    @initialize(
        absent=st.sampled_from([None, 0.0]),
        mediator_absent=st.sampled_from([None, "closed"]),
        grace=st.sampled_from([0, HOUR]),
        holdout=st.sampled_from([0.0, 0.3]),
        settles=st.booleans(),
    )
    def begin(self, absent, mediator_absent, grace, holdout, settles):
        self.clock, name = ManualClock(START), f"experiment {next(NAMES)}"
        if self.patch is not None:
            self.clock = StoreClock()
            self.patch.setattr(times, "time", self.clock.as_module())
        self.drift = 0  # by which the clock of the store has jumped since it was last believed
        self.copies, self.saved = Path(tempfile.mkdtemp()), None
        self.options = {"settles": settles, "clock": None if self.patch else self.clock}
        fixed = {
            "absent": absent,
            "mediator_absent": mediator_absent,
            "holdout": holdout,
            "settle": self.settle,
        }
        self.store = open_store(self.url)
        experiment = Experiment.create(
            name,
            ["a", "b"],
            store=self.store,
            clock=self.options["clock"],
            seed=1,
            window=duration_text(6 * HOUR),
            grace=duration_text(grace),
            range=(0, 4),
            mediator_levels=MEDIATORS,
            assume="mcar",
            **fixed,
        )
        other = Experiment.open(name, store=self.store, seed=2, **self.options)
        self.both, self.turn = (experiment, other), 0
        self.model = Model(6 * HOUR, grace, self.settle == "on_arrival", absent, mediator_absent, ["a", "b"])
        self.latest, self.file = 0, []

    @property
    def experiment(self):
        """Now the one, then the other: what one does, the other must see."""
        self.turn += 1
        return self.both[self.turn % 2]

    def now(self):
        """The time that the next call goes by."""
        clock = self.both[0].refresh().head.clock
        assert clock >= self.latest, "the clock of the experiment went back"
        self.latest = clock
        return max(self.clock(), clock)

    def same(self, call, expected):
        """Both give the same, or refuse for the same reason; what they gave."""
        try:
            wanted = expected()
        except TruantError as refusal:
            with pytest.raises(type(refusal), match=refusal.text):
                call()
            return None
        found = call()
        if wanted is not None:
            assert found == wanted
        return found

    def place(self, which, by_key):
        """A decision by its id, or by a key, which may be unknown."""
        made = self.model.decisions[which % len(self.model.decisions)]
        return ("key", made.key or "nobody") if by_key else ("id", made.id)

    # Asking

    def kept(self, decision, key, now):
        """A new decision is one of the arms that are not retired; a known key gets its decision again."""
        known = None if key is None else self.model.by_key(key)
        assert decision.repeated == (known is not None)
        if known is not None:
            assert (decision.id, decision.arm) == (known.id, known.arm)
            return
        assert decision.arm in set(self.model.arms) - self.model.retired
        assert decision.asked == as_datetime(now)
        made = Made(
            decision.id,
            decision.arm,
            now,
            now + self.model.window,
            now + self.model.window + self.model.grace,
            decision.holdout,
            key,
        )
        assert decision.deadline == as_datetime(made.deadline)
        self.model.decisions.append(made)

    @rule(key=st.none() | KEYS)
    def ask(self, key):
        self.ask_for([key], lambda: [self.experiment.ask(key=key)])

    @rule(n=st.sampled_from([1, 2, 3, 51]))
    def ask_several(self, n):
        self.ask_for([None] * n, lambda: self.experiment.ask(n))

    @rule(keys=st.lists(KEYS, max_size=4))
    def ask_for_keys(self, keys):
        self.ask_for(keys, lambda: self.experiment.ask(keys=keys))

    def ask_for(self, keys, call):
        now, before = self.now(), len(self.model.decisions)
        new = any(key is None or self.model.by_key(key) is None for key in keys)
        if new and self.model.status != "running":
            words = "has ended" if self.model.status == "ended" else "is paused"
            with pytest.raises(TruantError, match=words):
                call()
            assert len(rows(self.both[0])) == before
            return
        found = call()
        assert len(found) == len(keys)
        # decisions of a list are made in the order of the hashed keys: of one that is there twice, either is new
        for decision, key in sorted(zip(found, keys, strict=True), key=lambda pair: pair[0].repeated):
            self.kept(decision, key, now)

    @rule(key=KEYS)
    def lookup(self, key):
        found, known = self.experiment.lookup(key), self.model.by_key(key)
        assert (None if found is None else found.id) == (None if known is None else known.id)

    # Telling

    @precondition(lambda self: self.model.decisions)
    @rule(which=WHICH, by_key=st.booleans(), told=values)
    def tell(self, which, by_key, told):
        place, now = self.place(which, by_key), self.now()
        self.same(
            lambda: self.experiment.tell(**dict([place]), **told).verdict,
            lambda: self.model.tell(place, told, None, now),
        )

    @precondition(lambda self: self.model.decisions)
    @rule(
        which=WHICH,
        told=values,
        of=st.sampled_from(["asked", "deadline", "now"]),
        away=st.sampled_from([-6 * 60, -1, 0, 1, 6 * 60]),
    )
    def tell_when(self, which, told, of, away):
        """At, shortly before or shortly after what matters."""
        place, now = self.place(which, False), self.now()
        made = self.model.found(place)
        at = {"asked": made.asked, "deadline": made.deadline, "now": now}[of] + away * 10**6
        self.same(
            lambda: self.experiment.tell(made.id, at=as_datetime(at), **told).verdict,
            lambda: self.model.tell(place, told, at, now),
        )

    @precondition(lambda self: self.model.decisions)
    @rule(tells=st.lists(st.tuples(WHICH, values), min_size=1, max_size=5), by_key=st.booleans())
    def tell_many(self, tells, by_key):
        now = self.now()
        listed = [dict([self.place(which, by_key)]) | told for which, told in tells]
        found = self.experiment.tell_many(listed)
        for (which, told), one in zip(tells, found, strict=True):
            place = self.place(which, by_key)
            self.same(
                lambda one=one: _given(one),
                lambda place=place, told=told: self.model.tell(place, told, None, now),
            )

    @precondition(lambda self: any(made.listed for made in self.model.decisions))
    @rule(which=WHICH, outcome=OUTCOMES)
    def answer(self, which, outcome):
        listed = [made for made in self.model.decisions if made.listed]
        self.told_answer(("id", listed[which % len(listed)].id), outcome)

    @precondition(lambda self: self.model.decisions)
    @rule(which=WHICH, by_key=st.booleans())
    def answer_of_any(self, which, by_key):
        self.told_answer(self.place(which, by_key), 4.0)

    def told_answer(self, place, outcome):
        now = self.now()
        self.same(
            lambda: self.experiment.tell(**dict([place]), outcome=outcome, followed_up=True).verdict,
            lambda: self.model.answer(place, outcome, now),
        )

    @precondition(lambda self: self.model.decisions)
    @rule(which=WHICH, by_key=st.booleans(), told=values, followed_up=st.booleans())
    def correct(self, which, by_key, told, followed_up):
        place = self.place(which, by_key)
        followed_up = followed_up and set(told) == {"outcome"}
        self.same(
            lambda: self.experiment.correct(
                **dict([place]), **told, followed_up=followed_up, why="typing error"
            ),
            lambda: self.model.correct(place, told, followed_up),
        )

    @precondition(lambda self: self.model.decisions)
    @rule(which=WHICH, by_key=st.booleans())
    def withdraw(self, which, by_key):
        place = self.place(which, by_key)
        self.same(lambda: self.experiment.withdraw(**dict([place])), lambda: self.model.withdraw(place))

    @rule(key=KEYS)
    def forget(self, key):
        made = self.model.by_key(key)
        assert self.experiment.forget(key) == (made is not None)
        if made is not None:
            made.key = None

    @rule(n=st.integers(1, 3))
    def follow_up(self, n):
        now = self.now()
        for one in self.experiment.follow_up(n):
            made = self.model.found(("id", one.id))
            state, reason, _, _ = self.model.settled(made)
            assert state == "missing"
            assert reason != "withdrawn"
            assert made.due <= now
            assert not made.listed
            assert not made.holdout
            made.listed = True

    # Imports

    @precondition(lambda self: max((asked for _, asked, *_ in self.file), default=0) <= self.clock())
    @rule(
        new=st.lists(
            st.tuples(
                ARMS, st.sampled_from([0, 3 * HOUR, 40 * HOUR]), st.sampled_from(["", *MEDIATORS]), OUTCOMES
            ),
            max_size=3,
        )
    )
    def import_the_file_again(self, new):
        """A file of past decisions has grown, or not: what was imported before is known."""
        known, now = len(self.file), self.clock()
        new = [(arm, now - ago, mediator, outcome) for arm, ago, mediator, outcome in new]
        self.file += [row for row in new if row[0] in self.model.arms]
        if not self.file:
            return
        lines = [
            f"{n},{arm},{shown(asked)},{mediator},{'' if outcome is None else outcome}"
            for n, (arm, asked, mediator, outcome) in enumerate(self.file)
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            path.write_text("\n".join(["visit,arm,asked,mediator,outcome", *lines]), "utf-8")
            found = self.experiment.import_rows(path, source="shop", identified_by="visit")
        assert (found, found.known) == (len(self.file) - known, known)
        ids = [row.id for row in rows(self.both[0])][len(self.model.decisions) :]
        for id, row in zip(ids, self.file[known:], strict=True):
            self.model.imported(id, *row, now)

    # Time, and changes

    @rule(by=st.sampled_from(["1s", "20m", "3h", "6h", "7h", "30h"]))
    def advance(self, by):
        self.clock.advance(by)

    @rule(by=st.sampled_from([-48 * HOUR, -HOUR, -(10**6), HOUR // 2, 3 * HOUR]), is_right=st.booleans())
    def jump(self, by, is_right):
        """The clock of the caller is believed; that of the store unless it is an hour off and nobody accepts it."""
        if self.patch is None:
            self.clock.advance(min(by, -by))
            return
        self.clock.wall += by
        self.drift += by
        if abs(self.drift) <= HOUR:
            return
        before = rows(self.both[0])
        for call in (self.experiment.close_windows, self.experiment.now):
            with pytest.raises(Unavailable, match="Correct the clock"):
                call()
        if self.model.status == "running":
            with pytest.raises(Unavailable, match="Correct the clock"):
                self.experiment.ask()
        assert rows(self.both[0]) == before
        if is_right:
            self.experiment.accept_clock()
            self.drift = 0
        else:
            self.clock.wall -= by
            self.drift -= by
        for one in self.both:
            assert one.now() == self.clock()

    @rule()
    def restart(self):
        """Both processes end and begin again."""
        self.store.close()
        self.store = open_store(self.url)
        self.both = tuple(
            Experiment.open(self.both[0].name, store=self.store, seed=next(NAMES), **self.options)
            for _ in self.both
        )
        self.drift = 0

    # Files

    @precondition(lambda self: self.url.startswith("sqlite"))
    @rule()
    def keep_a_copy(self):
        path = backup(self.store, self.copies / f"{next(NAMES)}.db")
        self.saved = path, copy.deepcopy((self.model, self.file, self.both[0].refresh().head.clock))

    @precondition(lambda self: self.saved is not None)
    @rule()
    def put_the_copy_back(self):
        """The file is replaced while it is open: refused, and after `reopen` all is as it was."""
        file, (path, kept) = self.url.removeprefix("sqlite:///").partition("?")[0], self.saved
        os.replace(shutil.copyfile(path, self.copies / "again.db"), file)
        for end in ("-wal", "-shm"):
            Path(file + end).unlink(missing_ok=True)
        for call in (self.experiment.ask, self.experiment.close_windows):
            with pytest.raises(Unavailable, match="was replaced by another one while it was in use"):
                call()
        for one in self.both:
            one.reopen()
        self.drift = 0
        self.model, self.file, self.latest = copy.deepcopy(kept)

    @rule()
    def close_windows(self):
        self.experiment.close_windows()
        self.compare()

    @rule(status=st.sampled_from(["pause", "resume", "resume", "end"]))
    def set_status(self, status):
        word = {"pause": "paused", "resume": "running", "end": "ended"}[status]
        call = getattr(self.experiment, status)
        self.same(call, lambda: self.model.set_status(word))

    @rule(arm=ARMS)
    def add_arm(self, arm):
        self.same(lambda: self.experiment.add_arm(arm), lambda: self.model.add_arm(arm))

    @rule(arm=ARMS)
    def retire_arm(self, arm):
        self.same(lambda: self.experiment.retire_arm(arm), lambda: self.model.retire_arm(arm))

    @rule(window=st.sampled_from([HOUR, 6 * HOUR, 26 * HOUR]), grace=st.sampled_from([0, HOUR]))
    def change(self, window, grace):
        texts = {"window": duration_text(window), "grace": duration_text(grace)}
        self.same(
            lambda: self.experiment.change(**texts), lambda: self.model.change(window=window, grace=grace)
        )

    # Comparison

    def compare(self):
        """Every decision, and what is counted of those whose window is over."""
        now, found = self.now(), {row.id: row for row in rows(self.both[0])}
        assert set(found) == {made.id for made in self.model.decisions}
        settled = [made for made in self.model.decisions if made.due <= now]
        for made in self.model.decisions:
            self.compare_one(found[made.id], made, made.due <= now)
        for kind, holdout in ((counting.SETTLED, False), (counting.HOLDOUT, True)):
            told = [(made.arm, *self.model.settled(made)[2:]) for made in settled if made.holdout == holdout]
            assert np.array_equal(kept(self.both[0], kind).table, folded(self.both[0], told).table)
        answers = [
            (made.arm, self.model.settled(made)[2], made.answer) for made in settled if made.answer != UNKNOWN
        ]
        found_answers = kept(self.both[0], counting.FOLLOW_UP).table
        assert np.array_equal(found_answers, folded(self.both[0], answers).table)

    def compare_one(self, row, made, over):
        state, reason, mediator, outcome = self.model.settled(made)
        assert (row.asked, row.deadline, row.due) == (made.asked, made.deadline, made.due)
        assert (row.settled is not None) == over
        if over:
            code = None if mediator is None else MEDIATORS.index(mediator)
            assert (row.state, row.reason, row.mediator, row.outcome) == (state, reason, code, outcome)
        else:
            assert row.state == "pending"
        late = made.late.get("mediator")
        assert row.late_mediator == (None if late is None else MEDIATORS.index(late))
        assert row.late_outcome == made.late.get("outcome")
        assert (row.answered_at is None) == (made.answer == UNKNOWN)
        assert row.answer == (None if made.answer == UNKNOWN else made.answer)

    def teardown(self):
        if not hasattr(self, "both"):
            return
        self.both[0].close_windows()
        self.compare()
        assert_sound(self.both[0])
        version = self.both[0].refresh().head.counts_version
        self.both[1].close_windows()
        assert self.both[1].refresh().head.counts_version == version, "what is counted is counted again"
        self.store.close()
        shutil.rmtree(self.copies)


def run_machine(examples, **settled):
    """Play so many sequences of calls."""
    run_state_machine_as_test(
        type("Machine", (Calls,), settled),
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            phases=(Phase.generate,),
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("settle", ["at_close", "on_arrival"])
def test_any_sequence_of_calls_does_what_the_model_says(store_url, settle):
    run_machine(15 if store_url.startswith("sqlite") else 4, url=store_url, settle=settle)


def test_any_sequence_of_calls_while_the_clock_of_the_store_jumps(sqlite_url, monkeypatch):
    run_machine(15, url=sqlite_url, patch=monkeypatch)
