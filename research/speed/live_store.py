"""Live experiments for measurements, and the statements of an ask and a tell run by hand."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from research import ROOT
from truant.live.decision import SKEW, Decision
from truant.live.experiment import Experiment
from truant.live.store.decision_statements import ASK, FRESH
from truant.live.times import DAY, ManualClock

WINDOW = 7 * DAY
SYNCHRONOUS = {"full": "FULL", "process": "NORMAL"}
OUT = ROOT / "out"  # on a disk, which a folder for temporary files may not be


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that is removed afterwards."""
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        yield Path(name)


def experiment(store: str, **settings: Any) -> Experiment:
    """Three arms, three mediator levels, outcomes in a range, MAR."""
    usual: dict[str, Any] = {
        "arms": ["old", "new", "bold"],
        "mediator_levels": ["closed", "opened", "clicked"],
        "range": (0, 200),
        "assume": "mar",
        "window": "7d",
    }
    return Experiment.create("mail", store=store, **usual | settings)


def sqlite_url(path: Path, durability: str) -> str:
    return f"sqlite:///{path}?durability={durability}"


def asked_and_told(live: Experiment, number: int) -> None:
    """An ask and the tell of its outcome, so many times."""
    for _ in range(number):
        live.tell(live.ask().id, outcome=1.0)


def ask_parameters(live: Experiment, rng: random.Random) -> tuple[Any, ...]:
    """What the statement of an ask takes."""
    now = time.time_ns() // 1000
    arm, tag = int(3 * rng.random()), rng.getrandbits(64) - (1 << 63)
    state = live.state
    return tag, arm, 1 / 3, 0, None, WINDOW, WINDOW, now, now, state.head.id, state.allocation.version


def tell_parameters(live: Experiment, number: int, tag: int) -> tuple[Any, ...]:
    """What the statement of a tell takes."""
    now = time.time_ns() // 1000
    return 1.0, now, number, tag, live.number, now, now, now + SKEW, 0, live.number


def sqlite_by_hand(live: Experiment, path: Path, durability: str) -> Callable[[int], None]:
    """The same statements through sqlite3, in transactions of their own, at the same durability."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={SYNCHRONOUS[durability]}")
    rng, tell = random.SystemRandom(), FRESH[False, True]

    def run(number: int) -> None:
        for _ in range(number):
            asked = ask_parameters(live, rng)
            connection.execute("BEGIN IMMEDIATE")
            [(decision, _, _)] = connection.execute(ASK, asked).fetchall()
            connection.execute("COMMIT")
            connection.execute("BEGIN IMMEDIATE")
            changed = connection.execute(tell, tell_parameters(live, decision, asked[0])).rowcount
            connection.execute("COMMIT")
            if changed != 1:
                raise RuntimeError("The statement of a tell changed nothing.")

    return run


def run_for_days(decisions: int, days: int) -> Experiment:
    """An experiment in memory that ran for so many days, with a window of a day; all its decisions are settled."""
    clock = ManualClock("2026-03-02 00:00")
    live = experiment("sqlite://", window="1d", horizon=2 * decisions, clock=clock, seed=1)
    rng = random.Random(2)
    for _ in range(days):
        live.tell_many([outcome_of(one, rng) for one in live.ask(decisions // days)])
        clock.advance("1d")
        live.close_windows()
    return live


def outcome_of(decision: Decision, rng: random.Random) -> dict[str, Any]:
    """What is told of a decision: later mediator levels are more valuable, and told more often."""
    level = rng.choices(range(3), {"old": (5, 3, 2), "new": (4, 3, 3), "bold": (6, 2, 2)}[decision.arm])[0]
    told: dict[str, Any] = {"id": decision.id, "mediator": ("closed", "opened", "clicked")[level]}
    if rng.random() < (0.4, 0.6, 0.9)[level]:
        told["outcome"] = min(max(rng.gauss(60 + 30 * level, 20), 0), 200)
    return told
