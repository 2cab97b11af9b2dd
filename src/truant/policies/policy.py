"""Assumption x index, by name: `mar-ucb`, `mnar-thompson:growth=0.02`, `paper-mar`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from truant import registry
from truant.assumptions import Assumption, Curve, Estimate
from truant.counts import Counts
from truant.errors import NotIdentified, unknown
from truant.indices import Index
from truant.setting import Setting


@dataclass(frozen=True)
class Policy:
    """How to choose: a curve at(z) from counts, and an index that looks at it.

    Parameters
    ----------
    name : as shown in tables.
    index : which z to look at.
    curve : (setting, horizon) -> Curve; may raise NotIdentified.
    assumption : for the final estimates; None if the policy has none of its own.
    reveals : the policy is an oracle, which sees every outcome.
    """

    name: str
    index: Index
    curve: Callable[[Setting, int], Curve]
    assumption: Assumption | None = None
    reveals: bool = False
    summary: str = ""

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """The arm's value under the policy's assumption."""
        if self.assumption is None:
            raise NotIdentified(f"Policy {self.name!r} has no estimate of its own to report.")
        return self.assumption.estimate(counts, arm, setting)


def combine(assumption: Assumption, index: Index, name: str, summary: str = "") -> Policy:
    """The policy that believes an assumption and follows an index."""

    def curve(setting: Setting, horizon: int) -> Curve:
        assumption.check(setting)
        return assumption.curve(setting)

    return Policy(name, index, curve, assumption, summary=summary)


def named(spec: str) -> Policy:
    """The policy of that name, with parameters as in `mar-ucb:level=cautious`."""
    name, parameters = registry.parse(spec)
    if name in registry.names("policy"):
        part = registry.find("policy", name)
        policy = part.build(**parameters)
        assert isinstance(policy, Policy)
        return Policy(
            spec,
            policy.index,
            policy.curve,
            policy.assumption,
            policy.reveals,
            policy.summary or part.summary,
        )
    pair = _split(name)
    if pair is None:
        raise unknown("policy", name, policy_names())
    return _combined(spec, *pair, parameters)


def policy_names() -> list[str]:
    """All names: <assumption>-<index>, then the named ones."""
    pairs = [f"{a}-{i}" for a in registry.names("assumption") for i in registry.names("index")]
    return pairs + [name for name in registry.names("policy") if name not in pairs]


def _split(name: str) -> tuple[registry.Part, registry.Part] | None:
    for index in registry.names("index"):
        assumption = name.removesuffix(f"-{index}")
        if assumption != name and assumption in registry.names("assumption"):
            return registry.find("assumption", assumption), registry.find("index", index)
    return None


def _combined(
    spec: str, assumption: registry.Part, index: registry.Part, parameters: dict[str, Any]
) -> Policy:
    own: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for key, value in parameters.items():
        if key in assumption.parameters:
            own[0][key] = value
        elif key in index.parameters:
            own[1][key] = value
        else:
            raise unknown(f"parameter of {spec!r}:", key, [*assumption.parameters, *index.parameters])
    return combine(
        assumption.build(**own[0]),
        index.build(**own[1]),
        spec,
        f"{assumption.name} with {index.name}: {assumption.summary}",
    )
