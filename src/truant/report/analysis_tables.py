"""The tables of a page as plain cells."""

from __future__ import annotations

from truant.analysis import Analysis
from truant.analysis.analysis import Arm
from truant.analysis.diagnosis import contradicted_by
from truant.analysis.words import (
    UNKNOWN,
    Figures,
    answer_rows,
    chance,
    data_answer,
    follow_up_text,
    lift_text,
    p_value,
    percent,
)
from truant.report.document import Cell, Table
from truant.text import named


def answers_table(analysis: Analysis, figures: Figures) -> Table | None:
    """What each assumption says, side by side; None without a contest."""
    heads, rows = answer_rows(analysis, figures)
    if not rows:
        return None
    contradicted = analysis.verdict.contradicted
    cells = [[*map(Cell, row[:-1]), Cell(row[-1], doubt=row[0] in contradicted)] for row in rows]
    caption = "What each assumption says; expected loss: mean loss if you choose its best arm now"
    return Table(caption, heads, cells, words=2, last_words=True)


def values_table(analysis: Analysis, figures: Figures) -> Table:
    """Each arm's rows, missing share, naive mean, mean under each assumption, and worst case where it is known."""
    bounded = any(arm.bounds for arm in analysis.arms)
    asked = analysis.has_follow_ups
    before = ["arm", "rows", "missing", *(["followed up"] if asked else [])]
    columns = [*before, "naive", *analysis.assumptions, *(["worst case"] if bounded else [])]
    contest = len(analysis.arms) > 1
    remaining = [answer.assumption for answer in analysis.verdict.remaining]
    rows = []
    for arm in analysis.sorted_arms:
        good = _clear_winner(analysis, arm)
        cells = [Cell(arm.arm, good=good), Cell(f"{arm.pulls:,}"), Cell(percent(arm.missing_share))]
        cells += [Cell(follow_up_text(arm))] if asked else []
        for name, interval in (("naive", arm.naive), *arm.estimates.items()):
            if interval is None:
                cells.append(Cell(UNKNOWN))
                continue
            best = contest and analysis.winner[name] == arm.arm
            text, limits = figures.number(interval.mean), figures.limits(interval)
            cells.append(Cell(text, limits, best, good=best and good and name in remaining))
        if bounded:
            cells.append(_worst_case(arm, figures))
        rows.append(cells)
    level = f"{100 * analysis.level:.4g}%"
    caption = f"Mean of {named(analysis.labels.outcome)}, with {level} intervals"
    if contest:
        caption += f"; sorted by {analysis.sorted_by}, best first; ★ best of its column"
    if bounded:
        caption += (
            "; worst case: all missing outcomes as low or as high as possible, with limits for sampling error"
        )
    return Table(caption, columns, rows)


def _clear_winner(analysis: Analysis, arm: Arm) -> bool:
    return analysis.verdict.kind == "clear" and analysis.verdict.arm == arm.arm


def _worst_case(arm: Arm, figures: Figures) -> Cell:
    if arm.bounds is None:
        return Cell(UNKNOWN)
    low, high = figures.number(arm.bounds.low), figures.number(arm.bounds.high)
    limits = f"[{figures.number(arm.bounds.low_limit)}, {figures.number(arm.bounds.high_limit)}]"
    return Cell(f"{low} to {high}", limits)


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
    """Each arm's mean minus the control's, absolute and relative, with p-values; None without a control."""
    if analysis.control is None or not analysis.assumptions or len(analysis.arms) < 2:
        return None
    rows = []
    for arm in analysis.sorted_arms:
        if arm.arm == analysis.control:
            continue
        left = len(arm.estimates)
        for name, estimate in arm.estimates.items():
            change = estimate.difference
            assert change is not None
            number, limits = figures.number(change.mean, sign=True), figures.limits(change, sign=True)
            excluded = change.low > 0 or change.high < 0
            lift, _, of_lift = lift_text(change.lift).partition(" ")
            cells = [Cell(arm.arm, rows=left), Cell(name), Cell(number, limits, clear=excluded)]
            rows.append([*cells, Cell(lift, of_lift), Cell(p_value(change.p_value))])
            left = 0
    level = f"{100 * analysis.level:.4g}%"
    caption = (
        f"Difference to {named(analysis.control)}: simultaneous {level} intervals and p-values (Dunnett); "
        "bold: interval excludes zero; lift: the difference as a share of the control's mean"
    )
    return Table(caption, ["arm", "assumption", "difference", "lift", "p"], rows, words=2)


def tests_table(analysis: Analysis) -> Table | None:
    """What data could contradict, and whether they do."""
    if not analysis.tests:
        return None
    rows = [
        [
            Cell(test.assumption),
            Cell(test.question, test.remark),
            Cell(test.arm or "all arms"),
            Cell(data_answer(test), doubt=test.assumption in contradicted_by([test])),
            Cell(f"{test.statistic:,.2f}"),
            Cell(f"{test.freedom}"),
            Cell(p_value(test.p_value)),
        ]
        for test in analysis.tests
    ]
    columns = ["assumption", "question", "arm", "answer of the data", "chi-square", "degrees of freedom", "p"]
    return Table("Tests of the assumptions; p corrected for several arms (Holm)", columns, rows, words=4)
