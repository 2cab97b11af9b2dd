"""Logs with the probability of each choice, and whether weighted intervals hold the truth in them."""

from __future__ import annotations

import numpy as np

from research.cores import each
from truant.analysis import AnalysisOptions, CountedRows, Labels, analyze_counts
from truant.collection.weighted import POWERS, ByProbability, WeightedSums
from truant.counts import Counts
from truant.setting import FloatArray, IntArray, Setting

LEVEL_EFFECT = 0.6  # of the mediator
OBSERVED = (0.9, 0.5)  # P(O=1|m)
GAPS = {"clear": (0.0, 0.1, 0.5), "equal": (0.3, 0.3, 0.3)}
MIX = {"a": 0.5, "b": 0.25, "c": 0.25}
SETTING = Setting(arms=3, mediators=2, low=-4, high=5, range_known=False)


def weighted_runs(means: str, rows: int, least: float, runs: int, first: int) -> list[dict[str, list[bool]]]:
    """Of each log, whether the intervals of the best arm, of the others and of a mix hold the truth.

    Parameters
    ----------
    first : seed of the first log.
    """
    return each(_run, [(means, rows, least, seed) for seed in range(first, first + runs)])


def _run(item: tuple[str, int, float, int]) -> dict[str, list[bool]]:
    means, rows, least, seed = item
    arms, mediators, outcomes, chances = epsilon_greedy(GAPS[means], rows, least, seed)
    counts = Counts.fold(SETTING, arms, mediators, outcomes)
    labels = Labels.of("abc", "xy")
    truth = np.array(GAPS[means]) + LEVEL_EFFECT / 2
    value = float(np.array(list(MIX.values())) @ truth)
    found: dict[str, list[bool]] = {}
    by = ByProbability(sums(arms, mediators, outcomes, chances))
    for name, collected in (("plain", None), ("weighted", by)):
        analysis = analyze_counts(
            CountedRows(counts, SETTING, labels, collected=collected),
            AnalysisOptions(assume="mar", value=MIX),
        )
        if not analysis.assumptions or analysis.value is None:
            continue
        ends = [arm.estimates["mar"] for arm in analysis.arms]
        held = [bool(one.low <= mean <= one.high) for one, mean in zip(ends, truth, strict=True)]
        mix = analysis.value.estimates["mar"]
        found |= {f"{name} best": held[2:], f"{name} others": held[:2]}
        found[f"{name} mix"] = [bool(mix.low <= value <= mix.high)]
    return found


def epsilon_greedy(
    means: tuple[float, ...], rows: int, least: float, seed: int
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Arms, mediators, outcomes and probabilities: the leader's mean so far, and others with probability epsilon."""
    rng = np.random.default_rng(seed)
    n = len(means)
    total, count = np.zeros(n), np.zeros(n)
    arms, mediators = np.empty(rows, np.int64), rng.integers(0, 2, rows)
    outcomes, chances = rng.normal(size=rows) + LEVEL_EFFECT * mediators, np.empty(rows)
    seen, luck = rng.random(rows) < np.array(OBSERVED)[mediators], rng.random((rows, 2))
    for t in range(rows):
        epsilon = max(least * n, min(1.0, 30 / (t + 1)))
        leader = int(np.argmax(total / np.maximum(count, 1)))
        arm = int(luck[t, 1] * n) if luck[t, 0] < epsilon else leader
        chances[t] = epsilon / n + (1 - epsilon) * (arm == leader)
        arms[t] = arm
        outcomes[t] += means[arm]
        if seen[t]:
            total[arm] += outcomes[t]
            count[arm] += 1
    return arms, mediators, np.where(seen, outcomes, np.nan), chances


def sums(arms: IntArray, mediators: IntArray, outcomes: FloatArray, chances: FloatArray) -> WeightedSums:
    """The weighted sums that the query of a log makes."""
    table = np.zeros((SETTING.arms, SETTING.mediators + 1, len(POWERS), 4))
    seen = ~np.isnan(outcomes)
    known = np.where(seen, outcomes, 0.0)
    for power, exponent in enumerate(POWERS):
        weight = chances**-exponent
        for place, values in enumerate((weight, weight * seen, weight * known, weight * known**2)):
            np.add.at(table[:, :, power, place], (arms, mediators), values)
    return WeightedSums("probability", table, 0.0)
