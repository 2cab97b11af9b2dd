"""The sweeps behind the slopes: worlds in which one number changes, with the bounds that hold in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truant import theory
from truant.worlds import DiscreteWorld, RealWorld, World

ARMS, GAMMA, HORIZON = 10, 0.5, 100_000
COST = 8.0  # sum p/gamma of the mar world whose horizon changes
SHADOW_ARMS = 5  # fits of likelihoods take their time


@dataclass(frozen=True)
class Point:
    """One world of a sweep, its place on the axis, and its bounds."""

    x: float
    world: World
    horizon: int
    lower: float
    upper: float


@dataclass(frozen=True)
class Sweep:
    """What changes, over which values, and for whom."""

    name: str
    label: str
    values: tuple[float, ...]
    policies: tuple[str, ...]
    point: Callable[[float, float], Point]  # (value, gap in units) -> point
    runs: int = 200


def mcar_point(
    x: float, gap: float, *, arms: int = ARMS, gamma: float = GAMMA, horizon: int = HORIZON
) -> Point:
    """Normal outcomes, seen with one probability."""
    means = np.zeros((arms, 1))
    means[0] = gap * np.sqrt(arms / (gamma * horizon))
    world = RealWorld(np.ones((arms, 1)), means, gamma)
    return Point(
        x, world, horizon, theory.mcar_lower_bound(world, horizon), theory.mcar_upper_bound(world, horizon)
    )


def mar_point(x: float, gap: float, *, cost: float = COST, horizon: int = HORIZON) -> Point:
    """Two mediator levels; half of all outcomes are seen whatever the cost, only more unevenly."""
    uneven = np.sqrt(0.25 - 0.5 / cost)
    means = np.zeros((ARMS, 2))
    means[0] = gap * np.sqrt(ARMS * cost / horizon)
    world = RealWorld(np.full((ARMS, 2), 0.5), means, np.array([[0.5 + uneven, 0.5 - uneven]] * ARMS))
    return Point(
        x, world, horizon, theory.mar_lower_bound(world, horizon), theory.mar_upper_bound(world, horizon)
    )


def shadow(levels: int, match: float, gap: float) -> DiscreteWorld:
    """Outcomes equally likely but for the best arm's; the mediator has their level with probability `match`."""
    y = np.linspace(0, 1, levels) - 0.5
    p = np.full((SHADOW_ARMS, levels), 1 / levels)
    p[0] += gap * y / (y**2).sum()
    given = np.full((levels, levels), (1 - match) / (levels - 1))
    np.fill_diagonal(given, match)
    return DiscreteWorld(p[:, None, :] * given, np.linspace(0.5, 1.0, levels))


def mnar_point(gap: float, levels: int, match: float, by_levels: bool) -> Point:
    """The high outcomes are seen more often; V is the efficient variance of an arm."""
    even = shadow(levels, match, 0.0)
    variance = float(theory.efficient_variance(even, "mnar")[0])
    scale = np.sqrt(SHADOW_ARMS * variance)
    world = shadow(levels, match, gap * scale / np.sqrt(HORIZON))
    x = levels if by_levels else np.sqrt(variance)
    return Point(x, world, HORIZON, scale * np.sqrt(HORIZON), theory.mnar_upper_bound(even, HORIZON))


HORIZONS = (1e3, 1e4, 1e5, 1e6)
MCAR = ("paper-mcar", "mcar-ucb")
SWEEPS = (
    Sweep("mcar", "T", HORIZONS, MCAR, lambda T, gap: mcar_point(T, gap, horizon=int(T))),
    Sweep("mcar", "gamma", (0.05, 0.1, 0.25, 0.5, 1.0), MCAR, lambda g, gap: mcar_point(g, gap, gamma=g)),
    Sweep(
        "mcar",
        "n",
        (8, 16, 32, 64, 128, 256, 512),
        MCAR,
        lambda n, gap: mcar_point(n, gap, arms=int(n)),
        runs=100,
    ),
    Sweep("mar", "T", HORIZONS, ("mar-ucb",), lambda T, gap: mar_point(T, gap, horizon=int(T))),
    Sweep("mar", "sum p/gamma", (2, 4, 8, 16, 32), ("mar-ucb",), lambda P, gap: mar_point(P, gap, cost=P)),
    Sweep("mnar", "K = L", (2, 3, 4, 6, 8), ("mnar-ucb",), lambda L, gap: mnar_point(gap, int(L), 0.7, True)),
    Sweep(
        "mnar",
        "root of V",
        (0.95, 0.8, 0.6, 0.5, 0.45, 0.4),
        ("mnar-ucb",),
        lambda match, gap: mnar_point(gap, 3, match, False),
    ),
)
