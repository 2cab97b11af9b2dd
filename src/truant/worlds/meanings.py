"""What the parameters of the named worlds mean, in plain words; a range low,high is drawn from uniformly."""

from __future__ import annotations

OBSERVED = "Probability that an outcome is observed (1: no outcome is missing)"
MEDIATOR_OBSERVED = "Probability that the mediator is observed (1: no mediator is missing)"
RANGE = "one number, or low,high to draw it from that range"

MEANINGS = {
    "arms": "Number of arms.",
    "K": "Number of mediator levels.",
    "L": "Number of outcome levels, equally spaced from 0 to 1.",
    "gamma": f"{OBSERVED}; {RANGE}.",
    "mediator_gamma": f"{MEDIATOR_OBSERVED}; {RANGE}.",
    "sd": "Standard deviation of an outcome, given its arm and mediator level.",
    "match": "Probability with which mediator and outcome are given the same level; else the level is drawn at random.",
    "eps": "Probability of all mediator levels of an arm except its likeliest one; above 0 and below 1.",
    "lift": f"Factor by which the best arm is above the upper end of the range of the others; {RANGE}.",
    "rate": f"Probability of an outcome above 0, in all arms but the best; {RANGE}.",
    "chance": f"Probability of a jackpot (a huge outcome) in the arms that have one, except the best; {RANGE}.",
    "top": f"Probability of the outcome 100, in all arms but the best; {RANGE}.",
    "median": f"Median outcome of all arms but the best; {RANGE}.",
    "size": "Size of the rare large outcomes that decide which arm is best.",
    "sigma": "Standard deviation of the logarithm of an amount, from 0 to 4.",
    "rare": f"Probability of the rare mediator level; {RANGE}.",
    "linked": "Whether the probability that an outcome is observed also depends on whether its mediator is observed.",
    "hidden": "Probability that an outcome of the hidden kind is observed; it is 0.9 for the others.",
    "gap": "How much better the best arm is than the others.",
    "gain": f"How much higher the mean of the best arm is in the noisy mediator level; {RANGE}.",
    "noise": "Standard deviation of an outcome in the noisy arm or mediator level.",
    "data": "CSV or Parquet file with one row for each past decision.",
    "arm": "Column with the arm of each row.",
    "outcome": "Column with the outcome, empty where it is missing.",
    "mediator": "Column known before the outcome, or several; NAME:3 cuts a number into thirds.",
    "levels": "All values of a discrete outcome; unless set, at most ten distinct values are taken as levels.",
    "range": "Lowest and highest possible outcome; unless set, those observed.",
    "minimize": "Whether lower outcomes are better.",
}

_BY_LEVEL = f"{OBSERVED}; {RANGE} for each arm and mediator level."
_BY_OUTCOME = f"{OBSERVED}; {RANGE} for each arm and outcome level."
_BY_ARM = f"{OBSERVED}; {RANGE} for each arm."
_MEDIATOR_BY_ARM = f"{MEDIATOR_OBSERVED}; {RANGE} for each arm."
_MEDIATOR_BY_LEVEL = f"{MEDIATOR_OBSERVED}; {RANGE} for each arm and mediator level."
_REPLAYED = (
    "Probability that an outcome is observed: estimated (as often as in the data), one number for all, or "
)
_AMOUNT = "Median amount of an outcome above 0."

# where a world says it more exactly
OF_PART = {
    "mar": {"gamma": _BY_LEVEL},
    "mar-low": {"gamma": _BY_LEVEL},
    "mar-uniform": {"gamma": _BY_LEVEL},
    "mar-peaked": {"gamma": _BY_LEVEL},
    "lognormal": {"gamma": _BY_LEVEL},
    "mnar": {"gamma": _BY_OUTCOME},
    "mnar-clear": {"gamma": _BY_OUTCOME},
    "mnar-skewed": {"gamma": _BY_OUTCOME},
    "no-mediator": {"gamma": _BY_ARM},
    "rates": {"gamma": _BY_ARM},
    "mediator-mnar": {"gamma": _BY_LEVEL, "mediator_gamma": _MEDIATOR_BY_LEVEL},
    "mediator-mnar-clear": {"gamma": _BY_LEVEL, "mediator_gamma": _MEDIATOR_BY_LEVEL},
    "both-mnar": {"gamma": _BY_OUTCOME, "mediator_gamma": _MEDIATOR_BY_LEVEL},
    "mediator-mar": {"gamma": _BY_LEVEL, "mediator_gamma": _MEDIATOR_BY_ARM},
    "mcar": {"gamma": f"{OBSERVED}, the same in all arms; {RANGE}."},
    "rare-level": {
        "gamma": f"Probability that an outcome is observed in the rare mediator level; {RANGE} for each arm.",
        "size": f"Mean outcome of the best arm in the rare mediator level; {RANGE}.",
    },
    "noisy-level": {
        "gamma": f"Probability that an outcome is observed in the noisy mediator level; {RANGE} for each arm.",
    },
    "conversion": {
        "gamma": _BY_LEVEL,
        "rate": f"Probability of a conversion, in all arms but the best; {RANGE}.",
        "size": _AMOUNT,
    },
    "zero-inflated": {"gamma": _BY_ARM, "size": _AMOUNT},
    "jackpots": {"gamma": _BY_LEVEL, "size": "Outcome of a jackpot."},
    "noisy-arm": {"gamma": _BY_LEVEL, "gap": f"How far the mean of the noisy arm is above 0.4; {RANGE}."},
    "actg175": {"gamma": f"{_REPLAYED}six for each arm."},
    "pbc": {
        "gamma": "Probability that an outcome is observed: one number for all, or two (alive, dead) for each arm.",
        "gap": "Factor by which the difference between the two arms is multiplied.",
    },
    "table": {
        "gamma": f"{_REPLAYED}one for each arm and mediator level.",
        "mediator_gamma": "Probability that the mediator is observed: estimated (as often as in the data), one number, "
        "or one for each arm.",
    },
}

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
