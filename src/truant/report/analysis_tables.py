"""The tables of a page as plain cells."""

from __future__ import annotations

from truant.analysis import Analysis
from truant.analysis.diagnosis import DOUBTFUL
from truant.analysis.words import UNKNOWN, Figures, chance, p_value, percent
from truant.report.document import Cell, Table


def values_table(analysis: Analysis, figures: Figures) -> Table:
    """Each arm's pulls, missing share, naive mean and value under each assumption."""
    columns = ["arm", "rows", "missing", "naive", *analysis.assumptions]
    contest = len(analysis.arms) > 1
    rows = []
    for arm in analysis.sorted_arms:
        cells = [Cell(arm.arm), Cell(f"{arm.pulls:,}"), Cell(percent(arm.missing_share))]
        for name, interval in (("naive", arm.naive), *arm.estimates.items()):
            if interval is None:
                cells.append(Cell(UNKNOWN))
                continue
            best = contest and analysis.winner[name] == arm.arm
            cells.append(Cell(figures.number(interval.mean), figures.limits(interval), best))
        rows.append(cells)
    caption = f"Value of each arm, with {100 * analysis.level:.4g}% intervals; ★ is the best of its column"
    return Table(caption, columns, rows)


def chances_table(analysis: Analysis) -> Table | None:
    """Each arm's probability of being the best; None without a contest."""
    if len(analysis.arms) < 2 or not analysis.assumptions:
        return None
    rows = [
        [Cell(arm.arm)]
        + [
            Cell(chance(estimate.probability_best), best=analysis.winner[name] == arm.arm)
            for name, estimate in arm.estimates.items()
        ]
        for arm in analysis.sorted_arms
    ]
    return Table(
        "Probability of being the best arm, if the assumption holds", ["arm", *analysis.assumptions], rows
    )


def differences_table(analysis: Analysis, figures: Figures) -> Table | None:
    """Each arm's value minus the control's; None without a control."""
    if analysis.control is None or not analysis.assumptions or len(analysis.arms) < 2:
        return None
    rows = []
    for arm in analysis.sorted_arms:
        if arm.arm == analysis.control:
            continue
        cells = [Cell(arm.arm)]
        for estimate in arm.estimates.values():
            change = estimate.difference
            assert change is not None
            number, limits = figures.number(change.mean, sign=True), figures.limits(change, sign=True)
            cells.append(Cell(number, limits, clear=change.low > 0 or change.high < 0))
        rows.append(cells)
    level = f"{100 * analysis.level:.4g}%"
    caption = (
        f"Difference to {analysis.control}; the {level} intervals of a column hold together (Dunnett's adjustment); "
        "bold where it leaves out zero"
    )
    return Table(caption, ["arm", *analysis.assumptions], rows)


def tests_table(analysis: Analysis) -> Table | None:
    """What data could contradict, and whether they do."""
    if not analysis.tests:
        return None
    rows = [
        [
            Cell(test.assumption),
            Cell(test.question),
            Cell(test.arm or "all arms"),
            Cell("contradicted" if test.p_value < DOUBTFUL else "not contradicted"),
            Cell(f"{test.statistic:,.2f}"),
            Cell(f"{test.freedom}"),
            Cell(p_value(test.p_value)),
        ]
        for test in analysis.tests
    ]
    columns = ["assumption", "question", "arm", "answer of the data", "chi-square", "degrees of freedom", "p"]
    return Table("Tests of the assumptions; p corrected for several arms (Holm)", columns, rows, words=4)
