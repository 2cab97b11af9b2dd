"""Tables with missing outcomes whose truth is known, for plans of follow-ups: drawn, planned, followed up, analysed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truant.assumptions.follow_up import FollowedUp
from truant.counts import Counts
from truant.errors import TruantError
from truant.estimates.beliefs import Labels
from truant.estimates.ranking import best_probabilities
from truant.follow_up.plan import plan_counts
from truant.follow_up.result import Plan, PlanOptions
from truant.setting import Setting

LEVELS = 3
APART = 0.25  # standard deviation of the arms' means, as a share of that of an outcome
MISSING = 0.4


@dataclass(frozen=True)
class Table:
    """Columns with every outcome, which of them are missing, and the mean of each arm in the population."""

    setting: Setting
    arms: Any
    mediators: Any
    outcomes: Any
    missing: Any
    means: Any

    def counts(self, followed_up: Any = None) -> Counts:
        """What the analyst sees: missing outcomes are not there, unless they were followed up."""
        asked = np.zeros(len(self.arms), bool) if followed_up is None else followed_up
        seen = np.where(self.missing & ~asked, np.nan, self.outcomes)
        return Counts.fold(
            self.setting, self.arms, self.mediators, seen, None if followed_up is None else asked
        )


def draw_table(reason: str, outcome: str, arms: int, rows: int, seed: int) -> Table:
    """A table of `rows` rows per arm; `reason` says what missingness depends on, `outcome` the kind of outcome."""
    rng = np.random.default_rng([seed, arms, len(reason), len(outcome)])
    a = np.repeat(np.arange(arms), rows)
    shares = rng.dirichlet(np.full(LEVELS, 5.0), arms)
    m = np.concatenate([rng.choice(LEVELS, rows, p=share) for share in shares])
    effects = APART * rng.standard_normal(arms)[:, None] + 0.5 * rng.standard_normal(LEVELS)
    # P(missing) by arm and level; how far the missing outcomes of an arm are from the others
    base = np.clip(MISSING + 0.2 * rng.standard_normal((arms, LEVELS)), 0.05, 0.9)
    shift = (
        0.5 * rng.standard_normal((arms, 1)) * np.ones(LEVELS)
        if reason == "shifted"
        else np.zeros((arms, LEVELS))
    )
    if reason == "shifted":  # the second scenario itself
        missing = rng.random(len(a)) < base[a, m]
        y = _outcomes(rng, outcome, effects[a, m] + np.where(missing, shift[a, m], 0.0))
        seen, lost = (_mean_of(outcome, effects + part) for part in (0.0, shift))
        means = (shares * ((1 - base) * seen + base * lost)).sum(axis=1)
        return Table(_setting(arms, outcome), a, m, y, missing, means)
    y = _outcomes(rng, outcome, effects[a, m])
    means = (shares * _mean_of(outcome, effects)).sum(axis=1)
    strength = {"mar": 0.0, "mnar": 1.0, "both": 1.5}[reason] * rng.standard_normal(arms)
    if reason == "mnar":
        base = np.repeat(base.mean(axis=1, keepdims=True), LEVELS, axis=1)
    slope = strength[a] * ((m - 1) if reason == "both" else 1)
    standard = (y - y.mean()) / y.std()
    missing = rng.random(len(a)) < 1 / (1 + np.exp(-np.log(base[a, m] / (1 - base[a, m])) - slope * standard))
    return Table(_setting(arms, outcome), a, m, y, missing, means)


def _outcomes(rng: np.random.Generator, kind: str, middle: Any) -> Any:
    if kind == "0/1":
        return (rng.random(len(middle)) < _mean_of(kind, middle)).astype(float)
    if kind == "skewed":  # log-normal noise, standardised
        noise = np.exp(0.7 * rng.standard_normal(len(middle)))
        spread = np.exp(0.49 / 2) * np.sqrt(np.exp(0.49) - 1)
        return middle + (noise - np.exp(0.49 / 2)) / spread
    return middle + rng.standard_normal(len(middle))


def _mean_of(kind: str, middle: Any) -> Any:
    return 1 / (1 + np.exp(-2 * middle)) if kind == "0/1" else middle


def _setting(arms: int, outcome: str) -> Setting:
    if outcome == "0/1":
        return Setting(arms=arms, mediators=LEVELS, levels=(0.0, 1.0))
    return Setting(arms=arms, mediators=LEVELS, low=-8.0, high=8.0, range_known=False)


def follow(table: Table, plan: Plan, seed: int) -> tuple[bool, bool]:
    """Follow the plan, analyse: whether the leader is clear, and whether it is clear and not the best arm."""
    rng = np.random.default_rng([seed, 1])
    asked = np.zeros(len(table.arms), bool)
    for cell in plan.cells:
        rows = np.flatnonzero(
            table.missing & (table.arms == int(cell.arm)) & (table.mediators == int(cell.mediator))
        )
        asked[rng.choice(rows, cell.follow_ups, replace=False)] = True
    counts = table.counts(asked)
    estimates = [FollowedUp().estimate(counts, arm, table.setting) for arm in range(table.setting.arms)]
    chances = best_probabilities(estimates)[0]
    leader = int(np.argmax([estimate.mean for estimate in estimates]))
    clear = bool(chances[leader] >= plan.options.level)
    return clear, clear and leader != int(np.argmax(table.means))


def planned_and_followed(item: tuple[str, str, int, int, int]) -> dict[str, Any] | None:
    """One table from its plan to the answer."""
    reason, outcome, arms, rows, seed = item
    table = draw_table(reason, outcome, arms, rows, seed)
    labels = Labels.of(range(arms), range(LEVELS))
    try:
        plan = plan_counts(table.counts(), table.setting, labels, PlanOptions())
    except TruantError:
        return None
    clear, wrong = follow(table, plan, seed)
    return {
        "kind": plan.kind,
        "alike": plan.point.chances["alike"],
        "differ": plan.point.chances["differ"],
        "follow_ups": plan.follow_ups,
        "missing": plan.missing,
        "clear": clear,
        "wrong": wrong,
    }
