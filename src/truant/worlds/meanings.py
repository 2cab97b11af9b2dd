"""What newcomers call the parameters of the named worlds, and how the sentence about a wrong name goes on."""

from __future__ import annotations

# what newcomers call it, and the parameter that they look for
SYNONYMS = dict.fromkeys(
    (
        "missing",
        "missing_rate",
        "missing_share",
        "missing_probability",
        "missingness",
        "p_missing",
        "observed",
        "p_observed",
        "observed_rate",
        "drop",
        "dropout",
    ),
    "gamma",
) | dict.fromkeys(("mediator_missing", "missing_mediator", "mediator_observed"), "mediator_gamma")

HINTS = {
    "gamma": "the probability that an outcome is observed is gamma: gamma=0.7 makes 30% of the outcomes missing",
    "mediator_gamma": "the probability that the mediator is observed is mediator_gamma: mediator_gamma=0.7 makes 30% "
    "of the mediators missing",
}
A_RANGE = ", {0}=0.5,1.0 draws it from that range"  # where the world takes one
FIXED = "in this world it is fixed which outcomes are likely to be missing; `truant worlds {0}` says how"
