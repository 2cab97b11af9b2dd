"""Ask and tell beside Optuna's on SQLite, in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from research.figures import table
from research.speed.in_turns import ratio_row, seconds
from research.speed.live import STORES
from research.speed.live_store import asked_and_told, experiment, folder, sqlite_url

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.live.experiment import Experiment

CONFIRMED_SHARE = 0.4  # of the repeats, to confirm the ratios
SCRIPT = Path(__file__).with_name("optuna_ask_tell.py")
TARGET = 200  # times as fast, at durability=process


def section(bench: Workbench) -> list[str]:
    python = bench.peers / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import optuna"], capture_output=True).returncode:
        return []
    sizes = {"number": bench.size(1000, 20), "trials": bench.size(50, 2), "repeats": bench.runs(5, 2)}
    found = bench.measured(beside_optuna, STORES, python=str(python), **sizes)
    usual, same = "Optuna as it is", "Optuna with WAL and synchronous=NORMAL"
    rows = [
        ratio_row(f"durability=process, {usual}", found["process"], found["usual"], TARGET, compared=False),
        ratio_row(f"durability=full, {usual}", found["full"], found["usual"]),
        ratio_row(f"durability=process, {same}", found["process"], found["normal"]),
    ]
    return [
        "## Live experiments: comparison with Optuna on SQLite",
        "Optuna's `study.ask`, `trial.suggest_categorical` of three arms at random and `study.tell`, with "
        "`RDBStorage` in an SQLite file, measured in turns with truant. With its default settings, Optuna "
        "waits for the disk, as durability=full does.",
        table(("ask and tell", "per second", "Optuna", "ratio", "quartiles", "target"), rows),
    ]


def beside_optuna(python: str, number: int, trials: int, repeats: int) -> dict[str, list[float]]:
    """Seconds for an ask and a tell: ours at both durabilities, and Optuna's as it is and without waiting."""
    found: dict[str, list[float]] = {name: [] for name in ("process", "full", "usual", "normal")}
    with folder() as place:
        ours = {
            name: (experiment(sqlite_url(place / f"{name}.db", name)), size)
            for name, size in (("process", number), ("full", max(number // 10, 1)))
        }
        for turn in range(repeats + 1):
            command = [python, str(SCRIPT), str(place / f"optuna-{turn}"), str(trials)]
            before = {name: per_ask(live, size) for name, (live, size) in ours.items()}
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            after = {name: per_ask(live, size) for name, (live, size) in ours.items()}
            both = {name: (before[name] + after[name]) / 2 for name in ours}
            for name, took in (both | json.loads(said)).items():
                found[name].append(took)
        for live, _ in ours.values():
            live.store.close()
    return {name: times[1:] for name, times in found.items()}  # the first turn warms up


def per_ask(live: Experiment, size: int) -> float:
    """Seconds for an ask and a tell."""
    return seconds(lambda: asked_and_told(live, size)) / size
