"""Worlds fitted to counts, and to their neighbourhood: what a policy is replayed in.

`ObservedPath` needs no assumption: it has the shares of the mediator levels, of the observed outcomes in them, and the
distribution of these outcomes, as counted. `LikelihoodPath` has the joint table and the chances that a likelihood
assumption fits. Each is a path of worlds, with one number t per arm, 0 at the fit: real outcomes are shifted by t, the
probabilities of levels are tilted by exp(t y). Along it every assumption's own value of the arm moves.

Replays a policy in worlds fitted to a log, and calibrates the intervals of the log by them.

Each replay has a world of its own near the fitted one: the value of each arm is drawn from its curve, at(Z) with
Z ~ N(0, 1), and one arm's from a wide range around. So the calibration averages over worlds that are plausible, and not
only over the fitted one, in which arms that the policy left too early are as bad as they looked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truant.assumptions import Assumption
from truant.assumptions.by_likelihood import ByLikelihood
from truant.collection.calibration import LOOKED_AT, Roots, curve_of, root_at, roots_of
from truant.compile import hot
from truant.counts import CUBES, OBSERVED, PULLS, SQUARES, SUM, Counts, cell_probabilities, shifted
from truant.errors import InvalidValue, NotIdentified
from truant.play.run import Watch, cores, play
from truant.policies import Policy
from truant.policies.follow_up_rules import FollowUps
from truant.setting import FloatArray, IntArray, Setting
from truant.worlds import World
from truant.worlds.real import draw_missing_sample, draw_sample
from truant.worlds.world import cell_tables, draw_cell

STEPS = 21  # of a path, for each arm; in between, values are interpolated
FARTHEST = 6.0  # standard errors to both sides
STEEPEST = 30.0  # of a tilt: t times the range of the outcomes
LENT = 5.0  # degrees of freedom that a cell's noise borrows from its arm, and an arm's from all
MOST_SKEWED = 8.0  # skewness of a fitted outcome
MOST_VALUES = 2_000_000  # that stand for the outcomes of all cells together
EMPTY = 0.5  # observed outcomes that a cell without any counts for


class FittedWorld(World):
    """A world from tables of cells that have a row for missing mediators, as counts have."""

    def __init__(self, setting: Setting, draw: Any, tables: tuple[Any, ...]) -> None:
        self.name = "the fitted world"
        self.setting = setting
        self.means = np.zeros(setting.arms)  # nobody counts regret here
        self.draw = draw
        self.tables = tables
        self.followed_up_tables: tuple[Any, ...] = ()

    @property
    def missing_tables(self) -> tuple[Any, ...]:
        """What follow-ups found."""
        return self.followed_up_tables

    def counted(self, counts: Counts) -> Counts:
        """The counts of a run: of discrete outcomes those that this world kept, whatever layout the policy wanted."""
        if self.setting.levels is None:
            return counts
        kept = self.tables[-1].reshape(self.setting.arms, self.setting.mediators + 1, -1)
        return Counts(kept, self.setting.levels, self.setting.centre)

    def revealed(self) -> World:
        """Nobody knows what was missing."""
        raise InvalidValue(
            "An oracle policy needs every outcome, which a log does not have; name another policy."
        )


@hot
def draw_recorded(rng: np.random.Generator, arm: int, tables: Any) -> tuple[int, int]:
    """One pull: a cell of the arm's table, which is counted as well."""
    chances, aliases, rows, columns, kept = tables
    cell = draw_cell(rng, arm, chances, aliases)
    kept[arm, cell] += 1.0
    return rows[cell], columns[cell]


class Path(ABC):
    """Worlds near the fitted one. `steps` has the numbers t of each arm, shape (arms, STEPS), increasing."""

    steps: FloatArray

    @abstractmethod
    def truths(self, assumption: Assumption, setting: Setting) -> FloatArray:
        """The assumption's value of each arm at each step, shape (arms, STEPS); NaN where it has none."""

    @abstractmethod
    def world(self, at: FloatArray) -> FittedWorld:
        """The world with these numbers t, one for each arm."""


def path_to(assumption: Assumption, counts: Counts, setting: Setting, errors: FloatArray) -> Path:
    """The path on which an assumption is calibrated; `errors` say how far the values of the arms may be."""
    if counts.followed_up is not None and counts.levels is None:
        return FollowedUpPath(counts, setting, errors)
    if isinstance(assumption, ByLikelihood):
        return LikelihoodPath(assumption, counts, setting, errors)
    return ObservedPath(counts, setting, errors)


class ObservedPath(Path):
    """The distribution of what was seen, whatever the reason for what was not."""

    def __init__(self, counts: Counts, setting: Setting, errors: FloatArray) -> None:
        self.counts, self.setting = counts, setting
        if counts.levels is None:
            unit = np.linspace(-FARTHEST, FARTHEST, STEPS)
            self.steps = np.maximum(errors, 1e-12 * setting.outcome_scale)[:, None] * unit
            self._cells, self._sizes, self._values = _real_cells(counts, setting)
            return
        seen = counts.table[..., :-1].sum(axis=1)
        self.steps = _tilts(seen, np.asarray(counts.levels), errors)

    def truths(self, assumption: Assumption, setting: Setting) -> FloatArray:
        """What the assumption makes of the moved counts."""
        found = np.full(self.steps.shape, np.nan)
        for k in range(STEPS):
            moved = self._moved(self.steps[:, k])
            for arm in range(setting.arms):
                try:
                    found[arm, k] = assumption.estimate(moved, arm, setting).mean
                except NotIdentified:
                    continue
        return found

    def world(self, at: FloatArray) -> FittedWorld:
        """Cells as counted, with moved outcomes."""
        if self.counts.levels is None:
            values = self._values + np.repeat(at, self._values.size // len(at))
            starts = np.arange(self._sizes.size).reshape(self._sizes.shape) * self._sizes.flat[0]
            return FittedWorld(self.setting, draw_sample, (*self._cells, starts, self._sizes, values))
        return _discrete_world(self.setting, self._moved(at).table)

    def _moved(self, at: FloatArray) -> Counts:
        """The counts with the outcomes of each arm shifted, or with tilted numbers of their levels."""
        counts = self.counts
        table = counts.table.copy()
        if counts.levels is None:
            return Counts(shifted(table, at[:, None]), None, counts.centre)
        seen = table[..., :-1]
        tilted = seen * np.exp(at[:, None, None] * (np.asarray(counts.levels) - counts.centre))
        total = tilted.sum(axis=-1, keepdims=True)
        table[..., :-1] = np.divide(
            tilted * seen.sum(axis=-1, keepdims=True), total, out=np.zeros_like(seen), where=total > 0
        )
        return Counts(table, counts.levels, counts.centre)


class FollowedUpPath(ObservedPath):
    """The same, and below what was seen at once what follow-ups found: both are shifted. Real outcomes alone."""

    def __init__(self, counts: Counts, setting: Setting, errors: FloatArray) -> None:
        super().__init__(counts, setting, errors)
        assert counts.followed_up is not None
        found = counts.followed_up.copy()
        found[found[..., OBSERVED] == 0] = 0.0
        # a level without an answer has the mean of the arm's other answers; an arm without any, of what was seen
        none = found[..., OBSERVED].sum(axis=1) == 0
        found[none] = counts.table[none]
        _, self._later_sizes, self._later = _real_cells(Counts(found, None, counts.centre), setting)

    def world(self, at: FloatArray) -> FittedWorld:
        """A world that can be followed up."""
        world = super().world(at)
        values = self._later + np.repeat(at, self._later.size // len(at))
        starts = (
            np.arange(self._later_sizes.size).reshape(self._later_sizes.shape) * self._later_sizes.flat[0]
        )
        unused = (
            np.zeros((len(at), 1)),
            np.zeros((len(at), 1), np.int64),
        )  # a missing mediator has a row of its own
        world.draw_missing = draw_missing_sample
        world.followed_up_tables = (*unused, starts, self._later_sizes, values)
        return world

    def _moved(self, at: FloatArray) -> Counts:
        counts = self.counts
        assert counts.followed_up is not None
        tables = [shifted(table, at[:, None]) for table in (counts.table, counts.followed_up)]
        return Counts(tables[0], None, counts.centre, tables[1])


class LikelihoodPath(Path):
    """The joint table of mediator and outcome as an assumption fits it, and its chances of being seen."""

    def __init__(
        self, assumption: ByLikelihood, counts: Counts, setting: Setting, errors: FloatArray
    ) -> None:
        self.setting, self.levels = setting, np.asarray(setting.levels)
        self._by_outcome, self._missing_is_level = assumption.by_outcome, assumption.missing_is_level
        fits = [assumption.fit(counts, arm) for arm in range(setting.arms)]
        self._fits = [
            (fit.joint.copy(), fit.observation.copy(), fit.mediator_observation.copy()) for fit in fits
        ]
        marginals = np.array([joint.sum(axis=0) for joint, _, _ in self._fits])
        self.steps = _tilts(marginals, self.levels, errors)

    def truths(self, assumption: Assumption, setting: Setting) -> FloatArray:
        """The mean outcome of the tilted joint table."""
        found = np.empty(self.steps.shape)
        for arm in range(len(self.steps)):
            for k, t in enumerate(self.steps[arm]):
                found[arm, k] = self._tilted(arm, t).sum(axis=0) @ self.levels
        return found

    def world(self, at: FloatArray) -> FittedWorld:
        """The tilted joint tables, seen with the fitted chances."""
        table = np.stack([self._cells(arm, float(t)) for arm, t in enumerate(at)])
        return _discrete_world(self.setting, table)

    def _tilted(self, arm: int, t: float) -> FloatArray:
        joint = self._fits[arm][0] * np.exp(t * (self.levels - self.setting.centre))
        return np.asarray(joint / joint.sum())

    def _cells(self, arm: int, t: float) -> FloatArray:
        """Probabilities of the cells of an arm's counts."""
        joint = self._tilted(arm, t)[None]
        _, chances, mediator_chances = self._fits[arm]
        observation = chances[None, None, :] if self._by_outcome else chances[None, :, None]
        seen = np.ones((1, joint.shape[1])) if self._missing_is_level else mediator_chances[None]
        cells: FloatArray = cell_probabilities(joint, observation, seen)[0]
        wanted = self.setting.mediators + 1
        if not self._missing_is_level:
            return cells
        table = np.zeros(
            (wanted, cells.shape[1])
        )  # a missing mediator is a level of the fit, if there is one
        rows = min(wanted, len(cells) - 1)
        table[:rows] = cells[:rows]
        return table


def _discrete_world(setting: Setting, table: FloatArray) -> FittedWorld:
    arms, rows, columns = table.shape
    total = table.sum(axis=(1, 2), keepdims=True)
    row, column = np.divmod(np.arange(rows * columns), columns)
    kept = np.zeros((arms, rows * columns))
    tables = (*cell_tables((table / total).reshape(arms, -1)), row, column, kept)
    return FittedWorld(setting, draw_recorded, tables)


def _tilts(weights: FloatArray, levels: FloatArray, errors: FloatArray) -> FloatArray:
    """Steps of t for each arm, which move its mean by some standard errors: d mean / dt is the variance."""
    share = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    mean = share @ levels
    variance = share @ levels**2 - mean**2
    width = levels[-1] - levels[0]
    steepest = STEEPEST / width
    reach = np.full(len(weights), steepest)
    some = variance > 1e-9 * width**2
    reach[some] = np.minimum(2 * FARTHEST * errors[some] / variance[some], steepest)
    return np.asarray(np.maximum(reach, 1e-9 / width)[:, None] * np.linspace(-1.0, 1.0, STEPS))


def _real_cells(counts: Counts, setting: Setting) -> tuple[Any, Any, FloatArray]:
    """Alias tables of the cells; how many values stand for each cell's outcomes; and these values."""
    table = counts.table
    n, pulls = table[..., OBSERVED], table[..., PULLS]
    share = pulls / np.maximum(pulls.sum(axis=1, keepdims=True), 1.0)
    gamma = np.where(n > 0, n, EMPTY) / np.maximum(pulls, 1.0)
    gamma = np.minimum(gamma, 1.0)
    cells = np.zeros((*share.shape, 2, 2))  # mediator, mediator seen (its number says it), outcome seen
    cells[:, :, 1, 1] = share * gamma
    cells[:, :, 1, 0] = share * (1 - gamma)
    mean = np.divide(table[..., SUM], n, out=np.zeros_like(n), where=n > 0)
    overall = table[..., SUM].sum(axis=1) / np.maximum(n.sum(axis=1), 1.0)
    centre = np.where(n > 0, mean, overall[:, None])
    sd, skewness = _noise(table, n, mean, setting)
    points = int(np.clip(MOST_VALUES // n.size, 20, 400))
    shape = np.stack([_shape(float(one), points) for one in skewness])  # (arms, points)
    values = counts.centre + centre[..., None] + sd[..., None] * shape[:, None, :]
    return cell_tables(cells.reshape(len(n), -1)), np.full(n.shape, points, np.int64), values.ravel()


def _noise(table: FloatArray, n: FloatArray, mean: FloatArray, setting: Setting) -> tuple[Any, Any]:
    """Standard deviation within each cell, and skewness within the cells of each arm."""
    freedom = np.maximum(n - 1, 0.0)
    squares = np.maximum(table[..., SQUARES] - n * mean**2, 0.0) * (n > 1)
    cubes = (table[..., CUBES] - 3 * mean * table[..., SQUARES] + 2 * n * mean**3) * (n > 2)
    everyone = squares.sum() / freedom.sum() if squares.sum() > 0 else setting.outcome_scale**2
    arm = (squares.sum(axis=1) + LENT * everyone) / (freedom.sum(axis=1) + LENT)
    cell = (squares + LENT * arm[:, None]) / (freedom + LENT)
    pooled = cubes.sum() / max(freedom.sum(), 1.0) / max(everyone, 1e-300) ** 1.5
    own = freedom.sum(axis=1)
    third = cubes.sum(axis=1) / np.maximum(own, 1.0) / np.maximum(arm, 1e-300) ** 1.5
    skewness = (own * third + 20 * pooled) / (own + 20)
    return np.sqrt(cell), np.clip(skewness, -MOST_SKEWED, MOST_SKEWED)


def _shape(skewness: float, points: int) -> FloatArray:
    """Equally likely values with mean 0 and variance 1: normal, or a gamma distribution with this skewness."""
    from scipy.stats import gamma, norm

    place = (np.arange(points) + 0.5) / points
    size = abs(skewness)
    values = norm.ppf(place) if size < 0.1 else gamma.ppf(place, 4 / size**2)
    values = (values - values.mean()) / values.std()
    return np.asarray(values if skewness >= 0 else -values[::-1])


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
            watch=Watch.new(self.stop),
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
