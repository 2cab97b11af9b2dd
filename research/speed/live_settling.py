"""Asks while very many windows are over, corrections in a large store, and asks beside very many pending decisions."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.figures import table
from research.speed.in_turns import in_turns, ratios, short
from research.speed.live import STORES
from research.speed.live_filled import filled
from research.speed.live_store import experiment, folder, sqlite_url
from research.speed.targets import judged
from truant.live.experiment import Experiment
from truant.live.store import Transaction

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0  # waits of single asks depend on the machine and its disk
SLOWEST, WORST = 50.0, 500.0  # milliseconds: the 99.9th percentile, and the longest
CORRECTION = 100.0  # milliseconds under the lock
GROWTH = 1.2  # times the time of an ask beside a thousand pending decisions
ASKS_A_SECOND = 50.0


def section(bench: Workbench) -> list[str]:
    decisions = bench.size(1_000_000, 3000)
    asks = bench.size(3000, 30)
    waits = bench.measured(waits_while_settling, STORES, decisions=decisions, asks=asks)
    corrections = bench.measured(correction_seconds, STORES, decisions=decisions, number=bench.size(50, 5))
    pending = bench.measured(
        beside_pending, STORES, few=1000, many=decisions, number=bench.size(300, 20), repeats=bench.runs(9, 2)
    )
    growth = ratios(pending["many"], pending["few"])
    ninety = 1e3 * float(np.quantile(corrections, 0.9))
    return [
        "## Live experiments: settling and corrections",
        f"A store in an SQLite file at full durability with {decisions:,} decisions. Its windows are all over when "
        f"`truant settle --watch` begins; another process asks {ASKS_A_SECOND:g} times a second; milliseconds of "
        "wall time per ask, and the same before without a settler:",
        table(
            ("asks", "median", "99.9th percentile", "longest", "target"),
            [wait_row(name, times) for name, times in waits.items()],
        ),
        table(
            ("what", "figure", "target"),
            [
                [
                    "a correction of a counted decision, 9 of 10 take at most, in milliseconds",
                    f"{ninety:.1f}",
                    judged(ninety, CORRECTION),
                ],
                [
                    f"an ask beside {decisions:,} pending decisions, times that beside 1,000",
                    f"{short(growth[0])} ({short(growth[1])} to {short(growth[2])})",
                    judged(growth[0], GROWTH),
                ],
            ],
        ),
    ]


def wait_row(name: str, seconds: list[float]) -> list[str]:
    middle, slow, longest = (1e3 * float(value) for value in np.quantile(seconds, [0.5, 0.999, 1.0]))
    target = f"{judged(slow, SLOWEST)}; {judged(longest, WORST)}" if name == "while settling" else ""
    return [name, f"{middle:.1f}", f"{slow:.1f}", f"{longest:.1f}", target]


def due_store(place: Path, decisions: int) -> Experiment:
    """A store whose decisions are all pending, their windows over."""
    live = experiment(sqlite_url(place / "live.db", "full"))
    filled(live, decisions)

    def operation(transaction: Transaction) -> None:
        transaction.run("UPDATE decisions SET state = 'pending', settled = NULL, reason = NULL, due = asked")

    live.store.write(operation)
    return live


def timed_asks(live: Experiment, number: int) -> list[float]:
    """Seconds of asks at a steady rate; one that is late does not wait for the next."""
    found, begin = [], time.perf_counter()
    for i in range(number):
        time.sleep(max(begin + i / ASKS_A_SECOND - time.perf_counter(), 0))
        start = time.perf_counter()
        live.ask()
        found.append(time.perf_counter() - start)
    return found


def waits_while_settling(decisions: int, asks: int) -> dict[str, list[float]]:
    """Seconds of asks without and with a settler at work in another process."""
    with folder() as place:
        due_store(place, decisions).store.close()
        url = sqlite_url(place / "live.db", "full")
        live = Experiment.open("mail", store=url, settles=False)
        alone = timed_asks(live, asks)
        command = [sys.executable, "-m", "truant", "settle", "--watch", "--store", url]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as settler:
            while live.refresh().head.counts_version == 0:
                time.sleep(0.05)
            beside = timed_asks(live, asks)
            settled = live.store.read(still_pending) > 2 * asks or decisions < 10_000
            settler.terminate()
        live.store.close()
        if not settled:
            raise RuntimeError("The settler was done before the asks were.")
    return {"without a settler": alone, "while settling": beside}


def still_pending(transaction: Transaction) -> int:
    rows = transaction.rows("SELECT count(*) FROM decisions WHERE state = 'pending'")
    return int(rows[0][0])


def correction_seconds(decisions: int, number: int) -> list[float]:
    """Seconds of corrections of counted decisions of one day."""
    with folder() as place:
        live = experiment(sqlite_url(place / "live.db", "full"))
        filled(live, decisions)
        ids = live.store.read(lambda transaction: some_ids(transaction, number))
        found = []
        for one in ids:
            start = time.perf_counter()
            live.correct(one, outcome=7.25)
            found.append(time.perf_counter() - start)
        live.store.close()
    return found


def some_ids(transaction: Transaction, number: int) -> list[str]:
    from truant.live.decision import encoded

    statement = "SELECT number, tag FROM decisions WHERE settled IS NOT NULL AND outcome IS NOT NULL LIMIT ?"
    return [encoded(*row) for row in transaction.rows(statement, [number])]


def beside_pending(few: int, many: int, number: int, repeats: int) -> dict[str, list[float]]:
    """Seconds for asks beside few and many pending decisions, in turns."""
    with folder() as place:
        lives = {}
        for name, size in (("few", few), ("many", many)):
            lives[name] = experiment(sqlite_url(place / f"{name}.db", "process"))
            filled(lives[name], size)
            lives[name].store.write(
                lambda transaction: transaction.run(
                    "UPDATE decisions SET state = 'pending', settled = NULL, due = 4000000000000000"
                )
            )

        def asked(live: Experiment) -> None:
            for _ in range(number):
                live.ask()

        found = in_turns({name: partial(asked, live) for name, live in lives.items()}, repeats)
        for live in lives.values():
            live.store.close()
    return {name: [seconds / number for seconds in times] for name, times in found.items()}
