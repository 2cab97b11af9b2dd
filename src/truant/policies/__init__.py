"""A policy is an assumption with an index, by name; the paper's own and the baselines are named policies."""

from truant.policies.policy import Policy, named, policy_names

__all__ = ["Policy", "named", "policy_names"]
