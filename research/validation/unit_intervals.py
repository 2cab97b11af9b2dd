"""Whether 95% intervals hold the truth where a unit has several rows that are alike."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from research.cores import each
from truant.analysis import Labels
from truant.counts import COLUMNS, OBSERVED, PULLS, SUM, Counts
from truant.estimates.beliefs import beliefs
from truant.estimates.clusters import ArmUnits, Clusters
from truant.setting import FloatArray, IntArray, Setting

SETTINGS = {
    "mcar": Setting(arms=2, mediators=2, low=-10, high=11),
    "mar": Setting(arms=2, mediators=2, low=-10, high=11),
    "mnar": Setting(arms=2, mediators=2, levels=(0, 1)),
}


def unit_samples(
    assumption: str, units: int, rows: int, correlation: float, replications: int, first: int
) -> list[list[bool]]:
    """Of each replication and arm, whether the interval holds the truth: with rows independent, and by unit.

    Parameters
    ----------
    first : seed of the first replication.
    """
    items = [(assumption, units, rows, correlation, seed) for seed in range(first, first + replications)]
    return [covered for sample in each(_sample, items) for covered in sample]


def _sample(item: tuple[str, int, int, float, int]) -> list[list[bool]]:
    assumption, units, rows, correlation, seed = item
    setting = SETTINGS[assumption]
    unit, arm, mediator, outcome, mean = draw(assumption, seed, units, rows, correlation)
    counts = Counts.fold(setting, arm, mediator, outcome)
    [plain], _ = beliefs(counts, setting, Labels.of("ab", "xy"), [assumption])
    by_unit = clusters_of(setting, unit, arm, mediator, outcome).belief(plain, counts, setting)
    found = []
    for pair in zip(plain.estimates, by_unit.estimates, strict=True):
        intervals = [estimate.interval(0.95) for estimate in pair]
        found.append([bool(low <= mean <= high) for low, high in intervals])
    return found


def draw(
    assumption: str, seed: int, units: int, rows: int, correlation: float
) -> tuple[IntArray, IntArray, IntArray, FloatArray, float]:
    """Unit, arm, mediator and outcome of each row, missing as the assumption says, and the mean of either arm.

    Mediator, outcome and whether it is observed each have the correlation within a unit (on a normal scale).
    """
    rng = np.random.default_rng(seed)

    def alike() -> FloatArray:
        own = np.repeat(rng.normal(size=2 * units), rows)
        return np.sqrt(correlation) * own + np.sqrt(1 - correlation) * rng.normal(size=2 * units * rows)

    unit = np.repeat(np.arange(2 * units), rows)
    mediator, noise = (alike() > 0).astype(np.int64), alike()
    if assumption == "mnar":
        outcome = (norm.cdf(noise) < np.where(mediator == 1, 0.7, 0.25)).astype(np.float64)
        seen, mean = np.where(outcome == 1, 0.85, 0.5), 0.475
    else:
        outcome, mean = mediator + noise, 0.5
        seen = np.where(mediator == 1, 0.85, 0.5) if assumption == "mar" else np.full(len(unit), 0.7)
    return unit, unit % 2, mediator, np.where(norm.cdf(alike()) < seen, outcome, np.nan), mean


def clusters_of(
    setting: Setting, unit: IntArray, arm: IntArray, mediator: IntArray, outcome: FloatArray
) -> Clusters:
    """The clusters of whole columns, each unit one of its own."""
    arms = []
    for a in range(setting.arms):
        own = arm == a
        group, m, y = np.unique(unit[own], return_inverse=True)[1], mediator[own], outcome[own]
        seen = ~np.isnan(y)
        if setting.levels is not None:
            code = np.where(seen, np.searchsorted(setting.levels, np.where(seen, y, 0)), len(setting.levels))
            parts = [(group, m * (len(setting.levels) + 1) + code, np.ones(len(y)))]
        else:
            parts = [(group, m * COLUMNS + PULLS, np.ones(len(y)))]
            parts += [(group[seen], m[seen] * COLUMNS + OBSERVED, np.ones(seen.sum()))]
            parts += [(group[seen], m[seen] * COLUMNS + SUM, y[seen] - setting.centre)]
        groups, entries, amounts = (np.concatenate(column) for column in zip(*parts, strict=True))
        arms.append(ArmUnits(len(np.unique(group)), groups, entries, amounts))
    return Clusters("unit", len(np.unique(unit)), 0, 1.0, tuple(arms))
