"""Choosing when outcomes may be skewed or unequally noisy: what the formula-based assumptions share.

A normal width trusts an arm whose first outcomes are all alike, or all zero, far too much: such an arm is never
looked at again. Here arms lend each other variance as far as their own variances agree, the width allows for a
variance that is estimated, and a jump that the arms have shown (or that the range allows, before they have shown
anything) may still be waiting.

Symbols: n, S, Q, C are number, sum, sum of squares and of cubes of a cell's outcomes about the centre; SS, df and
kappa_3 an arm's sum of squares, degrees of freedom and third moment within cells; D_2, D_3 the second and third
moment between cells; R the range of the outcomes, s_0 their stated scale.

`straight` is the at(z) of estimates that are taken as normal.
"""

from __future__ import annotations

import math

from truant.assumptions.assumption import per_arm
from truant.compile import hot
from truant.setting import FloatArray, Setting


@hot
def straight(mean: float, variance: float, z_grid: FloatArray, values: FloatArray) -> None:
    """at(z) = mean + z sqrt(variance)."""
    sd = math.sqrt(variance)
    for k in range(len(z_grid)):
        values[k] = mean + z_grid[k] * sd


FIRST_PULLS = 2
GROWTH = 0.01  # an arm is looked at again when its pulls grew by this share

PRIOR_WEIGHT = 2.0  # degrees of freedom that the stated scale counts for among all arms
MOST_WEIGHT = 20.0  # degrees of freedom that a single arm counts for, however often it was pulled
JUMP_LENT = 8.0  # degrees of freedom that all arms' jump counts for in an arm's own
LEAST_LENT, MOST_LENT = 3.0, 1000.0  # degrees of freedom that all arms lend to one
ROUNDING = 1e-12  # share of a sum of squares that may be rounding error
ENOUGH = 4.0  # degrees of freedom from which on an arm's own variance says something of how much they differ

# what an arm contributes to the sums over all arms
SQUARED, FREEDOM, CUBED, BETWEEN_2, BETWEEN_3, LOG, LOG_SQUARED, LOG_NOISE, LOGS, ALL_FREEDOM = range(10)
POOLED = 10

# parameters of every arm
CENTRE, KAPPA, SCALE, HALF, RANGE = range(5)
OWN = 5


def parameters_of(setting: Setting, kappa: float) -> FloatArray:
    """Centre, kappa, s_0^2, squared half range of the means and R, for each arm."""
    return per_arm(
        setting,
        setting.centre,
        kappa,
        setting.outcome_scale**2,
        setting.half_range**2,
        setting.high - setting.low,
    )


@hot
def contribution(
    squares: float,
    freedom: float,
    cubes: float,
    pulls: float,
    between: float,
    between_cubed: float,
    prior: float,
    out: FloatArray,
) -> None:
    """An arm's part of the sums over all arms; no arm counts for more than MOST_WEIGHT degrees of freedom."""
    weight = min(1.0, MOST_WEIGHT / freedom) if freedom > 0.0 else 1.0
    out[SQUARED] = weight * squares
    out[FREEDOM] = weight * freedom
    out[CUBED] = weight * cubes
    weight = min(pulls, MOST_WEIGHT)
    out[BETWEEN_2] = weight * between
    out[BETWEEN_3] = weight * between_cubed
    out[ALL_FREEDOM] = freedom
    enough = freedom >= ENOUGH
    log = math.log((squares + prior) / (freedom + 1.0)) if enough else 0.0
    out[LOG] = log
    out[LOG_SQUARED] = log * log
    out[LOG_NOISE] = 2.0 / freedom if enough else 0.0
    out[LOGS] = 1.0 if enough else 0.0


@hot
def moments_within(n: float, total: float, squares: float, cubes: float) -> tuple[float, float]:
    """SS and third moment of one cell about its own mean."""
    mean = total / n
    within = squares - total * mean
    if within < ROUNDING * squares:  # outcomes all alike: what is left is no variance to compare others with
        within = 0.0
    return within, cubes - 3.0 * mean * squares + 2.0 * n * mean * mean * mean


@hot
def prior_weight(shared: FloatArray) -> float:
    """The stated scale fades as an arm's weight does: it must not outlast what was seen."""
    return float(PRIOR_WEIGHT * (shared[FREEDOM] + 1.0) / (shared[ALL_FREEDOM] + 1.0))


@hot
def pooled_noise(shared: FloatArray, prior: float, reach: float) -> tuple[float, float, float]:
    """Of all arms together: variance s_all^2, jump J, and how much less a variance is known than of normal outcomes.

    J is third over second moment within cells: a rare value R has R there, normal noise 0. A variance estimated from
    n outcomes has relative variance 2/n if they are normal, and about (2 + skewness^2)/n if they come in jumps.
    """
    weight = prior_weight(shared)
    squares = shared[SQUARED] + weight * prior
    everyone = squares / (shared[FREEDOM] + weight)
    jump = max(shared[CUBED] + weight * reach * prior, 0.0) / squares
    return everyone, jump, 1.0 / (1.0 + 0.5 * jump * jump / everyone)


@hot
def lent_variance(
    shared: FloatArray, squares: float, freedom: float, everyone: float, worth: float
) -> tuple[float, float]:
    """An arm's variance with what all arms lend it, and its degrees of freedom, each of which is `worth` so much.

    s^2 = (SS + nu s_all^2)/(df + nu): nu is large where the arms' own variances agree (up to sampling error).
    """
    noise = shared[LOG_NOISE] / worth
    lent = agreement(shared[LOG], shared[LOG_SQUARED], noise, shared[LOGS], LEAST_LENT)
    df = worth * freedom
    lent = min(lent, LEAST_LENT + 2.0 * df)
    if stands_out(squares, freedom, everyone, worth):
        lent = LEAST_LENT
    return (worth * squares + lent * everyone) / (df + lent), df + lent


@hot
def agreement(log: float, log_squared: float, noise: float, count: float, otherwise: float) -> float:
    """Degrees of freedom to lend: 2 over the variance of log variances beyond their sampling error."""
    if count < 2.0:
        return otherwise
    excess = (log_squared - log * log / count) / (count - 1.0) - noise / count
    return float(min(max(2.0 / max(excess, 0.001), LEAST_LENT), MOST_LENT))


@hot
def stands_out(squares: float, freedom: float, usual: float, worth: float) -> bool:
    """Whether a variance is too large to be the usual one."""
    return freedom > 0.0 and squares / freedom > usual * (1.0 + 3.0 * math.sqrt(2.0 / (worth * freedom)))


@hot
def own_jump(squares: float, cubes: float, everyone: float, jump: float) -> float:
    """An arm's J: all arms' is weighed against its own as their variance is.

    Where jumps are common, an arm has shown its own; where they are rare, its own variance is too small to count.
    """
    return float(max(cubes + JUMP_LENT * everyone * jump, 0.0) / (squares + JUMP_LENT * everyone))


@hot
def jump_between(shared: FloatArray, prior: float, reach: float) -> float:
    """J_b: the same between cells, at most R."""
    third = max(shared[BETWEEN_3] + PRIOR_WEIGHT * reach * prior, 0.0)
    return float(min(reach, third / (shared[BETWEEN_2] + PRIOR_WEIGHT * prior)))


@hot
def pseudo_observations(parameters: FloatArray, variance: float) -> float:
    """How many observations the centre of the range counts for: kappa, and less where noise is small.

    A cell's mean can be half the range away from the centre. Where outcomes are less noisy than that, a whole
    pseudo-observation would pull a thin cell to the centre with more certainty than there is, and a good arm
    would never be looked at again; kappa s^2/h^2 amounts to a prior as wide as the range.
    """
    return float(parameters[KAPPA] * min(1.0, variance / parameters[HALF]))


@hot
def square_outside(n: float, total: float, everyone: float, parameters: FloatArray) -> float:
    """How far a cell's mean lies beyond the range of the means: n d^2 if that is more than noise explains, else 0.

    Such a cell is noisier than others, although its few outcomes may be alike.
    """
    if n == 0.0:
        return 0.0
    beyond = max(abs(total / n) - math.sqrt(parameters[HALF]), 0.0)
    square = n * beyond * beyond
    return float(square if square > 4.0 * everyone else 0.0)


@hot
def rarity(z: float) -> float:
    """-log P(|Z| > |z|): a jump of chance c stays unseen in n outcomes as rarely as Z exceeds z if n c is this."""
    away = abs(z)
    if away > 30.0:
        return float(0.5 * away * away + math.log(away) + 0.2258)
    return float(-math.log(math.erfc(away * math.sqrt(0.5))))


@hot
def width(z: float, variance: float, freedom: float, jump: float) -> float:
    """at(z) - mean: j beta + sign(z) sqrt((j beta)^2 + v phi (exp(z^2/phi) - 1)), beta = rarity(z).

    Without a jump this is the likelihood-ratio limit of a normal outcome of unknown variance; without variance it is
    the limit of a jump that has not been seen, 2 j beta.
    """
    tilt = jump * rarity(z)
    spread = math.sqrt(tilt * tilt + variance * freedom * math.expm1(min(z * z / freedom, 100.0)))
    return float(tilt + spread if z > 0.0 else tilt - spread)
