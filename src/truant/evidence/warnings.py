"""Warnings: each has a code, the arm, the number, and what to do; and how shares and p-values are written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from truant.assumptions import Concern
from truant.counts import OBSERVED, PULLS, Counts
from truant.errors import filled, named
from truant.estimates.beliefs import Belief, Labels, Warning, each_arm
from truant.estimates.ranking import Ranking
from truant.evidence.contradictions import Test
from truant.setting import FloatArray, IntArray

UNKNOWN = "–"


def percent(share: float | None) -> str:
    """A share with one decimal: 38.8%."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def chance(probability: float) -> str:
    """A probability with one decimal, which never claims certainty: >99.9%."""
    if 0 <= probability < 0.0005:
        return "<0.1%"
    return ">99.9%" if probability > 0.9995 else percent(probability)


def p_value(value: float) -> str:
    """0.034, but < 0.001 for what is smaller; a dash for what is not known."""
    if math.isnan(value):
        return UNKNOWN
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


RARE = 0.02  # share observed in a cell below which it is hardly ever seen
LEAST_DOUBT = 0.02  # in a probability of being best, below which a difference is not worth a warning
UNEVEN = 0.001  # and below which a split is not the expected one: false alarms cost trust


def warnings(
    counts: Counts,
    labels: Labels,
    concerns: Mapping[str, Sequence[Sequence[Concern]]],
    tests: Sequence[Test],
    expected_split: FloatArray | None,
    sizes: FloatArray | IntArray | None = None,
) -> list[Warning]:
    """All of them, the gravest first; `sizes` are the rows of the arms, or the units if these were split."""
    found = []
    if expected_split is not None:
        found += _split(counts.pulls if sizes is None else sizes, labels, expected_split)
    said = _concerns(labels, concerns)
    found += _cells(counts, labels, {concern.arm for concern in said if concern.code == "empty-cell"})
    found += said
    return found + _contradicted(tests)


def _split(pulls: FloatArray | IntArray, labels: Labels, expected: FloatArray) -> list[Warning]:
    from scipy.stats import chisquare

    p = float(chisquare(pulls, expected / expected.sum() * pulls.sum()).pvalue)
    if p >= UNEVEN:
        return []
    shares = ", ".join(
        f"{named(name)} {have:.1%} instead of {want:.1%}"
        for name, have, want in zip(labels.arms, pulls / pulls.sum(), expected / expected.sum(), strict=True)
    )
    return [
        Warning(
            "uneven-split",
            f"Units are not split over the arms as expected ({shares}; p {_compared(p)}): find the cause before you "
            "use the results.",
            value=p,
        )
    ]


def _cells(counts: Counts, labels: Labels, said: set[str]) -> list[Warning]:
    """Mediator levels without or nearly without outcomes; `said` are the arms whose empty ones are listed already."""
    table = counts.real().table
    rows, seen = table[..., PULLS], table[..., OBSERVED]
    found = []
    for a, m in np.argwhere((rows > 0) & (seen < RARE * rows)):
        pulls, observed = int(rows[a, m]), int(seen[a, m])
        place, arm = labels.place(int(m)), labels.arms[a]
        if observed == 0 and arm in said:
            continue
        if observed == 0:
            code, what = "empty-cell", f"none of the {pulls} outcomes with {place} was observed"
            missing = m == table.shape[1] - 1  # no level that could be merged
            first = "find out these mediators" if missing else "merge this level with another"
            if not missing and labels.cut_advice is not None:
                first = labels.cut_advice
            advice = f"mar cannot estimate their mean: {first} or collect more"
        else:
            code, what = (
                "rarely-observed",
                f"{observed / pulls:.1%} of {pulls:,} outcomes with {place} were observed",
            )
            advice = "few rows have a large weight: check whether they are typical"
        found.append(Warning(code, f"In arm {named(arm)}, {what}; {advice}.", arm, float(observed)))
    return found


def concerns_of(belief: Belief) -> list[Sequence[Concern]]:
    """What an assumption has to say about the counts of each arm."""
    return each_arm(lambda reading: reading.concerns(), belief.readings)


def _concerns(labels: Labels, concerns: Mapping[str, Sequence[Sequence[Concern]]]) -> list[Warning]:
    """What the assumptions themselves have to say about the counts of an arm."""
    found = [
        (concern, name, arm)
        for name, by_arm in concerns.items()
        for arm, own in zip(labels.arms, by_arm, strict=True)
        for concern in own
    ]
    return [
        Warning(concern.code, _sentence(concern, name, arm, labels), arm, concern.value)
        for concern, name, arm in sorted(found, key=lambda item: item[0].rank)
    ]


def _sentence(concern: Concern, assumption: str, arm: str, labels: Labels) -> str:
    level = None if concern.mediator is None else labels.place(concern.mediator)
    if concern.code == "empty-cell" and level is not None and labels.cut_advice is not None:
        return (
            f"Under {assumption}, no outcome of arm {named(arm)} with {level} was observed, which widens the interval; "
            f"{labels.cut_advice}, or collect more."
        )
    return filled(concern.text, assumption, f"arm {named(arm)}", level)


def _contradicted(tests: Sequence[Test]) -> list[Warning]:
    found = []
    for test in tests:
        if not test.contradicted:
            continue
        where = f" in arm {named(test.arm)}" if test.arm else ""
        message = (
            f"The data contradict {test.assumption}{where} (p {_compared(test.p_value)}): the answer to "
            f"“{test.question}” is no. Use the estimate of another assumption."
        )
        found.append(Warning("contradicted", message, test.arm, test.p_value))
    return found


def _compared(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def contradicted_by(tests: Sequence[Test]) -> set[str]:
    """Names of the assumptions that a test contradicts."""
    return {test.assumption for test in tests if test.contradicted}


def flat_prior_warnings(rankings: Sequence[Ranking], labels: Labels) -> list[Warning]:
    """Arms that hardly differ: the probability of being best, which takes every mean as possible, is too sure."""
    found = []
    for one in rankings:
        shrunk, plain = one.shrunk_probability(), float(one.probabilities[one.leader])
        if shrunk is None or shrunk >= plain - LEAST_DOUBT:
            continue
        name = labels.arms[one.leader]
        text = (
            f"Under {one.belief.name}, the {len(labels.arms)} arms differ hardly more than by chance, so the "
            f"probability that {named(name)} is the best ({chance(plain)}) is too high; with the means shrunk towards "
            f"each other it is {chance(shrunk)}."
        )
        found.append(Warning("flat-prior", text, name, shrunk))
    return found
