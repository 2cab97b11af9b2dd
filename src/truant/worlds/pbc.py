"""Real outcomes of a real trial, with synthetic missingness: primary biliary cirrhosis, Mayo Clinic."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from truant import datasets
from truant.errors import InvalidValue
from truant.setting import FloatArray, finite, probabilities
from truant.worlds.draws import number
from truant.worlds.real import RealWorld

DAYS = 4556.0  # the longest follow-up


def pbc(
    rng: np.random.Generator,
    *,
    gamma: float | Sequence[float] | Sequence[Sequence[float]] = ((0.5, 0.95), (0.95, 0.5)),
    gap: float = 1.0,
) -> RealWorld:
    """The PBC trial's 312 randomised patients: days of follow-up, with death as the mediator.

    Arms: D-penicillamine, placebo. Mediator: dead at the end (level 1) or not (0), as often as in the trial.
    Outcome: days / 4556 of a random patient with that arm and mediator level. Nothing is missing in the data:
    gamma is synthetic, and its default was chosen so that dropping the missing rows prefers the wrong arm.
    Death is settled jointly with follow-up, so it is an auxiliary variable rather than a true mediator, and
    the difference between the arms (.004) is no real effect.

    Parameters
    ----------
    gamma : P(O=1|m,a), one row per arm: two rows of two numbers, four numbers, or one for all.
    gap : scales the true difference between the arms, by shifting the outcomes of the better one.
    """
    seen = _gamma(gamma)
    factor = number("gap", gap)
    if factor < 0:
        raise InvalidValue(f"gap must not be negative, got {factor:g}.")
    cells = _cells()
    p = np.array([[cell.size for cell in row] for row in cells], np.float64)
    p /= p.sum(axis=1, keepdims=True)
    truth = [np.concatenate(row).mean() for row in cells]  # D-penicillamine is the better one
    shift = (factor - 1) * (truth[0] - truth[1])
    samples = [[cell + shift for cell in cells[0]], list(cells[1])]
    low, high = min(0.0, shift), max(1.0, 1.0 + shift)
    return RealWorld(p, None, seen, samples=samples, low=low, high=high)


def _gamma(value: object) -> FloatArray:
    array = finite("gamma", value)  # type: ignore[arg-type]
    if array.size not in (1, 4) or array.shape not in ((), (1,), (4,), (2, 2)):
        raise InvalidValue(f"gamma must be one number, four, or two rows of two, got {value!r}.")
    seen = probabilities("gamma", array, positive=True)
    return np.broadcast_to(seen, (2, 2)) if seen.size == 1 else seen.reshape(2, 2)


@functools.cache
def _cells() -> tuple[tuple[FloatArray, ...], ...]:
    """The outcomes of each arm's patients, not dead and dead at the end."""
    table = datasets.pbc()
    arm, dead = table["trt"].to_numpy(), table["dead"].to_numpy() == 1
    outcome = table["time"].to_numpy() / DAYS
    return tuple(tuple(outcome[(arm == a) & (dead == d)] for d in (False, True)) for a in (1, 2))


parts = {"pbc": pbc}
