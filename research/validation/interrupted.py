"""Commands that are killed while they work, or find the disk full; and what then stands in their output files."""

from __future__ import annotations

import contextlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from truant.files import written_whole

WORLD, POLICIES = "mar", ("naive-ucb", "mar-ucb")
LARGE = 2**26  # bytes, more than any command here writes
SWEEP = """
runs = {runs}00
horizon = 200
policies = ["naive-ucb", "mar-ucb"]

[[worlds]]
name = "mar"
vary = {{ K = [2, 3, 4, 5] }}
"""
SIMULATE = (
    *("simulate", "--world", WORLD, "--policy", POLICIES[0], "--policy", POLICIES[1], "--horizon", "2000"),
    *("--seed", "{seed}", "--out", "{folder}/runs.parquet", "--chart", "{folder}/chart.svg"),
)
ANALYZE = (
    *("analyze", "{inputs}/visits-{seed}.csv", "--arm", "arm", "--mediator", "opened", "--outcome", "spent"),
    *("--out", "{folder}/table.csv", "--html", "{folder}/page.html"),
)
SWEEPS = ("sweep", "{inputs}/study-{seed}.toml", "--out", "{folder}/results")
COMMANDS = {"simulate": SIMULATE, "analyze": ANALYZE, "sweep": SWEEPS}


@dataclass(frozen=True)
class Command:
    """A command of truant with two sets of inputs, and what it writes for each when nobody disturbs it."""

    name: str
    inputs: Path
    expected: dict[int, dict[str, Any]]  # content of each output by name, for the seeds 0 and 1
    seconds: list[float]  # that it took

    @classmethod
    def tried(cls, name: str, inputs: Path) -> Command:
        """Run it undisturbed, with both sets of inputs."""
        _write_inputs(inputs)
        command = cls(name, inputs, {}, [])
        for seed in (0, 1):
            folder = inputs / f"undisturbed-{seed}"
            folder.mkdir()
            start = time.monotonic()
            assert command.run(folder, seed).returncode == 0
            command.seconds.append(time.monotonic() - start)
            command.expected[seed] = command.contents(folder)
        return command

    def start(self, folder: Path, seed: int, **options: Any) -> subprocess.Popen[str]:
        """Start it with one set of inputs."""
        words = [word.format(inputs=self.inputs, folder=folder, seed=seed) for word in COMMANDS[self.name]]
        command = [sys.executable, "-m", "truant", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, **quiet, **options)

    def run(self, folder: Path, seed: int, **options: Any) -> subprocess.CompletedProcess[str]:
        """The same to its end."""
        process = self.start(folder, seed, **options)
        _, errors = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, None, errors)

    def contents(self, folder: Path) -> dict[str, Any]:
        """The outputs without times of the clock; of a sweep its results alone, as its summary has such times."""
        return {path.name: content(path) for path in self.outputs(folder) if path.exists()}

    def outputs(self, folder: Path) -> list[Path]:
        """What it writes."""
        if self.name == "sweep":
            return [folder / "results" / "results.parquet"]
        words = [word for word in COMMANDS[self.name] if word.startswith("{folder}")]
        return [Path(word.format(folder=folder)) for word in words]

    def mixed(self, folder: Path) -> int:
        """How many outputs are neither as before (seed 0) nor as they should become (seed 1)."""
        now = self.contents(folder)
        return sum(now.get(name) not in (self.expected[0][name], self.expected[1][name]) for name in now)


def killed(command: str, kills: int, seed: int) -> dict[str, Any]:
    """Kill a command that replaces its outputs, at random moments and while it writes, then let it finish."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        tried = Command.tried(command, Path(name))
        before, folder = Path(name) / "undisturbed-0", Path(name) / "out"
        half = writing = replaced = done = 0
        folder.mkdir()
        while done < kills:
            shutil.copytree(before, folder, dirs_exist_ok=True)
            known = set(leftovers(folder))  # of the kill before
            process = tried.start(folder, 1)
            if done % 2:
                time.sleep(chance.uniform(0.0, tried.seconds[-1]))
            else:
                _wait_for_writing(process, folder, known, 1 + done // 2 % 2)
                time.sleep(chance.uniform(0.0, 0.003))
            process.kill()
            process.communicate()
            if process.returncode != -signal.SIGKILL:  # it had ended before, which is no kill
                continue
            done += 1
            half += tried.mixed(folder)
            writing += bool(set(leftovers(folder)) - known)
            replaced += tried.contents(folder) != tried.expected[0]
        finished = tried.run(folder, 1).returncode == 0
        same = finished and tried.contents(folder) == tried.expected[1]
        return {
            "kills": done,
            "writing": writing,
            "replaced": replaced,
            "half": half,
            "left": len(leftovers(folder)),
            "same": same,
        }


def disk_full(command: str, times: int, seed: int) -> dict[str, Any]:
    """Run a command on a disk with too little room, of a random size; then again with enough."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        tried = Command.tried(command, Path(name))
        before = _size(Path(name) / "undisturbed-0")
        # files are replaced one after the other: what does not fit is the largest beside all that is there
        largest = max(
            path.stat().st_size for path in (Path(name) / "undisturbed-1").rglob("*") if path.is_file()
        )
        refused = half = left = same = 0
        kind = ""
        for _ in range(times):
            with small_disk(before + round(chance.uniform(0.0, 0.9) * largest)) as (folder, options, grow):
                kind = "a small disk" if not options else "a limit on the size of files"
                shutil.copytree(Path(name) / "undisturbed-0", folder, dirs_exist_ok=True)
                ended = tried.run(folder, 1, **options)
                sentence = ended.stderr.strip()
                refused += ended.returncode == 2 and sentence.count("\n") == 0 and "annot " in sentence
                half += tried.mixed(folder)
                left += len(leftovers(folder))
                grow()
                same += tried.run(folder, 1).returncode == 0 and tried.contents(folder) == tried.expected[1]
        return {"times": times, "refused": refused, "half": half, "left": left, "same": same, "kind": kind}


@contextlib.contextmanager
def small_disk(size: int) -> Iterator[tuple[Path, dict[str, Any], Callable[[], object]]]:
    """A folder with room for so many bytes, options for the process that fills it, and what makes room.

    Root gets a disk of its own (tmpfs); for others the process is limited in the size of each file.
    """
    with tempfile.TemporaryDirectory() as name:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "truant", name]
        mounted = bool(shutil.which("mount")) and not subprocess.run(command, capture_output=True).returncode

        def grow() -> None:
            if mounted:
                subprocess.run(["mount", "-o", f"remount,size={LARGE}", name], check=True)

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, resource.RLIM_INFINITY))

        try:
            yield Path(name), {} if mounted else {"preexec_fn": limit}, grow
        finally:
            if mounted:
                subprocess.run(["umount", name], check=True)


def content(path: Path) -> Any:
    """What a file says, without times of the clock."""
    if path.suffix != ".parquet":
        return path.read_bytes()
    table = pq.read_table(path, page_checksum_verification=True)
    timed = [name for name in table.column_names if name == "nanoseconds"]
    # as text: NaN is NaN there
    return path.read_bytes() if not timed else repr(table.drop_columns(timed).to_pydict())


def leftovers(folder: Path) -> list[Path]:
    """Temporary files of writers that did not finish."""
    return list(folder.rglob(".truant-*.part"))


def _wait_for_writing(process: subprocess.Popen[str], folder: Path, known: set[Path], number: int) -> None:
    """Until the first or second of its temporary files is there."""
    seen: set[Path] = set()
    while process.poll() is None and len(seen) < number:
        seen |= set(leftovers(folder)) - known
        time.sleep(0.0001)


def _write_inputs(folder: Path) -> None:
    for seed in (0, 1):
        chance = random.Random(seed)
        rows = [
            f"{'ab'[i % 2]},{chance.random() < 0.5:d},{'' if chance.random() < 0.3 else i % 5}"
            for i in range(2000)
        ]
        with written_whole(folder / f"visits-{seed}.csv") as temporary:
            temporary.write_text("\n".join(["arm,opened,spent", *rows]) + "\n", encoding="utf-8")
        with written_whole(folder / f"study-{seed}.toml") as temporary:
            temporary.write_text(SWEEP.format(runs=seed + 1), encoding="utf-8")


def _size(folder: Path) -> int:
    """In whole blocks."""
    return sum(-(-path.stat().st_size // 4096) * 4096 for path in folder.rglob("*") if path.is_file())
