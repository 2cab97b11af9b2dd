"""The sums over arms that the loop keeps are, whenever an arm is scored, those of all counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from truant.assumptions import Curve
from truant.compile import hot
from truant.indices import Index
from truant.play.run import play
from truant.policies import Policy
from truant.worlds import RealWorld


@hot
def contribute(row, parameters, out):
    """An arm's pulls, and their square."""
    pulls = 0.0
    for m in range(row.shape[0]):
        pulls += row[m, 0]
    out[0], out[1] = pulls, pulls * pulls


@hot
def score_arm(row, memory, shared, parameters, z_grid, values):
    """What the sums say: the pulls of all arms, and of their squares."""
    values[0], values[1] = shared[0], shared[1]


@hot
def choose(values, z_grid, parameters, memory, t, rng):
    """Arm 0 if the arm that was scored last knows of all counts, else arm 1."""
    total = 0.0
    for a in range(values.shape[0]):
        total = max(total, values[a, 0])
    return 0 if total == t - 1 - parameters[0] else 1


@dataclass(frozen=True)
class Watch(Index):
    """Sees whether the sums are right."""

    delay: int = 0
    choose = staticmethod(choose)

    def z_grid(self, linear):
        return np.array([0.0, 1.0])

    def parameters(self):
        return np.array([float(self.delay)])


@pytest.mark.parametrize("delay", [0, 1, 7])
@pytest.mark.parametrize("arms", [2, 5])
def test_every_score_knows_of_all_counts(arms, delay):
    world = RealWorld(np.full((arms, 2), 0.5), np.zeros((arms, 2)), 0.5)

    def curve(setting, horizon):
        return Curve(
            score_arm=score_arm, contribute=contribute, parameters=np.zeros((arms, 1)), pooled=2, scratch=1
        )

    rounds, rng = np.array([500]), np.random.Generator(np.random.SFC64(1))
    run = play(Policy("watch", Watch(delay), curve), world, rng, 500, rounds, delay=delay)
    assert run.finished
    first = arms + delay  # rounds before the first choice, in turn
    assert run.pulls.sum() == 500
    assert run.pulls[1:].tolist() == [len(range(a, first, arms)) for a in range(1, arms)]
