"""The final figures of each run of a simulation as columns, for tables that other programs read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from truant.lab.result import Simulation


def final_columns(simulation: Simulation) -> dict[str, Any]:
    """A row for each policy and run; columns that have one number for each arm end in the arm's number, from 0."""
    policies, runs = len(simulation.policies), simulation.runs
    columns: dict[str, Any] = {
        "policy": np.repeat(simulation.policies, runs),
        "run": np.tile(np.arange(runs), policies),
        "regret": simulation.final.ravel(),
    }
    if simulation.follow_ups is not None:
        columns["follow_ups"] = simulation.follow_ups[:, :, -1].ravel()
    means = np.broadcast_to(simulation.means, simulation.pulls.shape)
    per_arm = {"pulls": simulation.pulls, "estimate": simulation.estimates, "mean": means}
    if simulation.low is not None and simulation.high is not None:
        per_arm |= {"low": simulation.low, "high": simulation.high}
    for name, values in per_arm.items():
        for arm in range(values.shape[2]):
            columns[f"{name}_{arm}"] = values[:, :, arm].ravel()
    return columns
