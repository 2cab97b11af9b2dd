"""`mediator-mnar`: whether mediator and outcome are seen depends on the mediator, which is missing too.

Y, O, Q are mutually independent given A, M. Data can contradict it: the likelihood then falls short of that of the
free table, with L - K + 1 degrees of freedom per arm.
"""

from __future__ import annotations

from truant.assumptions.assumption import BY_FOLLOW_UPS, Advice, Inquiry
from truant.assumptions.by_likelihood import GROWTH, ByLikelihood
from truant.assumptions.evidence import LATE_AT_SEEN_LEVEL
from truant.assumptions.likelihood import solve_mediator_mnar
from truant.assumptions.profile import score_by_likelihood
from truant.compile import lean
from truant.setting import FloatArray


def mediator_mnar(allow_unidentified: bool = False, growth: float = GROWTH) -> ByLikelihood:
    """Mediator missing depending on its own value; the outcome missing at random given it.

    Parameters
    ----------
    allow_unidentified : Whether to estimate although the numbers of mediator and outcome levels do not identify the
        mean.
    growth : Share by which the rows of an arm must grow before it is fitted again.
    """
    return ByLikelihood(
        name="mediator-mnar",
        needs="a discrete outcome with at least as many levels as the mediator, telling them apart, each seen at times",
        meaning="whether an outcome or a mediator is missing depends on the mediator",
        advice=Advice(
            "Whether the mediator is observed may depend on the mediator itself, and so may whether the outcome is "
            "observed. Neither depends on the outcome, nor on whether the other one is missing.",
            "Patients who stopped taking the drug seldom report it, and seldom come to the final measurement. Among "
            "them, ill and well patients come equally often.",
            "A discrete outcome (for example 0 and 1), at least as many outcome levels as mediator levels, and an "
            "outcome that is closely related to the mediator.",
            "The data can contradict mediator-mnar. " + BY_FOLLOW_UPS,
        ),
        inquiry=Inquiry(("no,yes,no,no,value",)),
        late_comparison=LATE_AT_SEEN_LEVEL,
        listing_order=5,
        forbids=(("Y", "O"), ("Y", "Q"), ("Q", "O")),
        without_missing_mediators="mar",
        misfit=misfit,
        score_arm=score_arm,
        solve=solve_mediator_mnar,
        by_outcome=False,
        test_remark="It hardly notices outcomes that are missing because of their value: passing it says little.",
        allow_unidentified=allow_unidentified,
        growth=growth,
    )


def misfit(K: int, L: int) -> str:
    """At least as many outcome levels as mediator levels."""
    if L >= K:
        return ""
    return (
        f"at least as many outcome levels as mediator levels, got L={L} < K={K}; "
        "merge mediator levels, use finer outcome levels"
    )


@lean
def score_arm(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """at(z) by profile likelihood; parameters are the outcome levels."""
    score_by_likelihood(row, False, memory, parameters, z_grid, values, shared)


parts = {"mediator-mnar": mediator_mnar}
