"""Confidence sequences: closed form, coverage at all times at once, and what an analysis makes of them."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import truant
from truant.assumptions import Estimate
from truant.collection.intervals import ORDERS, RATE, in_sequence, sequence_level, sequence_root

Z95 = float(norm.ppf(0.975))


def one_order(rows, order, alpha=0.05):
    """sqrt(2 beta_N) of a single N_0."""
    spent = rows * RATE / order
    return math.sqrt(2 * (1 + 1 / spent) * math.log(math.sqrt(spent + 1) / alpha))


@pytest.mark.parametrize("rows", [10, 47, 1_000, 123_456, 10**7])
def test_mixture_is_between_its_best_order_and_its_best_order_at_an_eighth_of_alpha(rows):
    best = min(one_order(rows, order) for order in ORDERS)
    at_worst = min(one_order(rows, order, 0.05 / len(ORDERS)) for order in ORDERS)
    assert best < sequence_root(Z95, rows) < at_worst


@pytest.mark.parametrize("rows", [25, 5_000])
def test_root_solves_the_equation_of_the_mixture(rows):
    root = sequence_root(Z95, rows)
    spent = rows * RATE / ORDERS
    mixture = np.mean(np.exp(root**2 * spent / (2 * (1 + spent))) / np.sqrt(1 + spent))
    assert mixture == pytest.approx(1 / 0.05, rel=1e-9)


def test_roots_are_odd_and_increase_with_z():
    roots = [sequence_root(z, 300) for z in (-40.0, -2.0, -0.1, 0.0, 0.1, 2.0, 8.0, 29.9, 30.1, 40.0)]
    assert roots == sorted(roots)
    assert roots[3] == 0
    assert roots[0] == -roots[-1]
    assert all(
        abs(root) > abs(z) for root, z in zip(roots[4:], (0.1, 2.0, 8.0, 29.9, 30.1, 40.0), strict=True)
    )


def test_sequence_covers_at_all_times_at_once_where_plain_intervals_do_not():
    rng = np.random.default_rng(3)
    runs, longest = 2000, 1000
    times = np.arange(1, longest + 1)
    roots = np.abs(np.cumsum(rng.normal(size=(runs, longest)), axis=1)) / np.sqrt(times)
    limits = np.array([sequence_root(Z95, float(n)) for n in times])
    held = (roots <= limits).all(axis=1).mean()
    assert held >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / runs)
    assert (roots <= Z95).all(axis=1).mean() < 0.6


def test_estimate_keeps_its_mean_and_one_without_an_interval_is_left_alone():
    wide = in_sequence(Estimate.normal(2.0, 0.25), 100)
    assert wide.mean == wide.at(0.0) == 2.0
    assert wide.interval()[1] == pytest.approx(2 + 0.5 * sequence_root(Z95, 100))
    without = Estimate(1.0, lambda z: math.nan if z else 1.0)
    assert in_sequence(without, 100) is without


def test_level_of_a_fixed_interval_as_wide():
    assert norm.ppf((1 + sequence_level(0.9, 50)) / 2) == pytest.approx(sequence_root(norm.ppf(0.95), 50))


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(1)
    n = 400
    y = rng.normal(size=n)
    return {
        "arm": list(rng.choice(["a", "b"], n)),
        "m": list(rng.choice(["x", "y"], n)),
        "y": [None if hidden else float(value) for hidden, value in zip(rng.random(n) < 0.2, y, strict=True)],
        "day": list(range(n)),
        "group": ["u", "v"] * (n // 2),
    }


@pytest.mark.parametrize("minimize", [False, True])
def test_adaptive_analysis_widens_every_interval_by_the_sequence(columns, minimize):
    asked = {"arm": "arm", "outcome": "y", "mediator": "m", "range": (-8, 8), "minimize": minimize}
    plain = truant.analyze(columns, **asked)
    wide = truant.analyze(columns, **asked, collected="adaptive")
    assert wide.winner == plain.winner
    for before, after in zip(plain.arms, wide.arms, strict=True):
        for name in ("naive", *plain.assumptions):
            old, new = (one.naive if name == "naive" else one.estimates[name] for one in (before, after))
            assert new.mean == old.mean
            ratio = (new.high - new.low) / (old.high - old.low)
            assert ratio == pytest.approx(sequence_root(Z95, before.pulls) / Z95, rel=0.15)
        assert after.bounds.low_limit < before.bounds.low_limit
        assert after.bounds.low == before.bounds.low
    summary = wide.summary()["collection"]
    assert summary["kind"] == "adaptive"
    assert {one["method"] for one in summary["intervals"].values()} == {"confidence-sequence"}
    assert plain.summary()["collection"]["kind"] == "fixed"
    assert "confidence sequences" in str(wide)
    assert "confidence sequences" not in str(plain)


def test_adaptive_collection_works_by_group(columns):
    found = truant.analyze(columns, arm="arm", outcome="y", by="group", collected="adaptive")
    assert all(group.collection.kind == "adaptive" for group in found.groups.values())


def test_moving_shares_are_no_surprise_where_a_policy_was_stated(columns):
    moving = columns | {"arm": ["a" if day < 200 else "ab"[day % 2] for day in range(400)]}
    asked = {"arm": "arm", "outcome": "y", "time": "day"}
    warned = [w for w in truant.analyze(moving, **asked).warnings if w.code == "shares-move"]
    assert len(warned) == 1
    assert "collected_by" in warned[0].message
    assert not [
        w for w in truant.analyze(moving, **asked, collected="adaptive").warnings if w.code == "shares-move"
    ]
