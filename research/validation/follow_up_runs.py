"""Runs of policies where missing outcomes can be followed up: what they lose, and what follow-ups cost."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from research.cores import each
from research.validation.plans import plan_named
from truant.play.run import play
from truant.policies.follow_up_rules import FollowUps


class Terms(NamedTuple):
    """What a follow-up costs, how often it succeeds, and how late outcomes and answers come.

    `cost` is in units of the outcome or, with `of_spread`, of the spread that the world states.
    """

    cost: float
    success: float = 1.0
    delay: int = 0
    of_spread: bool = False


class Runs(NamedTuple):
    """Of each run: regret of the first half and of all rounds, follow-ups and their cost, best arm's share, gap."""

    first_half: Any
    regret: Any
    follow_ups: Any
    cost: Any
    best_share: Any
    gap: Any

    @property
    def total(self) -> Any:
        """Regret and cost of the follow-ups."""
        return self.regret + self.cost


def follow_up_runs(
    world: str, policy: str, horizon: int, runs: int, seed: int, terms: list[Any] | None
) -> list[list[float]]:
    """A row of `Runs` for each run; without terms missing outcomes cannot be followed up."""
    return each(_run, [(world, policy, horizon, seed, terms, run) for run in range(runs)])


def as_runs(rows: list[list[float]]) -> Runs:
    """The columns of the rows."""
    return Runs(*np.array(rows, np.float64).T)


def _run(item: tuple[str, str, int, int, list[Any] | None, int]) -> list[float]:
    world, name, horizon, seed, given, run = item
    plan = plan_named(world, [name], horizon, seed)
    instance = plan.instance(run)
    terms = None if given is None else Terms(*given)
    unit = instance.setting.outcome_scale if terms and terms.of_spread else 1.0
    bought = None if terms is None else FollowUps(terms.cost * unit, terms.success)
    result = play(
        plan.policies[0],
        instance,
        plan.generator(run),
        horizon,
        np.array([horizon // 2, horizon]),
        delay=terms.delay if terms else 0,
        follow_ups=bought,
    )
    asked = 0.0 if result.follow_ups is None else float(result.follow_ups[-1])
    return [
        *(float(value) for value in result.regret),
        asked,
        asked * bought.cost if bought else 0.0,
        float(result.pulls[instance.gaps == 0].sum() / horizon),
        float(np.sort(instance.gaps)[1]),
    ]
