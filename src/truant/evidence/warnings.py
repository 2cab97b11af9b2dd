"""Warnings: each has a code, the arm, the number, and the facts of which documents make its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from truant.assumptions import Concern
from truant.counts import OBSERVED, PULLS, Counts
from truant.estimates.beliefs import Belief, Caution, Labels, each_arm
from truant.estimates.ranking import Ranking
from truant.evidence.contradictions import Test
from truant.setting import FloatArray, IntArray

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
) -> list[Caution]:
    """All of them, the gravest first; `sizes` are the rows of the arms, or the units if these were split."""
    found = []
    if expected_split is not None:
        found += _split(counts.pulls if sizes is None else sizes, labels, expected_split)
    said = _concerns(labels, concerns)
    found += _cells(counts, labels, {concern.arm for concern in said if concern.code == "empty-cell"})
    found += said
    return found + _contradicted(tests)


def _split(pulls: FloatArray | IntArray, labels: Labels, expected: FloatArray) -> list[Caution]:
    from scipy.stats import chisquare

    p = float(chisquare(pulls, expected / expected.sum() * pulls.sum()).pvalue)
    if p >= UNEVEN:
        return []
    facts = {
        "arms": labels.arms,
        "shares": (pulls / pulls.sum()).tolist(),
        "expected": (expected / expected.sum()).tolist(),
    }
    return [Caution("uneven-split", value=p, facts=facts)]


def _cells(counts: Counts, labels: Labels, said: set[str]) -> list[Caution]:
    """Mediator levels without or nearly without outcomes; `said` are the arms whose empty ones are listed already."""
    table = counts.real().table
    rows, seen = table[..., PULLS], table[..., OBSERVED]
    found = []
    for a, m in np.argwhere((rows > 0) & (seen < RARE * rows)):
        observed, arm = float(seen[a, m]), labels.arms[a]
        if observed == 0 and arm in said:
            continue
        code = "empty-cell" if observed == 0 else "rarely-observed"
        facts = {"pulls": int(rows[a, m]), "mediator": int(m), "labels": labels}
        found.append(Caution(code, arm, observed, facts))
    return found


def concerns_of(belief: Belief) -> list[Sequence[Concern]]:
    """What an assumption has to say about the counts of each arm."""
    return each_arm(lambda reading: reading.concerns(), belief.readings)


def _concerns(labels: Labels, concerns: Mapping[str, Sequence[Sequence[Concern]]]) -> list[Caution]:
    """What the assumptions themselves have to say about the counts of an arm."""
    found = [
        (concern, name, arm)
        for name, by_arm in concerns.items()
        for arm, own in zip(labels.arms, by_arm, strict=True)
        for concern in own
    ]
    return [
        Caution(
            concern.code,
            arm,
            concern.value,
            {
                "assumption": name,
                "assumption_text": concern.text,
                "mediator": concern.mediator,
                "labels": labels,
            },
        )
        for concern, name, arm in sorted(found, key=lambda item: item[0].rank)
    ]


def _contradicted(tests: Sequence[Test]) -> list[Caution]:
    return [
        Caution(
            "contradicted",
            test.arm,
            test.p_value,
            {"assumption": test.assumption, "question": test.question},
        )
        for test in tests
        if test.contradicted
    ]


def contradicted_by(tests: Sequence[Test]) -> set[str]:
    """Names of the assumptions that a test contradicts."""
    return {test.assumption for test in tests if test.contradicted}


def flat_prior_warnings(rankings: Sequence[Ranking], labels: Labels) -> list[Caution]:
    """Arms that hardly differ: the probability of being best, which takes every mean as possible, is too sure."""
    found = []
    for one in rankings:
        shrunk, plain = one.shrunk_probability(), float(one.probabilities[one.leader])
        if shrunk is None or shrunk >= plain - LEAST_DOUBT:
            continue
        facts = {"assumption": one.belief.name, "arms": len(labels.arms), "probability": plain}
        found.append(Caution("flat-prior", labels.arms[one.leader], shrunk, facts))
    return found
