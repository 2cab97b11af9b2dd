"""Whether the mediator tells anything: of the outcome, or of which outcomes are missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truant.analysis.contradictions import Test
from truant.assumptions.follow_up_tests import QUESTION as FOLLOW_UPS
from truant.counts import OBSERVED, SQUARES, SUM, Counts

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
        if test.assumption == "mcar" and test.could_contradict and test.question != FOLLOW_UPS
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
