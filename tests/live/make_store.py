"""Makes the store that tests/live/stores keeps of the present version: python -m tests.live.make_store."""

from __future__ import annotations

from pathlib import Path

from truant.live.experiment import Experiment
from truant.live.store import Store
from truant.live.store.opening import MIGRATIONS, open_store
from truant.live.times import ManualClock

STORES = Path(__file__).parent / "stores"


def make(path: Path) -> None:
    """Decisions in every state, corrections, late outcomes and follow-ups, in two experiments."""
    store = open_store(path)
    _mail(store)
    _shop(store)
    store.close()


def _mail(store: Store) -> None:
    clock = ManualClock("2026-03-02 09:00")
    experiment = Experiment.create(
        "mail",
        ["a", "b"],
        store=store,
        clock=clock,
        seed=1,
        levels=[0, 1],
        mediator_levels=["closed", "opened"],
        assume="mar",
        window="7d",
        holdout=0.2,
        actor="the tests",
        why="to be kept",
    )
    decisions = [experiment.ask(key=f"customer-{i}") for i in range(40)]
    for i, decision in enumerate(decisions):
        clock.advance("10m")
        experiment.tell(decision.id, mediator=["closed", "opened"][i % 2])
        if i % 4 != 3:
            experiment.tell(decision.id, outcome=1 if i == 0 else i % 3 % 2)
    experiment.tell(decisions[3].id, outcome=None)
    experiment.withdraw(decisions[5].id, why="consent withdrawn")
    clock.advance("7d")
    experiment.close_windows()
    experiment.tell(decisions[7].id, outcome=1)  # late
    experiment.correct(decisions[1].id, outcome=0, why="typing error")
    experiment.withdraw(decisions[2].id)
    experiment.close_windows()
    picked = list(experiment.follow_up(4))
    for number, one in enumerate(picked[:2]):
        experiment.tell(one.id, outcome=number, followed_up=True)
    experiment.forget("customer-39", why="asked for it")
    experiment.change(window="5d", why="outcomes come sooner")
    experiment.add_arm("c")
    experiment.close_windows()
    for i in range(40, 46):
        experiment.ask(key=f"customer-{i}")


def _shop(store: Store) -> None:
    clock = ManualClock("2026-03-02 09:00")
    experiment = Experiment.create(
        "shop",
        ["old", "new"],
        store=store,
        clock=clock,
        seed=2,
        range=(0, 200),
        absent=0,
        policy="mcar-ucb",
        window="3d",
        grace="1d",
    )
    for i in range(12):
        decision = experiment.ask(key=f"customer-{i}")
        if i % 3 == 0:
            experiment.tell(decision.id, outcome=1 if i == 0 else 19.95 + i)
    clock.advance("4d")
    experiment.close_windows()


if __name__ == "__main__":
    STORES.mkdir(exist_ok=True)
    make(STORES / f"v{len(MIGRATIONS)}.db")
