"""Side by side: what each assumption makes of the same counts, and why some cannot be used."""

import numpy as np
import pytest
from scipy import stats

from tests.analyses import analyzed
from truant import registry
from truant.analysis import Labels
from truant.counts import Counts
from truant.errors import InvalidValue, UnknownName
from truant.estimates.beliefs import beliefs
from truant.estimates.differences import two_ends, worst_case
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
    result = analyzed(counts, world.setting, labels, level=0.9)
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
    result = analyzed(counts, setting, Labels.of("ab", "xy"), assume=["mar"], control="b")
    arm = result.arms[0]
    assert (arm.arm, arm.pulls, arm.observed, arm.missing_share) == ("a", 4, 3, 0.25)
    assert arm.naive.mean == pytest.approx(4.0)
    assert arm.estimates["mar"].mean == pytest.approx(0.5 * 2 + 0.5 * 8)
    assert (arm.bounds.low, arm.bounds.high) == pytest.approx((3.0, 5.5))
    assert arm.estimates["mar"].difference.mean == pytest.approx(5.0 - 4.5)
    assert result.arms[1].estimates["mar"].difference is None
    assert result.winner == {"naive": "b", "mar": "a"}
    assert not result.agree
    assert [(cell.mediator, cell.pulls, cell.missing_share) for cell in result.missing[:2]] == [
        ("x", 2, 0.0),
        ("y", 2, 0.5),
    ]


def test_what_cannot_be_used_is_listed_with_the_reason_in_the_users_words():
    setting = Setting(arms=2, mediators=2, range_known=False)
    arms, mediators = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 1, 1])
    counts = Counts.fold(setting, arms, mediators, [1.0, 2.0, np.nan, 1.0, 2.0, 3.0])
    found, impossible = beliefs(counts, setting, Labels.of(["old", "new"], ["mail", "phone"]))
    reasons = {entry.assumption: entry.reason for entry in impossible}
    assert [belief.name for belief in found] == ["mcar"]
    assert reasons["mar"].startswith("mar: arm 'old' has 1 rows with mediator = phone and none of their")
    assert "discrete outcome" in reasons["mnar"]
    assert (
        reasons["mediator-mar"]
        == "No value of the mediator is missing, so mediator-mar gives the same estimates as mar."
    )


def test_an_assumption_asked_for_by_name_is_used_even_if_a_simpler_one_says_the_same():
    world, counts, labels = folded("mar", arms=2, K=2)
    result = analyzed(counts, world.setting, labels, assume=["mediator-mar", "mar"])
    for arm in result.arms:
        assert arm.estimates["mediator-mar"].mean == pytest.approx(arm.estimates["mar"].mean, rel=1e-12)


def test_one_outcome_says_nothing_about_certainty():
    setting = Setting(arms=2, mediators=1, range_known=False)
    counts = Counts.fold(setting, [0, 0, 1], [0, 0, 0], [1.0, 2.0, 3.0])
    (belief,), impossible = beliefs(counts, setting, Labels.of("ab", ["all"]), ["mcar"])
    assert not impossible
    assert [estimate.has_interval for estimate in belief.estimates] == [True, False]
    assert belief.estimates[1].mean == belief.estimates[1].at(0) == 3.0
    assert np.isnan(belief.estimates[1].interval()).all()
    (concern,) = belief.readings[1].concerns()
    assert concern.code == "no-interval"
    assert "--range" in concern.text


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
        analyzed(counts, world.setting, labels, **options)


def test_worst_case_limits_hold_the_mean_whatever_is_missing():
    """Rates of .3 with 0, 10 or 60% missing, all of them 0 or all of them 1; 1,500 samples: standard error .006."""
    setting = Setting(arms=1, levels=(0.0, 1.0))
    for missing in (0.0, 0.1, 0.6):
        for value in (0, 1):  # of the missing ones: the mean is at an end of the bounds
            seen, truth = 0.3 * (1 - missing), 0.3 * (1 - missing) + value * missing
            draws = np.random.default_rng(1).multinomial(300, [1 - missing - seen, seen, missing], 1500)
            tables = [Counts(np.array([[row, [0, 0, 0]]], float), (0.0, 1.0), 0.5) for row in draws]
            bounds = [worst_case(counts, setting, 0, 0.95) for counts in tables]
            held = np.mean([bound.low_limit <= truth <= bound.high_limit for bound in bounds])
            assert 0.93 - 0.018 <= held <= 0.97 + 0.018, (missing, value, held)


def test_worst_case_quantiles_are_those_of_imbens_and_manski():
    assert two_ends(0.95, 0.0, 1.0) == pytest.approx(1.959964, abs=1e-6)
    assert two_ends(0.95, 50.0, 1.0) == pytest.approx(1.644854, abs=1e-6)
    between = two_ends(0.95, 1.0, 1.0)
    assert stats.norm.cdf(between + 1) - stats.norm.cdf(-between) == pytest.approx(0.95)


def test_worst_case_limits_of_outcomes_that_are_alike_have_a_width():
    setting = Setting(arms=1, levels=(0.0, 1.0))
    found = worst_case(Counts(np.array([[[0, 12, 0], [0, 0, 0]]], float), (0.0, 1.0), 0.5), setting, 0, 0.95)
    assert (found.low, found.high, found.high_limit) == (1.0, 1.0, 1.0)
    assert found.low_limit == pytest.approx(stats.binomtest(12, 12).proportion_ci(0.95, "wilson").low)


def test_summary_is_plain_json():
    import json

    world, counts, labels = folded("both-mnar", arms=3, K=2, L=2, pulls=200)
    result = analyzed(counts, world.setting, labels, control="arm A", expected_split=[1, 1, 2])
    kept = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert kept["arms"][1]["estimates"]["mar"]["mean"] == result.arms[1].estimates["mar"].mean
    assert {"code", "message", "arm", "value"} == set(kept["warnings"][0])
    assert kept["adjustment"].startswith("Dunnett")
    table = {(row["arm"], row["assumption"]): row for row in result.table().to_pylist()}
    assert len(table) == 3 * 7
    assert table["arm B", "mar"]["difference_mean"] == pytest.approx(
        result.arms[1].estimates["mar"].mean - result.arms[0].estimates["mar"].mean
    )
