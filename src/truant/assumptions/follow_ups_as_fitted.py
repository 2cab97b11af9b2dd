"""Whether follow-ups bring what a likelihood fit says of missing outcomes; the error of the fit counts."""

from __future__ import annotations

import numpy as np

from truant.assumptions.evidence import ChiSquare
from truant.assumptions.exact import LikelihoodFit
from truant.assumptions.follow_up_tests import QUESTION
from truant.setting import FloatArray

STEPS = 14  # of the golden section: the statistic is flat at its minimum
GOLDEN = (np.sqrt(5) - 1) / 2
EDGE = 1e-6  # of the range of the outcome, that a mean stays away from its ends


def as_fitted(fit: LikelihoodFit, answers: FloatArray, arm: int, remark: str) -> ChiSquare:
    """Min over u of 2 (l_max - l(u)) + (x - x(u))^2/v: table and answers agree on no mean u of the arm.

    x(u) is the mean of the missing outcomes if the arm's is u, and l(u) the profile likelihood of the table. The
    answers say that it is x, what the fit says plus how far they are from that at their own mediator levels. v is the
    variance that missing outcomes have by the fit, or that of the answers where it is larger: a fit that is far off
    may take missing outcomes for all alike. If the assumption holds, both are about one mean, and the statistic is
    nearly chi-square distributed with one degree of freedom, however well or badly the table identifies the mean.
    `answers` has a row for each mediator level and a last one for missing mediators, a column for each outcome.
    """
    by_row, levels = answers.sum(axis=1), fit.levels
    expected = fit.missing_outcomes()
    means = expected @ levels
    spread = np.maximum(expected @ levels**2 - means**2, 0.0)
    number = float(by_row.sum())
    variance = max(float(by_row @ spread), _squares_within(answers, levels)) / number**2
    variance = variance or float(np.ptp(levels)) ** 2 / (4 * number)
    away = float(answers.sum(axis=0) @ levels - by_row @ means) / number
    share = float(fit.table[:, -1].sum() / fit.table.sum())
    room = EDGE * float(np.ptp(levels))
    end = float(np.clip(fit.mean + share * away, levels[0] + room, levels[-1] - room))

    def statistic(part: float) -> float:
        u = fit.mean + part * (end - fit.mean)
        left = away - (u - fit.mean) / share
        return 2 * max(fit.log_likelihood - fit.log_likelihood_at(u), 0.0) + left**2 / variance

    low, high = 0.0, 1.0
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [statistic(part) for part in inner]
    for _ in range(STEPS):
        if values[0] < values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - GOLDEN * (high - low)
            values[0] = statistic(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + GOLDEN * (high - low)
            values[1] = statistic(inner[1])
    return ChiSquare(QUESTION, min(*values, away**2 / variance), 1, arm, remark=remark)


def _squares_within(answers: FloatArray, levels: FloatArray) -> float:
    """The number of answers times their variance within mediator levels."""
    used = answers[answers.sum(axis=1) > 0]
    number = used.sum(axis=1)
    squares = float((used @ levels**2 - (used @ levels) ** 2 / number).sum())
    return squares * float(number.sum()) / max(float(number.sum()) - len(used), 1.0)
