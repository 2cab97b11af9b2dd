"""Adaptively weighted estimates and the value of a mix, beside the same formulas over rows."""

import math

import numpy as np
import pytest

import truant
from truant.assumptions.mar import Mar
from truant.collection.weighted import POWERS, WeightedSums

LEVELS = ("x", "y", None)


def adaptive_log(seed, rows=600, means=(0.0, 0.4, 0.5), discrete=False, missing_mediators=True):
    """An epsilon-greedy log: arm, mediator, outcome (missing at random given the mediator), probability."""
    rng = np.random.default_rng(seed)
    n = len(means)
    total, count = np.zeros(n), np.zeros(n)
    arms, mediators, outcomes, probabilities = [], [], [], []
    for t in range(rows):
        epsilon = max(0.1, min(1.0, 30 / (t + 1)))
        chances = np.full(n, epsilon / n)
        chances[int(np.argmax(total / np.maximum(count, 1)))] += 1 - epsilon
        arm = int(rng.choice(n, p=chances))
        m = int(rng.integers(0, 3 if missing_mediators else 2))
        mean = means[arm] + (0.4 if m == 1 else 0.0)
        y = float(rng.random() < mean / 2 + 0.1) if discrete else mean + rng.normal()
        seen = rng.random() < (0.9, 0.5, 0.7)[m]
        arms.append(arm)
        mediators.append(m)
        outcomes.append(y if seen else np.nan)
        probabilities.append(chances[arm])
        if seen:
            total[arm] += y
            count[arm] += 1
    return np.array(arms), np.array(mediators), np.array(outcomes), np.array(probabilities)


def columns(arms, mediators, outcomes, probabilities):
    return {
        "arm": [f"arm {a}" for a in arms],
        "m": [LEVELS[m] for m in mediators],
        "y": [None if np.isnan(y) else float(y) for y in outcomes],
        "p": list(probabilities),
    }


def row_wise(assumption, mediators, outcomes, weights):
    """Estimate and standard error of one arm's rows, by the formula over rows."""
    if assumption == "mcar":
        mediators = np.zeros_like(mediators)
    if assumption == "mediator-mar":
        kept = mediators < 2
        mediators, outcomes, weights = mediators[kept], outcomes[kept], weights[kept]
    q = np.empty(len(outcomes))
    for m in np.unique(mediators):
        own = mediators == m
        seen = own & ~np.isnan(outcomes)
        mean = (weights[seen] @ outcomes[seen]) / weights[seen].sum()
        gamma = weights[seen].sum() / weights[own].sum()
        q[own] = mean
        q[seen] = mean + (outcomes[seen] - mean) / gamma
    theta = weights @ q / weights.sum()
    return theta, math.sqrt(float(weights**2 @ (q - theta) ** 2)) / weights.sum(), q


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("assumption", ["mcar", "mar", "mediator-mar"])
def test_weighted_estimates_are_those_of_the_rows(discrete, assumption):
    from truant.estimates.clusters import student

    arms, mediators, outcomes, probabilities = adaptive_log(1, discrete=discrete)
    asked = {"arm": "arm", "outcome": "y", "mediator": "m", "probability": "p"}
    found = truant.analyze(columns(arms, mediators, outcomes, probabilities), **asked)
    assert found.collection.kind == "weighted"
    assert found.collection.intervals[assumption].method == "weighted"
    for a, arm in enumerate(found.arms):
        own = arms == a
        weights = 1 / np.sqrt(probabilities[own])
        mean, error, _ = row_wise(assumption, mediators[own], outcomes[own], weights)
        got = arm.estimates[assumption]
        assert got.mean == pytest.approx(mean, rel=1e-10, abs=1e-12)
        kept = mediators[own] < 2 if assumption == "mediator-mar" else np.ones(own.sum(), bool)
        seen = kept & ~np.isnan(outcomes[own])
        cells = 1 if assumption == "mcar" else len(np.unique(mediators[own][kept]))
        freedom = weights[seen].sum() ** 2 / (weights[seen] ** 2).sum() - cells
        assert got.standard_error == pytest.approx(error * student(1.0, freedom), rel=1e-10)


def test_probability_one_gives_the_plain_mean():
    arms, mediators, outcomes, _ = adaptive_log(2)
    data = columns(arms, mediators, outcomes, np.ones(len(arms)))
    asked = {"arm": "arm", "outcome": "y", "mediator": "m", "assume": ["mcar", "mar"]}
    plain, weighted = truant.analyze(data, **asked), truant.analyze(data, **asked, probability="p")
    for before, after in zip(plain.arms, weighted.arms, strict=True):
        for name in ("mcar", "mar"):
            assert after.estimates[name].mean == pytest.approx(before.estimates[name].mean, rel=1e-12)


def test_assumptions_without_weights_get_confidence_sequences():
    found = truant.analyze(
        columns(*adaptive_log(3, rows=1500, discrete=True, missing_mediators=False)),
        arm="arm", outcome="y", mediator="m", probability="p", assume=["mar", "mnar"],
    )  # fmt: skip
    methods = {name: one.method for name, one in found.collection.intervals.items()}
    assert methods == {
        "mar": "weighted",
        "mnar": "confidence-sequence",
        "naive": "confidence-sequence",
        "bounds": "confidence-sequence",
    }
    assert "adaptively weighted" in str(found)


def test_value_of_a_mix_is_the_augmented_mean_over_rows():
    arms, mediators, outcomes, probabilities = adaptive_log(4)
    mix = {"arm 0": 0.2, "arm 2": 0.8}
    found = truant.analyze(
        columns(arms, mediators, outcomes, probabilities),
        arm="arm", outcome="y", mediator="m", probability="p", value=mix,
    )  # fmt: skip
    share = np.array([0.2, 0.0, 0.8])
    theta, q = np.zeros(3), np.zeros(len(arms))
    for a in range(3):
        own = arms == a
        theta[a], _, q[own] = row_wise("mar", mediators[own], outcomes[own], 1 / probabilities[own])
    scores = share @ theta + share[arms] / probabilities * (q - theta[arms])
    assert found.value.mix == mix
    assert found.value.estimates["mar"].mean == pytest.approx(float(scores.mean()), rel=1e-10)
    assert found.value.estimates["mar"].method == "weighted"
    one = truant.analyze(
        columns(arms, mediators, outcomes, probabilities),
        arm="arm", outcome="y", mediator="m", probability="p", value="arm 1=1",
    )  # fmt: skip
    own = arms == 1
    mean, error, _ = row_wise("mar", mediators[own], outcomes[own], 1 / probabilities[own])
    got = one.value.estimates["mar"]
    assert got.mean == pytest.approx(mean, rel=1e-10)
    assert (got.high - got.low) / 2 == pytest.approx(1.96 * error, rel=0.15)
    assert one.summary()["value"]["estimates"]["mar"]["mean"] == got.mean
    assert "value of the mix arm 1 1" in str(one)


def test_value_without_probabilities_is_made_from_the_arms_intervals():
    arms, mediators, outcomes, probabilities = adaptive_log(5)
    data = columns(arms, mediators, outcomes, probabilities)
    found = truant.analyze(data, arm="arm", outcome="y", mediator="m", value="arm 0=0.5,arm 1=0.5")
    first, second = (arm.estimates["mar"] for arm in found.arms[:2])
    got = found.value.estimates["mar"]
    assert got.mean == pytest.approx((first.mean + second.mean) / 2)
    below = math.hypot(first.mean - first.low, second.mean - second.low) / 2
    assert got.low == pytest.approx(got.mean - below)
    assert got.method == "fixed"
    assert "constant shares" in str(found)


def summed(arms, mediators, outcomes, probabilities):
    """The sums that the query makes."""
    table = np.zeros((3, 3, len(POWERS), 4))
    seen = ~np.isnan(outcomes)
    known = np.where(seen, outcomes, 0.0)
    for power, exponent in enumerate(POWERS):
        weights = probabilities**-exponent
        parts = (weights, weights * seen, weights * seen * known, weights * seen * known**2)
        for place, values in enumerate(parts):
            np.add.at(table[:, :, power, place], (arms, mediators), values)
    return WeightedSums("p", table, 0.0)


def test_weighted_intervals_cover_in_adaptive_logs():
    held = []
    runs = 120
    truth = np.array([0.0, 0.4, 0.5]) + 0.4 / 2
    for seed in range(runs):
        estimates = summed(*adaptive_log(100 + seed, rows=400, missing_mediators=False)).estimates(Mar())
        intervals = [estimate.interval(0.95) for estimate in estimates]
        held.append([low <= mean <= high for (low, high), mean in zip(intervals, truth, strict=True)])
    # arms of one log are nearly independent
    assert abs(np.mean(held) - 0.95) < 3 * math.sqrt(0.05 * 0.95 / (3 * runs)) + 0.01


def test_probability_works_by_group():
    arms, mediators, outcomes, probabilities = adaptive_log(6)
    data = columns(arms, mediators, outcomes, probabilities) | {"g": ["u", "v"] * (len(arms) // 2)}
    found = truant.analyze(data, arm="arm", outcome="y", mediator="m", probability="p", by="g")
    own = (arms == 1) & (np.arange(len(arms)) % 2 == 0)
    mean, _, _ = row_wise("mar", mediators[own], outcomes[own], 1 / np.sqrt(probabilities[own]))
    assert found.groups["u"].arms[1].estimates["mar"].mean == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize("wrong", [0.0, 1.5, None, -0.1])
def test_probabilities_that_cannot_be_are_counted(wrong):
    data = columns(*adaptive_log(7))
    data["p"][3] = wrong
    with pytest.raises(truant.errors.InvalidValue) as refused:
        truant.analyze(data, arm="arm", outcome="y", probability="p")
    assert str(refused.value).startswith(
        "The probability of a choice must be in (0, 1]; in 1 of 600 rows, column 'p' holds something else or nothing"
    )


@pytest.mark.parametrize(("share", "warned"), [(0.5, False), (0.9, True), (1.0, True), (0.1, True)])
def test_probabilities_that_do_not_fit_the_shares_are_warned_of(share, warned):
    rng = np.random.default_rng(7)
    arm = rng.integers(0, 2, 400)
    rows = {"arm": np.array(["x", "y"])[arm], "y": rng.normal(size=400), "p": np.full(400, share)}
    found = truant.analyze(rows, arm="arm", outcome="y", probability="p")
    assert ("probabilities-off" in [warning.code for warning in found.warnings]) is warned
