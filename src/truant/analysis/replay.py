"""Replays a policy in worlds fitted to a log, and calibrates the intervals of the log by them.

Each replay has a world of its own near the fitted one: the value of each arm is drawn from its curve, at(Z) with
Z ~ N(0, 1), and one arm's from a wide range around. So the calibration averages over worlds that are plausible, and not
only over the fitted one, in which arms that the policy left too early are as bad as they looked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truant.analysis.calibration import LOOKED_AT, Roots, root_at, roots_of
from truant.analysis.fitted_world import Path, path_to
from truant.analysis.replay_curves import curve_of
from truant.assumptions import Assumption
from truant.counts import Counts
from truant.play.run import cores, play
from truant.policies import Policy
from truant.policies.follow_up_rules import FollowUps
from truant.setting import FloatArray, IntArray, Setting

WIDE = 4.0  # how far from its estimate one arm of each replay may be, in roots
CHECKED = 12  # replays that are analysed in their turn
SHARE_CHECKED = 8  # each with so many times fewer replays


@dataclass(frozen=True)
class Target:
    """An assumption whose intervals are to be calibrated."""

    name: str
    assumption: Assumption


@dataclass(frozen=True, eq=False)
class Replays:
    """How a policy is replayed: what it was told, and how many rows it chose."""

    policy: Policy
    setting: Setting
    horizon: int
    rows: int
    stop: IntArray  # its first number ends all runs when it is no longer 0
    tick: Callable[[], None]  # called after each replay
    delay: int = 0  # rounds after which an outcome entered the counts
    follow_ups: FollowUps | None = None  # what a follow-up cost

    def on(self, counts: Counts) -> Replays:
        """The same for a log of such counts: real sums of levels are replayed as real outcomes."""
        if counts.levels is not None or self.setting.levels is None:
            return self
        return replace(self, setting=replace(self.setting, levels=None))

    def counts(self, path: Path, at: FloatArray, seed: np.random.SeedSequence) -> Counts:
        """The counts at the end of one replay."""
        world = path.world(at)
        rng = np.random.Generator(np.random.SFC64(seed))
        ended = play(
            self.policy,
            world,
            rng,
            self.horizon,
            np.array([self.rows]),
            stop=self.stop,
            delay=self.delay,
            follow_ups=self.follow_ups,
        )
        if not ended.finished:
            raise KeyboardInterrupt
        assert ended.counts is not None
        self.tick()
        return world.counted(ended.counts)


class Neighbourhood:
    """The path of worlds near a log, and where on it the curves of the log are."""

    def __init__(self, replays: Replays, counts: Counts, targets: Sequence[Target]) -> None:
        replays = replays.on(counts)
        setting = replays.setting
        self.replays, self.targets = replays, targets
        curves = [
            [curve_of(one.assumption, counts, arm, setting) for arm in range(setting.arms)] for one in targets
        ]
        self.curves = np.array(curves)  # (targets, arms, LOOKED_AT)
        above, below = (np.argmin(np.abs(LOOKED_AT - z)) for z in (1.0, -1.0))
        errors = np.nan_to_num((self.curves[0, :, above] - self.curves[0, :, below]) / 2, posinf=0.0)
        self.path = path_to(targets[0].assumption, counts, setting, errors)
        self.truths = np.array([self.path.truths(one.assumption, setting) for one in targets])

    def draw(self, rng: np.random.Generator, wide: int) -> FloatArray:
        """One number t of each arm: its value is at(Z); of the arm `wide`, if there is one, anywhere within ±WIDE."""
        roots = rng.normal(size=len(self.path.steps))
        if wide < len(roots):
            roots[wide] = rng.uniform(-WIDE, WIDE)
        found = np.zeros(len(roots))
        for arm, root in enumerate(roots):
            positions = self._roots(0, arm, self.truths[0, arm])
            if np.isfinite(positions).all():
                found[arm] = np.interp(root, positions, self.path.steps[arm])
        return found

    def replay(self, number: int, seed: np.random.SeedSequence) -> tuple[FloatArray, FloatArray, int]:
        """The roots z and r of each target and arm in one replay, and the arm whose z is spread widely."""
        truths, counts, wide = self.replayed(number, seed)
        return self.roots(truths), self.own_roots(counts, truths), wide

    def replayed(self, number: int, seed: np.random.SeedSequence) -> tuple[FloatArray, Counts, int]:
        """The truths of each target and arm in one replay, its counts, and the arm whose z is spread widely."""
        first, second = seed.spawn(2)
        wide = number % (len(self.path.steps) + 1)  # in some, no arm is
        at = self.draw(np.random.default_rng(first), wide)
        return self.truths_at(at), self.replays.counts(self.path, at, second), wide

    def truths_at(self, at: FloatArray) -> FloatArray:
        """The value of each target and arm in the world with these numbers t."""
        found = np.empty(self.truths.shape[:2])
        for i, arm in np.ndindex(*found.shape):
            found[i, arm] = np.interp(at[arm], self.path.steps[arm], self.truths[i, arm])
        return found

    def roots(self, values: FloatArray) -> FloatArray:
        """Where on the curves of the log these values are, (targets, arms)."""
        found = np.empty(values.shape)
        for i, arm in np.ndindex(*found.shape):
            found[i, arm] = self._roots(i, arm, values[i, arm])
        return found

    def own_roots(self, counts: Counts, truths: FloatArray) -> FloatArray:
        """Where on the curves of a replay its truths are, (targets, arms)."""
        found = np.empty(truths.shape)
        for i, arm in np.ndindex(*found.shape):
            target = self.targets[i].assumption
            found[i, arm] = root_at(target, counts, arm, self.replays.setting, float(truths[i, arm]))
        return found

    def _roots(self, target: int, arm: int, values: Any) -> Any:
        curve = self.curves[target, arm]
        return (
            np.interp(values, curve, LOOKED_AT)
            if np.isfinite(curve).all()
            else np.full(np.shape(values), np.nan)
        )


def calibrate(
    near: Neighbourhood, count: int, seed: np.random.SeedSequence, each: Callable[..., Iterable[Any]] = map
) -> list[list[Roots | None]]:
    """Calibrated roots of each target and arm from `count` replays; None where too few have a root."""
    made = list(each(near.replay, range(count), seed.spawn(count)))
    z, r = (np.array([one[part] for one in made]) for part in (0, 1))  # (count, targets, arms)
    wide = np.array([one[2] for one in made])
    _, targets, arms = z.shape
    return [
        [roots_of(z[:, i, arm], r[:, i, arm], wide != arm) for arm in range(arms)] for i in range(targets)
    ]


def check(
    near: Neighbourhood,
    count: int,
    level: float,
    seed: np.random.SeedSequence,
    each: Callable[..., Iterable[Any]],
) -> FloatArray:
    """Whether calibrated intervals of replayed logs hold their truth: (CHECKED, targets, arms), NaN without one.

    Each of these logs is analysed as the real one: a neighbourhood of its own, and `count` replays in it.
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))

    def held(seed: np.random.SeedSequence) -> FloatArray:
        first, second, third = seed.spawn(3)
        at = near.draw(np.random.default_rng(first), near.replays.setting.arms)
        truths = near.truths_at(at)
        counts = near.replays.counts(near.path, at, second)
        again = Neighbourhood(near.replays, counts, near.targets)
        roots, places = calibrate(again, count, third), again.roots(truths)
        found = np.full(truths.shape, np.nan)
        for i, arm in np.ndindex(*found.shape):
            own = roots[i][arm]
            if own is not None and np.isfinite(places[i, arm]):
                found[i, arm] = float(own.root(-z) <= places[i, arm] <= own.root(z))
        return found

    return np.array(list(each(held, seed.spawn(CHECKED))))


def on_all_cores(stop: IntArray) -> tuple[ThreadPoolExecutor, Callable[..., Iterable[Any]]]:
    """A pool, and a map over it that ends soon when it is interrupted."""
    pool = ThreadPoolExecutor(cores())

    def each(function: Callable[..., Any], *items: Iterable[Any]) -> list[Any]:
        futures = [pool.submit(function, *arguments) for arguments in zip(*items, strict=True)]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop[0] = 1
            pool.shutdown(cancel_futures=True)
            raise

    return pool, each
