"""The Cramer-Rao bound of one arm's table of counts, for the assumptions that are fitted by likelihood."""

from __future__ import annotations

import numpy as np

from truant.assumptions.arm_tables import ArmTables
from truant.counts import cell_probabilities
from truant.errors import NotSatisfied
from truant.setting import FloatArray


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
