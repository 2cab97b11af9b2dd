"""Tests of what an assumption implies and data can contradict; what they cannot is said to be untestable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truant.analysis.estimates import Belief
from truant.analysis.labels import Labels
from truant.counts import OBSERVED, PULLS, Counts
from truant.setting import FloatArray


@dataclass(frozen=True)
class Test:
    """A likelihood-ratio test, chi-square; `arm` is empty where it is about all arms together."""

    assumption: str
    question: str
    arm: str
    statistic: float
    freedom: int
    p_value: float  # corrected for several arms (Holm) where there is one test for each


@dataclass(frozen=True)
class Untestable:
    """What no data of this kind can contradict."""

    assumption: str
    reason: str


def independence(table: FloatArray) -> tuple[float, int]:
    """The statistic 2 sum C log(C/E) of a contingency table, and its degrees of freedom (empty lines dropped)."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return 0.0, 0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    ratio = np.divide(table, expected, out=np.ones_like(table), where=table > 0)
    return float(2 * np.sum(table * np.log(ratio))), (table.shape[0] - 1) * (table.shape[1] - 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected for their number: the smallest times m, the next times m - 1 and so on, never falling."""
    order = np.argsort(p_values)
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected


def contradictions(
    counts: Counts, beliefs: Sequence[Belief], labels: Labels
) -> tuple[list[Test], list[Untestable]]:
    """Every test that these counts allow, and every assumption that they cannot test."""
    tests = _missing_at_random(counts)
    untestable = [Untestable("mar", "what is missing within a mediator level is never seen")]
    if counts.table[:, -1].sum() > 0:
        tests += _seen_together(counts, labels)
    for belief in beliefs:
        if belief.fits:
            found = _over_identified(belief, counts, labels)
            tests += found
            if not found:
                reason = "it has as many free numbers as the table has cells, so that any table fits it"
                untestable.append(Untestable(belief.name, reason))
    return tests, untestable


def _observed_and_missing(counts: Counts) -> FloatArray:
    """Pulls with the outcome observed and missing, shape (arms, K+1, 2)."""
    table = counts.real().table
    return np.stack([table[..., OBSERVED], table[..., PULLS] - table[..., OBSERVED]], axis=-1)


def _missing_at_random(counts: Counts) -> list[Test]:
    seen = _observed_and_missing(counts)
    overall = independence(seen.reshape(-1, 2))
    within = np.sum([independence(arm) for arm in seen], axis=0)
    questions = (
        ("Is the outcome as often missing in every arm and mediator level?", overall),
        ("Is it as often missing in every mediator level of an arm?", (float(within[0]), int(within[1]))),
    )
    return [
        Test("mcar", question, "", statistic, freedom, _p(statistic, freedom))
        for question, (statistic, freedom) in questions
        if freedom > 0
    ]


def _seen_together(counts: Counts, labels: Labels) -> list[Test]:
    """Strong `mediator-mar`: whether the mediator is seen says nothing about whether the outcome is."""
    seen = _observed_and_missing(counts)
    tables = [np.stack([arm[:-1].sum(axis=0), arm[-1]]) for arm in seen]
    found = [independence(table) for table in tables]
    question = "Is the mediator as often missing whether or not the outcome is?"
    return _by_arm("mediator-mar", question, found, labels)


def _over_identified(belief: Belief, counts: Counts, labels: Labels) -> list[Test]:
    """2 (l_saturated - l_max): more cells than free numbers leave something to contradict."""
    found = []
    for fit in belief.fits:
        table = fit.table
        used = table[table > 0]
        saturated = float(np.sum(used * np.log(used / table.sum())))
        freedom = _freedom(belief.name.split(":")[0], table.shape[0] - 1, table.shape[1] - 1)
        found.append((max(2 * (saturated - fit.log_likelihood), 0.0), freedom))
    return _by_arm(belief.name, "Do the observed shares fit the assumption?", found, labels)


def _freedom(name: str, K: int, L: int) -> int:
    return {"mnar": K - L, "mediator-mnar": L - K + 1, "both-mnar": 1}.get(name, 0)


def _by_arm(name: str, question: str, found: Sequence[tuple[float, int]], labels: Labels) -> list[Test]:
    usable = [(arm, statistic, freedom) for arm, (statistic, freedom) in enumerate(found) if freedom > 0]
    p_values = holm([_p(statistic, freedom) for _, statistic, freedom in usable])
    return [
        Test(name, question, labels.arms[arm], statistic, freedom, p)
        for (arm, statistic, freedom), p in zip(usable, p_values, strict=True)
    ]


def _p(statistic: float, freedom: int) -> float:
    from scipy.stats import chi2

    return float(chi2.sf(statistic, freedom))
