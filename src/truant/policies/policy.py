"""Assumption x index, by name: `mar-ucb`, `mnar-thompson:growth=0.02`, `paper-mar`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from truant import registry
from truant.assumptions import Assumption, Curve, Estimate
from truant.assumptions.follow_up import FollowedUp
from truant.counts import Counts, needed_counts
from truant.errors import InvalidValue, NotIdentified, unknown
from truant.indices import Index
from truant.policies.follow_up_rules import FollowUpRule, rule_of
from truant.setting import Setting, whole_number
from truant.spec import Spec

FIRST_PULLS, FOLLOW_UP, BUDGET = "first_pulls", "follow_up", "budget"
COMMON = {  # what every policy takes, whoever made it
    FIRST_PULLS: "Number of pulls of each arm before the policy chooses.",
    FOLLOW_UP: "Which missing outcomes are followed up: a share of them, drawn at random; or, for policies of the "
    "assumption follow-up, the rule value or threshold.",
    BUDGET: "Largest number of follow-ups.",
}


@dataclass(frozen=True)
class Policy:
    """How to choose: a curve at(z) from counts, and an index that looks at it.

    Parameters
    ----------
    name : as shown in tables.
    index : which z to look at.
    curve : (setting, horizon) -> Curve; may raise NotIdentified.
    assumption : for the final estimates; None if the policy has none of its own.
    follow_up : when to follow up a missing outcome; None: never.
    reveals : the policy is an oracle, which sees every outcome.
    """

    name: str
    index: Index
    curve: Callable[[Setting, int], Curve]
    assumption: Assumption | None = None
    follow_up: FollowUpRule | None = None
    reveals: bool = False
    summary: str = ""  # what the policy does, in one sentence

    def __repr__(self) -> str:
        return f"<Policy {self.name!r}{f': {self.summary}' if self.summary else ''}>"

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """The arm's value under the policy's assumption."""
        needed_counts(counts).checked(setting)
        if self.assumption is None:
            raise NotIdentified(f"Policy {self.name!r} has no estimate of its own to report.")
        return self.assumption.estimate(counts, arm, setting)


def combine(assumption: Assumption, index: Index, name: str, summary: str = "") -> Policy:
    """The policy that believes an assumption and follows an index."""

    def curve(setting: Setting, horizon: int) -> Curve:
        assumption.check(setting)
        return assumption.curve(setting)

    return Policy(name, index, curve, assumption, summary=summary)


def named(spec: str | Spec) -> Policy:
    """The policy of that name, with parameters as in `mar-ucb:level=cautious,first_pulls=5`; shown as it is written."""
    parsed = spec if isinstance(spec, Spec) else Spec.parse(spec)
    parameters = dict(parsed.parameters)
    first_pulls, follow_up, budget = (parameters.pop(name, None) for name in COMMON)
    parts = parts_of(parsed)
    build = _registered if len(parts) == 1 else _combined
    policy = build(str(spec), parts, parameters)
    if first_pulls is not None:
        policy = _begun(policy, first_pulls)
    return _following_up(policy, follow_up, budget)


def parts_of(spec: Spec) -> tuple[registry.Part, ...]:
    """What a policy is made of: the registered policy of that name, else an assumption and an index."""
    own = registry.built_in_names("policy")
    if spec.name not in own and spec.name not in built_in_pairs():
        own = registry.names("policy")
    if spec.name in own:
        return (registry.find("policy", spec.name),)
    pair = _split(spec.name)
    if pair is None:
        raise unknown("policy", spec.name, policy_names())
    return pair


def _begun(policy: Policy, first_pulls: object) -> Policy:
    """The same policy with this many pulls of each arm before any choice, instead of its own number."""
    pulls = whole_number(FIRST_PULLS, first_pulls, at_least=1)

    def curve(setting: Setting, horizon: int) -> Curve:
        return replace(policy.curve(setting, horizon), first_pulls=pulls)

    return replace(policy, curve=curve)


def _following_up(policy: Policy, follow_up: object, budget: object) -> Policy:
    """The same policy with this rule for follow-ups; `follow-up` has one unless told."""
    is_own = isinstance(policy.assumption, FollowedUp)
    if follow_up is None and not is_own:
        if budget is not None:
            raise InvalidValue(
                f"budget is the number of follow-ups at most; {policy.name!r} has no follow_up."
            )
        return policy
    if policy.reveals:
        raise InvalidValue(f"Policy {policy.name!r} sees every outcome, so it has nothing to follow up.")
    return replace(policy, follow_up=rule_of(follow_up, budget, is_own))


def policy_names() -> list[str]:
    """All names: <assumption>-<index>, then the named ones."""
    pairs = _pairs(registry.names("assumption"), registry.names("index"))
    return pairs + [name for name in registry.names("policy") if name not in pairs]


def built_in_pairs() -> list[str]:
    """<assumption>-<index> of built-in parts: names that another package cannot take."""
    return _pairs(registry.built_in_names("assumption"), registry.built_in_names("index"))


def _pairs(assumptions: Sequence[str], indices: Sequence[str]) -> list[str]:
    return [f"{assumption}-{index}" for assumption in assumptions for index in indices]


def _split(name: str) -> tuple[registry.Part, registry.Part] | None:
    """The assumption and the index; a name that could be cut in two ways means the built-in parts."""
    for known in (registry.built_in_names, registry.names):
        assumptions = known("assumption")
        for index in known("index"):
            assumption = name.removesuffix(f"-{index}")
            if assumption != name and assumption in assumptions:
                return registry.find("assumption", assumption), registry.find("index", index)
    return None


def _registered(shown: str, parts: Sequence[registry.Part], parameters: dict[str, Any]) -> Policy:
    (part,) = parts
    _check_known(f"parameter of policy {part.name!r}:", parameters, part.parameters)
    policy: Policy = part.build(**parameters)
    return replace(policy, name=shown, summary=policy.summary or part.summary)


def _check_known(what: str, parameters: dict[str, Any], known: Iterable[str]) -> None:
    names = [*known, *COMMON]
    for key in parameters:
        if key not in names:
            raise unknown(what, key, names)


def _combined(shown: str, parts: Sequence[registry.Part], parameters: dict[str, Any]) -> Policy:
    assumption, index = parts
    _check_known(f"parameter of {shown!r}:", parameters, [*assumption.parameters, *index.parameters])
    believed = {key: value for key, value in parameters.items() if key in assumption.parameters}
    followed = {key: value for key, value in parameters.items() if key not in believed}
    return combine(
        assumption.build(**believed),
        index.build(**followed),
        shown,
        f"{assumption.name} with {index.name}: {assumption.summary}",
    )
