"""Tests of what assumptions imply and data can contradict; what they cannot is said to be untestable.

One of them asks whether the mediator tells anything: of the outcome, or of which outcomes are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from truant.assumptions import ChiSquare, NoTest
from truant.assumptions.cells import QUESTION as FOLLOW_UPS
from truant.assumptions.mcar import MCAR
from truant.counts import OBSERVED, SQUARES, SUM, Counts
from truant.errors import NotIdentified
from truant.estimates.beliefs import Belief, Labels, usual_assumptions
from truant.setting import Setting

FEW_DRAWS = 100  # tables drawn under an assumption, below which their shares are too coarse


DOUBTFUL = 0.05  # p-values below which a test contradicts


@dataclass(frozen=True)
class Test:
    """A likelihood-ratio test; `arm` is empty where it is about all arms together."""

    assumption: str  # name of the assumption
    question: str  # the question that the test answers
    arm: str  # the arm that is tested; empty if all arms are tested together
    statistic: float  # chi-square statistic
    freedom: int  # degrees of freedom
    p_value: float  # p-value, corrected by Holm's method if there is one test for each arm
    could_contradict: bool = True  # whether a small p-value contradicts the assumption
    contradicted: bool = False  # whether it does: the p-value is below 0.05
    remark: str = ""  # what else to know about the answer; empty if nothing


@dataclass(frozen=True)
class Untestable:
    """What no data of this kind can contradict."""

    assumption: str  # name of the assumption
    reason: str  # why it cannot be tested


def contradictions(
    counts: Counts, setting: Setting, beliefs: Sequence[Belief], labels: Labels, alike: float = 1.0
) -> tuple[list[Test], list[Untestable]]:
    """Every test that these counts allow, and every assumption that they cannot test.

    Tests that need no estimate are made of the usual assumptions, whether asked for or not: what contradicts `mcar`
    matters to who asked for `mar`. `alike` is how many rows count as one: statistics are divided by it, which is
    right where all rows of a unit are copies of each other, and cautious elsewhere.
    """
    usual = usual_assumptions(counts)
    others = {belief.name: belief.assumption for belief in beliefs if belief.part not in usual}
    found: list[tuple[str, Sequence[ChiSquare | NoTest]]] = []
    for name, assumption in (usual | others).items():
        try:
            found.append((name, assumption.tests(counts, setting)))
        except NotIdentified:
            continue  # why is listed with the estimates
    for belief in beliefs:
        found.append((belief.name, [test for reading in belief.readings for test in reading.tests]))
    tests, untestable = [], []
    for name, parts in found:
        usable = [part for part in parts if isinstance(part, ChiSquare) and part.freedom > 0]
        reasons = [part.reason for part in parts if isinstance(part, NoTest)]
        tests += _with_p_values(
            name, [replace(test, statistic=test.statistic / alike) for test in usable], labels
        )
        if reasons and not usable:
            untestable.append(Untestable(name, reasons[0]))
    return tests, untestable


def _with_p_values(name: str, found: Sequence[ChiSquare], labels: Labels) -> list[Test]:
    """Tests of one question that are about an arm each are corrected for their number."""
    p_values = [p_value(test) for test in found]
    for question in {test.question for test in found if test.arm is not None}:
        family = [k for k, test in enumerate(found) if test.arm is not None and test.question == question]
        for k, p in zip(family, holm([p_values[k] for k in family]), strict=True):
            p_values[k] = p
    return [
        Test(
            name,
            test.question,
            "" if test.arm is None else labels.arms[test.arm],
            test.statistic,
            test.freedom,
            p,
            test.contradicts,
            test.contradicts and p < DOUBTFUL,
            test.remark,
        )
        for test, p in zip(found, p_values, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected for their number: the smallest times m, the next times m - 1 and so on, never falling."""
    order = np.argsort(p_values)
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected


def p_value(test: ChiSquare) -> float:
    """Of a chi-square statistic; or among those of tables drawn under the assumption, where there are such.

    Beyond the highest of them, and where they are few, a gamma distribution with their mean and variance takes their
    place: it is chi-square with the scale and the degrees of freedom that they have.
    """
    from scipy.stats import chi2, gamma

    if not test.null:
        return float(chi2.sf(test.statistic, test.freedom))
    null = np.asarray(test.null)
    mean, variance = null.mean(), null.var(ddof=1)
    fitted = (
        float(gamma.sf(test.statistic, mean**2 / variance, scale=variance / mean)) if variance > 0 else 1.0
    )
    share = (1 + np.count_nonzero(null >= test.statistic - 1e-9)) / (1 + len(null))
    if len(null) < FEW_DRAWS:
        return fitted
    return float(share) if test.statistic <= null.max() else min(float(share), fitted)


RELATED = 0.025  # p-value of either relation, half of 5% since there are two


def mediator_informs(counts: Counts, tests: Sequence[Test]) -> bool:
    """Whether the mediator is related, within arms, to the outcome or to its being missing.

    If it is related to neither, mar and mnar can tell no more than mcar: the table has no mediator worth the name.
    """
    if counts.table.shape[1] < 3:  # one level, and missing mediators
        return False
    missing = [
        test.p_value
        for test in tests
        if test.assumption == MCAR and test.could_contradict and test.question != FOLLOW_UPS
    ]
    return min([*missing, outcome_p_value(counts)]) < RELATED


def outcome_p_value(counts: Counts) -> float:
    """Of equal means at all mediator levels of an arm: an F test, all arms together."""
    from scipy.special import fdtrc

    table = counts.real().table
    n, total, squares = table[..., OBSERVED], table[..., SUM], table[..., SQUARES]
    used = n > 0
    of_cells = np.where(used, total**2 / np.maximum(n, 1), 0.0).sum(axis=1)
    of_arms = total.sum(axis=1) ** 2 / np.maximum(n.sum(axis=1), 1)
    between = float((of_cells - of_arms).sum())
    within = float((squares.sum(axis=1) - of_cells).sum())
    levels = float(np.maximum(used.sum(axis=1) - 1, 0).sum())
    rest = float(n.sum() - used.sum())
    if levels == 0 or rest <= 0:
        return 1.0
    if within <= 1e-12 * float(squares.sum()):
        return 0.0 if between > 0 else 1.0
    return float(fdtrc(levels, rest, max(between, 0.0) / levels / (within / rest)))
