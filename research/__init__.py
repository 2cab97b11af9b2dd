"""Validation, ablations and speed of truant: `python -m research --list` says what there is."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
SEED = 2026
