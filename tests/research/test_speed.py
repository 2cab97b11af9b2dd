"""Speed: targets, processes and the comparison of two trees; the measurements themselves take too long for a test."""

import json
import subprocess
import sys

import numpy as np
import pytest
from research.speed import beside, fresh, start, targets

from research import ROOT


def test_targets_are_gathered_from_all_sections():
    assert targets.judged(1.5, 1.5) == "at most 1.5: met"
    assert targets.judged(1.4, 1.8, at_least=True) == "at least 1.8: **missed**"
    sections = [
        "## One\n\n| what | ns | target |\n| --- | --- | --- |\n| `a` | 3 | at most 5: met |\n| `b` | 4 |  |",
        "| `c` | 1.2 | at least 2: **missed** |\n| `d` | 2 | at most 2: not clear |\n\ntext that says at most 1: met",
    ]
    heading, table, *_ = targets.closing(sections)
    assert heading == "## Targets"
    assert table.splitlines()[2:] == [
        "| `a`, 3 | at most 5: met |",
        "| `c`, 1.2 | at least 2: **missed** |",
        "| `d`, 2 | at most 2: not clear |",
    ]


def test_cpu_time_is_that_of_the_process():
    def seconds(code):
        return fresh.cpu_seconds([sys.executable, "-c", code])

    busy = "import time\nwhile time.process_time() < 0.5: pass"
    assert 0.5 <= seconds(busy) < 5
    assert seconds("import time; time.sleep(0.6)") < 0.5
    with pytest.raises(subprocess.CalledProcessError):
        seconds("import sys; sys.exit(3)")


def test_peak_memory_grows_with_what_is_held():
    little, much = (fresh.peak_mebibytes(f"a = bytearray({size})") for size in (1, 200 * 2**20))
    assert 150 < much - little < 250


def test_wall_time_is_a_median():
    assert 0.2 < start.wall([sys.executable, "-c", "import time; time.sleep(0.2)"], repeats=1) < 5


def test_two_trees_are_compared_turn_by_turn():
    rng = np.random.default_rng(1)
    speeds = 1 + rng.exponential(0.5, 20)  # the machine's, the same for both in a turn
    noise = 1 + 0.002 * rng.random((2, 20))

    def turns(cost, tree):
        return [{"kernel": [9 * s, cost * s * n]} for s, n in zip(speeds, noise[tree], strict=True)]

    def verdict(cost):
        return beside.row("kernel", turns(cost, 0), turns(1.0, 1))[-1]

    assert verdict(1.0) == "at most 1.03: met"
    assert verdict(0.7) == "at most 1.03: met"
    assert verdict(1.05) == "at most 1.03: **missed**"
    assert verdict(1.03) == "at most 1.03: not clear"


def test_the_kernels_say_which_truant_they_measured():
    some = ["paper-mcar", "Decider.probabilities, mar-ucb"]
    command = [sys.executable, str(beside.SCRIPT), "2", "0", *some]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    assert found["from"].endswith("truant/__init__.py")
    assert list(found["times"]) == some
    assert all(len(times) == 2 and min(times) > 0 for times in found["times"].values())
