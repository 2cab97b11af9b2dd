"""Speed: targets, processes and the comparison of two trees; the measurements themselves take too long for a test."""

import json
import subprocess
import sys

import numpy as np
import pytest
from research.speed import beside, fresh, in_turns, live_filled, live_store, logs, start, targets

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


def test_starts_are_measured_in_turns():
    starts = start.cpu_of_commands(repeats=2)
    assert {name: len(times) for name, times in starts.items()} == {"numpy": 2, "help": 2}
    assert all(0.01 < one < 60 for times in starts.values() for one in times)


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


def test_ratios_are_taken_turn_by_turn():
    theirs, ours = [1.0, 2.0, 30.0], [0.5, 1.0, 10.0]  # the last turn was slow for both
    row = in_turns.ratio_row("work", ours, theirs, target=2.0)
    assert row == ["work", "1", "0", "2.00", "2.00 to 2.50", "at least 2: met"]
    assert in_turns.ratio_row("work", theirs, ours, target=1.0)[-1] == "at least 1: **missed**"
    assert in_turns.ratio_row("work", theirs, ours)[-1] == ""


def test_work_is_measured_in_turns_after_a_first_one():
    done = []
    found = in_turns.in_turns({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, repeats=2)
    assert done == ["a", "b"] * 3
    assert [len(times) for times in found.values()] == [2, 2]


def test_statements_by_hand_leave_the_same_rows(tmp_path):
    """Ours and those by hand do the same work: they differ in what is drawn and in the time."""
    path = tmp_path / "live.db"
    live = live_store.experiment(live_store.sqlite_url(path, "process"))
    live_store.sqlite_by_hand(live, path, "process")(1)
    live_store.asked_and_told(live, 1)
    names = (
        "allocation, holdout, key, deadline - asked, due - asked, state, reason, mediator, outcome, settled"
    )
    rows = live.store.read(lambda transaction: transaction.rows(f"SELECT {names} FROM decisions"))
    live.store.close()
    assert rows == [(1, 0, None, live_store.WINDOW, live_store.WINDOW, "pending", None, None, 1.0, None)] * 2


def test_a_filled_store_has_settled_and_pending_decisions_and_nothing_due(tmp_path):
    live = live_store.experiment(live_store.sqlite_url(tmp_path / "live.db", "process"))
    live_filled.filled(live, 1000)
    assert live.close_windows() == 0
    states = live.store.read(
        lambda transaction: dict(
            transaction.rows("SELECT state, count(*) FROM decisions GROUP BY state ORDER BY state")
        )
    )
    assert states == {"missing": 392, "observed": 588, "pending": 20}
    assert live.ask(key="somebody").arm in ("old", "new", "bold")
    live.store.close()


def test_a_past_of_some_days_is_settled():
    live = live_store.run_for_days(200, days=4)
    status = live.status(calibrate=False)
    assert (status.settled, status.pending) == (200, 0)
    assert 0 < status.observed < 200


def test_the_kernels_say_which_truant_they_measured():
    some = ["paper-mcar", "Decider.probabilities, mar-ucb"]
    command = [sys.executable, str(beside.SCRIPT), "2", "0", *some]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    assert found["from"].endswith("truant/__init__.py")
    assert list(found["times"]) == some
    assert all(len(times) == 2 and min(times) > 0 for times in found["times"].values())


def test_csv_is_read_beside_the_same_query_by_hand():
    times = logs.measured_csv(rows=1000, repeats=2)
    assert list(times) == ["real", "discrete"]
    assert len(logs.times_row("real", times["real"])) == 8
