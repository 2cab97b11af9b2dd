"""What each assumption answers, as cells of a table; and what its probability takes for granted."""

from __future__ import annotations

import math

from truant.analysis.analysis import Analysis
from truant.analysis.contradictions import DOUBTFUL, Test
from truant.analysis.shares import UNKNOWN, chance
from truant.analysis.verdict import Answer, Kind
from truant.analysis.words.figures import Figures

KIND_TITLES: dict[Kind, str] = {
    "clear": "Clear winner",
    "equal": "Equal within the tolerance",
    "unsettled": "Not settled",
    "depends": "Depends on the assumption",
    "no-mediator": "No mediator",
    "not-identified": "Not identified",
    "one-arm": "One arm",
}
CHANCES_NOTE = (
    "The probability assumes that the means of the arms are independent and that before the data every mean is equally "
    "likely (a flat prior)."
)


def loss_text(answer: Answer, figures: Figures) -> str:
    """The expected loss of choosing its winner now, one digit finer than outcomes; a dash for what is not known."""
    if math.isnan(answer.expected_loss):
        return UNKNOWN
    finer = Figures(figures.decimals + 1)
    least = 10.0**-finer.decimals
    return (
        f"below {finer.number(least)}" if answer.expected_loss < least else finer.number(answer.expected_loss)
    )


def standing(answer: Answer, analysis: Analysis) -> str:
    """What the data say of an assumption."""
    if answer.contradicted:
        return "contradicted"
    if answer.assumption == analysis.verdict.evidence:
        return "cannot be tested" if analysis.failures_ignored else "assumes nothing"
    if any(test.assumption == answer.assumption and test.could_contradict for test in analysis.tests):
        return "not contradicted"
    if any(item.assumption == answer.assumption for item in analysis.untestable):
        return "cannot be tested"
    return "not tested"


def data_answer(test: Test) -> str:
    """What the data answer to the question of a test."""
    if test.p_value >= DOUBTFUL:
        return "not contradicted" if test.could_contradict else "yes"
    return "contradicted" if test.could_contradict else "no, but this does not contradict it"


def answer_rows(analysis: Analysis, figures: Figures) -> tuple[list[str], list[list[str]]]:
    """Columns and cells: each assumption's winner, probability and expected loss; none without a contest."""
    heads = ["assumption", "best arm", "probability", "expected loss", "tests"]
    if len(analysis.arms) < 2:
        return heads, []
    rows = []
    for answer in analysis.verdict.answers:
        sure, loss = chance(answer.probability), loss_text(answer, figures)
        rows.append([answer.assumption, answer.arm, sure, loss, standing(answer, analysis)])
    return heads, rows + [
        [name, UNKNOWN, UNKNOWN, UNKNOWN, "could not be used"] for name in analysis.verdict.not_tried
    ]
