"""Generative models: the paper's, its worst cases, real data; and worlds from a user's own arrays or table."""

from truant.worlds.discrete import DiscreteWorld
from truant.worlds.real import RealWorld
from truant.worlds.table import from_table
from truant.worlds.world import World, make

__all__ = ["DiscreteWorld", "RealWorld", "World", "from_table", "make"]
