"""Validation, ablations and speed of truant: `python -m research --list` says what there is."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SEED = 2026
PLUGIN = Path(__file__).parent / "plugin"  # a package beside truant, whose worlds are found by entry points

if str(PLUGIN) not in sys.path:
    sys.path.append(str(PLUGIN))
