"""`follow-up`: no assumption about the reason for missingness; some missing outcomes were obtained afterwards.

A random few of the missing outcomes are followed up (a call, a second invitation, another register). Whether the
outcome was missing at first is then one more thing that is seen of a pull, and each arm's mean is identified whatever
the reason (Hansen and Hurwitz, 1946): within an arm and mediator level, the answers stand for all missing outcomes.
Whom to follow up may depend on arm, mediator and everything seen before, not on the outcome itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from truant.assumptions.arm_tables import ArmTables
from truant.assumptions.assumption import CONTRIBUTE, SCORE_ARM, Assumption, Curve, Estimate
from truant.assumptions.borrowing import HALF_JUMP as PLAIN_HALF_JUMP
from truant.assumptions.borrowing import MEAN as PLAIN_MEAN
from truant.assumptions.borrowing import NOISES, VARIANCE, borrowing_curve, plain
from truant.assumptions.borrowing import score_arm as score_cells
from truant.assumptions.cell_noise import BY_ROW
from truant.assumptions.cell_noise import contribute as contribute_cells
from truant.assumptions.cells import Cells
from truant.assumptions.evidence import Concern, NoTest
from truant.assumptions.follow_up_cells import cells_of, equal_answers_concern, failure_concern
from truant.assumptions.robust import pseudo_observations
from truant.compile import heavy, hot, lean
from truant.compile.kinds import NOTHING, TABLE, VECTOR
from truant.counts import COLUMNS, CUBES, OBSERVED, PULLS, SUM, Counts
from truant.errors import NotIdentified, unknown
from truant.setting import FloatArray, Setting, positive_number, share

FAILURES = ("worst-case", "ignorable")
Failures = Literal["worst-case", "ignorable"]


@dataclass(frozen=True)
class FollowUp(Assumption):
    """Some missing outcomes were followed up: right whatever the reason for missingness.

    Parameters
    ----------
    failures : what is known of follow-ups without an answer: "worst-case", that they may be anywhere in the range of
        the outcome; "ignorable", that they are like those with an answer (of the same arm and mediator level).
    kappa : pseudo-observations at the centre of the range when choosing (fewer if noise is small).
    rate : share of the missing outcomes that are followed up, for `efficient_variance` alone.
    """

    needs = "follow-ups of missing outcomes in each arm that has some"
    listing_order = 7
    failures: Failures = "worst-case"
    kappa: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        positive_number("kappa", self.kappa)
        share("rate", self.rate)
        if self.failures not in FAILURES:
            raise unknown("failures", str(self.failures), FAILURES)

    def check(self, setting: Setting) -> None:
        """No requirements."""

    def applies(self, counts: Counts) -> bool:
        """Where something was followed up."""
        return counts.followed_up is not None

    def curve(self, setting: Setting) -> Curve:
        """The curve of `mar` over two cells, outcomes seen at once and outcomes missing at first.

        Mediator levels are taken together: most of them have too few follow-ups for an estimate of their own, and
        follow-ups cost. Failures are ignored, since choosing cannot wait for what never comes.
        """
        inner = borrowing_curve(
            replace(setting, mediators=1, mediator_probabilities=None), self.kappa, 1.0, 2
        )
        return replace(
            inner,
            score_arm=score_arm,
            contribute=contribute,
            known=known,
            first_pulls=FIRST_PULLS,
            pooled=inner.pooled + SPACE,
            follows_up=True,
        )

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """Sum over levels of p_m [gamma_m r1_m + (1 - gamma_m) r0_m]: the cells seen at once and missing at first."""
        estimate = self._cells(counts, arm, setting).plug_in()
        if self.failures == "ignorable" or counts.follow_ups[arm] == counts.answered[arm]:
            return estimate
        # the best guess is that failures are like the answers; the limits allow for the worst
        mean = cells_of(counts, arm, setting, ignore_failures=True).plug_in().mean
        return Estimate(mean, lambda z: estimate.at(z) if z else mean)

    def concerns(self, counts: Counts, arm: int, setting: Setting) -> list[Concern]:
        """As those of `mar` over these cells, and follow-ups that failed."""
        found = self._cells(counts, arm, setting).concerns()
        found += equal_answers_concern(counts.followed_up_row(arm), setting)
        failed = int(counts.follow_ups[arm] - counts.answered[arm])
        if failed:
            found = [one for one in found if one.code != "empty-cell"]
            found.append(failure_concern(failed, int(counts.follow_ups[arm]), self.failures))
        return found

    def tests(self, counts: Counts, setting: Setting) -> list[NoTest]:
        """None: it says nothing that could be wrong."""
        return [NoTest("it assumes nothing about the reason for missingness")]

    def efficient_variance(self, tables: ArmTables) -> float:
        """E[Var(Y|M,O)/rate_O] + Var(E[Y|M,O]), rate 1 where the outcome is seen at once."""
        if not self.rate > 0:
            raise NotIdentified("{assumption} needs a rate above 0.", assumption="follow-up")
        shares, means, variances = tables.seen_and_missing()
        mean = float((shares * means).sum())
        noise = shares * variances / np.array([[1.0], [self.rate]])
        return float(noise.sum() + (shares * (means - mean) ** 2).sum())

    def _cells(self, counts: Counts, arm: int, setting: Setting) -> Cells:
        return cells_of(counts, arm, setting, ignore_failures=self.failures == "ignorable")


# The two cells that an arm's counts are when choosing, as rows of the real layout. They stand behind what the curve
# of `mar` pools, where nothing else does, and are zeros again when they were used.
PLACE = BY_ROW + 2 * 2
SPACE = 2 * COLUMNS

# what a rule for follow-ups is told of an arm
MEAN, SEEN_VARIANCE, MISSING_VARIANCE, FREEDOM, HALF_JUMP, ANSWERED, ASKED, ARM_PULLS = range(8)
DESCRIBED = 8
FIRST_PULLS = 6  # of each arm: two low outcomes and none missing say nothing of what will be missing
KNOWN = 50.0  # outcomes that an arm's estimate is taken to be worth, which says how far up `ucb` looks
LENT = 2.0  # degrees of freedom of the missing outcomes' variance, before any is known


@lean
def gather(row: FloatArray, space: FloatArray) -> None:
    """Write the two cells of an arm; `row` has the counts and below them those of follow-ups."""
    rows = row.shape[0] // 2
    for k in range(SPACE):
        space[k] = 0.0
    for m in range(rows):
        seen = row[m, OBSERVED]
        space[PULLS] += seen
        space[OBSERVED] += seen
        space[COLUMNS + PULLS] += row[m, PULLS] - seen
        space[COLUMNS + OBSERVED] += row[rows + m, OBSERVED]
        for k in range(SUM, CUBES + 1):
            space[k] += row[m, k]
            space[COLUMNS + k] += row[rows + m, k]


@lean
def clear(space: FloatArray) -> None:
    """Leave no trace among the sums over arms."""
    for k in range(SPACE):
        space[k] = 0.0


@heavy(CONTRIBUTE)
def contribute(row: FloatArray, parameters: FloatArray, out: FloatArray) -> None:
    """What `mar` pools, of the two cells."""
    space = out[PLACE : PLACE + SPACE]
    gather(row, space)
    contribute_cells(space.reshape((2, COLUMNS)), parameters, out[:PLACE])
    clear(space)


@hot
def known(row: FloatArray, shared: FloatArray, parameters: FloatArray) -> float:
    """The same for every arm, however often it was pulled: pulls do not tell what is missing."""
    return KNOWN


@heavy(SCORE_ARM)
def score_arm(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """at(z) of `mar` over the two cells."""
    space = shared[PLACE : PLACE + SPACE]
    gather(row, space)
    score_cells(space.reshape((2, COLUMNS)), memory, shared, parameters, z_grid, values)
    clear(space)


@heavy(NOTHING(TABLE, VECTOR, VECTOR, VECTOR))
def describe(row: FloatArray, shared: FloatArray, parameters: FloatArray, out: FloatArray) -> None:
    """Mean, variance without and of the missing outcomes, its degrees of freedom, answers, follow-ups, pulls."""
    space = shared[PLACE : PLACE + SPACE]
    gather(row, space)
    cells = space.reshape((2, COLUMNS))
    found = shared[len(shared) - 2 - NOISES :]
    plain(cells, shared, parameters, found)
    missing, answered = cells[1, PULLS], cells[1, OBSERVED]
    pulls = cells[0, PULLS] + missing
    # before the first pulls half of the outcomes may be missing
    share_missing = (missing + 0.5) / (pulls + 1.0)
    noise = found[NOISES + 1]
    part = share_missing * share_missing * noise / (answered + pseudo_observations(parameters, noise))
    out[MEAN] = found[PLAIN_MEAN]
    out[SEEN_VARIANCE] = max(found[VARIANCE] - part, 0.1 * found[VARIANCE])
    out[MISSING_VARIANCE] = part
    out[FREEDOM] = answered + LENT
    # what may still jump among the missing, of all that may
    thinnest = max(cells[0, PULLS] / (cells[0, OBSERVED] + 1.0), missing / (answered + 1.0))
    own = (missing + 0.5) / (answered + 1.0)
    out[HALF_JUMP] = found[PLAIN_HALF_JUMP] * min(1.0, own / max(thinnest, 1e-9))
    out[ANSWERED] = answered
    out[ASKED] = 0.0
    for m in range(row.shape[0] // 2, row.shape[0]):
        out[ASKED] += row[m, PULLS]
    out[ARM_PULLS] = pulls
    clear(space)


parts = {"follow-up": FollowUp}
