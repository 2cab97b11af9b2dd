"""Tables from worlds that are unkind to intervals: skewed, mostly zero, rare, hardly ever observed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from research.cores import each
from truant import registry
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, IntArray, Setting

TWO_SIDED = 1.959964  # 95%
INTERVAL_WARNINGS = {"skewed", "thin-cell", "no-interval"}  # that say of an interval that it may not hold
FRESH = 1  # seeds that no constant of the intervals was chosen on (those without it were looked at)
LIKELIHOODS = ("mnar", "mediator-mnar", "both-mnar")
SKEWED_LEVELS = (0.0, 1.0, 2.0, 5.0, 100.0)

Draw = Callable[[np.random.Generator, FloatArray], FloatArray]  # outcomes, given the mean of each row


def _lognormal(sigma: float) -> Draw:
    return lambda rng, mean: mean * np.exp(sigma * rng.normal(size=len(mean)) - sigma**2 / 2)


def _mostly_zero(sigma: float) -> Draw:
    def draw(rng: np.random.Generator, mean: FloatArray) -> FloatArray:
        amount: FloatArray = _lognormal(sigma)(rng, mean)
        return np.where(rng.random(len(mean)) < 0.03, amount / 0.03, 0.0)

    return draw


# outcomes by name, for rows with given means between .5 and 1.5
REAL: dict[str, Draw] = {
    "normal": lambda rng, mean: mean + rng.normal(size=len(mean)),
    "exponential": lambda rng, mean: mean * rng.exponential(size=len(mean)),
    "lognormal, sigma 1": _lognormal(1.0),
    "lognormal, sigma 1.6": _lognormal(1.6),
    "97% zeros, the rest nearly equal": _mostly_zero(0.3),
    "97% zeros, the rest lognormal, sigma 1.2": _mostly_zero(1.2),
}
RATES = {"rate near .3": 0.3, "rate near .02": 0.02}


def unkind_tables(
    assumption: str, outcome: str, K: int, gamma: list[float], rows: int, replications: int, first: int
) -> list[list[Any]]:
    """Of each replication: whether the interval holds the mean (None: refused or no interval), and its warnings.

    Parameters
    ----------
    first : seed of the first replication.
    """
    seeds = range(first, first + replications)
    return each(_table, [(assumption, outcome, K, tuple(gamma), rows, seed) for seed in seeds])


def _table(item: tuple[str, str, int, tuple[float, float], int, int]) -> list[Any]:
    assumption, outcome, K, gamma, rows, seed = item
    rng = np.random.default_rng([FRESH, seed, rows, K])
    make = _discrete if assumption in LIKELIHOODS else _cell_means
    counts, setting, truth = make(rng, assumption, outcome, K, gamma, rows)
    return judged(assumption, counts, setting, truth)


def judged(assumption: str, counts: Counts, setting: Setting, truth: float) -> list[Any]:
    """Whether the interval of the one arm holds the truth, and the codes of what is said about it."""
    model = _assumption(assumption)
    try:
        if assumption in LIKELIHOODS:  # the root at the truth says the same as two limits, in one search
            fit = model.fit(counts, 0)
            return [bool(2 * (fit.log_likelihood - fit.log_likelihood_at(truth)) <= TWO_SIDED**2), []]
        reading = model.read(counts, 0, setting)
    except NotIdentified:
        return [None, ["refused"]]
    codes = sorted({concern.code for concern in reading.concerns()})
    low, high = reading.estimate.interval(0.95)
    return [bool(low <= truth <= high) if reading.estimate.has_interval else None, codes]


def _cell_means(
    rng: np.random.Generator, assumption: str, outcome: str, K: int, gamma: tuple[float, float], rows: int
) -> tuple[Counts, Setting, float]:
    p, means = rng.dirichlet(np.full(K, 3.0)), rng.uniform(0.5, 1.5, K)
    chance = rng.uniform(*gamma, 1 if assumption == "mcar" else K)
    m = rng.choice(K, rows, p=p)
    if outcome in RATES:
        setting = Setting(arms=1, mediators=K, levels=(0.0, 1.0), mediator_probabilities=p[None])
        means = RATES[outcome] * means
        y = (rng.random(rows) < means[m]).astype(np.float64)
    else:
        setting = Setting(arms=1, mediators=K, high=100, range_known=False, mediator_probabilities=p[None])
        y = REAL[outcome](rng, means[m])
    seen = rng.random(rows) < (chance[0] if assumption == "mcar" else chance[m])
    if assumption == "mediator-mar":
        m = np.where(rng.random(rows) < 0.7, m, -1)
    return _folded(setting, m, y, seen), setting, float(p @ means)


def _discrete(
    rng: np.random.Generator, assumption: str, outcome: str, K: int, gamma: tuple[float, float], rows: int
) -> tuple[Counts, Setting, float]:
    """Mediator and outcome agree in .7 of the rows; the top level of skewed values is rare."""
    skewed = outcome == "skewed levels"
    levels = SKEWED_LEVELS[:K] if not skewed or len(SKEWED_LEVELS) == K else (*SKEWED_LEVELS[: K - 1], 100.0)
    setting = Setting(arms=1, mediators=K, levels=levels)
    share = rng.dirichlet(np.full(K, 3.0))
    if skewed:
        share = np.append(0.97 * share[:-1] / share[:-1].sum(), 0.03)
    level = rng.choice(K, rows, p=share)
    other = rng.choice(K, rows, p=rng.dirichlet(np.full(K, 3.0)))
    m = np.where(rng.random(rows) < 0.7, level, other)
    chance = rng.uniform(*gamma, K)
    seen = rng.random(rows) < chance[m if assumption == "mediator-mnar" else level]
    if assumption != "mnar":
        m = np.where(rng.random(rows) < rng.uniform(0.5, 1.0, K)[m], m, -1)
    return _folded(setting, m, np.asarray(levels)[level], seen), setting, float(share @ levels)


def _folded(setting: Setting, m: IntArray, y: FloatArray, seen: FloatArray) -> Counts:
    return Counts.fold(setting, np.zeros(len(m), np.int64), m, np.where(seen, y, np.nan))


@functools.cache
def _assumption(name: str) -> Any:
    return registry.find("assumption", name).build()
