"""Instances of named worlds."""

from __future__ import annotations

from truant.worlds import World, make


def world_named(spec: str, seed: int) -> World:
    """One instance of a world with parameters as in "mar:gamma=0.5,1.0"."""
    return make(spec, seed=seed)
