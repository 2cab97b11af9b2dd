"""Whose time an experiment goes by, which clocks are refused, and how what a wrong one did is undone."""

import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from tests.live.counted import assert_sound, folded, kept, rows
from truant.errors import Conflict, InvalidValue, Unavailable
from truant.live import times
from truant.live.clock_repair import compare_clocks
from truant.live.decision import MISSING, OBSERVED, PENDING, Row, turned_back
from truant.live.times import DAY, ManualClock, as_datetime, host_clock, shown

on_sqlite = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
on_postgresql = pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
HOUR, YEARS = 3600 * 10**6, 3650 * DAY


class Host:
    """Clocks of this machine that a test sets: how far ahead they are of the real ones, in microseconds."""

    def __init__(self):
        self.ahead = self.passed = 0

    def advance(self, by):
        """Time passes, on all clocks."""
        self.ahead += by
        self.passed += by

    def as_module(self):
        def ahead(read, name):
            return lambda *which: read(*which) + 1000 * getattr(self, name)

        return SimpleNamespace(
            time_ns=ahead(time.time_ns, "ahead"),
            monotonic_ns=ahead(time.monotonic_ns, "passed"),
            clock_gettime_ns=ahead(time.clock_gettime_ns, "passed"),
        )


@pytest.fixture
def host(monkeypatch):
    host = Host()
    monkeypatch.setattr(times, "time", host.as_module())
    return host


@pytest.fixture
def live(create):
    """An experiment on the clock of its store, with a window of an hour."""
    return create(
        clock=None, window="1h", mediator_levels=["closed", "opened"], mediator_absent="closed", assume="mar"
    )


# Whose time it is


@on_postgresql
def test_postgresql_goes_by_its_own_clock(create, host):
    host.ahead = YEARS
    live = create(clock=None)
    assert abs(live.ask().asked.timestamp() - time.time()) < 3600
    [differs] = compare_clocks(live)
    assert "from the clock of the store, which decides" in differs
    [found] = live.doctor().clocks
    assert "from the clock of the store, which decides" in found


@on_sqlite
def test_sqlite_goes_by_the_clock_of_the_machine(create, host):
    host.ahead = 2 * DAY
    live = create(clock=None)
    assert abs(live.ask().asked.timestamp() - time.time() - 2 * 86400) < 3600
    assert compare_clocks(live) == []


# What is refused


def test_a_function_as_clock_is_checked_and_a_manual_clock_is_believed(create, reopened):
    create(clock=ManualClock("2050-01-01")).ask()
    near = reopened(clock=lambda: host_clock() + DAY - HOUR)
    near.lookup("anna")
    near.now()
    for clock in (time.time, time.time_ns, lambda: host_clock() + DAY + HOUR):
        with pytest.raises(
            InvalidValue, match=r"microseconds since 1970, and truant\.ManualClock is for trials"
        ):
            reopened(clock=clock).ask()


@pytest.mark.parametrize(
    ("store_url", "jump"),
    [("sqlite", -2 * HOUR), ("sqlite", 2 * HOUR), ("sqlite", YEARS), ("postgresql", -2 * HOUR)],
    indirect=["store_url"],
)
def test_a_clock_that_jumps_while_the_process_runs(create, reopened, host, store_url, jump):
    clock = "ahead" if store_url.startswith("sqlite") else "passed"  # a test cannot set that of a server
    jump = jump if clock == "ahead" else -jump
    live = create(clock=None, fallback="b")
    decision = live.ask()
    setattr(host, clock, getattr(host, clock) + jump)
    assert live.ask().fallback
    with pytest.raises(Unavailable, match="by the time that has passed since this process opened") as error:
        live.tell(decision.id, outcome=1)
    assert "truant clock accept" in str(error.value)
    other = reopened(clock=None)  # begins with the clock as it is
    other.now()
    other.accept_clock(actor="ada", why="it was wrong before")
    assert not live.ask().fallback
    assert [e["actor"] for e in live.events() if e["kind"] == "clock_accepted"] == ["ada"]
    setattr(host, clock, getattr(host, clock) - jump)  # the acceptance is for the clock as it was then
    assert live.ask().fallback
    live.accept_clock()
    assert not live.ask().fallback


@on_sqlite
def test_an_idle_month_is_no_jump(create, host):
    live = create(clock=None)
    host.advance(30 * DAY)
    live.ask()


@on_sqlite
def test_a_small_correction_of_the_clock_is_believed(create, host):
    live = create(clock=None)
    for step in (HOUR // 2, -HOUR // 2, -HOUR // 2):
        host.ahead += step
        live.ask()


@on_sqlite
def test_an_acceptance_of_earlier_does_not_count(create, host):
    create(clock=None).accept_clock()
    host.advance(3 * DAY)
    live = create("other", clock=None)
    live.accept_clock()
    host.advance(3 * DAY)
    host.ahead += 2 * DAY  # later than the acceptance, and than the time that has passed since
    with pytest.raises(Unavailable, match="Correct the clock"):
        live.ask()


# What a wrong clock did


def test_what_a_clock_that_was_ahead_did_is_undone(live, reopened):
    asked = live.ask(6)
    live.tell(asked[0].id, outcome=1, mediator="opened")
    live.tell(asked[1].id, outcome=None)
    live.withdraw(asked[2].id)
    before, went_wrong = rows(live), shown(live.now())
    wrong = reopened(clock=ManualClock("2036-03-02 09:00"))  # PostgreSQL has no clock of the host to be wrong
    assert wrong.close_windows() == 6
    future = wrong.ask(key="anna")
    wrong.tell(future.id, mediator="opened")
    assert live.tell(asked[3].id, outcome=1).verdict == "late"
    assert any("A clock was ahead" in sentence for sentence in live.status().clocks)
    assert any("A clock was ahead" in sentence for sentence in live.status().sentences)
    diagnosis = live.doctor()
    assert diagnosis.healthy
    assert "A clock was ahead" in str(diagnosis)
    assert wrong.doctor().clocks == ()

    assert live.turn_clock_back(went_wrong, actor="ada", why="the clock of a server was set wrong") == 6
    after = rows(live)
    assert [row._replace(due=0) for row in after[:3]] == [row._replace(due=0) for row in before[:3]]
    assert (after[3].state, after[3].outcome, after[3].late_at) == (PENDING, 1, None)
    assert after[4:6] == before[4:6]
    made = after[6]
    assert as_datetime(made.asked) < as_datetime(live.now())
    assert made.deadline - made.asked == HOUR
    assert (made.mediator, made.state) == (1, PENDING)
    assert kept(live).pulls.sum() == 0
    assert compare_clocks(live) == []
    assert_sound(live)
    [event] = [event for event in live.events() if event["kind"] == "clock_back"]
    assert (event["actor"], event["body"]["reopened"], event["body"]["moved"]) == ("ada", 6, 1)
    assert live.tell(asked[4].id, outcome=0).verdict == "accepted"
    assert live.tell(future.id, outcome=1).verdict == "accepted"

    later = ManualClock(shown(live.now()))
    later.advance("2h")
    end = reopened(clock=later)
    assert end.close_windows() == 7
    expected = [(one.arm, "closed", None) for one in asked]
    expected[0] = (asked[0].arm, "opened", 1)
    expected[3], expected[4] = (asked[3].arm, "closed", 1), (asked[4].arm, "closed", 0)
    assert (kept(end).table == folded(end, [*expected, (future.arm, "opened", 1)]).table).all()
    assert_sound(end)


def test_turning_back_what_needs_no_turning_back(live):
    with pytest.raises(Conflict, match="there is nothing to undo after"):
        live.turn_clock_back(shown(live.now()))
    with pytest.raises(InvalidValue, match="to must not be in the future"):
        live.turn_clock_back("2090-01-01")


def test_windows_that_had_ended_stay_closed(create, clock):
    live = create(window="1h")
    first = live.ask()
    clock.advance("3h")
    live.close_windows()
    live.ask()
    wrong_from = shown(clock())
    clock.advance("30d")
    live.close_windows()
    clock.set(wrong_from)
    clock.advance("10m")
    assert live.turn_clock_back(wrong_from) == 1
    assert [row.state for row in rows(live)] == [MISSING, PENDING]
    assert rows(live)[0].id == first.id
    assert kept(live).pulls.sum() == 1
    assert_sound(live)


def row(**fields):
    usual = dict.fromkeys(Row._fields) | {"asked": 100, "deadline": 200, "due": 250, "state": PENDING}
    return Row(**(usual | fields))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        (
            {"outcome": 1.0, "outcome_at": 150, "state": OBSERVED, "settled": 3},
            {"state": PENDING, "settled": None},
        ),
        (
            {"outcome": 0.0, "state": OBSERVED, "reason": "absent", "settled": 3},
            {"outcome": None, "state": PENDING, "reason": None, "settled": None},
        ),
        (
            {"state": MISSING, "reason": "withdrawn", "settled": 3, "mediator": 1},
            {"state": PENDING, "settled": None, "mediator": None},
        ),
        # told late by a clock that was ahead: in time, since now (170) is before the deadline
        (
            {"state": MISSING, "reason": "expired", "settled": 3, "late_outcome": 1.0, "late_at": 900},
            {"state": PENDING, "reason": None, "settled": None, "outcome": 1.0, "outcome_at": 170}
            | {"late_outcome": None, "late_at": None},
        ),
        # a follow-up of a window that is open: its answer is the outcome
        (
            {"state": MISSING, "reason": "expired", "settled": 3, "listed_at": 160, "pick_probability": 0.5}
            | {"answer": 1.0, "answered_at": 165, "answer_settled": 4},
            {"state": PENDING, "reason": None, "settled": None, "listed_at": None, "pick_probability": None}
            | {
                "answer": None,
                "answered_at": None,
                "answer_settled": None,
                "outcome": 1.0,
                "outcome_at": 165,
            },
        ),
        # made while the clock was ahead
        (
            {"asked": 1000, "deadline": 1100, "due": 1150, "mediator": 1, "mediator_at": 1010},
            {"asked": 170, "deadline": 270, "due": 320, "mediator_at": 170},
        ),
    ],
)
def test_a_decision_that_is_turned_back(before, after):
    assert turned_back(row(**before), to=120, now=170, settle_on_arrival=False) == row(**(before | after))


def test_a_decision_whose_window_had_ended_is_not_turned_back():
    settled = row(outcome=1.0, outcome_at=150, state=OBSERVED, settled=3)
    assert turned_back(settled, to=250, now=300, settle_on_arrival=False) == settled


def test_late_outcomes_of_a_window_that_is_over_by_the_right_clock_stay_late():
    settled = row(state=MISSING, reason="expired", settled=3, late_outcome=1.0, late_at=900)
    after = turned_back(settled, to=240, now=400, settle_on_arrival=False)
    assert (after.state, after.outcome, after.late_outcome, after.late_at) == (PENDING, None, 1.0, 400)


def test_on_arrival_an_outcome_of_the_future_is_due_now():
    told = row(due=190, outcome=1.0, outcome_at=190, state=OBSERVED, settled=3)
    assert turned_back(told, to=120, now=170, settle_on_arrival=True).due == 170


# A whole process whose clock is wrong

WRONG = """
import sys
from truant.live.experiment import Experiment
live = Experiment.open("mail", store=sys.argv[1])
print(live.close_windows(), live.ask().asked.year)
"""


@on_sqlite
@pytest.mark.skipif(shutil.which("faketime") is None, reason="needs the Debian package faketime")
def test_a_process_whose_clock_is_ten_years_ahead(store_url, create):
    live = create(clock=None, window="1h")
    asked = live.ask(3)
    began = shown(live.now())
    command = ["faketime", "-f", "+10y", sys.executable, "-c", WRONG, store_url]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "3"
    assert int(done.stdout.split()[1]) >= asked[0].asked.year + 9
    assert live.turn_clock_back(began) == 3
    assert live.tell_many([{"id": one.id, "outcome": 1} for one in asked])[0].verdict == "accepted"
    assert {row.state for row in rows(live)} == {PENDING}
    assert_sound(live)
