"""What the three MNAR assumptions share: a table with holes, its likelihood, and the paper's linear solution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from truant.assumptions.assumption import Advice, Assumption, Curve, Estimate, Inquiry, Reading, per_arm
from truant.assumptions.cells import remark_on
from truant.assumptions.evidence import (
    ArmTables,
    ChiSquare,
    Concern,
    LateComparison,
    NoTest,
    SameAs,
    without_missing_mediators,
)
from truant.assumptions.exact import LikelihoodFit, as_fitted, cramer_rao
from truant.assumptions.likelihood import ILL_CONDITIONED, LinearSolution, size, work_size
from truant.assumptions.mcar import Mcar
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting, positive_number, switch

ROUNDING = 1e-3  # of 2 (l_saturated - l_max), which a fit may leave
FIRST_PULLS = 10  # of each arm, before its likelihood is looked at
GROWTH = (
    0.1  # an arm is refitted when its pulls grew by this share; .05 costs twice the time and gains nothing
)

ASYMPTOTIC = 3000  # pulls of an arm, from which on its misfit is chi-square distributed
DRAWS = 199  # tables drawn from a fit where it is not
SEED = 20260102


@dataclass(frozen=True, kw_only=True)
class ByLikelihood(Assumption):
    """An assumption whose estimate is the maximum of a likelihood, with profile limits.

    Parameters
    ----------
    name, needs, listing_order, forbids, meaning, advice, inquiry, late_comparison : as in `Assumption`.
    misfit : what is wrong with K mediator and L outcome levels; empty if nothing is.
    score_arm : compiled, for the loop.
    solve : the linear solution of an arm's table.
    by_outcome : whether the outcome's being seen depends on the outcome, or on the mediator.
    without_missing_mediators : the assumption that says the same where no mediator is missing, if there is one.
    test_remark : what to know of an answer of its test.
    missing_is_level : a missing mediator is one more level, not a hole.
    allow_unidentified : go on in spite of a misfit.
    growth : refit an arm when its pulls grew by this share.
    """

    name: str
    needs: str
    listing_order: float = field(default=math.inf, repr=False)
    forbids: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    meaning: str = field(default="", repr=False)
    advice: Advice | None = field(default=None, repr=False)
    inquiry: Inquiry = field(default=Inquiry(), repr=False)
    late_comparison: LateComparison | None = field(default=None, repr=False)
    misfit: Callable[[int, int], str] = field(repr=False)
    score_arm: Callable[..., None] = field(repr=False)
    solve: Callable[[FloatArray, FloatArray], LinearSolution] = field(repr=False)
    by_outcome: bool
    without_missing_mediators: str = field(default="", repr=False)
    test_remark: str = field(default="", repr=False)
    missing_is_level: bool = False
    allow_unidentified: bool = False
    growth: float = GROWTH

    def __post_init__(self) -> None:
        positive_number("growth", self.growth, or_zero=True)
        switch("allow_unidentified", self.allow_unidentified)

    def check(self, setting: Setting) -> None:
        """A discrete outcome, and numbers of levels that can be told apart."""
        if setting.levels is None:
            raise NotIdentified(
                "{assumption} needs a discrete outcome, and this one is real-valued; give its levels, or cut it into "
                "classes: cut_outcome=3 (--cut-outcome 3).",
                assumption=self.name,
            )
        misfit = self.misfit(setting.mediators, setting.outcomes)
        if misfit and not self.allow_unidentified:
            raise NotIdentified(
                f"{{assumption}} needs {misfit}, or set allow_unidentified=True.", assumption=self.name
            )

    def curve(self, setting: Setting) -> Curve:
        """Profile-likelihood limits of the arm's table."""
        self.check(setting)
        K, L = setting.mediators + self.missing_is_level, setting.outcomes
        P = size(K, L, self.by_outcome)
        return Curve(
            score_arm=self.score_arm,
            parameters=per_arm(setting, setting.levels),
            discrete=True,
            linear=False,
            first_pulls=FIRST_PULLS,
            growth=self.growth,
            memory=lambda points: 1 + P + points * (1 + P),
            scratch=work_size(K, L, self.by_outcome) + (K + 1) * (L + 1),
        )

    def fit(self, counts: Counts, arm: int) -> LikelihoodFit:
        """The maximum of the arm's likelihood."""
        return LikelihoodFit(self._table(counts, arm), np.asarray(counts.levels), self.by_outcome)

    def linear(self, counts: Counts, arm: int) -> LinearSolution:
        """The paper's solution, corrected; with whether it is feasible, and its condition number."""
        return self.solve(self._table(counts, arm), np.asarray(counts.levels))

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """The maximum and its profile limits."""
        self.check(setting)
        return self._estimated(self.fit(counts, arm), counts, arm, setting)

    def read(self, counts: Counts, arm: int, setting: Setting) -> Reading:
        """Estimate, test and concerns from one fit."""
        self.check(setting)
        fit = self.fit(counts, arm)

        def concerns() -> list[Concern]:
            return [*linear_concerns(self.linear(counts, arm)), *flat_concerns(fit)]

        estimate = self._estimated(fit, counts, arm, setting)
        return Reading(estimate, (self._test(fit, arm), *self._follow_up_test(fit, counts, arm)), concerns)

    def _estimated(self, fit: LikelihoodFit, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """The maximum with its profile limits; where no outcome of the arm is missing, the mean as under mcar."""
        if counts.table[arm][:, -1].sum() == 0:
            return Mcar().estimate(counts, arm, setting)
        return Estimate(fit.mean, fit.at)

    def tests(self, counts: Counts, setting: Setting) -> tuple[()]:
        """None without a fit: see `read`."""
        return ()

    def concerns(self, counts: Counts, arm: int, setting: Setting) -> Sequence[Concern]:
        """Equations that are solved badly, and means that fit equally well."""
        return self.read(counts.without_follow_ups(), arm, setting).concerns()

    def same_as(self, counts: Counts) -> SameAs | None:
        """What the assumption is where no mediator is missing."""
        simpler = self.without_missing_mediators
        return without_missing_mediators(counts, simpler) if simpler else None

    def efficient_variance(self, tables: ArmTables) -> float:
        """The Cramer-Rao bound of the arm's table."""
        tables.discrete()
        if self.missing_is_level:
            tables.need_mediators()
        if self.by_outcome:
            tables.gamma_by_outcome()
        else:
            tables.gamma_by_mediator()
        missing = not self.missing_is_level
        return cramer_rao(tables, by_outcome=self.by_outcome, mediators_missing=missing)

    def freedom(self, K: int, L: int) -> int:
        """Degrees of freedom that a K x L table leaves: its cells, less one, less the free numbers of the model.

        These are pi (they sum to 1), the chances g and, where mediators can be missing, the chances lambda.
        """
        chances = L if self.by_outcome else K
        if self.missing_is_level:
            return K * (L + 1) - 1 - (K * L - 1 + chances)
        return (K + 1) * (L + 1) - 1 - (K * L - 1 + chances + K)

    def _test(self, fit: LikelihoodFit, arm: int) -> ChiSquare | NoTest:
        """2 (l_saturated - l_max): more cells than free numbers leave something to contradict."""
        table = fit.table
        freedom = self.freedom(table.shape[0] - 1, table.shape[1] - 1)
        statistic = fit.misfit()
        if freedom <= 0:
            if statistic <= ROUNDING:
                return NoTest("it has as many free parameters as the table has cells, and this one fits it")
            # nothing fits the table: a mixture of chi-squares, with at most one degree for each chance to be seen
            return ChiSquare(
                "Can any probabilities of being observed give these shares?",
                statistic,
                len(fit.observation),
                arm,
                remark=self.test_remark,
            )
        null: tuple[float, ...] = ()
        if (
            table.sum() < ASYMPTOTIC and statistic > freedom
        ):  # below its mean it cannot contradict, however it is spread
            null = fit.drawn_misfits(DRAWS, SEED)
        return ChiSquare(
            "Do the observed shares fit the assumption?",
            statistic,
            freedom,
            arm,
            null,
            remark=self.test_remark,
        )

    def _follow_up_test(self, fit: LikelihoodFit, counts: Counts, arm: int) -> list[ChiSquare]:
        """Whether the answers of follow-ups are what the fit says of missing outcomes; none without any."""
        if counts.followed_up is None or counts.answered[arm] == 0:
            return []
        answers = self._rows(counts.followed_up[arm], counts.table[arm])[:, :-1]
        return [as_fitted(fit, answers, arm, remark_on(self.name, counts, arm))]

    def _rows(self, block: FloatArray, table: FloatArray) -> FloatArray:
        """Rows of a block of counts as the fit has them: where a missing mediator is a level, the last is empty."""
        if not self.missing_is_level:
            return block
        rows = len(table) if table[-1].sum() > 0 else len(table) - 1
        return np.vstack([block[:rows], np.zeros(block.shape[1])])

    def _table(self, counts: Counts, arm: int) -> FloatArray:
        """The arm's table, with at least one outcome seen."""
        if counts.levels is None:
            raise NotIdentified(
                "{assumption} needs counts of a discrete outcome, and these are of a real one.",
                assumption=self.name,
            )
        table: FloatArray = counts.table[arm]
        if table[:, :-1].sum() == 0:
            raise NotIdentified("none of the outcomes of {arm} was observed.", arm=arm, assumption=self.name)
        return self._rows(table, table)


def linear_concerns(solution: LinearSolution) -> list[Concern]:
    """What is doubtful about the equations of an arm's table."""
    found = []
    number = solution.condition_number
    if number > ILL_CONDITIONED:
        what = "do not" if not np.isfinite(number) else "hardly"
        text = (
            f"Under {{assumption}}, mediator and outcome {what} distinguish each other's levels in {{arm}} (condition "
            f"number {number:,.0f}, above {ILL_CONDITIONED}): use its interval, not its mean; a mediator more closely "
            "related to the outcome would help."
        )
        found.append(Concern("ill-conditioned", text, float(number)))
    if not solution.feasible:
        text = (
            "In {arm}, the equations of {assumption} give a probability outside 0 to 1, by chance or because the "
            "assumption is wrong; the estimate is the maximum of the likelihood within 0 to 1."
        )
        found.append(Concern("linear-infeasible", text, float(solution.odds.min())))
    return found


def flat_concerns(fit: LikelihoodFit) -> list[Concern]:
    """Means that fit an arm's table equally well."""
    if fit.plateau is None:
        return []
    low, high = fit.plateau
    decimals = max(0, 1 - math.floor(math.log10(high - low)))
    text = (
        f"Under {{assumption}}, means of {{arm}} as different as {low:,.{decimals}f} and "
        f"{high:,.{decimals}f} fit the data equally well: use its interval, not its mean."
    )
    return [Concern("flat-likelihood", text, high - low, rank=1)]
