"""Side by side: what each assumption makes of the same counts, and why some cannot be used."""

import numpy as np
import pytest

from truant import registry
from truant.analysis import Labels, analyze_counts
from truant.analysis.bounds import worst_case
from truant.analysis.estimates import beliefs
from truant.counts import Counts
from truant.errors import InvalidValue, UnknownName
from truant.setting import Setting
from truant.worlds import make


def folded(name, pulls=3000, seed=1, **parameters):
    world = make(name, seed=seed, **parameters)
    arms = np.arange(pulls) % world.setting.arms
    counts = Counts.fold(world.setting, arms, *world.pulls(arms, seed))
    labels = Labels.of(
        [f"arm {a}" for a in "ABCDEFGHIJ"[: world.setting.arms]], range(world.setting.mediators)
    )
    return world, counts, labels


def test_each_estimate_is_the_assumptions_own():
    world, counts, labels = folded("both-mnar", arms=3, K=2, L=2)
    result = analyze_counts(counts, world.setting, labels, level=0.9)
    assert result.assumptions == ["mcar", "mar", "mediator-mar", "mnar", "mediator-mnar", "both-mnar"]
    for name in result.assumptions:
        assumption = registry.find("assumption", name).build()
        for a, arm in enumerate(result.arms):
            estimate = assumption.estimate(counts, a, world.setting)
            own = arm.estimates[name]
            assert (own.mean, own.standard_error) == (estimate.mean, estimate.standard_error)
            assert (own.low, own.high) == estimate.interval(0.9)
        assert (
            result.winner[name] == labels.arms[np.argmax([arm.estimates[name].mean for arm in result.arms])]
        )
        assert sum(arm.estimates[name].probability_best for arm in result.arms) == pytest.approx(1)


def test_numbers_of_an_arm():
    setting = Setting(arms=2, mediators=2, low=0.0, high=10.0)
    arms = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    mediators = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    outcomes = np.array([1.0, 3.0, 8.0, np.nan, 2.0, 4.0, 6.0, 6.0])
    counts = Counts.fold(setting, arms, mediators, outcomes)
    result = analyze_counts(counts, setting, Labels.of("ab", "xy"), assume=["mar"], control="b")
    arm = result.arms[0]
    assert (arm.arm, arm.pulls, arm.observed, arm.missing_share) == ("a", 4, 3, 0.25)
    assert arm.naive.mean == pytest.approx(4.0)
    assert arm.estimates["mar"].mean == pytest.approx(0.5 * 2 + 0.5 * 8)
    assert (arm.bounds.low, arm.bounds.high) == pytest.approx((3.0, 5.5))
    assert arm.estimates["mar"].difference.mean == pytest.approx(5.0 - 4.5)
    assert result.arms[1].estimates["mar"].difference is None
    assert result.winner == {"naive": "b", "mar": "a"}
    assert not result.agree
    assert [(cell["mediator"], cell["pulls"], cell["missing_share"]) for cell in result.missing[:2]] == [
        ("x", 2, 0.0),
        ("y", 2, 0.5),
    ]


def test_what_cannot_be_used_is_listed_with_the_reason_in_the_users_words():
    setting = Setting(arms=2, mediators=2)
    arms, mediators = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 1, 1])
    counts = Counts.fold(setting, arms, mediators, [1.0, 2.0, np.nan, 1.0, 2.0, 3.0])
    found, impossible = beliefs(counts, setting, Labels.of(["old", "new"], ["mail", "phone"]))
    reasons = {entry.assumption: entry.reason for entry in impossible}
    assert [belief.name for belief in found] == ["mcar"]
    assert reasons["mar"].startswith("mar: arm 'old' has 1 pulls with mediator = phone and none of their")
    assert "discrete outcome" in reasons["mnar"]
    assert reasons["mediator-mar"] == "No mediator is missing, so that mediator-mar says the same as mar."


def test_an_assumption_asked_for_by_name_is_used_even_if_a_simpler_one_says_the_same():
    world, counts, labels = folded("mar", arms=2, K=2)
    result = analyze_counts(counts, world.setting, labels, assume=["mediator-mar", "mar"])
    for arm in result.arms:
        assert arm.estimates["mediator-mar"].mean == pytest.approx(arm.estimates["mar"].mean, rel=1e-12)


def test_one_outcome_says_nothing_about_certainty():
    setting = Setting(arms=2, mediators=1)
    counts = Counts.fold(setting, [0, 0, 1], [0, 0, 0], [1.0, 2.0, 3.0])
    found, impossible = beliefs(counts, setting, Labels.of("ab", ["all"]), ["mcar"])
    assert not found
    assert "arm 'b' has too few observed outcomes" in impossible[0].reason


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"level": 95}, InvalidValue, "level must be between 0 and 1, got 95."),
        ({"control": "arm Z"}, UnknownName, "Unknown arm 'arm Z'"),
        ({"assume": ["mnr"]}, UnknownName, "Unknown assumption 'mnr'; did you mean 'mnar'?"),
        ({"expected_split": [1, 2]}, InvalidValue, "expected_split must be 3 positive shares, one for each"),
        ({"expected_split": [1, 0, 1]}, InvalidValue, "expected_split must be 3 positive shares"),
    ],
)
def test_refusals(options, error, sentence):
    world, counts, labels = folded("mar", pulls=300, arms=3, K=2)
    with pytest.raises(error, match="^" + sentence.replace(".", r"\.").replace("?", r"\?")):
        analyze_counts(counts, world.setting, labels, **options)


def test_worst_case_limits_hold_the_ends_of_the_truth():
    """The end with y = 0 filled in is E[O Y]; its limit is below it in 95% of samples (se .01 with 500)."""
    world = make("mar-low", seed=3, arms=1, K=2, sd=0.1)
    truth = float(np.sum(world.mediator_probabilities * world.outcome_means * world.observation[:, 1]))
    below = []
    for seed in range(500):
        counts = Counts.fold(world.setting, np.zeros(200, int), *world.pulls(np.zeros(200, int), seed))
        below.append(worst_case(counts, world.setting, 0, 0.95).low_limit <= truth)
    assert np.mean(below) == pytest.approx(0.95, abs=0.03)


def test_summary_is_plain_json():
    import json

    world, counts, labels = folded("both-mnar", arms=3, K=2, L=2, pulls=200)
    result = analyze_counts(counts, world.setting, labels, control="arm A", expected_split=[1, 1, 2])
    kept = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert kept["arms"][1]["estimates"]["mar"]["mean"] == result.arms[1].estimates["mar"].mean
    assert {"code", "message", "arm", "value"} == set(kept["warnings"][0])
    assert kept["adjustment"].startswith("Dunnett")
    table = {(row["arm"], row["assumption"]): row for row in result.table().to_pylist()}
    assert len(table) == 3 * 7
    assert table["arm B", "mar"]["difference_mean"] == pytest.approx(
        result.arms[1].estimates["mar"].mean - result.arms[0].estimates["mar"].mean
    )
