"""Growth with log T on fixed instances, beside what theory says of the index: from V and gap of each worse arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from research.figures import exact, plus_minus, table
from research.markdown import standard_error, verdict, yes
from research.validation.instances import world_named
from research.validation.measures import Places, bootstrap_error
from research.validation.slopes import fitted_slope
from truant import theory
from truant.indices.ucb import squared_z
from truant.setting import FloatArray
from truant.worlds import RealWorld, World

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.2  # of the runs, to confirm the figures
HORIZONS = (10_000, 31_623, 100_000, 316_228, 1_000_000)
LEVELS = {"ucb": 1.0, "ucb:level=cautious": 2.0, "thompson": None}
# world, its seed, the assumption, runs
INSTANCES = (
    ("mar:K=1,gamma=1", 1, "mcar", 100),
    ("mar", 1, "mar", 100),
    ("mediator-mar", 1, "mediator-mar", 100),
    ("mnar-clear", 3, "mnar", 40),
)
TOLERANCE = 0.25  # of the constant: terms of a lower order fade only as 1/sqrt(log T)


def section(bench: Workbench) -> list[str]:
    rows = [row(bench, *instance, index) for instance in INSTANCES for index in LEVELS]
    return [
        "## Growth with log T",
        f"Slope of the mean regret over log T (T from {HORIZONS[0]:,} to {HORIZONS[-1]:,} rounds) on one "
        "fixed instance of each world (nothing is missing in the first). *Promised*: with V the smallest "
        "variance that the assumption allows, `ucb` pulls a worse arm until z sqrt(V/N) equals its gap "
        "after N pulls, so N = z² V/gap² with the index's own z (it decreases as more is known of the arm; "
        "for the likelihood assumptions it is sqrt(log T)); the slope is that of the sum of gap N. Thompson "
        "sampling should reach `truant.theory.instance_regret`, the sum of 2 V/gap. Neither accounts for "
        "variances that must be estimated, or for the shrinkage of mediator levels towards each other. A "
        f"row agrees if the slope is within {TOLERANCE:.0%} of the promised one, or within two standard "
        f"errors. {verdict([r[-1] for r in rows], 'rows')}",
        table(("instance", "policy", "promised", "measured", "ratio", "agrees"), rows),
    ]


def row(bench: Workbench, world: str, seed: int, assumption: str, runs: int, index: str) -> list[str]:
    horizons = bench.size(HORIZONS, (1000, 3000))
    policy, runs = f"{assumption}-{index}", bench.runs(runs, 4)
    instance = world_named(world, seed)
    finals = [bench.simulated(instance, [policy], horizon, runs).final[0] for horizon in horizons]
    slope, error = slope_of(finals, horizons)
    promised = promised_slope(instance, assumption, LEVELS[index], horizons)
    agrees = abs(slope - promised) <= max(TOLERANCE * promised, 2 * error)

    def slope_at(places: Places) -> float:
        return slope_of([final[places(runs)] for final in finals], horizons)[0]

    sampling = float(bootstrap_error(slope_at))
    return [
        f"{world}, seed {seed}",
        f"`{policy}`",
        exact(round(promised, 1), "{:.1f}"),
        plus_minus(slope, sampling, size=runs, text=f"{slope:.1f} ± {error:.1f}"),
        plus_minus(slope / promised, sampling / promised, size=runs, text=f"{slope / promised:.2f}"),
        yes(agrees),
    ]


def slope_of(finals: Sequence[FloatArray], horizons: Sequence[int]) -> tuple[float, float]:
    """Slope of the mean regret over log T, and its standard error."""
    means, errors = [final.mean() for final in finals], [standard_error(final) for final in finals]
    return fitted_slope(np.log(horizons), means, errors) if all(errors) else (np.nan, np.nan)


def promised_slope(world: World, assumption: str, level: float | None, horizons: Sequence[int]) -> float:
    """Of the regret over log T; no level: that of Thompson sampling."""
    if level is None:
        return theory.instance_regret(world, 1000, assumption) / float(np.log(1000))
    variances = theory.efficient_variance(world, assumption)
    noise = None  # of one outcome; the likelihood assumptions do not say how much is known of an arm
    if isinstance(world, RealWorld):
        noise = (world.mediator_probabilities * world.outcome_sd**2).sum(axis=1)
    regrets = [
        sum(
            world.gaps[a]
            * pulls_of_worse(variances[a], world.gaps[a], level, T, None if noise is None else noise[a])
            for a in np.flatnonzero(world.gaps > 1e-12)
        )
        for T in horizons
    ]
    return float(np.polyfit(np.log(horizons), regrets, 1)[0])


def pulls_of_worse(variance: float, gap: float, level: float, horizon: int, noise: float | None) -> float:
    """N with N = z² V/gap², where z² falls with the N noise/V outcomes that the estimate is worth."""
    low, high = 0.0, float(horizon)
    for _ in range(60):  # z² falls with N, so that there is one solution
        pulls = (low + high) / 2
        known = 0.0 if noise is None else pulls * noise / variance
        wanted = level * squared_z(known, float(np.log(horizon))) * variance / gap**2
        low, high = (pulls, high) if wanted > pulls else (low, pulls)
    return low
