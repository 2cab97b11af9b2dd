"""UCB1 and Thompson sampling written again in a few lines of numpy, for arms that are coins."""

from __future__ import annotations

import numpy as np

from truant.setting import FloatArray


def final_regret(policy: str, means: list[float], horizon: int, runs: int, seed: int) -> list[float]:
    """Final regret of each run: each arm once, then the highest score of `ucb1` or `beta`."""
    rng, truth = np.random.default_rng(seed), np.array(means)
    everyone = np.arange(runs)
    pulls, wins = np.zeros((runs, len(truth))), np.zeros((runs, len(truth)))
    for t in range(horizon):
        if t < len(truth):
            arm = np.full(runs, t)
        else:
            scores = _SCORES[policy](pulls, wins, horizon, rng)
            arm = (scores + 1e-9 * rng.random(scores.shape)).argmax(axis=1)  # a trace of noise breaks ties
        pulls[everyone, arm] += 1
        wins[everyone, arm] += rng.random(runs) < truth[arm]
    regret: list[float] = (pulls @ (truth.max() - truth)).tolist()
    return regret


def _ucb1(pulls: FloatArray, wins: FloatArray, horizon: int, rng: np.random.Generator) -> FloatArray:
    return np.asarray(wins / pulls + np.sqrt(2 * np.log(horizon) / pulls))


def _beta(pulls: FloatArray, wins: FloatArray, horizon: int, rng: np.random.Generator) -> FloatArray:
    return rng.beta(1 + wins, 1 + pulls - wins)


_SCORES = {"ucb1": _ucb1, "beta": _beta}
