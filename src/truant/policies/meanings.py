"""What the parameters of policies mean, in plain words; those of their assumption and index are explained there."""

from __future__ import annotations

MEANINGS = {
    "alpha": "Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.",
    "delta": "Probability with which the confidence bounds may fail.",
    "level": "How wide the upper confidence bounds are: plain (1), cautious (2), or a number; it multiplies z squared.",
    "horizon": "Whether the horizon is known, or unknown: the horizon is then guessed from the rounds so far.",
    "first_pulls": "Number of pulls of each arm before the policy chooses.",
    "follow_up": "Which missing outcomes are followed up: a share of them, drawn at random; or, for policies of the "
    "assumption follow-up, the rule value or threshold.",
    "budget": "Largest number of follow-ups.",
}
