"""What can be hoped for in a given world: observation costs, regret bounds, efficient variances."""

from truant.theory.bounds import (
    harmonic_mean_cost,
    mar_lower_bound,
    mar_upper_bound,
    mcar_lower_bound,
    mcar_upper_bound,
    mean_cost,
    mediator_agnostic_lower_bound,
    mediator_mar_upper_bound,
    mediator_mnar_difficulty,
    mediator_mnar_upper_bound,
    mnar_difficulty,
    mnar_simple_upper_bound,
    mnar_upper_bound,
    no_mediator_lower_bound,
    observation_cost,
    worst_case_pair,
)
from truant.theory.efficiency import efficient_variance, follow_up_total_cost, instance_regret

__all__ = [
    "efficient_variance",
    "follow_up_total_cost",
    "harmonic_mean_cost",
    "instance_regret",
    "mar_lower_bound",
    "mar_upper_bound",
    "mcar_lower_bound",
    "mcar_upper_bound",
    "mean_cost",
    "mediator_agnostic_lower_bound",
    "mediator_mar_upper_bound",
    "mediator_mnar_difficulty",
    "mediator_mnar_upper_bound",
    "mnar_difficulty",
    "mnar_simple_upper_bound",
    "mnar_upper_bound",
    "no_mediator_lower_bound",
    "observation_cost",
    "worst_case_pair",
]
