"""Complete real data whose outcomes are deleted by mediator and outcome together, and a random few given back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from research.cores import each
from research.validation.complete_data import Complete, complete
from truant.analysis import Analysis, AnalysisOptions, CountedRows, analyze_counts
from truant.counts import Counts
from truant.estimates.clusters import Uncut
from truant.setting import FloatArray, IntArray, Setting

ASSUMPTIONS = ("mcar", "mar", "mnar")
FOLLOW_UP = "follow-up"
HIDDEN, SEEN = 0.3, 0.9  # chances to see an outcome
NOTHING = 0  # given back


def decoy(data: Complete) -> int:
    """The arm that is truly the second best."""
    return int(np.argsort(data.means if data.minimize else -data.means)[1])


def chance_observed(data: Complete) -> FloatArray:
    """Of each row: the second best arm hides outcomes that are not above its mediator, the others those not below.

    Both are in classes, from the worst, 0, to the best, 1.
    """
    outcome = np.searchsorted(data.points, data.outcomes) if data.points else data.outcomes
    outcome, mediator = outcome / outcome.max(), data.mediators / data.mediators.max()
    if data.minimize:
        outcome, mediator = 1 - outcome, 1 - mediator
    hidden = np.where(data.arms == decoy(data), outcome <= mediator, outcome >= mediator)
    return np.where(hidden, HIDDEN, SEEN)


def given_back(name: str, numbers: list[int], replications: int, first: int) -> list[dict[str, Any]]:
    """Of each resample of the table: what is found with so many follow-ups of each arm; the first number is 0.

    Parameters
    ----------
    first : seed of the first resample.
    """
    return each(_replication, [(name, tuple(numbers), seed) for seed in range(first, first + replications)])


def follow_ups_per_arm(name: str, number: int) -> float:
    """How many follow-ups an arm has on average, if so many are asked for and as many are missing as expected."""
    data = complete(name)
    missing = np.bincount(data.arms, 1 - chance_observed(data))
    return float(np.minimum(missing, number).mean())


def _replication(item: tuple[str, tuple[int, ...], int]) -> dict[str, Any]:
    name, numbers, seed = item
    data = complete(name)
    rng = np.random.default_rng([2026, 14, seed])
    rows = rng.integers(len(data.arms), size=len(data.arms))
    arms, mediators, outcomes = data.arms[rows], data.mediators[rows], data.outcomes[rows]
    missing = rng.random(len(rows)) >= chance_observed(data)[rows]
    place = np.zeros(len(rows))  # of each missing row in a random order of those of its arm
    for arm in range(len(data.labels.arms)):
        own = np.flatnonzero(missing & (arms == arm))
        place[rng.permutation(own)] = np.arange(len(own))
    found = {}
    for number in numbers:
        asked = missing & (place < number)
        seen = np.where(missing & ~asked, np.nan, outcomes)
        found[str(number)] = _judged(analysed(data, arms, mediators, seen, asked), data)
    return found


def analysed(
    data: Complete,
    arms: IntArray,
    mediators: IntArray,
    outcomes: FloatArray,
    followed_up: npt.NDArray[np.bool_],
) -> Analysis:
    """The analysis of rows, with the outcome cut if that has points; without follow-ups, if there are none."""
    asked = followed_up if followed_up.any() else None
    assume = (*ASSUMPTIONS, FOLLOW_UP) if followed_up.any() else ASSUMPTIONS
    shape = {
        "arms": len(data.labels.arms),
        "mediators": len(data.labels.mediators),
        "minimize": data.minimize,
    }
    known = ~np.isnan(outcomes)
    if not data.points:
        setting = Setting(**shape, levels=tuple(np.unique(outcomes[known]).tolist()))
        counts = Counts.fold(setting, arms, mediators, outcomes, followed_up=asked)
        return analyze_counts(CountedRows(counts, setting, data.labels), AnalysisOptions(assume=assume))
    real = Setting(**shape, low=outcomes[known].min(), high=outcomes[known].max(), range_known=False)
    codes = np.searchsorted(data.points, outcomes[known])
    classes = [outcomes[known][codes == code] for code in range(len(data.points) + 1)]
    levels = tuple(float(own.mean()) for own in classes)
    setting = Setting(**shape, levels=levels)
    values = outcomes.copy()
    values[known] = np.asarray(levels)[codes]
    sums, sizes = np.zeros((2, shape["arms"], len(levels)))
    np.add.at(sums, (arms[known], codes), outcomes[known])
    np.add.at(sizes, (arms[known], codes), 1)
    uncut = Uncut(
        Counts.fold(real, arms, mediators, outcomes, followed_up=asked),
        real,
        within=np.array([own.var(ddof=1) for own in classes]),
        level_means=sums / sizes,
    )
    counts = Counts.fold(setting, arms, mediators, values, followed_up=asked)
    rows = CountedRows(counts, setting, data.labels, uncut=uncut)
    return analyze_counts(rows, AnalysisOptions(assume=assume))


def _judged(analysis: Analysis, data: Complete) -> dict[str, Any]:
    """The verdict, and each answer: whether it is clear, right and contradicted, and which intervals hold the truth."""
    best, verdict = data.labels.arms[data.best], analysis.verdict
    answers = {
        answer.assumption: {
            "clear": bool(answer.probability >= verdict.level),
            "right": answer.arm == best,
            "contradicted": bool(answer.contradicted),
            "held": [
                bool(arm.estimates[answer.assumption].low <= truth <= arm.estimates[answer.assumption].high)
                for arm, truth in zip(analysis.arms, data.means, strict=True)
            ],
        }
        for answer in verdict.answers
    }
    return {"answers": answers, "kind": verdict.kind, "right": verdict.arm == best}
