"""Defaults that commands, Python functions and files of studies share; no numpy, since `truant ask` reads them."""

from __future__ import annotations

HORIZON = 10_000  # rounds of a simulation, or decisions that an experiment is planned for
RUNS = 20  # of a simulation
LEVEL = 0.95  # of intervals, and the least probability of a clear winner
