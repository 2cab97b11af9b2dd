"""What the parameters of assumptions mean, in plain words."""

from __future__ import annotations

MEANINGS = {
    "kappa": "Number of made-up outcomes, at the middle of the range, in each estimate; only for choosing arms.",
    "known": "Whether the distribution of the mediator in each arm is known instead of estimated.",
    "estimator": "Estimator of the mean in reports: plug-in, horvitz-thompson or aipw.",
    "observation_probabilities": "Probability that an outcome is observed, for each arm and mediator level; estimated "
    "unless set.",
    "outcome_means": "Mean outcome for each arm and mediator level, for aipw; estimated unless set.",
    "floor": "Smallest share of its own variance that an estimate keeps if arms and mediator levels share information; "
    "only for choosing arms.",
    "failures": "How outcomes that follow-ups did not obtain are treated: worst-case (they may have any value) or "
    "ignorable (they are like the obtained ones).",
    "rate": "Share of the missing outcomes that are followed up; used only for the efficient variance.",
    "allow_unidentified": "Whether to estimate although the numbers of mediator and outcome levels do not identify the "
    "mean.",
    "growth": "Share by which the rows of an arm must grow before it is fitted again.",
}
