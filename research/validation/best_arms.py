"""How often the leader is the best arm, beside the probability that an analysis gives it."""

from __future__ import annotations

import numpy as np

from research.cores import each
from truant.analysis import AnalysisOptions, CountedRows, Labels, analyze_counts
from truant.counts import Counts
from truant.setting import Setting

ROWS = 200  # of each arm, of which a quarter is missing by mediator level
SD = 1.0


def leaders(arms: int, spread: float, replications: int, first: int) -> list[dict[str, float | bool | str]]:
    """Of each replication: the leader's probability, plain and shrunk, whether it is the best, and the verdict.

    Parameters
    ----------
    first : seed of the first replication.
    """
    return each(_leader, [(arms, spread, seed) for seed in range(first, first + replications)])


def _leader(item: tuple[int, float, int]) -> dict[str, float | bool | str]:
    arms, spread, seed = item
    rng = np.random.default_rng([arms, int(1000 * spread), seed])
    setting = Setting(arms=arms, mediators=2, low=-10, high=11, range_known=False)
    error = SD / np.sqrt(0.75 * ROWS)  # of an arm's mean, nearly
    truth = rng.normal(0.0, spread * error, arms)
    arm = np.repeat(np.arange(arms), ROWS)
    mediator = rng.integers(0, 2, len(arm))
    outcome = truth[arm] + 0.5 * (mediator - 0.5) + rng.normal(0.0, SD, len(arm))
    outcome[rng.random(len(arm)) < np.where(mediator == 1, 0.4, 0.1)] = np.nan
    labels = Labels.of([str(a) for a in range(arms)], ("low", "high"))
    rows = CountedRows(Counts.fold(setting, arm, mediator, outcome), setting, labels)
    found = analyze_counts(rows, AnalysisOptions(assume="mar"))
    answer = found.verdict.answers[0]
    shrunk = [warning.value for warning in found.warnings if warning.code == "flat-prior"]
    # of arms that are all equal, none is the best: naming any is wrong
    right = bool(spread > 0 and int(np.argmax(truth)) == int(answer.arm))
    return {
        "probability": answer.probability,
        "shrunk": float(shrunk[0] or 0.0) if shrunk else answer.probability,
        "warned": bool(shrunk),
        "right": right,
        "kind": found.verdict.kind,
    }
