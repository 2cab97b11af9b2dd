"""Several analyses, one for each value of a column, in one table."""

from __future__ import annotations

from collections.abc import Mapping

from truant.analysis.analysis import Analysis
from truant.analysis.shares import UNKNOWN, chance, percent
from truant.analysis.words.rows import missing_share


def chances_sentence(groups: int) -> str:
    """What looking at several groups does to the error of naming a winner."""
    if groups < 2:
        return ""
    return (
        f"Intervals and probabilities are those of each group alone: with {groups} groups a false winner is more "
        "likely, and the most striking result may be due to chance."
    )


def group_rows(analyses: Mapping[str, Analysis]) -> tuple[list[str], list[list[tuple[str, str]]]]:
    """The columns of a table of groups, and for each group its cells: a text, and what stands small beside it.

    These are label, rows, missing share, the winner of each assumption with its probability, and the verdict's kind.
    """
    names = list(dict.fromkeys(n for analysis in analyses.values() for n in ("naive", *analysis.assumptions)))
    rows = []
    for label, analysis in analyses.items():
        pulls = f"{sum(arm.pulls for arm in analysis.arms):,}"
        winners = [_winner(analysis, name) for name in names]
        missing = percent(missing_share(analysis))
        rows.append([(label, ""), (pulls, ""), (missing, ""), *winners, (analysis.verdict.kind, "")])
    return ["rows", "missing", *names, "verdict"], rows


def _winner(analysis: Analysis, name: str) -> tuple[str, str]:
    winner = analysis.winner.get(name, UNKNOWN)
    sure = [
        arm.estimates[name].probability_best
        for arm in analysis.arms
        if arm.arm == winner and name in arm.estimates
    ]
    return winner, chance(sure[0]) if sure else ""
