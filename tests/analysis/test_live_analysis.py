"""The analysis of a running experiment: calibrated by shared replays, in sequences where not, and never an error."""

import math
from dataclasses import fields

import numpy as np
import pytest
from scipy.stats import norm

from tests.analyses import OF_ROWS, analyzed
from truant.analysis import AnalysisOptions, CountedRows, Labels, live_analysis
from truant.analysis.live_analysis import LivePolicy, analyze_live
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.collection import by_policy, shared_replays
from truant.collection.by_policy import ByPolicy
from truant.collection.calibration import LOOKED_AT, PlugIns, curve_of, looked_at, own_roots, roots_of
from truant.collection.intervals import ByUnknownPolicy
from truant.collection.shared_replays import Shared, calibrate_and_check, held_by_others
from truant.counts import Counts
from truant.documents.analysis_words import collection_sentences
from truant.errors import InvalidValue, UnknownName
from truant.policies import named
from truant.setting import Setting
from truant.worlds.world import make

LABELS = Labels.of("abc", ["x", "y"])
REAL = {"low": 0.0, "high": 200.0}
KINDS = [REAL, {"levels": (0.0, 1.0)}, {"levels": (0.0, 1.0, 5.0)}]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(by_policy, "cache_folder", lambda: folder)
    return folder


def setting_of(kind=REAL, **options):
    return Setting(arms=3, mediators=2, **kind, **options)


def counts_of(rows, setting, seed=5, missing=0.3, arms=3):
    rng = np.random.default_rng(seed)
    arm, mediator = np.arange(rows) % arms, rng.integers(-1, 2, rows)
    if setting.levels is None:
        outcome = np.clip(rng.gamma(1.0, 20 + 5 * arm + 10 * mediator), 0, 200)
    else:
        outcome = rng.choice(setting.levels, rows)
    outcome[rng.random(rows) < missing] = np.nan
    return Counts.fold(setting, arm, mediator, outcome)


def live(counts, setting, policy="mar-ucb", **options):
    return analyzed_live(counts, setting, LABELS, **{"policy": named(policy)} | options)


def analyzed_live(counts, setting, labels, **options):
    """The analysis, with the options of all records by their names."""
    given = {"policy": named("mar-ucb"), "assumption": "mar", "horizon": 1000} | options
    policy = {field.name: given.pop(field.name) for field in fields(LivePolicy) if field.name in given}
    rows = {name: given.pop(name) for name in OF_ROWS & set(given)}
    asked = {field.name: given.pop(field.name) for field in fields(AnalysisOptions) if field.name in given}
    counted = CountedRows(counts, setting, labels, **rows)
    return analyze_live(counted, LivePolicy(**policy), AnalysisOptions(**asked), **given)


def widths(found, name):
    return np.array([arm.estimates[name].high - arm.estimates[name].low for arm in found.arms])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("assumption", [Mar(), Mcar(), MediatorMar()])
@pytest.mark.parametrize("rows", [6, 40, 900])
def test_curves_of_many_logs_are_those_of_single_ones(kind, assumption, rows):
    setting = setting_of(kind)
    logs = [counts_of(rows, setting, seed) for seed in range(25)]
    expected = np.array([[curve_of(assumption, log, arm, setting) for arm in range(3)] for log in logs])
    found = looked_at(assumption, logs, setting)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    assert np.nan_to_num(found) == pytest.approx(np.nan_to_num(expected), rel=1e-9, abs=1e-9)
    usable = PlugIns.of(assumption, logs, setting).usable
    assert usable.all() or rows < 900


@pytest.mark.parametrize("kind", KINDS)
def test_own_roots_meet_the_truth(kind):
    setting = setting_of(kind)
    logs = [counts_of(300, setting, seed) for seed in range(25)]
    z = np.random.default_rng(1).uniform(-4, 4, (25, 3))
    curves = PlugIns.of(Mar(), logs, setting)
    assert curves.usable.all()
    assert own_roots(Mar(), logs, curves.at(z), setting) == pytest.approx(z, abs=0.005)


def test_own_roots_of_an_arm_without_a_curve_are_not_numbers():
    setting = setting_of()
    logs = [counts_of(100, setting), counts_of(100, setting, arms=2), Counts.empty(setting)]
    found = own_roots(Mar(), logs, np.full((3, 3), 20.0), setting)
    assert np.isnan(found).tolist() == [[False] * 3, [False, False, True], [True] * 3]


def shared_of(r, z=None, arms=3, seed=2):
    """Replays whose truths are z, on a real log with mean 0 and error 1."""
    rng = np.random.default_rng(seed)
    wide = np.arange(len(r)) % (arms + 1)
    if z is None:
        z = rng.normal(size=len(r))
        z[wide == 0] = rng.uniform(-4, 4, np.count_nonzero(wide == 0))
    return Shared(z[:, None, None], z[:, None, None], r[:, None, None], wide)


def test_weighted_ends_are_those_of_the_roots_where_all_weigh_the_same():
    rng = np.random.default_rng(3)
    z, r = rng.normal(size=600), 0.3 + 1.4 * rng.normal(size=600)
    ends = shared_replays._ends(z, r, np.full(600, 1 / 600), 2.0)
    roots = roots_of(z, r, np.ones(600, bool))
    # both interpolate between neighbours, of the order of 1/600 of a share apart
    assert ends == pytest.approx((roots.root(-2.0), roots.root(2.0)), abs=1.4 / 600 / norm.pdf(2.0))


def test_plausible_weights_turn_what_was_drawn_into_what_another_log_says():
    rng = np.random.default_rng(4)
    n = 20_000
    z = rng.normal(size=n)
    z[::4] = rng.uniform(-4, 4, n // 4)
    # the other log has its mean at 1 and half the error
    weight = shared_replays._plausible((z - 1) * 2, z, 1 + LOOKED_AT / 2, LOOKED_AT, 3)
    effective = 1 / np.square(weight).sum()
    assert weight @ z == pytest.approx(1.0, abs=4 * 0.5 / math.sqrt(effective))
    assert math.sqrt(weight @ (z - 1) ** 2) == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(2 * effective))


@pytest.mark.parametrize(("spread", "expected"), [(1.0, 0.95), (0.5, 1.0)])
def test_checked_intervals_hold_as_often_as_they_should(spread, expected):
    rng = np.random.default_rng(6)
    shared = shared_of(spread * rng.normal(size=400))
    held = []
    for number in np.flatnonzero(shared.wide == 3):
        # the curve of each replay has its own root where its truth is
        own = shared.truths[number, 0, 0] + LOOKED_AT - shared.r[number, 0, 0]
        held.append(held_by_others(shared, number, LOOKED_AT[None, None], own[None, None], 0.95)[0, 0])
    # ends are never inside those of a plain interval, and the greatest of three, each with its own error
    assert np.isfinite(held).mean() > 0.9
    error = math.sqrt(0.95 * 0.05 / len(held))
    assert np.nanmean(held) >= expected - 3 * error
    far = shared._replace(r=np.where(np.arange(400)[:, None, None] == 0, 6.0, shared.r))
    assert held_by_others(far, 0, LOOKED_AT[None, None], LOOKED_AT[None, None], 0.95)[0, 0] == 0.0


def test_the_check_sees_that_other_worlds_would_have_been_calibrated_otherwise():
    # far to the left, where the logs that are checked think they are, roots hardly vary: their intervals are too narrow
    rng = np.random.default_rng(7)
    z = rng.normal(size=1200)
    z[::2] = rng.uniform(-4, 4, 600)
    r = np.where(z < -1, 0.2, 3.0) * rng.normal(size=1200)
    shared = shared_of(r, z)
    held = [
        held_by_others(shared, number, LOOKED_AT[None, None], (LOOKED_AT * 0.3 - 3)[None, None], 0.95)[0, 0]
        for number in np.flatnonzero(np.abs(z) < 0.5)[:100]
    ]
    assert np.mean(held) < 0.7


def test_a_policy_that_does_not_adapt_leaves_plain_intervals():
    setting = setting_of()
    counts = counts_of(300, setting)
    found = live(counts, setting, "mar-ucb:first_pulls=100", horizon=300)
    plain = analyzed(counts, setting, LABELS)
    for name in ("mar", "mcar"):
        assert found.collection.intervals[name].method == "replayed"
        assert found.collection.intervals[name].check > 0.9
        ratio = widths(found, name) / widths(plain, name)
        assert (ratio >= 1 - 1e-9).all()
        # the greatest of three for each end, two of which have an error of about .1 in 1.96
        assert ratio.mean() < 1.12
    assert found.collection.kind == "replayed"
    assert found.collection.replays == 400


@pytest.mark.parametrize(("delay", "equal"), [(0, False), (5000, True)])
def test_replays_learn_as_late_as_the_experiment(delay, equal, monkeypatch):
    seen = []

    def look(near, *rest):
        seen.extend(near.replayed(number, np.random.SeedSequence(number))[1].pulls for number in range(8))
        return calibrate_and_check(near, *rest)

    monkeypatch.setattr(live_analysis, "calibrate_and_check", look)
    monkeypatch.setattr(live_analysis, "REPLAYS", ((3000, 80),))
    live(counts_of(300, setting_of()), setting_of(), delay=delay)
    pulls = np.array(seen)
    assert pulls.shape == (8, 3)
    assert (pulls == 100).all() == equal


def test_results_are_kept_by_delay(own_cache, monkeypatch):
    monkeypatch.setattr(live_analysis, "REPLAYS", ((1000, 80),))
    setting = setting_of()
    counts = counts_of(90, setting)
    first = live(counts, setting)
    again = live(counts, setting)
    assert len(list(own_cache.glob("replay-*.bin"))) == 1
    assert np.array_equal(widths(first, "mar"), widths(again, "mar"))
    live(counts, setting, delay=50)
    assert len(list(own_cache.glob("replay-*.bin"))) == 2


def test_other_assumptions_and_follow_ups_have_sequences():
    setting = setting_of({"levels": (0.0, 1.0)})
    counts = counts_of(120, setting)
    for arm in range(3):
        for mediator, missing in enumerate(counts.missing_by_cell()[arm, :2]):
            for _ in range(int(missing)):
                counts.follow_up(arm, mediator, 1.0)
    assume = ["mcar", "mar", "mnar", "follow-up"]
    found = live(counts, setting, assume=assume)
    methods = {name: one.method for name, one in found.collection.intervals.items()}
    assert methods["mar"] == methods["mcar"] == methods["naive"] == "replayed"
    others = [name for name, method in methods.items() if method == "confidence-sequence"]
    assert {"follow-up", "mnar", "bounds"} <= set(others)
    sequences = analyzed(counts, setting, LABELS, assume=assume, collected=ByUnknownPolicy())
    assert widths(found, "mnar") == pytest.approx(widths(sequences, "mnar"))
    assert widths(found, "follow-up") == pytest.approx(widths(sequences, "follow-up"))
    assert any("mar, mcar" in one or "mcar, mar" in one for one in collection_sentences(found.collection))


def test_an_assumption_of_a_likelihood_is_calibrated_when_asked_for(monkeypatch):
    monkeypatch.setattr(live_analysis, "REPLAYS", ((1000, 120),))
    world = make("mnar-clear", seed=1, arms=2, K=2, L=2)
    rng = np.random.Generator(np.random.SFC64(1))
    arms = rng.integers(0, 2, 200)
    counts = Counts.fold(world.setting, arms, *world.pulls(arms, rng))
    given = {"policy": named("mar-ucb"), "assumption": "mnar", "horizon": 500, "assume": ["mar", "mnar"]}
    found = analyzed_live(counts, world.setting, Labels.of("ab", "xy"), **given)
    methods = {name: one.method for name, one in found.collection.intervals.items()}
    assert methods == {
        "mnar": "replayed",
        "mar": "confidence-sequence",
        "naive": "confidence-sequence",
        "bounds": "confidence-sequence",
    }


@pytest.mark.parametrize(
    ("policy", "options", "rows", "sentence"),
    [
        ("mar-ucb", {}, 4, "mar-ucb begins with 6 decisions that it does not choose; 4 are settled"),
        ("mar-ucb", {"horizon": 80}, 90, "90 decisions are settled and mar-ucb was told a horizon of 80"),
        (
            "mnar-ucb",
            {},
            90,
            "mnar-ucb cannot be replayed, so that all intervals are confidence sequences: mnar needs",
        ),
        ("follow-up-ucb", {}, 90, "follow-up-ucb follows up missing outcomes and cannot be replayed"),
        ("oracle-ucb", {}, 90, "oracle-ucb cannot be replayed"),
        ("mar-ucb", {"why_not": "Arm 'c' was added later."}, 90, "Arm 'c' was added later."),
        ("mar-ucb", {"horizon": 10**6}, 210_000, "Replaying mar-ucb for so many decisions takes more than"),
    ],
)
def test_what_is_not_replayed_has_sequences_and_the_reason(policy, options, rows, sentence):
    setting = setting_of()
    counts = counts_of(rows, setting, missing=0.0)
    found = live(counts, setting, policy, **options)
    assert found.collection.kind == "adaptive"
    assert {one.method for one in found.collection.intervals.values()} == {"confidence-sequence"}
    first, *reasons = collection_sentences(found.collection)
    horizon = options.get("horizon", 1000)
    assert first.startswith(f"collected by {policy} with horizon {horizon:,}; confidence sequences")
    assert len(reasons) == 1
    assert reasons[0].startswith(sentence)
    assert reasons[0].endswith(".")
    if found.assumptions:
        plain = analyzed(counts, setting, LABELS)
        assert (widths(found, "mar") > 1.2 * widths(plain, "mar")).all()


def test_a_log_says_why_it_cannot_be_replayed():
    setting = setting_of()
    counts = counts_of(90, setting)
    assert ByPolicy(named("mar-ucb"), 1000).why_not(counts, setting) is None
    reason = ByPolicy(named("mar-ucb"), 80).why_not(counts, setting)
    assert reason.startswith("horizon must be at least the number of rows, 90, got 80")


def test_it_is_not_replayed_when_that_is_not_wanted():
    setting = setting_of()
    counts = counts_of(90, setting)
    found = live(counts, setting, calibrate=False)
    assert collection_sentences(found.collection) == [
        "collected by mar-ucb with horizon 1,000; confidence sequences, which are valid for any policy and any "
        "stopping time"
    ]


def test_a_likelihood_policy_is_replayed_only_when_asked_for():
    setting = setting_of({"levels": (0.0, 1.0)})
    found = live(counts_of(90, setting), setting, "mnar-ucb", assumption="mnar", assume=["mar", "mnar"])
    assert "Replaying mnar-ucb, which fits a likelihood, takes more than a few seconds" in "".join(
        collection_sentences(found.collection)
    )


def test_a_policy_that_fails_while_it_is_replayed_has_sequences(monkeypatch):
    def refuse(*given, **options):
        raise InvalidValue("The index of 'mar-ucb' chose an arm that is not there; try check_index on it.")

    monkeypatch.setattr("truant.collection.replay.play", refuse)
    found = live(counts_of(90, setting_of()), setting_of())
    (reason,) = collection_sentences(found.collection)[1:]
    assert reason == (
        "mar-ucb cannot be replayed, so that all intervals are confidence sequences: The index of 'mar-ucb' chose an "
        "arm that is not there; try check_index on it."
    )


@pytest.mark.parametrize("kind", [*KINDS, {}])
@pytest.mark.parametrize(
    ("rows", "missing", "arms"),
    [(0, 0.3, 3), (1, 0.0, 3), (3, 0.0, 3), (60, 1.1, 3), (60, 0.3, 2), (12, 0.9, 3), (7, 0.0, 3)],
)
@pytest.mark.parametrize("minimize", [False, True])
def test_counts_that_are_few_are_no_error(kind, rows, missing, arms, minimize, monkeypatch):
    monkeypatch.setattr(live_analysis, "REPLAYS", ((1000, 60),))
    setting = setting_of(kind, minimize=minimize)
    counts = counts_of(rows, setting, missing=missing, arms=arms)
    found = live(counts, setting, control="a", tolerance=0.1)
    assert len(found.arms) == 3
    assert found.summary()["collection"]["policy"] == "mar-ucb"
    assert found.table().num_rows >= 3
    if (counts.observed == 0).any():
        assert found.verdict.kind == "not-identified"
        assert found.assumptions == []
        assert found.infeasible


def test_an_arm_without_rows_may_be_anywhere_in_the_range():
    setting = setting_of()
    found = live(counts_of(60, setting, arms=2), setting)
    bounds = found.arms[2].bounds
    assert (bounds.low, bounds.high, bounds.low_limit, bounds.high_limit) == (0.0, 200.0, 0.0, 200.0)


@pytest.mark.parametrize("options", [{"delay": -1}, {"horizon": 0}, {"level": 1.0}, {"control": "d"}])
def test_what_makes_no_sense_is_refused(options):
    with pytest.raises((InvalidValue, UnknownName)):
        live(counts_of(30, setting_of()), setting_of(), **options)
