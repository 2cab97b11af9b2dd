"""`follow-up`: no assumption about the reason for missingness; some missing outcomes were obtained afterwards.

A random few of the missing outcomes are followed up (a call, a second invitation, another register). Whether the
outcome was missing at first is then one more thing that is seen of a pull, and each arm's mean is identified whatever
the reason (Hansen and Hurwitz, 1946): within an arm and mediator level, the answers stand for all missing outcomes.
Whom to follow up may depend on arm, mediator and everything seen before, not on the outcome itself.

An arm's counts as cells that were seen at once or missing at first, for the estimate of `follow-up`.

Notation, for mediator level m: n1 outcomes seen at once with mean r1, N0 missing at first, n0 of them answered when
followed up, with mean r0. The estimate is sum_m (n1 r1 + N0 r0)/N.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from truant.assumptions.assumption import CONTRIBUTE, SCORE_ARM, Advice, Assumption, Curve, Estimate
from truant.assumptions.borrowing import BY_ROW, NOISES, VARIANCE, borrowing_curve, plain
from truant.assumptions.borrowing import HALF_JUMP as PLAIN_HALF_JUMP
from truant.assumptions.borrowing import MEAN as PLAIN_MEAN
from truant.assumptions.borrowing import contribute as contribute_cells
from truant.assumptions.borrowing import score_arm as score_cells
from truant.assumptions.cells import Cells, moments_within
from truant.assumptions.evidence import ArmTables, Concern, NoTest
from truant.assumptions.robust import pseudo_observations
from truant.compile import heavy, hot, lean
from truant.compile.marks import NOTHING, TABLE, VECTOR
from truant.counts import COLUMNS, CUBES, OBSERVED, PULLS, SUM, Counts
from truant.errors import NotIdentified, unknown
from truant.setting import FloatArray, Setting, positive_number, share

THIN = 5  # answers in a mediator level, below which it borrows from the others


class CellGroup(NamedTuple):
    """Some cells: how many pulls they stand for, and their outcomes (number, mean, squares and cubes about it)."""

    pulls: FloatArray
    outcomes: FloatArray
    means: FloatArray
    squares: FloatArray
    cubes: FloatArray


def cells_of(counts: Counts, arm: int, setting: Setting, ignore_failures: bool) -> Cells:
    """Cells of outcomes seen at once, of those missing at first, and (unless ignored) of follow-ups that failed.

    Levels with fewer than THIN answers are one cell, see `_together`. A level of which some follow-ups failed stands
    for as many failures among all its missing outcomes; these have a cell without any outcome.
    """
    table, block = counts.real_row(arm), counts.followed_up_row(arm)
    missing = table[:, PULLS] - table[:, OBSERVED]
    _need_answers(missing, block, arm)
    seen, later = moments_within(table), _with_spread(moments_within(block), table)
    thin = _thin(missing, later[0])
    own = (missing > 0) & ~thin
    groups = [
        CellGroup(table[:, OBSERVED], *seen),
        CellGroup(missing[own], *(column[own] for column in later)),
    ]
    failing = [_failing(block[own])]
    if thin.any():
        ends = (setting.low - counts.centre, setting.high - counts.centre) if setting.outcomes == 2 else None
        groups.append(_together(missing[thin], _rows(seen, thin), _rows(later, thin), ends))
        failing.append(_failing(block[thin].sum(axis=0, keepdims=True)))
    if not ignore_failures and any(shares.any() for shares in failing):
        _need_range(counts, arm, setting)
        failed = sum(float(group.pulls @ shares) for group, shares in zip(groups[1:], failing, strict=True))
        kept = [
            group._replace(pulls=group.pulls * (1 - shares))
            for group, shares in zip(groups[1:], failing, strict=True)
        ]
        nothing = np.zeros(1)
        groups = [
            groups[0],
            *kept,
            CellGroup(np.array([failed]), nothing, np.array([np.nan]), nothing, nothing),
        ]
    pulls, n, means, squares, cubes = (np.concatenate(columns) for columns in zip(*groups, strict=True))
    return Cells("follow-up", arm, pulls, n, counts.centre + means, squares, cubes, setting)


def failure_concern(failed: int, asked: int, failures: str) -> Concern:
    """What follow-ups that failed mean for the interval."""
    if failures == "ignorable":
        text = (
            f"In {{arm}}, {failed:,} of {asked:,} follow-ups brought no outcome; as stated, they are taken to be like "
            "the others, which the data cannot test."
        )
        return Concern("failed-follow-ups", text, failed / asked, rank=1)
    text = (
        f"In {{arm}}, {failed:,} of {asked:,} follow-ups brought no outcome: under {{assumption}} such outcomes may be "
        "anywhere in the range, which widens the interval; if they failed for reasons unrelated to the outcome, say "
        "so: --failed-follow-ups ignorable."
    )
    return Concern("failed-follow-ups", text, failed / asked, rank=1)


def equal_answers_concern(block: FloatArray, setting: Setting) -> list[Concern]:
    """Answers that are all equal tell nothing of how much missing outcomes vary; of two levels, the mean tells it."""
    answers = block[:, OBSERVED].sum()
    together = block.sum(axis=0, keepdims=True)
    if setting.outcomes == 2 or answers < 2 or moments_within(together)[2][0] > 0:
        return []
    text = (
        f"In {{arm}}, all {answers:,.0f} outcomes that follow-ups brought are equal, so they do not tell how much its "
        "missing outcomes vary; the interval takes them to vary as much as the observed ones: follow up more."
    )
    return [Concern("thin-cell", text, float(answers))]


def _with_spread(later: tuple[FloatArray, ...], table: FloatArray) -> tuple[FloatArray, ...]:
    """Answers of a level that are all equal have the variance of all outcomes seen at once, not none."""
    n0, means, squares, cubes = later
    n, _, spread, _ = moments_within(table.sum(axis=0, keepdims=True))
    variance = float(spread[0] / (n[0] - 1)) if n[0] > 1 else 0.0
    alike = (n0 > 0) & (squares == 0)
    return n0, means, np.where(alike, np.maximum(n0 - 1, 0.0) * variance, squares), cubes


def _need_answers(missing: FloatArray, block: FloatArray, arm: int) -> None:
    if missing.sum() == 0 or block[:, OBSERVED].sum() > 0:
        return
    what = "was followed up" if block[:, PULLS].sum() == 0 else "was obtained by follow-up"
    raise NotIdentified(
        f"none of the {missing.sum():,.0f} missing outcomes of {{arm}} {what}.",
        arm=arm,
        assumption="follow-up",
    )


def _need_range(counts: Counts, arm: int, setting: Setting) -> None:
    if setting.range_known:
        return
    failed, asked = int(counts.follow_ups[arm] - counts.answered[arm]), int(counts.follow_ups[arm])
    raise NotIdentified(
        f"{failed:,} of {asked:,} follow-ups of {{arm}} brought no outcome; give the range of the outcome (--range "
        "LOW,HIGH, in Python range=(low, high)), or say that they failed for reasons unrelated to the outcome "
        '(--failed-follow-ups ignorable, in Python failed_follow_ups="ignorable").',
        arm=arm,
        assumption="follow-up",
    )


def _thin(missing: FloatArray, answered: FloatArray) -> npt.NDArray[np.bool_]:
    """Levels with missing outcomes that borrow; these have THIN answers together, if others can give them."""
    thin = (missing > 0) & (answered < THIN)
    others = np.flatnonzero((missing > 0) & ~thin)
    for m in others[np.argsort(answered[others], kind="stable")]:
        if not thin.any() or answered[thin].sum() >= THIN:
            break
        thin[m] = True
    return thin


def _failing(block: FloatArray) -> FloatArray:
    """Share of the follow-ups of each cell that failed."""
    asked = block[:, PULLS]
    return np.divide(asked - block[:, OBSERVED], asked, out=np.zeros_like(asked), where=asked > 0)


def _rows(moments: tuple[FloatArray, ...], some: npt.NDArray[np.bool_]) -> tuple[FloatArray, ...]:
    return tuple(column[some] for column in moments)


def _together(
    missing: FloatArray,
    seen: tuple[FloatArray, ...],
    later: tuple[FloatArray, ...],
    ends: tuple[float, float] | None,
) -> CellGroup:
    """Levels as one cell: the mean of r1 over their missing outcomes, plus the mean of y - r1 over their answers.

    This is the difference estimator: right if the answers are a fair sample of these missing outcomes, however the
    levels differ, and efficient where r1 tells much of r0. A level without r1 has that of all levels together.
    """
    outcomes, r1 = seen[0], np.where(seen[0] > 0, seen[1], 0.0)
    overall = float(outcomes @ r1 / outcomes.sum()) if outcomes.sum() > 0 else 0.0
    r1 = np.where(outcomes > 0, r1, overall)
    n0, r0, squares, cubes = later
    away = np.where(n0 > 0, r0, 0.0) - r1
    total = n0.sum()
    shift = float(n0 @ away / total)
    apart = np.where(n0 > 0, away - shift, 0.0)  # of a level's answers from the common difference
    mean = float(missing @ r1 / missing.sum()) + shift
    if ends is not None:  # of an outcome with two levels, whose variance follows from the mean
        mean = min(max(mean, ends[0]), ends[1])
    together = (squares + n0 * apart**2).sum(), (cubes + 3 * apart * squares + n0 * apart**3).sum()
    # r1 has an error of its own, as far as answers and missing outcomes are spread differently over the levels
    weight = missing / missing.sum() - n0 / total
    noise = np.divide(seen[2], (outcomes - 1) * outcomes, out=np.zeros_like(r1), where=outcomes > 1)
    together = together[0] + float(weight**2 @ noise) * total * max(total - 1, 1.0), together[1]
    return CellGroup(*(np.array([number]) for number in (missing.sum(), total, mean, *together)))


FOLLOW_UP = "follow-up"
FAILURES = ("worst-case", "ignorable")
Failures = Literal["worst-case", "ignorable"]


@dataclass(frozen=True)
class FollowedUp(Assumption):
    """Some missing outcomes were followed up: right whatever the reason for missingness.

    Parameters
    ----------
    failures : How outcomes that follow-ups did not obtain are treated: worst-case (they may have any value) or
        ignorable (they are like the obtained ones).
    kappa : Number of made-up outcomes, at the middle of the range, in each estimate; only for choosing arms.
    rate : Share of the missing outcomes that are followed up; used only for the efficient variance.
    """

    needs = "follow-ups of missing outcomes in each arm that has some"
    meaning = "no assumption about the reason for missingness; uses the answers to follow-ups"
    advice = Advice(
        "You obtain a random part of the missing outcomes afterwards. The estimates are then valid whatever the "
        "reason for missingness, if all who are drawn answer; where some do not, intervals allow for the worst case.",
        "Call sixty of the customers who did not answer, drawn at random. Look up in a register some of the patients "
        "who did not come.",
        "Follow-ups in each arm that has missing outcomes, drawn at random: `truant plan` says how many and draws "
        "them.",
        "Draw at random, call everyone who is drawn, and count how many do not answer. With the follow-ups, `truant "
        "analyze` also tests the other assumptions.",
    )
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
            raise NotIdentified("{assumption} needs a rate above 0.", assumption=FOLLOW_UP)
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


parts = {FOLLOW_UP: FollowedUp}
