"""The least variance that an estimate can have under an assumption, and the regret it makes unavoidable."""

from __future__ import annotations

import numpy as np

from truant import registry
from truant.assumptions import ArmTables
from truant.setting import FloatArray, positive_number, whole_number
from truant.spec import Spec
from truant.theory.laws import of_each_arm
from truant.worlds import World


def efficient_variance(world: World, assumption: str) -> FloatArray:
    """V_a: N pulls of an arm give its mean with a variance of V_a / N at best, under the assumption.

    `mcar`: Var(Y) / gamma. `mar`: sum_m p_m s_m^2 / gamma_m + Var(mu_M). `mediator-mar`: the same over
    P(Q=1|a), the variance on pulls whose mediator was seen (the others could add a little). `mnar`,
    `mediator-mnar` and `both-mnar`, for discrete outcomes: the Cramer-Rao bound of the table of counts, d' I^- d,
    with d the derivative of mu and I the information of a pull on P(m,y|a) and on the chances to be seen.
    `follow-up:rate=f`, in any world: E[Var(Y|M,O)/f_O] + Var(E[Y|M,O]), f_O = f where the outcome was missing, else 1.

    Parameters
    ----------
    world : one that satisfies the assumption.
    assumption : the name of any assumption that states its efficient variance.

    Returns
    -------
    V_a, shape (arms,).
    """
    spec = Spec.parse(assumption)
    built = registry.find("assumption", spec.name).build(**spec.parameters)
    return np.array(of_each_arm(world, assumption, built.efficient_variance), np.float64)


def follow_up_total_cost(world: World, horizon: int, cost: float) -> float:
    """A yardstick for regret and follow-ups together, as `instance_regret` is for regret: the cheapest mix of both.

    N pulls and n follow-ups give an arm's mean with variance A/N + B/n, where A = E[Var(Y|M,O); seen] + Var(E[Y|M,O])
    and B = (P(missing) x the mean standard deviation of missing outcomes within mediator levels)^2. It must come down
    to gap^2/(2 log T); the cheapest way costs 2 log T/gap^2 (sqrt(gap A) + sqrt(cost B))^2, or, where that would take
    more follow-ups than outcomes are missing, 2 log T/gap^2 (gap + cost P(missing)) V with V of everything seen; and
    never more than T gap, for each worse arm.

    Parameters
    ----------
    world : any from arrays.
    horizon : T.
    cost : of one follow-up, in units of the outcome.
    """
    T = whole_number("horizon", horizon, at_least=1)
    price = positive_number("cost", cost, or_zero=True)
    total = 0.0
    parts = of_each_arm(world, "follow-up", _seen_and_missing)
    for gap, (A, B, missing) in zip(world.gaps, parts, strict=True):
        if gap <= 1e-12:  # equal arms may differ by rounding
            continue
        once = 2 * np.log(T) / gap**2
        if B > 0 and price * A * missing**2 < gap * B:  # n/N = sqrt(gap B/(cost A)) > P(missing)
            mix = once * (gap + price * missing) * (A + B / missing)
        else:
            mix = once * (np.sqrt(gap * A) + np.sqrt(price * B)) ** 2
        total += min(mix, T * gap)  # always pulling the arm costs no more
    return float(total)


def _seen_and_missing(tables: ArmTables) -> tuple[float, float, float]:
    """A, B and P(missing) of an arm."""
    shares, means, variances = tables.seen_and_missing()
    mean = float((shares * means).sum())
    A = float((shares[0] * variances[0]).sum() + (shares * (means - mean) ** 2).sum())
    return A, float((shares[1] * np.sqrt(variances[1])).sum()) ** 2, float(shares[1].sum())


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
