"""Fits for reports: the maximum of one arm's likelihood to the last digit, profile limits, and Cramer-Rao bound.

A test of follow-ups compares their answers with what the fit says of missing outcomes; the error of the fit counts.
"""

from __future__ import annotations

import functools

import numpy as np

from truant.assumptions.cells import QUESTION
from truant.assumptions.evidence import ArmTables, ChiSquare
from truant.assumptions.likelihood import MINUTE, REPORTING, Care, copy, size, work_size
from truant.assumptions.profile import (
    first_guess,
    fit,
    limit,
    maximise,
    mean_outcome,
    number_of_starts,
    profile,
    start,
)
from truant.compile import entry, lean
from truant.counts import cell_probabilities
from truant.errors import NotSatisfied
from truant.setting import FloatArray

# Around an ordinary (quadratic) maximum, log likelihoods within TIE of it have means within sqrt(2 TIE) = .045
# standard errors, so that any two of them are less than .09/3.92 = 2.3% of the 95% interval apart: two means that
# tie and are further apart than CLEARLY of its width lie on a plateau, or on two maxima of the same height.
TIE = 0.001
CLEARLY = 0.1
Z_95 = 1.959963984540054
LARGE = 60  # cells of a table (K L) from which on time counts
FAR_BELOW = 20.0  # in log L: beyond what any z that is looked at allows
ONE_MAXIMUM = 1e-4  # of the range of the outcome, within which means of several starts are one


@entry
def exact_maximum(
    C: FloatArray, levels: FloatArray, by_outcome: bool, theta: FloatArray, ends: FloatArray, work: FloatArray
) -> float:
    """The maximum for reporting: tight stop. `ends` gets log L and mean outcome that each start came to."""
    trial, rest = work[: len(theta)], work[len(theta) :]
    best = -np.inf
    for shape in range(len(ends)):
        start(C, by_outcome, trial, shape)
        value = fit(C, levels, by_outcome, trial, REPORTING, np.nan, rest)
        ends[shape, 0], ends[shape, 1] = value, mean_outcome(trial, levels, C.shape[0] - 1)
        if value > best:
            best = value
            copy(theta, trial)
    return best


@lean
def with_starts(profile_starts: int) -> Care:
    """`REPORTING` with another number of fresh starts for each constrained maximum."""
    return Care(
        REPORTING.prior,
        REPORTING.gain,
        REPORTING.maps,
        REPORTING.starts,
        profile_starts,
        REPORTING.precision,
        REPORTING.doubt,
        REPORTING.floor,
    )


@entry
def exact_limit(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    z: float,
    best: FloatArray,
    highest: float,
    profile_starts: int,
    work: FloatArray,
) -> float:
    """at(z) for reporting; measured from a higher maximum than `best`, should one turn up."""
    care = with_starts(profile_starts)
    state, rest = work[: len(best)], work[len(best) :]
    guess = first_guess(mean_outcome(best, levels, C.shape[0] - 1), z, levels, C.sum())
    while True:
        copy(state, best)
        u, higher = limit(C, levels, by_outcome, z, best, highest, guess, state, care, rest)
        if not higher:
            return u
        copy(best, state)
        highest = fit(C, levels, by_outcome, best, REPORTING, np.nan, rest)


@entry
def exact_profile(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    u: float,
    best: FloatArray,
    profile_starts: int,
    work: FloatArray,
) -> float:
    """l(u) for reporting."""
    out, rest = work[: len(best)], work[len(best) :]
    copy(out, best)
    return profile(C, levels, by_outcome, u, best, with_starts(profile_starts), out, rest)


@entry
def exact_maxima(
    tables: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    theta: FloatArray,
    values: FloatArray,
    work: FloatArray,
) -> None:
    """Log L of many tables at their maxima, from `theta` (that they were drawn with) and from the flat start."""
    trial, rest = work[: len(theta)], work[len(theta) :]
    for k in range(len(tables)):
        C = tables[k]
        copy(trial, theta)
        values[k] = maximise(C, levels, by_outcome, trial, REPORTING, np.nan, 1, True, rest)


class LikelihoodFit:
    """The maximum of one arm's table, and its profile limits."""

    def __init__(self, C: FloatArray, levels: FloatArray, by_outcome: bool) -> None:
        K, L = C.shape[0] - 1, C.shape[1] - 1
        self.table, self.levels, self.by_outcome = np.ascontiguousarray(C), np.asarray(levels), by_outcome
        self.theta = np.empty(size(K, L, by_outcome))
        starts = number_of_starts.py_func(self.table, by_outcome)  # type: ignore[attr-defined]
        self.ends = np.empty((min(starts, REPORTING.starts), 2))  # log L and mean, from each start
        self.log_likelihood = float(
            exact_maximum(self.table, self.levels, by_outcome, self.theta, self.ends, self._work())
        )
        self._limits = {0.0: self.mean}  # a search costs more than everything else here

    @property
    def joint(self) -> FloatArray:
        """pi[m,y] = P(m, y|a)."""
        K, L = self.table.shape[0] - 1, self.table.shape[1] - 1
        return self.theta[: K * L].reshape(K, L)

    @property
    def observation(self) -> FloatArray:
        """g: P(O=1) given the outcome, or given the mediator."""
        K, L = self.table.shape[0] - 1, self.table.shape[1] - 1
        return self.theta[K * L : -K]

    @property
    def mediator_observation(self) -> FloatArray:
        """lambda: P(Q=1) given the mediator."""
        return self.theta[-(self.table.shape[0] - 1) :]

    @property
    def mean(self) -> float:
        """Sum y pi[m,y]."""
        return float(self.joint.sum(axis=0) @ self.levels)

    @functools.cached_property
    def plateau(self) -> tuple[float, float] | None:
        """The lowest and the highest mean that fit equally well; None if they are hardly different."""
        least = self.log_likelihood - TIE
        tied = self.ends[self.ends[:, 0] > least, 1]
        clear = CLEARLY * (self.at(Z_95) - self.at(-Z_95))
        beside = [u for u in (self.mean - clear, self.mean + clear) if self.levels[0] < u < self.levels[-1]]
        if np.ptp(tied) <= clear and all(self.log_likelihood_at(u) < least for u in beside):
            return None
        z = float(np.sqrt(2 * TIE))
        return min(self.at(-z), float(tied.min())), max(self.at(z), float(tied.max()))

    @functools.cached_property
    def _profile_starts(self) -> int:
        """All, but none of a large table whose starts came to one maximum: each costs as much as a fit.

        Another maximum far below does not matter: with its mean fixed, the likelihood there is lower still.
        """
        if self.joint.size <= LARGE:
            return REPORTING.profile_starts
        near = self.ends[self.ends[:, 0] > self.log_likelihood - FAR_BELOW]
        span = float(self.levels[-1] - self.levels[0])
        same = near[:, 0].min() > self.log_likelihood - TIE and np.ptp(near[:, 1]) < ONE_MAXIMUM * span
        return 0 if same else REPORTING.profile_starts

    def at(self, z: float) -> float:
        """The value whose signed root is z."""
        if z not in self._limits:
            best = self.theta.copy()  # at(0) stays the mean, should a higher maximum turn up
            search = (float(z), best, self.log_likelihood, self._profile_starts, self._work())
            self._limits[z] = float(exact_limit(self.table, self.levels, self.by_outcome, *search))
        return self._limits[z]

    def log_likelihood_at(self, u: float) -> float:
        """l(u), the greatest log likelihood with mean outcome u."""
        work = self._work()
        return float(
            exact_profile(
                self.table, self.levels, self.by_outcome, float(u), self.theta, self._profile_starts, work
            )
        )

    def misfit(self) -> float:
        """2 (l_saturated - l_max): how much likelier the free table is."""
        return max(2 * (_saturated(self.table) - self.log_likelihood), 0.0)

    def drawn_misfits(self, draws: int, seed: int) -> tuple[float, ...]:
        """The same for tables drawn from this fit, with as many pulls."""
        joint, o, q = self._chances()
        cells = np.maximum(cell_probabilities(joint[None], o[None], q[None])[0], 0.0)  # but for rounding
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(int(self.table.sum()), cells.ravel() / cells.sum(), draws)
        tables = np.ascontiguousarray(drawn.reshape(draws, *cells.shape), np.float64)
        values = np.empty(draws)
        exact_maxima(tables, self.levels, self.by_outcome, self.theta, values, self._work())
        return tuple(max(2 * (_saturated(C) - value), 0.0) for C, value in zip(tables, values, strict=True))

    def missing_outcomes(self) -> FloatArray:
        """P(y) of missing outcomes by mediator level and, in the last row, with the mediator missing."""
        joint, o, q = self._chances()
        hidden = np.maximum(joint * (1 - o), 0.0)
        rows = np.vstack([hidden * q[:, None], (hidden * (1 - q)[:, None]).sum(axis=0)])
        total = rows.sum(axis=1, keepdims=True)
        # where nothing is missing by the fit, what is there at all
        others = np.vstack([joint, joint.sum(axis=0)]) + MINUTE
        return np.asarray(
            np.where(total > MINUTE, rows, others)
            / np.where(total > MINUTE, total, others.sum(axis=1, keepdims=True))
        )

    def _chances(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """pi, P(O=1|m,y) and P(Q=1|m)."""
        g, q = self.observation, self.mediator_observation
        o = np.broadcast_to(g[None, :] if self.by_outcome else g[:, None], self.joint.shape)
        return self.joint, o, np.ones_like(q) if self.table[-1].sum() == 0 else q

    def _work(self) -> FloatArray:
        K, L = self.table.shape[0] - 1, self.table.shape[1] - 1
        return np.empty(len(self.theta) + work_size(K, L, self.by_outcome))


def _saturated(table: FloatArray) -> float:
    """Log L of the free table."""
    used = table[table > 0]
    return float(np.sum(used * np.log(used / table.sum())))


def cramer_rao(tables: ArmTables, *, by_outcome: bool, mediators_missing: bool) -> float:
    """The bound d' I^- d, with d the derivative of mu and I the information of a pull.

    Parameters are P(m,y), P(O=1) given the outcome or the mediator, and P(Q=1) given the mediator where mediators
    can be missing. With A the derivatives of the cell probabilities over their roots, I = A'A; the shortest w with
    A'w = d has squared length d' I^- d, and there is no such w where the cells do not determine mu.
    """
    slopes, derivatives = _tangents(tables, by_outcome, mediators_missing)
    cells = cell_probabilities(*_with_axis(tables)).ravel()
    happens = cells > 0
    # a direction that would make an impossible cell possible starts at a boundary: it is known
    free = ~np.any(np.abs(derivatives[:, ~happens]) > 1e-12, axis=1)
    scores = derivatives[free][:, happens] / np.sqrt(cells[happens])
    length = np.linalg.norm(scores, axis=1)
    length[length == 0] = 1.0
    scores, slope = scores / length[:, None], slopes[free] / length  # of one scale, for the solver
    w = np.linalg.lstsq(scores, slope, rcond=None)[0]
    if np.linalg.norm(scores @ w - slope) > 1e-6 * np.linalg.norm(slope):
        raise NotSatisfied("the mean of {arm} does not follow from what is seen.")
    return float(w @ w)


def _tangents(tables: ArmTables, by_outcome: bool, mediators_missing: bool) -> tuple[FloatArray, FloatArray]:
    """How mu, and how each cell, change along every parameter: (parameters,) and (parameters, cells)."""
    pi, o, q = _with_axis(tables)
    _, levels = tables.discrete()
    K, L = pi.shape[1:]
    base = cell_probabilities(pi, o, q)
    moves = np.eye(K * L).reshape(-1, K, L) - pi  # towards one (m, y); they keep the sum at 1
    groups = np.eye(L)[:, None, :] if by_outcome else np.eye(K)[:, :, None]
    changes = [cell_probabilities(moves, o, q), cell_probabilities(pi, o + groups, q) - base]
    if mediators_missing:
        changes.append(cell_probabilities(pi, o, q + np.eye(K)) - base)
    derivatives = np.concatenate([change.reshape(len(change), -1) for change in changes])
    slopes = np.zeros(len(derivatives))
    slopes[: K * L] = (moves * levels).sum(axis=(1, 2))
    return slopes, derivatives


def _with_axis(tables: ArmTables) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(m,y), P(O=1|m,y) and P(Q=1|m), with a leading axis of one."""
    joint, _ = tables.discrete()
    return joint[None], tables.observation[None], tables.mediator_observation[None]


STEPS = 14  # of the golden section: the statistic is flat at its minimum
GOLDEN = (np.sqrt(5) - 1) / 2
EDGE = 1e-6  # of the range of the outcome, that a mean stays away from its ends


def as_fitted(fit: LikelihoodFit, answers: FloatArray, arm: int, remark: str) -> ChiSquare:
    """Min over u of 2 (l_max - l(u)) + (x - x(u))^2/v: table and answers agree on no mean u of the arm.

    x(u) is the mean of the missing outcomes if the arm's is u, and l(u) the profile likelihood of the table. The
    answers say that it is x, what the fit says plus how far they are from that at their own mediator levels. v is the
    variance that missing outcomes have by the fit, or that of the answers where it is larger: a fit that is far off
    may take missing outcomes for all alike. If the assumption holds, both are about one mean, and the statistic is
    nearly chi-square distributed with one degree of freedom, however well or badly the table identifies the mean.
    `answers` has a row for each mediator level and a last one for missing mediators, a column for each outcome.
    """
    by_row, levels = answers.sum(axis=1), fit.levels
    expected = fit.missing_outcomes()
    means = expected @ levels
    spread = np.maximum(expected @ levels**2 - means**2, 0.0)
    number = float(by_row.sum())
    variance = max(float(by_row @ spread), _squares_within(answers, levels)) / number**2
    variance = variance or float(np.ptp(levels)) ** 2 / (4 * number)
    away = float(answers.sum(axis=0) @ levels - by_row @ means) / number
    share = float(fit.table[:, -1].sum() / fit.table.sum())
    room = EDGE * float(np.ptp(levels))
    end = float(np.clip(fit.mean + share * away, levels[0] + room, levels[-1] - room))

    def statistic(part: float) -> float:
        u = fit.mean + part * (end - fit.mean)
        left = away - (u - fit.mean) / share
        return 2 * max(fit.log_likelihood - fit.log_likelihood_at(u), 0.0) + left**2 / variance

    low, high = 0.0, 1.0
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [statistic(part) for part in inner]
    for _ in range(STEPS):
        if values[0] < values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - GOLDEN * (high - low)
            values[0] = statistic(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + GOLDEN * (high - low)
            values[1] = statistic(inner[1])
    return ChiSquare(QUESTION, min(*values, away**2 / variance), 1, arm, remark=remark)


def _squares_within(answers: FloatArray, levels: FloatArray) -> float:
    """The number of answers times their variance within mediator levels."""
    used = answers[answers.sum(axis=1) > 0]
    number = used.sum(axis=1)
    squares = float((used @ levels**2 - (used @ levels) ** 2 / number).sum())
    return squares * float(number.sum()) / max(float(number.sum()) - len(used), 1.0)
