"""`mnar`: whether the outcome is seen depends on the outcome itself, and the mediator is its shadow.

O ⟂ M given A, Y. A missing mediator is one more level here, as in `mar`. With K > L data can contradict it: the
likelihood then falls short of that of the free table, with K - L degrees of freedom per arm.
"""

from __future__ import annotations

from truant.assumptions.assumption import BY_FOLLOW_UPS, SCORE_ARM, Advice, Inquiry
from truant.assumptions.by_likelihood import GROWTH, ByLikelihood
from truant.assumptions.evidence import LATE_MEDIATORS
from truant.assumptions.likelihood import solve_mnar
from truant.assumptions.profile import score_by_likelihood
from truant.compile import heavy
from truant.setting import FloatArray


def mnar(allow_unidentified: bool = False, growth: float = GROWTH) -> ByLikelihood:
    """Outcome missing not at random: whether it is seen depends on its value, the mediator tells how.

    Parameters
    ----------
    allow_unidentified : Whether to estimate although the numbers of mediator and outcome levels do not identify the
        mean.
    growth : Share by which the rows of an arm must grow before it is fitted again.
    """
    return ByLikelihood(
        name="mnar",
        needs="a discrete outcome, each level seen at times, and at least as many mediator levels that tell them apart",
        meaning="whether an outcome is missing depends on the outcome",
        advice=Advice(
            "Whether an outcome is observed may depend on the arm and the outcome itself. Given these, it does not "
            "depend on the mediator.",
            "Dissatisfied customers seldom answer the survey, whether or not they opened the mail. Patients who feel "
            "ill do not come to the final measurement, whether or not they took the drug regularly.",
            "A discrete outcome (for example 0 and 1; `--cut-outcome` makes classes of a real one), at least as many "
            "mediator levels as outcome levels, and a mediator that is closely related to the outcome.",
            "With more mediator levels than outcome levels, the data can contradict mnar. " + BY_FOLLOW_UPS,
        ),
        inquiry=Inquiry(("no,yes,yes,no,yes",)),
        late_comparison=LATE_MEDIATORS,
        listing_order=4,
        forbids=(("M", "O"),),
        misfit=misfit,
        score_arm=score_arm,
        solve=solve_mnar,
        by_outcome=True,
        missing_is_level=True,
        allow_unidentified=allow_unidentified,
        growth=growth,
    )


def misfit(K: int, L: int) -> str:
    """At least as many mediator levels as outcome levels."""
    if K >= L:
        return ""
    return (
        f"at least as many mediator levels as outcome levels, got K={K} < L={L}; "
        "merge outcome levels, use a finer mediator"
    )


@heavy(SCORE_ARM)
def score_arm(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """at(z) by profile likelihood; parameters are the outcome levels."""
    K, width = row.shape[0] - 1, row.shape[1]
    rows = K + 1 if row[K].sum() > 0.0 else K
    table = shared[: (rows + 1) * width].reshape(rows + 1, width)  # missing mediators, if any, are a level
    for m in range(rows):
        for y in range(width):
            table[m, y] = row[m, y]
    table[rows] = 0.0
    score_by_likelihood(table, True, memory, parameters, z_grid, values, shared[table.size :])


parts = {"mnar": mnar}
