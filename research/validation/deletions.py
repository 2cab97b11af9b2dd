"""Complete real data, outcomes deleted by a known mechanism, and what every assumption makes of what is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from research.cores import each
from research.validation.complete_data import Complete, complete
from truant.analysis import Analysis, AnalysisOptions, CountedRows, analyze_counts
from truant.counts import Counts
from truant.estimates.clusters import Uncut
from truant.setting import FloatArray, IntArray, Setting

ASSUMPTIONS = ("mcar", "mar", "mnar")
OPTIONS = AnalysisOptions(assume=ASSUMPTIONS)
CONCERNS = ("linear-infeasible", "ill-conditioned", "flat-likelihood")
MECHANISMS = ("mcar", "mar", "mnar", "mediator and outcome")


def chance_observed(data: Complete, mechanism: str) -> FloatArray:
    """Of each row; good outcomes of the best arm go missing most, so that dropping rows is unfair to it.

    Under `mnar` it is the outcome's class that decides, where the outcome is cut.
    """
    outcome = np.searchsorted(data.points, data.outcomes) if data.points else data.outcomes
    outcome, mediator = outcome / outcome.max(), data.mediators / data.mediators.max()
    if data.minimize:
        outcome, mediator = 1 - outcome, 1 - mediator
    cause = {
        "mcar": np.full(len(outcome), 0.5),
        "mar": mediator,
        "mnar": outcome,
        "mediator and outcome": mediator * outcome,
    }[mechanism]
    if mechanism == "mcar":
        return 1 - 0.8 * cause
    best = data.arms == data.best
    return 1 - np.where(best, 0.1 + 0.65 * cause, 0.25 + 0.1 * cause)


def replications(name: str, mechanism: str, number: int, first: int) -> list[dict[str, Any]]:
    """What becomes of each resample of the table.

    Parameters
    ----------
    first : seed of the first resample.
    """
    return each(_replication, [(name, mechanism, seed) for seed in range(first, first + number)])


def _replication(item: tuple[str, str, int]) -> dict[str, Any]:
    name, mechanism, seed = item
    data = complete(name)
    rng = np.random.default_rng([2026, MECHANISMS.index(mechanism), seed])
    rows = rng.integers(len(data.arms), size=len(data.arms))
    seen = rng.random(len(rows)) < chance_observed(data, mechanism)[rows]
    outcomes = np.where(seen, data.outcomes[rows], np.nan)
    analysis = analysed(data, data.arms[rows], data.mediators[rows], outcomes)
    found = {assumption: _judged(analysis, assumption, data) for assumption in ASSUMPTIONS}
    verdict = analysis.verdict
    return {
        "assumptions": found,
        "verdict": verdict.kind,
        "right": verdict.arm == data.labels.arms[data.best],
    }


def analysed(data: Complete, arms: IntArray, mediators: IntArray, outcomes: FloatArray) -> Analysis:
    """The analysis of rows, with the outcome cut if that has points."""
    shape = {
        "arms": len(data.labels.arms),
        "mediators": len(data.labels.mediators),
        "minimize": data.minimize,
    }
    seen = ~np.isnan(outcomes)
    if not data.points:
        setting = Setting(**shape, levels=tuple(np.unique(outcomes[seen]).tolist()))
        counts = Counts.fold(setting, arms, mediators, outcomes)
        return analyze_counts(CountedRows(counts, setting, data.labels), OPTIONS)
    real = Setting(**shape, low=outcomes[seen].min(), high=outcomes[seen].max(), range_known=False)
    codes = np.searchsorted(data.points, outcomes[seen])
    classes = [outcomes[seen][codes == code] for code in range(len(data.points) + 1)]
    levels = tuple(float(own.mean()) for own in classes)
    setting = Setting(**shape, levels=levels)
    values = outcomes.copy()
    values[seen] = np.asarray(levels)[codes]
    within = np.array([own.var(ddof=1) for own in classes])
    sums, sizes = np.zeros((2, shape["arms"], len(levels)))
    np.add.at(sums, (arms[seen], codes), outcomes[seen])
    np.add.at(sizes, (arms[seen], codes), 1)
    uncut = Uncut(Counts.fold(real, arms, mediators, outcomes), real, within=within, level_means=sums / sizes)
    counts = Counts.fold(setting, arms, mediators, values)
    return analyze_counts(CountedRows(counts, setting, data.labels, uncut=uncut), OPTIONS)


def _judged(analysis: Analysis, assumption: str, data: Complete) -> dict[str, Any] | None:
    """Errors of the means, whether intervals hold the truth, whether tests or warnings speak against it."""
    if assumption not in analysis.assumptions:
        return None
    estimates = [arm.estimates[assumption] for arm in analysis.arms]
    contradicted = any(test.assumption == assumption and test.contradicted for test in analysis.tests)
    warned = any(one.code in CONCERNS and assumption in one.message for one in analysis.warnings)
    return {
        "errors": [one.mean - truth for one, truth in zip(estimates, data.means, strict=True)],
        "held": [
            bool(one.low <= truth <= one.high) for one, truth in zip(estimates, data.means, strict=True)
        ],
        "contradicted": bool(contradicted),
        "flagged": bool(contradicted or warned),
    }
