"""Kills a sweep at random moments, lets it go on, and compares its results with those of an untouched one."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from truant.lab.sweep import sweep

WORLD = "mar"
POLICIES = ("naive-ucb", "mar-ucb", "mar-thompson")
TEXT = """
runs = {runs}
horizon = 3_000
policies = ["naive-ucb", "mar-ucb", "mar-thompson"]

[[worlds]]
name = "mar"
vary = {{ gamma = {{ from = 0.1, to = 1.0, steps = {steps} }}, K = [2, 5, 10] }}
"""


def killed_sweep(backend: str, kills: int, runs: int, steps: int, seed: int) -> dict[str, Any]:
    """How many files were done at each kill, how many were broken, and whether the results are the same bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "study.toml"
        file.write_text(TEXT.format(runs=runs, steps=steps))
        start = time.monotonic()
        whole = sweep(file, out=folder / "whole", progress=False)
        seconds = time.monotonic() - start
        chance = random.Random(seed)
        done, broken = [], 0
        for number in range(kills):
            if number % 2:
                at_work, wait = False, chance.uniform(0.0, 3.0 + 1.5 * seconds / kills)
            else:
                at_work, wait = True, chance.uniform(0.0, 0.3)
            _run_and_kill(file, folder / "out", backend, at_work, wait)
            parts = _parts(folder / "out")
            broken += sum(not readable(part) for part in parts)
            done.append(len(parts))
        result = sweep(file, out=folder / "out", backend=backend, progress=False)
        files = len(_parts(folder / "whole"))
        return {
            "done": done,
            "amid": sum(now > before for before, now in itertools.pairwise([0, *done])),
            "files": files,
            "tasks": files // len(POLICIES),
            "broken": broken,
            "same": result.results.read_bytes() == whole.results.read_bytes(),
        }


def _parts(out: Path) -> list[Path]:
    return list((out / "parts").rglob("*.parquet"))


def _run_and_kill(file: Path, out: Path, backend: str, at_work: bool, seconds: float) -> None:
    """Kill a sweep some time after it was started, or after it has kept something new."""
    command = [
        sys.executable,
        "-m",
        "truant",
        "sweep",
        str(file),
        "--out",
        str(out),
        "--backend",
        backend,
    ]
    before = len(_parts(out))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while at_work and process.poll() is None and len(_parts(out)) == before:
        time.sleep(0.002)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.5)  # workers of a killed process end by themselves


def readable(path: Path) -> bool:
    """Whether a part of a sweep is a whole Parquet file, with the key that it is named by."""
    try:
        table = pq.read_table(path, page_checksum_verification=True)
    except (OSError, pa.ArrowException):
        return False
    return table.num_rows >= 100 and path.stem in str(table.schema.metadata)
