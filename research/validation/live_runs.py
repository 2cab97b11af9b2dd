"""Runs of live experiments, for `live_rehearsal`."""

from __future__ import annotations

from typing import Any

import numpy as np

from research.cores import each
from research.validation.faults import with_faults
from truant.durations import DAY
from truant.lab.simulate import simulate
from truant.live.store import decision_statements
from truant.rehearsal.plan import RehearsalPlan, RehearsalQuestion, plan_of
from truant.rehearsal.run import Rehearsed, draws_of, drive, figures_of, run_figures
from truant.worlds.delays import Delay
from truant.worlds.discrete import DiscreteWorld

MEANS = (0.35, 0.5, 0.65)
CLOSE_MEANS = (0.45, 0.5, 0.55)  # of which shares change for long
LEVEL = 0.95


def planned(world: Any, **changes: Any) -> RehearsalPlan:
    return plan_of(RehearsalQuestion(world, **{"assume": "mcar", "level": LEVEL, **changes}))


def coins(means: tuple[float, ...] = MEANS) -> DiscreteWorld:
    """Outcomes 0 and 1, none missing, without a mediator."""
    return DiscreteWorld([[[1 - mean, mean]] for mean in means], name="coins")


def mediated() -> DiscreteWorld:
    """Three arms; outcomes 0 and 1 are seen by a chance that depends on one of two mediator levels."""
    p = np.array([[0.7, 0.3], [0.5, 0.5], [0.4, 0.6]])
    given = np.array([[0.2, 0.6], [0.3, 0.5], [0.4, 0.9]])
    joint = np.stack([p * (1 - given), p * given], axis=2)
    return DiscreteWorld(joint, np.array([0.9, 0.5])[None, :, None], name="mediated")


# Regret at a delay


def live_regrets(policy: str, delay: int, horizon: int, runs: int, seed: int) -> list[float]:
    return each(one_live_regret, [(policy, delay, horizon, seed, run) for run in range(runs)])


def one_live_regret(task: tuple[str, int, int, int, int]) -> float:
    policy, delay, horizon, seed, run = task
    plan = planned(
        mediated(),
        seed=seed,
        assume="mar",
        policy=policy,
        windows=f"{delay + 1}m",
        delay="constant:30s",
        rate="60/h",
        decisions=horizon,
        step="1m",
    )
    return run_figures(plan, plan.variants[0], run, False).regret


def lab_regrets(policy: str, delay: int, horizon: int, runs: int, seed: int) -> list[float]:
    result = simulate(mediated(), policy, horizon=horizon, runs=runs, seed=seed, delay=delay, estimates=False)
    regrets: list[float] = result.final[0].tolist()
    return regrets


# Outcomes that come late depending on what they are


def late_errors(depends_on: str, settle: str, runs: int, seed: int) -> list[list[float]]:
    return each(one_late_error, [(depends_on, settle, seed, run) for run in range(runs)])


def one_late_error(task: tuple[str, str, int, int]) -> list[float]:
    depends_on, settle, seed, run = task
    plan = planned(
        coins(),
        seed=seed,
        policy="uniform",
        settle=settle,
        delay=Delay("constant", DAY, depends_on, 9.0),  # type: ignore[arg-type]
        windows="4d",
        rate="150/d",
        days=6,
        step="12h",
    )
    rehearsed = _driven(plan, run)
    rows = _rows(rehearsed)
    found = []
    for arm, mean in enumerate(MEANS):
        own = [row.outcome for row in rows if row.arm == arm and row.state == "observed"]
        found.append(float(np.mean(own)) - mean)
    return found


# Winners in the null world


def winners(policy: str, depends_on: str, runs: int, null: bool, seed: int) -> list[str]:
    return each(one_winner, [(policy, depends_on, null, seed, run) for run in range(runs)])


def one_winner(task: tuple[str, str, bool, int, int]) -> str:
    policy, depends_on, null, seed, run = task
    plan = planned(
        "mar:arms=3",
        seed=seed,
        assume="mar",
        policy=policy,
        late_depends_on=depends_on,
        delay="exponential:12h",
        windows="3d",
        rate="40/d",
        days=21,
        step="12h",
    )
    world, variant = plan.instance(run), plan.variants[0]
    draws = draws_of(plan, world, run, null)
    faulty = with_faults(draws, plan, run, null, duplicates=0.02, reorder=True, lose=0.01)
    found = figures_of(plan, variant, drive(plan, variant, world.setting, faulty))
    return "none" if found.winner is None else "right" if found.right else "wrong"


# Probabilities that were kept


def weighted_means(policy: str, decisions: int, seed: int, run: int) -> list[list[float]]:
    plan = planned(
        coins(CLOSE_MEANS),
        seed=seed,
        policy=policy,
        delay="exponential:2h",
        windows="1d",
        rate="500/d",
        decisions=decisions,
        step="6h",
        settings={"minimum_share": 0.02},
    )
    rehearsed = _driven(plan, run)
    rows = _rows(rehearsed)
    chosen, kept = np.array([row.arm for row in rows]), np.array([row.probability for row in rows])
    # those that are late or pending, too
    drawn = rehearsed.draws.outcomes[np.arange(len(rows)), chosen]
    found = []
    for arm in range(len(CLOSE_MEANS)):
        terms = np.where(chosen == arm, drawn, 0.0) / kept
        error = float(terms.std(ddof=1) / np.sqrt(len(terms)))
        found.append([float(terms.mean()), error, float(np.mean(chosen == arm))])
    return found


def _driven(plan: RehearsalPlan, run: int) -> Rehearsed:
    world = plan.instance(run)
    return drive(plan, plan.variants[0], world.setting, draws_of(plan, world, run, False))


def _rows(rehearsed: Rehearsed) -> list[Any]:
    experiment = rehearsed.experiment
    return experiment.store.read(
        lambda transaction: list(decision_statements.all_rows(transaction, experiment.number))
    )
