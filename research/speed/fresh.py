"""Fresh processes: their output, their peak memory, and the CPU time that they take."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from research import ROOT

_PEAK = "from research.speed.fresh import own_peak_mebibytes; print(own_peak_mebibytes())"


def output_of(code: str) -> str:
    """What a fresh Python prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def peak_mebibytes(code: str) -> float:
    """Peak memory of a fresh Python that runs this code."""
    return float(output_of(f"{code}\n{_PEAK}"))


def own_peak_mebibytes() -> float:
    """Peak memory of this process; on Linux not ru_maxrss, which a child takes over from its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """User and system time of a process, from its start to its end."""
    process = subprocess.Popen(command, env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return usage.ru_utime + usage.ru_stime
