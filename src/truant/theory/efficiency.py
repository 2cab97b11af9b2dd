"""The least variance that an estimate can have under an assumption, and the regret it makes unavoidable."""

from __future__ import annotations

import numpy as np

from truant import registry
from truant.setting import FloatArray, whole_number
from truant.spec import Spec
from truant.theory.laws import of_each_arm
from truant.worlds import World


def efficient_variance(world: World, assumption: str) -> FloatArray:
    """V_a: N pulls of an arm give its mean with a variance of V_a / N at best, under the assumption.

    `mcar`: Var(Y) / gamma. `mar`: sum_m p_m s_m^2 / gamma_m + Var(mu_M). `mediator-mar`: the same over
    P(Q=1|a), the variance on pulls whose mediator was seen (the others could add a little). `mnar`,
    `mediator-mnar` and `both-mnar`, for discrete outcomes: the Cramer-Rao bound of the table of counts, d' I^- d,
    with d the derivative of mu and I the information of a pull on P(m,y|a) and on the chances to be seen.

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
