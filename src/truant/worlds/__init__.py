"""Generative models: the paper's, its worst cases, unkind ones, real data; worlds from a user's own arrays or table."""

from truant.worlds.discrete import DiscreteWorld
from truant.worlds.real import RealWorld, SkewedWorld
from truant.worlds.table import from_table
from truant.worlds.world import World, make

__all__ = ["DiscreteWorld", "RealWorld", "SkewedWorld", "World", "from_table", "make"]
