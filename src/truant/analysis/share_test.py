"""The share test for adaptive shares: were arms chosen as often as the stored probabilities say?

A decision draws arm a with a probability p_a that depends on what came before. Over the decisions, N_a - sum p_a is a
martingale with variance V_a = sum p_a (1 - p_a), and z_a = (N_a - sum p_a)/sqrt(V_a). A chi-square test against fixed
shares would not do here.

Two p-values, for all arms together:

- At one look, by the tail of a Poisson distribution with variance V_a in place of a normal one: no sum of choices with
  this variance is more skewed, and an arm whose probabilities are tiny is drawn once now and then. Bonferroni's
  correction over the arms that chance could move; two of them are one comparison, since one has what the other lacks.
- At any number of looks, whatever the allocation did: exp(l (N_a - sum p_a) - (e^l - 1 - l) V_a) is a supermartingale
  for every l (Bennett), so the mean E of these over arms, signs and a fixed set of l exceeds 1/p at any time with
  probability at most p (Ville). The p-value is 1/E. It needs larger deviations, about |z| = 3.5.

For an alarm that is looked at every day, use the second: the first falls below 5% at some of 40 looks in up to one
run of five.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truant.analysis import shares
from truant.errors import InvalidValue
from truant.setting import FloatArray, finite
from truant.text import named

ROUNDING = 1e-9  # of sums of probabilities, relative
RATES = 8.0 * 2.0 ** -np.arange(14)  # l: from single draws that should not be to a million decisions
UNLIKELY = 0.05
FARTHEST = 700.0  # exponent whose exponential is still a number


@dataclass(frozen=True)
class ShareTest:
    """How often arms were chosen against their probabilities; small p-values say that choices were made otherwise."""

    z: tuple[float, ...]  # of each arm; 0 where chance could not move it, infinite where that is no excuse
    arm: int | None  # the arm that is least as expected; None if chance could move none
    p_value: float  # at one look, corrected for the number of arms (Bonferroni)
    p_value_any_time: float  # at any number of looks
    sentence: str


def share_test(
    n: npt.ArrayLike, expected: npt.ArrayLike, variance: npt.ArrayLike, names: Sequence[str] = ()
) -> ShareTest:
    """Choices of each arm against the probabilities with which they were made.

    Parameters
    ----------
    n : choices of each arm.
    expected : the sum of its probabilities over all decisions.
    variance : the sum of p (1 - p) of them; 0 for an arm that was always or never chosen by design.
    names : of the arms, for the sentence; their numbers unless given.

    Examples
    --------
    >>> share_test([5200, 4800], [5000.0, 5000.0], [2500.0, 2500.0]).z
    (4.0, -4.0)
    """
    chosen, means, variances = _columns(n, expected, variance)
    away = chosen - means
    away[np.abs(away) <= ROUNDING * (1 + means)] = 0.0
    impossible = (variances == 0) & (away != 0)
    random = variances > 0
    z = np.where(impossible, np.copysign(np.inf, away), 0.0)
    z[random] = away[random] / np.sqrt(variances[random])
    p_values = np.where(impossible, 0.0, 1.0)
    p_values[random] = _poisson_tails(away[random], variances[random])
    comparisons = 1 if random.sum() == 2 else max(int(random.sum()), 1)
    once = min(1.0, comparisons * float(p_values.min()))
    any_time = 0.0 if impossible.any() else _any_time(away, variances)
    arm = int(np.argmin(p_values)) if random.any() or impossible.any() else None
    sentence = _sentence(arm, names, chosen, means, any_time)
    return ShareTest(tuple(float(score) for score in z), arm, once, any_time, sentence)


def _columns(
    n: npt.ArrayLike, expected: npt.ArrayLike, variance: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    columns = finite("n", n), finite("expected", expected), finite("variance", variance)
    if columns[0].ndim != 1 or not columns[0].size or len({column.shape for column in columns}) > 1:
        raise InvalidValue(
            "n, expected and variance must have one number for each arm, got shapes "
            f"{', '.join(str(column.shape) for column in columns)}."
        )
    for name, column in zip(("n", "expected", "variance"), columns, strict=True):
        if column.min() < 0:
            raise InvalidValue(f"{name} must be numbers of at least 0, got {column.min():g}.")
    if np.any(columns[2] > columns[1] * (1 + ROUNDING) + ROUNDING):
        raise InvalidValue(
            "variance, a sum of p (1 - p), must be at most expected, the sum of p, for each arm."
        )
    return columns


def _poisson_tails(away: FloatArray, variances: FloatArray) -> FloatArray:
    """Of both sides: twice the probability that a Poisson variable is as far above its mean; continuous in between."""
    from scipy.special import gammainc

    found: FloatArray = np.where(
        away == 0, 1.0, np.minimum(1.0, 2 * gammainc(variances + np.abs(away), variances))
    )
    return found


def _any_time(away: FloatArray, variances: FloatArray) -> float:
    """1/E, E the mean of the supermartingales of all arms, both signs and all rates."""
    rates = np.concatenate([RATES, -RATES])[:, None]
    size = np.abs(rates)
    exponents = rates * away - (np.expm1(size) - size) * variances
    return float(min(1.0, 1 / np.exp(np.clip(exponents, -FARTHEST, FARTHEST)).mean()))


def _sentence(arm: int | None, names: Sequence[str], chosen: FloatArray, means: FloatArray, p: float) -> str:
    if arm is None:
        return "Choices cannot be compared with their probabilities: none of them was random."
    text = shares.p_value(p)
    p_text = f"p {text}" if text.startswith("<") else f"p = {text}"
    if p >= UNLIKELY:
        return f"Arms were chosen as often as their probabilities say ({p_text}, at any number of looks)."
    name = named(names[arm]) if names else str(arm)
    return (
        f"Arms were not chosen as often as their probabilities say: arm {name} {chosen[arm]:,.0f} times instead of "
        f"{means[arm]:,.1f} ({p_text}, at any number of looks). Find the cause before you use the results: decisions "
        "may be lost, repeated or changed on their way."
    )
