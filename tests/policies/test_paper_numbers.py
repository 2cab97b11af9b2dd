"""The paper's policies and the baselines pull as they did when `paper_pulls.json` was made, to the last pull."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest

from truant.lab.simulate import simulate

PULLS = {
    tuple(key.split()): pulls
    for key, pulls in json.loads((Path(__file__).parent / "paper_pulls.json").read_text("utf-8")).items()
}
WORLDS = {world: [policy for name, policy in PULLS if name == world] for world, _ in PULLS}


@functools.cache
def found(world: str):
    """Pulls of all policies of a world, by policy: all of them meet the same instances."""
    result = simulate(world, WORLDS[world], horizon=4000, runs=3, seed=7, progress=False)
    return dict(zip(WORLDS[world], result.pulls, strict=True))


@pytest.mark.parametrize("policy", sorted({policy for _, policy in PULLS}))
def test_the_same_pulls(policy):
    worlds = [world for world in WORLDS if policy in WORLDS[world]]
    assert len(worlds) >= 4
    for world in worlds:
        np.testing.assert_array_equal(found(world)[policy], PULLS[world, policy], err_msg=world)
