"""Sweeps that are killed at random moments and go on: is the result that of one which nobody touched?"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from research.validation.keep import SEED, Study
from research.validation.page import table, verdict, yes

import truant

KILLS = 10
BACKENDS = ("threads", "processes")
TEXT = """
runs = {runs}
horizon = 3_000
policies = ["naive-ucb", "mar-ucb", "mar-thompson"]

[[worlds]]
name = "mar"
vary = {{ gamma = {{ from = 0.1, to = 1.0, steps = {steps} }}, K = [2, 5, 10] }}
"""


def section(study: Study) -> list[str]:
    what = {"kills": KILLS, "text": TEXT, "quick": study.quick}
    rows = study.piece("kills", what, lambda: [killed(study, backend) for backend in BACKENDS])
    answers = [row[-1] for row in rows]
    return [
        "## Sweeps that are killed",
        f"A sweep is killed (SIGKILL) {KILLS} times at random moments, each time goes on, and at last is let finish; "
        "its `results.parquet` is compared, byte by byte, with that of a sweep that nobody touched. "
        + verdict(answers, "rows"),
        table(
            ("backend", "tasks", "kills", "files done at each kill", "half-written files", "same bytes"),
            [[str(cell) for cell in row] for row in rows],
        ),
    ]


def killed(study: Study, backend: str) -> list[Any]:
    folder = study.kept / f"kills-{backend}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    file = folder / "study.toml"
    file.write_text(TEXT.format(runs=study.size(400, 100), steps=study.size(10, 2)))
    start = time.monotonic()
    whole = truant.sweep(file, out=folder / "whole")
    seconds = time.monotonic() - start
    chance = random.Random(SEED)
    done, broken = [], 0
    for _ in range(KILLS):
        command = [sys.executable, "-m", "truant.cli", "sweep", str(file), "--out", str(folder / "out")]
        process = subprocess.Popen([*command, "--backend", backend], stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(1.0, 6.0 + 1.5 * seconds / KILLS))
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.5)  # workers of a killed process end by themselves
        parts = list((folder / "out" / "parts").rglob("*.parquet"))
        broken += sum(not readable(part) for part in parts)
        done.append(len(parts))
    result = truant.sweep(file, out=folder / "out", backend=backend)
    same = result.results.read_bytes() == whole.results.read_bytes()
    tasks = len(list((folder / "whole" / "parts").rglob("*.parquet"))) // 3
    counts = ", ".join(str(count) for count in done)
    return [backend, tasks, KILLS, f"{counts} of {3 * tasks}", broken, yes(same and not broken)]


def readable(path: Path) -> bool:
    try:
        return pq.read_table(path, page_checksum_verification=True).num_rows >= 100
    except (OSError, pa.ArrowException):
        return False
