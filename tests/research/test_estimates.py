"""Coverage and errors of estimates: classes, sums and verdicts."""

import numpy as np
import pytest
from research.validation import (
    adaptive,
    adaptive_intervals,
    condition,
    condition_classes,
    coverage,
    estimators,
    samples,
)

from truant.worlds import make


@pytest.mark.parametrize(
    ("number", "label"),
    [(3, "below 20"), (20, "20 to 150"), (149, "20 to 150"), (999, "150 to 1000"), (1000, "above 1000")],
)
def test_condition_numbers_have_their_class(number, label):
    assert condition_classes.class_of(number) == label
    assert condition_classes.class_of(np.inf) == "above 1000"


def test_arms_are_sorted_into_classes_by_their_own_condition_number():
    found = condition_classes.classed_arms("mediator-mnar", 1, first=0)
    for label, [(name, seed, arm)] in found.items():
        assert condition_classes.class_of(make(name, seed=seed).setting.condition_numbers[arm, 1]) == label


def test_bias_is_what_is_left_when_chance_is_taken_off():
    rng = np.random.default_rng(1)
    biases = rng.choice([-0.3, 0.3], 400)  # cancel in the mean, and must not cancel here
    sample = biases[:, None] + rng.normal(size=(400, 50))
    arms = [{"count": 50, "mean": e.mean(), "square": (e**2).mean(), "least": 1 / 50} for e in sample]
    pooled = samples.pooled_errors(arms)
    assert pooled["bias"] == pytest.approx(0.3, abs=0.03)  # standard error about .008
    assert pooled["rmse"] == pytest.approx(np.sqrt(1.09), rel=0.02)
    assert samples.pooled_errors([arms[0], {**arms[1], "least": None}])["least"] is None


def test_pooled_errors_have_the_standard_error_of_repeated_samples():
    rng = np.random.default_rng(2)

    def pooled():
        counts, scale = rng.integers(5, 20, 30), rng.gamma(4.0, 1.0, 30)
        sample = [s * rng.normal(0.5, 1.0, n) for n, s in zip(counts, scale, strict=True)]
        arms = [
            {"count": len(e), "mean": e.mean(), "square": (e**2).mean(), "least": s**2}
            for e, s in zip(sample, scale, strict=True)
        ]
        return samples.pooled_errors(arms)

    answers = [pooled() for _ in range(1000)]
    for key in ("rmse", "bias", "least"):
        spread = np.std([answer[key] for answer in answers])
        assert np.mean([answer[f"{key}_error"] for answer in answers]) == pytest.approx(spread, rel=0.1)


def test_asymptotic_errors_are_met_by_large_samples():
    item = ("mar-low", 3, 3, 20_000, 150)
    found = samples.errors_of_arm(item)
    assert set(found) == set(estimators.estimators_of(make("mar-low")))
    for name, figures in found.items():
        if name != "complete case":  # the relative error of a variance from 150 samples is .115
            assert figures["square"] / figures["least"] == pytest.approx(1, abs=0.4), name


@pytest.mark.parametrize(
    ("share", "near"), [(0.95, True), (0.91, True), (0.90, False), (0.99, True), (0.9951, False)]
)
def test_coverage_is_judged_by_the_nominal_level_and_three_standard_errors(share, near):
    assert coverage.nominal(share, 0.005) == near


def test_the_likelihood_is_judged_by_the_bound_the_inverse_and_the_complete_cases():
    def figures(likelihood, linear=1.0, complete=1.0, least=1.0):
        return [
            {
                "likelihood": {"rmse": likelihood, "least": least},
                "linear": {"rmse": linear},
                "complete case": {"rmse": complete},
            }
        ]

    assert condition.as_good_as_possible("below 20", figures(0.9))
    assert not condition.as_good_as_possible("below 20", figures(0.9, linear=0.8))
    assert not condition.as_good_as_possible("below 20", figures(0.9, complete=0.8))
    assert condition.as_good_as_possible("above 1000", figures(0.9, complete=0.8))
    assert not condition.as_good_as_possible("above 1000", figures(0.9, least=0.8))


def test_the_estimators_of_a_world_come_from_the_assumptions_that_are_named():
    assert estimators.assumptions_of(make("mar-low")) == {"mcar", "mar", "mar-known"}
    assert estimators.assumptions_of(make("mediator-mnar")) == {"mcar", "mediator-mnar"}


def test_intervals_of_adaptive_runs_are_counted_for_the_best_arm_and_the_others():
    ends = [adaptive_intervals._adaptive_run(("mar", "mar", 300, 1, run)) for run in range(3)]
    arms = make("mar").setting.arms
    assert all(len(end["best"]) == 1 and len(end["others"]) == arms - 1 for end in ends)
    assert adaptive.share_held([True, None, False, True]) == pytest.approx(2 / 3)
    assert adaptive.share_held([None]) is None
