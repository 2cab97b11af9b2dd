"""What the study measures of runs, and the limits by which it judges regret; the same in every section."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from research.figures import Figure, share
from research.markdown import standard_error

if TYPE_CHECKING:
    from truant.lab.result import Simulation

NAIVE = "naive-ucb"
LINEAR = 0.75  # regret of the second half over that of the first, from which on it has not stopped growing
MANY = 3.0  # times the median, above which a run that never stopped is counted as straight
MOST_STRAIGHT = 0.045  # share of the runs of a policy
QUARTER, PRICE = 0.25, 2.0  # of naive's regret: where naive does not learn, and where it does
ERRORS = 3.0  # standard errors that a limit allows for
RESAMPLES = 200  # of a bootstrap

Places = Callable[[int], npt.NDArray[np.int64]]

LIMITS = (
    "The policy `naive-ucb` *does not learn* in a world if the second half of the rounds adds more than "
    f"{LINEAR} times the regret of the first half on average. In such worlds the regret of truant's policies "
    f"may be at most {QUARTER:g} times that of naive-ucb. In worlds where naive-ucb learns, it may be at "
    f"most {PRICE:g} times that of naive-ucb: this is the price of not assuming that rows may be dropped. "
    f"Both limits allow for {ERRORS:.0f} standard errors of the ratio."
)
STRAIGHT = (
    "A run is *straight* (its regret grows linearly because it keeps pulling a bad arm) if its second half "
    f"adds more than {LINEAR} times the regret of its first half, the best arm has less than half of the "
    f"pulls, and its regret is above {MANY:.0f} times the policy's median."
)


def halves(result: Simulation, policy: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Regret of the first and of the second half of the rounds, of each run."""
    curve = result.regret[result.policies.index(policy)]
    first = curve[:, np.searchsorted(result.rounds, result.horizon // 2)]
    return first, curve[:, -1] - first


def grows(result: Simulation, policy: str) -> bool:
    """Whether regret grows as fast late as early, on average: the policy does not learn."""
    first, second = halves(result, policy)
    return bool(second.mean() >= LINEAR * first.mean())


def straight(result: Simulation, policy: str) -> npt.NDArray[np.bool_]:
    """Which runs stay with a bad arm."""
    first, second = halves(result, policy)
    final, share = regret(result, policy), result.best_arm_share[result.policies.index(policy)]
    return (second > LINEAR * first) & (share < 0.5) & (final > MANY * np.median(final))


def regret(result: Simulation, policy: str) -> npt.NDArray[np.float64]:
    """At the last round, of each run."""
    return np.asarray(result.final[result.policies.index(policy)])


def ratio(values: npt.ArrayLike, others: npt.ArrayLike) -> tuple[float, float]:
    """Mean of values over that of others from the same runs, and its standard error (delta method)."""
    x, y = np.asarray(values, float), np.asarray(others, float)
    if y.mean() == 0:
        return float("inf"), 0.0
    quotient = x.mean() / y.mean()
    error = (x - quotient * y).std(ddof=1) / np.sqrt(len(x)) / y.mean()
    return float(quotient), float(error)


def share_with_error(held: npt.ArrayLike) -> Figure:
    """A share of independent units, written with its standard error."""
    figure = share(held)
    return figure.with_text(f"{figure.value:.3f} ± {standard_error(held):.3f}")


def root_error(square: float, error: float) -> float:
    """Standard error of the root of an estimate, which counts as 0 where it is negative.

    It is what a standard error of the estimate adds or takes off, whichever is more: this holds near 0, too.
    """
    square = max(square, 0.0)
    root, below, above = (np.sqrt(max(value, 0.0)) for value in (square, square - error, square + error))
    return float(max(above - root, root - below))


def bootstrap_error(statistic: Callable[[Places], npt.ArrayLike]) -> npt.NDArray[np.float64]:
    """Root mean square change of a statistic when runs are drawn again; this counts the bias of a largest value.

    Parameters
    ----------
    statistic : of the places of the runs that are drawn, among so many; results with as many runs share them.
    """
    rng = np.random.default_rng(1)
    whole = np.asarray(statistic(np.arange))
    again = []
    for _ in range(RESAMPLES):
        places = functools.cache(lambda number: rng.integers(number, size=number))
        again.append(np.asarray(statistic(places)))
    return np.asarray(np.sqrt(np.nanmean((np.array(again) - whole) ** 2, axis=0)))


def beside_naive(result: Simulation, policy: str, price: float = PRICE) -> bool:
    """Whether regret is within the limit: a quarter of naive's where naive does not learn, else `price` times it."""
    limit = QUARTER if grows(result, NAIVE) else price
    found, error = ratio(regret(result, policy), regret(result, NAIVE))
    return found <= limit + ERRORS * error
