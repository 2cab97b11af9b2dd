"""`mar-ucb` and `mediator-mar-ucb`: a hierarchical index, near the best where dropping rows does no harm.

Cell means of an arm are taken to scatter about the arm's own mean with a spread tau that is not known. For each
tau of a grid the arm's value has a mean, a variance and a likelihood; the index is the highest value that any
tau not too unlikely allows. It never leaves the band that the plain shrunk estimate of `mar` gives, whose
floor keeps a good arm from hiding in a mediator level that is hardly ever seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truant.assumptions import Assumption, Curve
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar, weigh
from truant.assumptions.mediator_mar import MediatorMar
from truant.assumptions.normal import pseudo_observations
from truant.compile import hot, lean
from truant.counts import OBSERVED, PULLS, SUM
from truant.errors import InvalidValue
from truant.indices.ucb import Ucb
from truant.policies.policy import Policy, combine
from truant.setting import FloatArray, Setting

SPREADS = (0.001, 0.05, 0.1, 0.2, 0.4, 0.8)  # tau, in units of the outcome's scale
GROWTH = 0.01  # an arm is looked at again when its pulls grew by this share


def mar_ucb(
    level: str | float = "plain", horizon: str = "known", kappa: float = 1.0, floor: float = 0.8
) -> Policy:
    """`mar` whose cell means borrow strength from each other; with horizon=unknown, as mar-plain-ucb."""
    if horizon != "known":
        return mar_plain_ucb(level, horizon, kappa)
    return _sharp(Mar(kappa=kappa), level, floor, seen_mediators_only=False)


def mediator_mar_ucb(
    level: str | float = "plain", horizon: str = "known", kappa: float = 1.0, floor: float = 0.8
) -> Policy:
    """`mediator-mar` whose cell means borrow strength from each other; see mar-ucb."""
    if horizon != "known":
        return mediator_mar_plain_ucb(level, horizon, kappa)
    return _sharp(MediatorMar(kappa=kappa), level, floor, seen_mediators_only=True)


def mar_plain_ucb(level: str | float = "plain", horizon: str = "known", kappa: float = 1.0) -> Policy:
    """`mar` with ucb as for every other assumption: each cell mean on its own."""
    return combine(Mar(kappa=kappa), Ucb(level, horizon), "")


def mediator_mar_plain_ucb(
    level: str | float = "plain", horizon: str = "known", kappa: float = 1.0
) -> Policy:
    """`mediator-mar` with ucb as for every other assumption: each cell mean on its own."""
    return combine(MediatorMar(kappa=kappa), Ucb(level, horizon), "")


def _sharp(assumption: Assumption, level: str | float, floor: float, seen_mediators_only: bool) -> Policy:
    if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 <= floor <= 1:
        raise InvalidValue(f"floor must be in [0, 1], got {floor!r}.")
    index = Ucb(level=level)

    def curve(setting: Setting, horizon: int) -> Curve:
        plain = assumption.curve(setting)
        own = (index.multiple, float(floor), float(horizon), float(seen_mediators_only))
        parameters = np.hstack([plain.parameters, per_arm(setting, *own)])
        shared = plain.shared + 2 * len(SPREADS)
        return replace(plain, fill=fill, parameters=parameters, growth=GROWTH, shared=shared)

    return Policy("", index, curve, assumption)


@lean
def fill(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    knots: FloatArray,
    values: FloatArray,
) -> None:
    """The index itself, whatever the knots; `shared` has the pooled scale and room for the grid."""
    centre, multiple, floor, horizon = parameters[0], parameters[4], parameters[5], parameters[6]
    levels = row.shape[0] - 1 if parameters[7] else row.shape[0]
    mean, error, between, pulls, variance = weigh(row, levels, memory, shared, parameters)
    kappa = pseudo_observations(parameters, variance)
    noise = 0.0
    for m in range(levels):
        p, n = row[m, PULLS] / pulls, row[m, OBSERVED]
        noise += p * (1.0 - p) * variance * n / ((n + kappa) * (n + kappa))
    spread = (pulls * max(between - noise, 0.0) + variance / 2) / (pulls + 2)
    plain = error + spread / pulls
    bold = 2.0 * plain * multiple * boldness(plain, variance, horizon)
    top = hierarchical(row, levels, variance, pulls, multiple, horizon, parameters[2], shared[2:])
    value = min(max(top, mean + np.sqrt(floor * bold)), mean + np.sqrt(bold))
    values[:] = centre + value


@hot
def boldness(v: float, variance: float, horizon: float) -> float:
    """b(v) = max(x - log(max(x, 1))/2 - 1.96, .5), x = log(max(T v/s^2, 1)): half a squared z."""
    x = np.log(max(horizon * v / variance, 1.0))
    return float(max(x - np.log(max(x, 1.0)) / 2.0 - 1.96, 0.5))


@lean
def hierarchical(
    row: FloatArray,
    levels: int,
    variance: float,
    pulls: float,
    multiple: float,
    horizon: float,
    scale: float,
    space: FloatArray,
) -> float:
    """The highest mu_tau + sqrt(2 v_tau (b(v_tau) + log omega_tau)), about the centre; `scale` is s_0^2."""
    count = len(SPREADS)
    weights, tops = space[:count], space[count : 2 * count]
    likeliest = 0
    for k in range(count):
        tau = SPREADS[k] * SPREADS[k] * scale
        weights[k] = log_weight(row, tau, variance, scale)
        if weights[k] > weights[likeliest]:
            likeliest = k
    total = 0.0
    for k in range(count):
        total += np.exp(weights[k] - weights[likeliest])
    normaliser = weights[likeliest] + np.log(total)
    best = -np.inf
    for k in range(count):
        tau = SPREADS[k] * SPREADS[k] * scale
        mean, v = moments(row, levels, tau, variance, scale, pulls)
        room = multiple * boldness(v, variance, horizon) + weights[k] - normaliser
        if k == likeliest:
            room = max(room, 0.0)
        tops[k] = mean + np.sqrt(2.0 * v * room) if room >= 0.0 else -np.inf
        best = max(best, tops[k])
    return best


@lean
def log_weight(row: FloatArray, tau: float, variance: float, scale: float) -> float:
    """Log omega_tau up to a constant: the likelihood of the cells' means; outcomes without mediator are a cell."""
    W, first, second, logs = 1.0 / scale, 0.0, 0.0, 0.0
    for m in range(row.shape[0]):
        n = row[m, OBSERVED]
        if n > 0.0:
            d, y = tau + variance / n, row[m, SUM] / n
            W += 1.0 / d
            first += y / d
            second += y * y / d
            logs += np.log(d)
    return float(-(logs + np.log(W * scale)) / 2.0 - (second - first * first / W) / 2.0)


@lean
def moments(
    row: FloatArray, levels: int, tau: float, variance: float, scale: float, pulls: float
) -> tuple[float, float]:
    """mu_tau and v_tau: cells shrink to the arm's mean, which has the prior N(centre, s_0^2)."""
    W, first = 1.0 / scale, 0.0
    for m in range(row.shape[0]):
        n = row[m, OBSERVED]
        if n > 0.0:
            d = tau + variance / n
            W += 1.0 / d
            first += row[m, SUM] / n / d
    middle = first / W
    mean = square = within = loose = wobble = 0.0
    for m in range(levels):
        p, n = row[m, PULLS] / pulls, row[m, OBSERVED]
        share, r = 0.0, middle
        if n > 0.0:
            share = tau / (tau + variance / n)
            r += share * (row[m, SUM] / n - middle)
        mean += p * r
        square += p * r * r
        within += p * p * tau * (1.0 - share)
        loose += p * (1.0 - share)
        wobble += p * (1.0 - p) * tau * (1.0 - share)
    between = max(square - mean * mean, 0.0)
    q = (pulls * (between + wobble) + 2.0 * tau) / (pulls + 2.0)
    return mean, within + loose * loose / W + q / pulls


parts = {  # -sharp-ucb: another name for the same
    "mar-ucb": mar_ucb,
    "mar-plain-ucb": mar_plain_ucb,
    "mar-sharp-ucb": mar_ucb,
    "mediator-mar-ucb": mediator_mar_ucb,
    "mediator-mar-plain-ucb": mediator_mar_plain_ucb,
    "mediator-mar-sharp-ucb": mediator_mar_ucb,
}
