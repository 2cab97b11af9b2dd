"""Replay calibration: roots from replays, fitted worlds, the cache, and what an analysis makes of them."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from tests.analyses import analyzed
from truant.analysis import Labels
from truant.assumptions import Estimate
from truant.assumptions.mar import Mar
from truant.assumptions.mnar import mnar
from truant.collection import by_policy, replay
from truant.collection.by_policy import ByPolicy
from truant.collection.calibration import Roots, inverse, roots_of
from truant.collection.replay import LikelihoodPath, ObservedPath
from truant.counts import Counts
from truant.errors import InvalidValue
from truant.play.run import play
from truant.policies import named
from truant.setting import Setting
from truant.worlds.world import make

Z95 = float(norm.ppf(0.975))
LABELS = Labels.of("abc", ["x", "y"])


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(by_policy, "cache_folder", lambda: folder)
    return folder


@pytest.fixture(autouse=True)
def few_checks(monkeypatch):
    """Replayed logs that are analysed in their turn take most of the time."""
    monkeypatch.setattr(replay, "CHECKED", 3)


@pytest.fixture(scope="module")
def setting():
    return Setting(arms=3, mediators=2, low=-3, high=4)


@pytest.fixture(scope="module")
def counts(setting):
    rng = np.random.default_rng(5)
    arms = np.arange(300) % 3
    mediators = rng.integers(-1, 2, 300)  # some are missing
    outcomes = rng.normal(0.4 * arms + 0.5 * (mediators == 1), 1.0)
    outcomes[rng.random(300) < 0.3] = np.nan
    return Counts.fold(setting, arms, mediators, outcomes)


def analysis(counts, setting, collected=None, **options):
    return analyzed(counts, setting, LABELS, assume=["mcar", "mar"], collected=collected, **options)


def intervals(found):
    return np.array(
        [
            [arm.estimates[name].low, arm.estimates[name].high]
            for arm in found.arms
            for name in ("mcar", "mar")
        ]
    )


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (0.6, 1.0), (0.0, 1.4)])
def test_roots_follow_the_distribution_of_replays(shift, scale):
    rng = np.random.default_rng(2)
    z = rng.normal(size=4000)
    z[::4] = rng.uniform(-4, 4, 1000)
    r = shift + scale * rng.normal(size=4000)
    found = roots_of(z, r, np.arange(4000) % 4 != 0)
    # error of a quantile of 3000, at the density there; the greatest of three is a bit farther out
    error = scale * math.sqrt(0.025 * 0.975 / 3000) / norm.pdf(Z95)
    above, below = shift + scale * Z95, shift - scale * Z95
    assert found.root(Z95) == pytest.approx(max(above, Z95), abs=4 * error)
    assert found.root(-Z95) == pytest.approx(min(below, -Z95), abs=4 * error)
    assert found.root(0.0) == 0.0


def test_roots_are_monotone_and_never_narrower_than_plain_ones():
    rng = np.random.default_rng(4)
    found = roots_of(rng.normal(size=500), rng.standard_t(4, 500), np.ones(500, bool))
    z = np.linspace(-7, 7, 281)
    roots = np.array([found.root(float(one)) for one in z])
    assert (np.diff(roots) >= 0).all()
    assert (np.abs(roots) >= np.abs(z) - 1e-12).all()


def test_too_few_roots_are_none():
    assert roots_of(np.zeros(500), np.full(500, np.nan), np.ones(500, bool)) is None


@pytest.mark.parametrize("z", [-3.2, -0.4, 0.0, 1.7])
def test_inverse_finds_the_root_of_a_bent_curve(z):
    bent = Estimate(2.0, lambda z: 2.0 + 0.3 * math.sinh(z / 2) + 0.02 * z)
    assert inverse(bent, bent.at(z)) == pytest.approx(z, abs=0.02)


def test_inverse_of_an_arm_without_an_interval_is_not_a_number():
    assert math.isnan(inverse(Estimate(1.0, lambda z: math.nan if z else 1.0), 1.5))


def test_fitted_world_draws_what_was_counted(setting, counts):
    world = ObservedPath(counts, setting, np.full(3, 0.1)).world(np.array([0.0, 0.0, 0.7]))
    n = 60_000
    arms = np.full(n, 2)
    mediators, outcomes = world.pulls(arms, 1)
    drawn = Counts.fold(setting, arms, mediators, outcomes)
    share = counts.table[2, :, 0] / counts.table[2, :, 0].sum()
    assert drawn.table[2, :, 0] / n == pytest.approx(share, abs=4 * math.sqrt(0.25 / n))
    gamma = counts.table[2, :, 1] / counts.table[2, :, 0]
    assert drawn.table[2, :, 1] / drawn.table[2, :, 0] == pytest.approx(
        gamma, abs=4 * math.sqrt(0.25 / (n * share.min()))
    )
    shifted = Mar().estimate(drawn, 2, setting)
    assert shifted.mean == pytest.approx(
        Mar().estimate(counts, 2, setting).mean + 0.7, abs=4 * shifted.standard_error
    )


def test_tilted_likelihood_world_has_the_mean_it_says():
    setting = Setting(arms=2, mediators=3, levels=(0.0, 1.0))
    rng = np.random.default_rng(8)
    arms, mediators = rng.integers(0, 2, 3000), rng.integers(0, 3, 3000)
    outcomes = (rng.random(3000) < 0.2 + 0.25 * mediators).astype(float)
    outcomes[rng.random(3000) < np.where(outcomes == 1, 0.4, 0.1)] = np.nan
    path = LikelihoodPath(mnar(), Counts.fold(setting, arms, mediators, outcomes), setting, np.full(2, 0.02))
    truths = path.truths(mnar(), setting)
    assert (np.diff(truths, axis=1) > 0).all()
    world = path.world(path.steps[:, 15])
    n = 40_000
    drawn = Counts.fold(setting, np.zeros(n, int), *world.pulls(np.zeros(n, int), 3))
    estimate = mnar().estimate(drawn, 0, setting)
    assert estimate.mean == pytest.approx(truths[0, 15], abs=4 * estimate.standard_error)


def test_a_policy_that_does_not_adapt_leaves_plain_intervals(setting, counts):
    policy = named("mcar-ucb:first_pulls=100")  # of each arm: the whole log
    plain = intervals(analysis(counts, setting))
    wide = intervals(analysis(counts, setting, ByPolicy(policy, 300)))
    ratio = np.diff(wide, axis=1) / np.diff(plain, axis=1)
    assert (ratio >= 1 - 1e-9).all()
    # each end is the greatest of three, two of which have an error of about .1 in 1.96
    assert ratio.mean() < 1.08
    assert ratio.max() < 1.2


def test_arms_that_were_left_may_be_better_than_they_look(monkeypatch):
    monkeypatch.setattr(replay, "CHECKED", 16)
    world = make("mcar", seed=4, arms=4)
    rng = np.random.Generator(np.random.SFC64(2))
    counts = play(named("mcar-ucb"), world, rng, 400, np.array([400])).counts
    labels = Labels.of("abcd", "x")
    plain = analyzed(counts, world.setting, labels, assume="mcar")
    by = ByPolicy(named("mcar-ucb"), 400, 400)
    wide = analyzed(counts, world.setting, labels, assume="mcar", collected=by)
    least = int(np.argmin(counts.pulls))
    old, new = (found.arms[least].estimates["mcar"] for found in (plain, wide))
    assert new.high - old.high > 0.1 * (old.high - old.low)
    assert new.high - old.high > old.low - new.low
    assert wide.collection.intervals["mcar"].check > 0.9
    assert wide.collection.kind == "replayed"
    naive = wide.arms[least].naive
    assert (naive.low, naive.high) == (new.low, new.high)


def test_less_is_better_mirrors_the_intervals(setting, counts):
    from dataclasses import replace

    up = intervals(analysis(counts, setting, ByPolicy(named("mar-ucb"), 300, 300)))
    turned = replace(setting.maximizing(), low=-4, high=3, minimize=True)
    down = intervals(analysis(counts.reflected(), turned, ByPolicy(named("mar-ucb"), 300, 300)))
    width = np.diff(up, axis=1)
    assert np.abs(up + down[:, ::-1]).max() < 0.35 * width.max()
    assert np.abs(up + down[:, ::-1]).mean() < 0.1 * width.mean()


def test_results_are_kept_and_made_again_when_the_file_is_damaged(setting, counts, own_cache, monkeypatch):
    by = {"policy": named("mar-ucb"), "horizon": 300, "replays": 200}
    first = intervals(analysis(counts, setting, ByPolicy(**by)))
    (file,) = own_cache.glob("replay-*.bin")
    made = []
    calibrate = by_policy.calibrate
    monkeypatch.setattr(by_policy, "calibrate", lambda *given: made.append(1) or calibrate(*given))
    assert np.array_equal(intervals(analysis(counts, setting, ByPolicy(**by))), first)
    assert not made
    file.write_bytes(file.read_bytes()[:-7])
    assert np.array_equal(intervals(analysis(counts, setting, ByPolicy(**by))), first)
    assert made == [1]
    analysis(counts, setting, ByPolicy(**by | {"horizon": 301}))
    assert made == [1, 1]


def test_an_interrupt_ends_it_and_keeps_nothing(setting, counts, own_cache):
    def interrupt(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        analysis(counts, setting, ByPolicy(named("mar-ucb"), 300, 200, progress=interrupt))
    assert not list(own_cache.glob("replay-*.bin"))


def test_a_failed_check_falls_back_to_confidence_sequences_and_says_so(setting, counts, monkeypatch):
    monkeypatch.setattr(by_policy, "check", lambda near, count, *rest: np.tile([1.0, 0.0, 1.0], (12, 2, 1)))
    found = analysis(counts, setting, ByPolicy(named("mar-ucb"), 300, 200))
    method = found.collection.intervals["mar"]
    assert method.method == "confidence-sequence"
    assert "held the truth in 66.7% of the replayed logs where 0.95 was asked for" in method.reason
    from truant.collection.intervals import ByUnknownPolicy

    assert np.array_equal(intervals(found), intervals(analysis(counts, setting, ByUnknownPolicy())))


@pytest.mark.parametrize(
    ("policy", "horizon", "sentence"),
    [
        ("oracle-ucb", 300, "collected_by must be a policy that sees what the log has, got 'oracle-ucb'"),
        ("mar-ucb", 299, "horizon must be at least the number of rows, 300, got 299"),
        ("mnar-ucb", 300, "mnar-ucb cannot have collected these rows: mnar needs a discrete outcome"),
        ("mcar-ucb:first_pulls=200", 300, "mcar-ucb:first_pulls=200 starts with 200 rows of each arm"),
    ],
)
def test_what_a_policy_cannot_have_done_is_refused(setting, counts, policy, horizon, sentence):
    with pytest.raises(InvalidValue) as refused:
        analysis(counts, setting, ByPolicy(named(policy), horizon))
    assert str(refused.value).startswith(sentence)


def test_a_policy_of_real_outcomes_on_a_log_of_levels_serves_mnar_too():
    world = make("mnar-clear", seed=1, arms=2, K=2, L=2)
    rng = np.random.Generator(np.random.SFC64(1))
    arms = rng.integers(0, 2, 300)
    counts = Counts.fold(world.setting, arms, *world.pulls(arms, rng))
    by = ByPolicy(named("mar-ucb"), 1000, 200)  # stopped before its horizon
    found = analyzed(counts, world.setting, Labels.of("ab", "xy"), assume=["mar", "mnar"], collected=by)
    assert set(found.collection.intervals) == {"mar", "mnar", "naive", "bounds"}
    assert found.collection.intervals["mnar"].check > 0.85


def test_roots_stretch_beyond_their_last_target():
    roots = Roots(tuple(-1.5 * np.arange(0.25, 4.01, 0.25)), tuple(2 * np.arange(0.25, 4.01, 0.25)))
    assert roots.root(5.0) == pytest.approx(10.0)
    assert roots.root(-5.0) == pytest.approx(-7.5)
