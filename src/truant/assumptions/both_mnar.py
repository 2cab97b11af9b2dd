"""`both-mnar`: the outcome's being seen depends on the outcome, the mediator's on the mediator.

O ⟂ (M, Q) given A, Y; Q ⟂ (Y, O) given A, M. The paper promises this case and does not give it.
Data can contradict it: one degree of freedom per arm is left over.
"""

from __future__ import annotations

from truant.assumptions.assumption import BY_FOLLOW_UPS, Advice, Inquiry
from truant.assumptions.by_likelihood import GROWTH, ByLikelihood
from truant.assumptions.evidence import LATE_MEDIATORS
from truant.assumptions.likelihood import solve_both_mnar
from truant.assumptions.profile import score_by_likelihood
from truant.compile import lean
from truant.setting import FloatArray


def both_mnar(allow_unidentified: bool = False, growth: float = GROWTH) -> ByLikelihood:
    """Outcome and mediator both missing not at random, each depending on its own value.

    Parameters
    ----------
    allow_unidentified : Whether to estimate although the numbers of mediator and outcome levels do not identify the
        mean.
    growth : Share by which the rows of an arm must grow before it is fitted again.
    """
    return ByLikelihood(
        name="both-mnar",
        needs="a discrete outcome with as many levels as the mediator, each telling the other apart and seen at times",
        meaning="whether an outcome is missing depends on the outcome, whether a mediator is on the mediator",
        advice=Advice(
            "Whether the outcome is observed may depend on the outcome itself, and whether the mediator is observed "
            "may depend on the mediator itself. Neither depends on the other one, nor on whether the other one is "
            "missing.",
            "Customers who do not open mails block the tracker that would show it, and dissatisfied customers seldom "
            "answer the survey.",
            "A discrete outcome (for example 0 and 1) with as many levels as the mediator, and a mediator and an "
            "outcome that are closely related.",
            "The data can contradict both-mnar. " + BY_FOLLOW_UPS,
        ),
        inquiry=Inquiry(("no,yes,yes,no,no,accident", "no,yes,yes,no,no,value")),
        late_comparison=LATE_MEDIATORS,
        listing_order=6,
        forbids=(("M", "O"), ("Y", "Q"), ("Q", "O")),
        without_missing_mediators="mnar",
        misfit=misfit,
        score_arm=score_arm,
        solve=solve_both_mnar,
        by_outcome=True,
        allow_unidentified=allow_unidentified,
        growth=growth,
    )


def misfit(K: int, L: int) -> str:
    """As many mediator levels as outcome levels."""
    if K == L:
        return ""
    return f"as many mediator levels as outcome levels, got K={K} and L={L}; merge levels of one"


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
    score_by_likelihood(row, True, memory, parameters, z_grid, values, shared)


parts = {"both-mnar": both_mnar}
