"""Writes visits.csv, a made-up log: two mails, whether each was opened, and what was spent, with holes.

Those who leave the old mail closed are seldom tracked, and they spend nothing: dropping the holes makes the old mail
look better than it is.
"""

from pathlib import Path

import numpy as np

import truant

world = truant.worlds.RealWorld(
    mediator_probabilities=[[0.5, 0.5], [0.7, 0.3]],  # P(left closed), P(opened): new, old
    outcome_means=[[2.0, 16.0], [0.0, 20.0]],
    observation=[[0.8, 0.8], [0.2, 0.9]],
    outcome_sd=4.0,
    low=0.0,
    high=20.0,
)
arms = np.random.default_rng(1).integers(0, 2, 2000)
mediators, outcomes = world.pulls(arms, seed=1)
lines = ["mail,opened,spent"]
for arm, mediator, outcome in zip(arms, mediators, outcomes, strict=True):
    spent = "" if np.isnan(outcome) else f"{max(outcome, 0):.2f}"
    lines.append(f"{('new', 'old')[arm]},{('no', 'yes')[mediator]},{spent}")
Path(__file__).with_name("visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
