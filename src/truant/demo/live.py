"""Part 3 of the demo: a live experiment of four weeks on SQLite, whose outcomes come late or never."""

from __future__ import annotations

import heapq
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from truant.demo.mails import HIGH, LOW, MAILS, Customers, customers_of, mail_world
from truant.live.times import DAY, ManualClock

if TYPE_CHECKING:
    from truant.live.experiment import Experiment
    from truant.live.status import Status

STORE, NAME = "mails.db", "mails"
LEVELS = ("closed", "opened")
DAYS, EACH_DAY, SEED = 28, 25, 1
TO_OPEN = 0.3  # mean days until a mail is opened or known to be closed
TO_SPEND = 2.5  # mean days from then until spending is known

Message = tuple[int, int, str, dict[str, Any]]  # when, number, decision, what is told


@dataclass(frozen=True, eq=False)
class LiveResult:
    """How the experiment stands after its last day."""

    status: Status
    store: Path


def run_experiment(folder: Path, seed: int = SEED) -> LiveResult:
    """Create the experiment, ask for each customer, tell what becomes known, and take stock."""
    from truant.live.experiment import Experiment

    store = folder / STORE
    for old in (store, *(store.with_name(STORE + end) for end in ("-wal", "-shm"))):
        old.unlink(missing_ok=True)
    # it ends today, so that `truant status` finds most windows of the last week still open
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    clock = ManualClock(today - timedelta(days=DAYS))
    made = Experiment.create(
        NAME,
        MAILS,
        mediator_levels=LEVELS,
        range=(LOW, HIGH),
        assume="mar",
        window="7d",
        horizon=DAYS * EACH_DAY,
        store=store,
        clock=clock,
    )
    with closing(made.store) as place:
        # windows are closed once a day, as a nightly job would
        experiment = Experiment.open(NAME, store=place, clock=clock, seed=seed, settles=False)
        _run(experiment, clock, np.random.default_rng(seed))
        return LiveResult(experiment.status(calibrate=True, progress=False), store)


def _run(experiment: Experiment, clock: ManualClock, rng: np.random.Generator) -> None:
    """Send the mails one after the other; meanwhile tell what becomes known of earlier ones."""
    world, start, waiting = mail_world(), clock(), list[Message]()
    for number in range(DAYS * EACH_DAY):
        _tell_until(start + number * DAY // EACH_DAY, experiment, clock, waiting)
        if number % EACH_DAY == 0:
            experiment.close_windows()
        decision = experiment.ask(key=f"C{number + 1:04}")
        customer = customers_of(world, np.array([MAILS.index(decision.arm)]), rng)
        for message in _messages(number, decision.id, customer, clock(), rng):
            heapq.heappush(waiting, message)
    _tell_until(start + DAYS * DAY, experiment, clock, waiting)


def _tell_until(moment: int, experiment: Experiment, clock: ManualClock, waiting: list[Message]) -> None:
    """Tell everything that becomes known until then, each at its own time; then it is that time."""
    while waiting and waiting[0][0] <= moment:
        when, _, decision, news = heapq.heappop(waiting)
        clock.advance(when - clock())
        experiment.tell(decision, **news)
    clock.advance(moment - clock())


def _messages(
    number: int, decision: str, customer: Customers, sent: int, rng: np.random.Generator
) -> list[Message]:
    """What becomes known of one customer: whether the mail was opened, and sometimes what was spent."""
    at_opening = sent + int(rng.exponential(TO_OPEN) * DAY)
    at_spending = at_opening + int(rng.exponential(TO_SPEND) * DAY)
    found: list[Message] = [(at_opening, 2 * number, decision, {"mediator": LEVELS[customer.opened[0]]})]
    if customer.known[0]:
        found.append((at_spending, 2 * number + 1, decision, {"outcome": float(customer.spent[0])}))
    return found
