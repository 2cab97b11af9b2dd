"""What the parameters of indices mean, in plain words."""

from __future__ import annotations

MEANINGS = {
    "level": "How wide the upper confidence bounds are: plain (1), cautious (2), or a number; it multiplies z squared.",
    "horizon": "Whether the horizon is known, or unknown: the horizon is then guessed from the rounds so far.",
    "epsilon": "Share of the rounds in which an arm is drawn at random, all arms with equal probability.",
}
