"""Sweeps: whole studies from one file, wherever they run."""

from truant.extras import require

require("charts", "Sweeps, which write a page with charts,")
