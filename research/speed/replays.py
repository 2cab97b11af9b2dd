"""Time to calibrate the intervals of a log by replaying its policy, with the check, from counts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from research.figures import table
from research.sources import policy_modules, world_modules
from research.speed.targets import judged
from truant.collection import by_policy
from truant.estimates.beliefs import Belief
from truant.play.run import cores, play
from truant.policies import named
from truant.worlds import make

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.0  # absolute times: nothing to compare
TARGET = 20.0  # seconds on two cores


def section(bench: Workbench) -> list[str]:
    rows = bench.size(20_000, 500)
    parts = policy_modules("mar-ucb") | world_modules("mar")
    found = bench.measured(replay_seconds, parts, rows=rows, replays=bench.size(by_policy.REPLAYS, 200))
    return [
        "## Replay calibration",
        f"A log of {rows:,} rows and ten arms, collected by `mar-ucb`, analysed with `--collected-by` under `mar` and "
        f"for the naive mean: {by_policy.REPLAYS} replays and the check, nothing kept, on {found['cores']} cores.",
        table(
            ("replay calibration", "wall, seconds", "CPU, seconds", "target"),
            [
                [
                    f"{rows:,} rows",
                    f"{found['wall']:.1f}",
                    f"{found['cpu']:.1f}",
                    judged(found["wall"], TARGET),
                ]
            ],
        ),
    ]


def replay_seconds(rows: int, replays: int) -> dict[str, float]:
    """Wall and CPU time; compiled code is warm."""
    world, policy = make("mar", seed=2), named("mar-ucb")
    counts = play(policy, world, np.random.Generator(np.random.SFC64(1)), rows, np.array([rows])).counts
    assert counts is not None
    assert policy.assumption is not None
    estimates = tuple(policy.assumption.estimate(counts, arm, world.setting) for arm in range(10))
    belief = Belief("mar", policy.assumption, estimates, ())
    with patch.object(by_policy, "kept", return_value=None), patch.object(by_policy, "keep"):
        by_policy.ByPolicy(policy, rows, by_policy.FEWEST_REPLAYS).beliefs([belief], counts, world.setting)
        wall, cpu = time.perf_counter(), time.process_time()
        by_policy.ByPolicy(policy, rows, replays).beliefs([belief], counts, world.setting)
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "cores": cores()}
