"""The least variance that an estimate can have under an assumption, and the regret it makes unavoidable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant.errors import unknown
from truant.setting import FloatArray, whole_number
from truant.theory.laws import (
    arm_gamma,
    discrete,
    from_arrays,
    mediator_law,
    need_mediators,
    outcome_gamma_by_mediator,
    outcome_gamma_by_outcome,
    refusal,
)
from truant.worlds import DiscreteWorld, RealWorld, World
from truant.worlds.discrete import cell_probabilities


def efficient_variance(world: World, assumption: str) -> FloatArray:
    """V_a: N pulls of an arm give its mean with a variance of V_a / N at best, under the assumption.

    `mcar`: Var(Y) / gamma. `mar`: sum_m p_m s_m^2 / gamma_m + Var(mu_M). `mediator-mar`: the same over
    P(Q=1|a), the variance on pulls whose mediator was seen (the others could add a little). The rest, for
    discrete outcomes: the Cramer-Rao bound of the table of counts, d' I^- d, with d the derivative of mu and
    I the information of a pull on P(m,y|a) and on the chances to be seen.

    Parameters
    ----------
    world : one that satisfies the assumption.
    assumption : `mcar`, `mar`, `mnar`, `mediator-mar`, `mediator-mnar` or `both-mnar`.

    Returns
    -------
    V_a, shape (arms,).
    """
    if assumption not in _VARIANCES:
        raise unknown("assumption", assumption, _VARIANCES)
    return _VARIANCES[assumption](world)


def instance_regret(world: World, horizon: int, assumption: str) -> float:
    """A yardstick for one instance: sum over the worse arms of 2 V_a / gap_a log T.

    What a policy loses to arms that are worse by gap_a before it can tell, if its estimate is normal with the
    efficient variance. It is so at long horizons; where the mediator tells little, V_a can be so large that
    no usual horizon is long, and a policy that knows the range of the outcomes does far better.

    Parameters
    ----------
    world : one that satisfies the assumption.
    horizon : T.
    assumption : as in `efficient_variance`.
    """
    T = whole_number("horizon", horizon, at_least=1)
    variances = efficient_variance(world, assumption)
    worse = world.gaps > 1e-12  # equal arms may differ by rounding
    return float((2 * variances[worse] / world.gaps[worse]).sum() * np.log(T))


def _mcar(world: World) -> FloatArray:
    p, means, variances = _outcomes(world)
    spread = (p * (variances + (means - world.means[:, None]) ** 2)).sum(axis=1)
    return np.asarray(spread / arm_gamma(world))


def _mar(world: World) -> FloatArray:
    return _by_mediator(world, "mar")


def _mediator_mar(world: World) -> FloatArray:
    return _by_mediator(world, "mediator-mar")


def _by_mediator(world: World, assumption: str) -> FloatArray:
    law = mediator_law(world, assumption)
    p, means, variances = _outcomes(world)
    within = (p * variances / law.gamma).sum(axis=1)
    between = (p * (means - world.means[:, None]) ** 2).sum(axis=1)
    return np.asarray((within + between) / law.mediator_seen)


def _outcomes(world: World) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(m|a), E[Y|m,a] and Var(Y|m,a), each (arms, K)."""
    known = from_arrays(world)
    if isinstance(known, RealWorld):
        return known.mediator_probabilities, known.outcome_means, known.outcome_sd**2
    p = known.joint.sum(axis=2)
    given = known.joint / np.where(p > 0, p, 1)[..., None]
    means = given @ known.levels
    return p, means, given @ known.levels**2 - means**2


def _mnar(world: World) -> FloatArray:
    known = discrete(world, "mnar")
    need_mediators(known, "mnar")
    outcome_gamma_by_outcome(known, "mnar")
    return _cramer_rao(known, "mnar", by_outcome=True, mediators_missing=False)


def _mediator_mnar(world: World) -> FloatArray:
    known = discrete(world, "mediator-mnar")
    outcome_gamma_by_mediator(known, "mediator-mnar")
    return _cramer_rao(known, "mediator-mnar", by_outcome=False, mediators_missing=True)


def _both_mnar(world: World) -> FloatArray:
    known = discrete(world, "both-mnar")
    outcome_gamma_by_outcome(known, "both-mnar")
    return _cramer_rao(known, "both-mnar", by_outcome=True, mediators_missing=True)


_VARIANCES: dict[str, Callable[[World], FloatArray]] = {
    "mcar": _mcar,
    "mar": _mar,
    "mnar": _mnar,
    "mediator-mar": _mediator_mar,
    "mediator-mnar": _mediator_mnar,
    "both-mnar": _both_mnar,
}


def _cramer_rao(
    world: DiscreteWorld, assumption: str, *, by_outcome: bool, mediators_missing: bool
) -> FloatArray:
    """The bound d' I^- d for each arm, from the derivatives of the cell probabilities.

    With A the derivatives over the root of each cell's probability, I = A'A; the shortest w with A'w = d has
    squared length d' I^- d, and there is no such w where the cells do not determine mu.
    """
    found = []
    for a in range(world.setting.arms):
        slopes, derivatives = _tangents(world, a, by_outcome, mediators_missing)
        cells = cell_probabilities(*_arm(world, a)).ravel()
        happens = cells > 0
        # a direction that would make an impossible cell possible starts at a boundary: it is known
        free = ~np.any(np.abs(derivatives[:, ~happens]) > 1e-12, axis=1)
        scores = derivatives[free][:, happens] / np.sqrt(cells[happens])
        length = np.linalg.norm(scores, axis=1)
        length[length == 0] = 1.0
        scores, slope = scores / length[:, None], slopes[free] / length  # of one scale, for the solver
        w = np.linalg.lstsq(scores, slope, rcond=None)[0]
        if np.linalg.norm(scores @ w - slope) > 1e-6 * np.linalg.norm(slope):
            raise refusal(world, assumption, f"the mean of arm {a} does not follow from what is seen")
        found.append(w @ w)
    return np.array(found)


def _tangents(
    world: DiscreteWorld, a: int, by_outcome: bool, mediators_missing: bool
) -> tuple[FloatArray, FloatArray]:
    """How mu, and how each cell, change along every parameter: (parameters,) and (parameters, cells)."""
    pi, o, q = _arm(world, a)
    K, L = pi.shape[1:]
    base = cell_probabilities(pi, o, q)
    moves = np.eye(K * L).reshape(-1, K, L) - pi  # towards one (m, y); they keep the sum at 1
    groups = np.eye(L)[:, None, :] if by_outcome else np.eye(K)[:, :, None]
    changes = [cell_probabilities(moves, o, q), cell_probabilities(pi, o + groups, q) - base]
    if mediators_missing:
        changes.append(cell_probabilities(pi, o, q + np.eye(K)) - base)
    derivatives = np.concatenate([change.reshape(len(change), -1) for change in changes])
    slopes = np.zeros(len(derivatives))
    slopes[: K * L] = (moves * world.levels).sum(axis=(1, 2))
    return slopes, derivatives


def _arm(world: DiscreteWorld, a: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One arm's P(m,y), P(O=1|m,y) and P(Q=1|m), with a leading axis of one."""
    return world.joint[a : a + 1], world.observation[a : a + 1], world.mediator_observation[a : a + 1]
