"""When a missing outcome is worth following up: a compiled rule beside an index's `choose`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from truant.assumptions.follow_up import (
    ANSWERED,
    ARM_PULLS,
    ASKED,
    FREEDOM,
    HALF_JUMP,
    MEAN,
    MISSING_VARIANCE,
    SEEN_VARIANCE,
)
from truant.assumptions.robust import width
from truant.compile import hot, lean
from truant.errors import InvalidValue, quoted, unknown
from truant.setting import FloatArray, is_number, positive_number, share, whole_number

SUCCESS, BUDGET, COST, HORIZON, OWN = range(5)  # what every rule is told, then a parameter of its own

NARROW = 0.85  # of the gap to the next arm, within which the missing outcomes' share of the limits must come
STAKE = 0.03  # of what such limits can cost in the rounds left, spent on an arm's follow-ups at most
LOSS = 0.2  # of what an arm with a lower mean does cost in the rounds left, likewise
SAFETY = 10.0  # times the value of follow-ups: means of arms that were chosen for them are too extreme

# the rule that this one is compared with (`follow_up=threshold`)
FIRST, CLOSE, PART = 10.0, 0.7, 0.1

ROOT_HALF = math.sqrt(0.5)
DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class FollowUps:
    """What following up a missing outcome costs, in units of the outcome, and how often it brings an answer."""

    cost: float  # cost of one follow-up, in units of the outcome
    success: float = 1.0  # probability that a follow-up obtains the outcome

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", positive_number("follow_up_cost", self.cost, or_zero=True))
        if not is_number(self.success) or not 0 < self.success <= 1:
            raise InvalidValue(f"follow_up_success must be in (0, 1], got {self.success}.")


def terms_of(cost: float | None, success: float) -> FollowUps | None:
    """The terms of follow-ups; None if they have no cost, since they cannot be had then."""
    if cost is not None:
        return FollowUps(cost, success)
    if success != 1.0:
        raise InvalidValue(
            "follow_up_success is of use with follow_up_cost only; give what a follow-up costs, too."
        )
    return None


@dataclass(frozen=True)
class FollowUpRule:
    """Whether to follow up a missing outcome.

    `worth(arm, t, rule, described, wanted, rng)` is compiled and answers it after a pull of `arm` in round t whose
    outcome is missing. `rule` has success, budget, cost, horizon and the rule's own parameter; `described` what
    `follow-up` knows of each arm; `wanted` the rule's answer for each arm until its counts change (-1: not yet given).
    """

    name: str
    worth: Callable[..., bool] = field(repr=False)
    describes: bool = True  # whether it reads what `follow-up` knows of the arms
    own: float = 0.0
    budget: float = math.inf  # number of follow-ups at most

    def numbers(self, follow_ups: FollowUps, horizon: int) -> FloatArray:
        """What `worth` is told."""
        return np.array([follow_ups.success, self.budget, follow_ups.cost, float(horizon), self.own])


@hot
def at_random(
    arm: int,
    t: int,
    rule: FloatArray,
    described: FloatArray,
    wanted: FloatArray,
    rng: np.random.Generator,
) -> bool:
    """A share of all missing outcomes."""
    return bool(rng.random() < rule[OWN])


@hot
def by_value(
    arm: int,
    t: int,
    rule: FloatArray,
    described: FloatArray,
    wanted: FloatArray,
    rng: np.random.Generator,
) -> bool:
    """Where the answer is likely to be worth its cost."""
    if wanted[arm] < 0.0:
        wanted[arm] = 1.0 if has_value(arm, t, rule, described) else 0.0
    return bool(wanted[arm] > 0.0)


@hot
def by_threshold(
    arm: int,
    t: int,
    rule: FloatArray,
    described: FloatArray,
    wanted: FloatArray,
    rng: np.random.Generator,
) -> bool:
    """Ten answers of each arm, then while its limits are not much narrower than the gap."""
    if wanted[arm] < 0.0:
        wanted[arm] = 1.0 if is_close(arm, rule, described) else 0.0
    return bool(wanted[arm] > 0.0)


@lean
def lead_over_others(arm: int, described: FloatArray) -> float:
    """The arm's mean less the highest of the others."""
    best = -math.inf
    for a in range(described.shape[0]):
        if a != arm:
            best = max(best, described[a, MEAN])
    return float(described[arm, MEAN] - best)


@hot
def answers_expected(own: FloatArray, success: float) -> float:
    """Answers so far, and those that may still come: a follow-up without one is pending, or has failed."""
    return float(own[ANSWERED] + success * (own[ASKED] - own[ANSWERED]))


@lean
def has_value(arm: int, t: int, rule: FloatArray, described: FloatArray) -> bool:
    """Few answers, limits wide against the gap, or expected gain above cost.

    With D the gap to the next arm, u the variance that the missing outcomes add to the arm's mean, n the answers
    expected, kappa the cost of an answer and R the rounds that are left, a follow-up is worth its cost

    1. while n < log(pulls + 2), and n kappa is at most a tenth of R sqrt(u);
    2. while W > NARROW D, the missing outcomes make most of the width, and n kappa is at most STAKE W R, or LOSS D R
       for an arm whose mean is not the best: an arm is chosen by its upper limit, and pulls alone would never lower
       this one. W is what the missing outcomes add to the limit at z^2 = log T: sqrt(u log T), more while few are
       known and where a jump may be waiting among them;
    3. if for some k = 1, 2, 4, ... the value of k more answers is above k kappa: R m E[(Z - D/m)+] with m^2 =
       u k/(n + k), by which they will move the mean (knowledge gradient), times SAFETY; D/m with the heavier tail of
       an estimated variance.
    """
    own, left = described[arm], rule[HORIZON] - t
    cost = rule[COST] / rule[SUCCESS]
    n = answers_expected(own, rule[SUCCESS])
    u = own[MISSING_VARIANCE] * (own[ANSWERED] + 1.0) / (n + 1.0)
    lead = lead_over_others(arm, described)
    gap = abs(lead)
    paid = (n + 1.0) * cost
    if n < math.log(own[ARM_PULLS] + 2.0) and paid <= 0.1 * left * math.sqrt(u):
        return True
    z = math.sqrt(math.log(rule[HORIZON]))
    jump = own[HALF_JUMP] * (own[ANSWERED] + 1.0) / (n + 1.0)
    reach = width(z, u, own[FREEDOM] + 2.0, jump)
    at_stake = max(STAKE * reach, -LOSS * lead) * left
    if reach > NARROW * gap and reach * reach >= z * z * own[SEEN_VARIANCE] and paid <= at_stake:
        return True
    phi = own[FREEDOM] + 2.0
    more = 1.0
    while more * cost < SAFETY * left * math.sqrt(u):  # beyond it no number has that value
        move = math.sqrt(u * more / (n + more + 1.0))
        if move == 0.0:
            return False
        x = gap / move
        x = math.sqrt(phi * math.log1p(x * x / phi))
        if SAFETY * left * move * expected_excess(x) > more * cost:
            return True
        more *= 2.0
        if more > 1e6:
            return False
    return False


@hot
def expected_excess(x: float) -> float:
    """E[(Z - x)+] for Z ~ N(0, 1)."""
    return float(DENSITY * math.exp(-0.5 * x * x) - 0.5 * x * math.erfc(x * ROOT_HALF))


@lean
def is_close(arm: int, rule: FloatArray, described: FloatArray) -> bool:
    """n0 < 10, or W > .7 D where the missing part dominates; only while (n0 + 1) kappa <= .1 max(D, W) T."""
    own = described[arm]
    u = own[MISSING_VARIANCE] * (own[ANSWERED] + 1.0) / (own[ASKED] + 1.0)
    gap, reach = abs(lead_over_others(arm, described)), math.sqrt(u * math.log(rule[HORIZON]))
    if (own[ASKED] + 1.0) * rule[COST] > PART * max(gap, reach) * rule[HORIZON]:
        return False
    return bool(own[ASKED] < FIRST or (reach > CLOSE * gap and u >= own[SEEN_VARIANCE]))


RULES = {
    "value": FollowUpRule("value", by_value),
    "threshold": FollowUpRule("threshold", by_threshold),
}


def rule_of(follow_up: object, budget: object, reads_follow_ups: bool) -> FollowUpRule:
    """The rule that `follow_up` names: "value", "threshold", or a share of all missing outcomes.

    Only a policy that chooses by `follow-up` knows what an answer is worth; others take a share.
    """
    if is_number(follow_up):
        chosen = float(share("follow_up", follow_up))
        if not chosen > 0:
            raise InvalidValue(f"follow_up must be a share in (0, 1], got {quoted(follow_up)}.")
        rule = FollowUpRule("share", at_random, describes=False, own=chosen)
    elif not reads_follow_ups:
        raise InvalidValue(
            "follow_up must be the share of missing outcomes to follow up, in (0, 1], for a policy that does not "
            f"choose by follow-up, got {quoted(follow_up)}."
        )
    else:
        name = "value" if follow_up is None else follow_up
        if not isinstance(name, str) or name not in RULES:
            raise unknown("follow_up", str(name), RULES)
        rule = RULES[name]
    if budget is None:
        return rule
    return replace(rule, budget=float(whole_number("budget", budget, at_least=0)))
