"""Errors of every estimator on fixed samples of single arms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from research.cores import each
from research.validation.estimators import estimators_of, least_variances
from research.validation.instances import world_named
from research.validation.measures import root_error
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray

Arm = tuple[str, int, int]  # world, its seed, number of the arm


def errors_of_arms(arms: list[Arm], pulls: int, replications: int) -> list[dict[str, dict[str, Any]]]:
    """For each arm and estimator: how many estimates, their mean error and mean square error, and the least one."""
    return each(errors_of_arm, [(world, seed, arm, pulls, replications) for world, seed, arm in arms])


def errors_of_arm(item: tuple[str, int, int, int, int]) -> dict[str, dict[str, Any]]:
    """The same for one arm; `least` is the asymptotic mean square error, None if the estimator is not right here."""
    spec, seed, arm, pulls, replications = item
    world = world_named(spec, seed)
    estimators, least = estimators_of(world), least_variances(world)
    errors: dict[str, list[float]] = {estimator: [] for estimator in estimators}
    for replication in range(replications):
        rng = np.random.Generator(np.random.SFC64([seed, arm, pulls, replication]))
        chosen = np.full(pulls, arm)
        counts = Counts.fold(world.setting, chosen, *world.pulls(chosen, rng))
        for estimator, estimate in estimators.items():
            value = _attempt(estimate, counts, arm)
            if value is not None:
                errors[estimator].append(value - float(world.means[arm]))
    return {
        estimator: {
            "count": len(found),
            "mean": float(np.mean(found)) if found else 0.0,
            "square": float(np.mean(np.square(found))) if found else 0.0,
            "least": float(least[estimator][arm] / pulls) if estimator in least else None,
        }
        for estimator, found in errors.items()
    }


def _attempt(estimate: Callable[[Counts, int], float], counts: Counts, arm: int) -> float | None:
    try:
        return estimate(counts, arm)
    except NotIdentified:
        return None


def pooled_errors(arms: list[dict[str, Any]]) -> dict[str, Any]:
    """Root mean square error, and the size of the bias over the arms less what chance adds to it.

    Each has a standard error: `rmse_error`, `bias_error` and `least_error`. Arms are independent, even of one instance.
    """
    count, mean, square = (np.array([arm[key] for arm in arms]) for key in ("count", "mean", "square"))
    least = [arm["least"] for arm in arms]
    enough = count > 1
    noise = (square - mean**2)[enough] / (count[enough] - 1)
    roots = {
        "rmse": _root_of_mean(square, count),
        "bias": _root_of_mean(mean[enough] ** 2 - noise, np.ones(enough.sum())),
        "least": (None, np.nan) if None in least else _root_of_mean(np.array(least), np.ones(len(least))),
    }
    errors = {f"{key}_error": error for key, (_, error) in roots.items()}
    values = {key: value for key, (value, _) in roots.items()}
    return {**values, **errors, "estimates": int(count.sum()), "arms": int((count > 0).sum())}


def _root_of_mean(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """The root of a weighted mean, 0 where that is negative, and its standard error."""
    number, total = len(values), weights.sum()
    if not total:
        return np.nan, np.nan
    mean = (weights * values).sum() / total
    parts = (weights * (values - mean) / total) ** 2
    error = np.sqrt(parts.sum() * number / (number - 1)) if number > 1 else np.nan
    return float(np.sqrt(max(mean, 0.0))), root_error(mean, error)
