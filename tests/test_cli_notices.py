"""The first use of a policy compiles it, which takes seconds: a line says so at once, also into a file."""

import os
import subprocess
import sys

from truant.cli.base import SENTENCE

SIMULATE = [
    "simulate",
    "--world",
    "mcar",
    "--policy",
    "mcar-greedy",
    "--horizon",
    "10",
    "--runs",
    "1",
    "--json",
]


def test_compiling_is_announced_once_and_only_at_the_first_use(tmp_path):
    environment = {**os.environ, "TRUANT_CACHE_DIR": str(tmp_path)}
    for expected in (f"{SENTENCE}\n", ""):
        done = subprocess.run(
            [sys.executable, "-m", "truant", *SIMULATE], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == expected
