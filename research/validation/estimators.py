"""Every estimator that can be used in a world, by name, and the asymptotic variance of those that are right there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant import registry, theory
from truant.assumptions.mar import Mar
from truant.counts import Counts
from truant.setting import FloatArray
from truant.worlds import DiscreteWorld, RealWorld, World

Estimator = Callable[[Counts, int], float]

HORVITZ_THOMPSON, AIPW = "Horvitz-Thompson, gamma given", "AIPW, gamma given"


def estimators_of(world: World) -> dict[str, Estimator]:
    """By name: (counts, arm) -> estimate of the arm's mean."""
    kind = kind_of(world)
    named = {"complete case": _reported(world, "mcar")}
    if isinstance(world, DiscreteWorld):
        return named | _by_likelihood(kind)
    if kind != "mcar":
        named[kind] = _reported(world, kind)
    if kind == "mar":
        assert isinstance(world, RealWorld)
        gamma = world.observation
        named["mar-known"] = _reported(world, "mar-known")
        for name, estimator in ((HORVITZ_THOMPSON, "horvitz-thompson"), (AIPW, "aipw")):
            assumption = Mar(estimator=estimator, observation_probabilities=gamma)  # type: ignore[arg-type]
            named[name] = _mean(assumption, world)
    return named


def assumptions_of(world: World) -> set[str]:
    """The names of the assumptions that these estimators come from."""
    kind = kind_of(world)
    return {"mcar", kind, *(["mar-known"] if kind == "mar" else [])}


def kind_of(world: World) -> str:
    """The assumption that a named world of the study is made for."""
    names = ("mediator-mnar", "both-mnar", "mnar", "mediator-mar", "mcar")
    return next((name for name in names if world.name.startswith(name)), "mar")


def _reported(world: World, name: str) -> Estimator:
    return _mean(registry.find("assumption", name).build(), world)


def _mean(assumption: Mar, world: World) -> Estimator:
    return lambda counts, arm: assumption.estimate(counts, arm, world.setting).mean


def _by_likelihood(kind: str) -> dict[str, Estimator]:
    assumption = registry.find("assumption", kind).build()
    named: dict[str, Estimator] = {
        "linear": lambda counts, arm: assumption.linear(counts, arm).mean,
        "likelihood": lambda counts, arm: assumption.fit(counts, arm).mean,
    }
    if kind == "mnar":  # frequencies given O = 1 in place of joint ones
        named["linear, as printed"] = lambda counts, arm: (
            assumption.linear(counts, arm).mean * counts.pulls[arm] / counts.observed[arm]
        )
    return named


def least_variances(world: World) -> dict[str, FloatArray]:
    """Asymptotic variance times pulls of each arm, for the estimators that are right in the world."""
    kind = kind_of(world)
    efficient = theory.efficient_variance(world, kind)
    if kind == "mcar":
        return {"complete case": efficient}
    if kind != "mar":
        return {"likelihood" if isinstance(world, DiscreteWorld) else kind: efficient}
    assert isinstance(world, RealWorld)
    p, means, gamma = world.mediator_probabilities, world.outcome_means, world.observation
    between = (p * (means - world.means[:, None]) ** 2).sum(axis=1)
    squares = (p * (world.outcome_sd**2 + means**2) / gamma).sum(axis=1)
    return {
        "mar": efficient,
        AIPW: efficient,
        "mar-known": efficient - between,
        HORVITZ_THOMPSON: np.asarray(squares - world.means**2),
    }
