"""Keeps calibrated roots in the user's cache folder, beside compiled code: safe to delete, made again if damaged.

Rows that a known policy chose: intervals calibrated by replaying it, checked, and kept on disk.

Intervals at the end of a run whose policy is at hand: calibrated by replaying it, for results of simulations.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from truant.assumptions import REFERENCE, Estimate
from truant.assumptions.by_likelihood import ByLikelihood
from truant.assumptions.mcar import MCAR, Mcar
from truant.collection.calibration import TARGETS, Roots
from truant.collection.intervals import (
    REPLAYED,
    SEQUENCE,
    Collected,
    Collection,
    IntervalMethod,
    in_sequence,
    sequence_belief,
)
from truant.collection.replay import (
    CHECKED,
    SHARE_CHECKED,
    Neighbourhood,
    Replays,
    Target,
    calibrate,
    check,
    on_all_cores,
)
from truant.compile.store import cache_folder, read, write
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified
from truant.estimates.beliefs import Belief
from truant.fingerprint import code_fingerprint
from truant.policies import Policy
from truant.policies.follow_up_rules import FollowUps
from truant.setting import FloatArray, IntArray, Setting


def key_of(
    counts: Counts,
    setting: Setting,
    policy: Policy,
    horizon: int,
    delay: int,
    replays: int,
    level: float,
    targets: Sequence[Any],
    kind: type[Any],
) -> str:
    """A name for what decides the result: the counts, what the policy was told, how it is replayed, and the code."""
    digest = hashlib.sha256()
    modules = {type(target.assumption).__module__ for target in targets}
    modules |= {type(policy.index).__module__, policy.curve.__module__, "truant.collection.replay", __name__}
    modules |= {kind.__module__}
    modules |= {type(policy.assumption).__module__} if policy.assumption is not None else set()
    names = [(target.name, repr(target.assumption)) for target in targets]
    for part in (
        counts.levels,
        counts.centre,
        policy.name,
        horizon,
        delay,
        replays,
        level,
        names,
        kind.__name__,
    ):
        digest.update(f"{part!r}\n".encode())
    for own in fields(setting):
        value = getattr(setting, own.name)
        digest.update(value.tobytes() if isinstance(value, np.ndarray) else f"{value!r}\n".encode())
    digest.update(np.ascontiguousarray(counts.table).tobytes())
    digest.update(code_fingerprint(*sorted(modules)).encode())
    return digest.hexdigest()[:32]


def keep(key: str, results: Mapping[str, Any]) -> None:
    """Write the results, if there is a folder for them."""
    folder = cache_folder()
    if folder is not None:
        plain = {name: asdict(one) for name, one in results.items()}
        write(folder / f"replay-{key}.bin", json.dumps(plain).encode())


def kept(key: str, kind: type[Any], names: Sequence[str], arms: int) -> dict[str, Any] | None:
    """What was kept under the key; None if there is nothing, or not all of it."""
    folder = cache_folder()
    content = None if folder is None else read(folder / f"replay-{key}.bin")
    if content is None:
        return None
    try:
        found = {name: _restored(kind, one) for name, one in json.loads(content).items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    whole = set(found) == set(names) and all(len(one.roots) == arms for one in found.values())
    return found if whole else None


def _restored(kind: type[Any], plain: dict[str, Any]) -> Any:
    roots = tuple(None if one is None else _roots(one) for one in plain["roots"])
    return kind(**plain | {"roots": roots})


def _roots(plain: dict[str, Any]) -> Roots:
    sides = [tuple(float(root) for root in plain[side]) for side in ("below", "above")]
    if any(len(side) != len(TARGETS) for side in sides):
        raise ValueError("a side of another length")
    return Roots(*sides)


REPLAYS = 800
FEWEST_REPLAYS = 200
FEWEST_CHECKED = 100  # replays of a replayed log
ALLOWED = 0.02  # coverage in the check that may be missing
SEED = 20_240
NAIVE = "naive"


@dataclass(frozen=True)
class Calibrated:
    """What replays say of one assumption: the roots of each arm, and the check."""

    roots: tuple[Roots | None, ...]
    coverage: float  # of calibrated intervals of replayed logs
    error: float  # its standard error
    asked: float  # the level

    @property
    def holds(self) -> bool:
        """Whether the check agrees with the level, up to two standard errors."""
        return self.coverage + 2 * self.error >= self.asked - ALLOWED


@dataclass(eq=False)
class ByPolicy(Collected):
    """Rows that a policy of truant chose, which was told the horizon.

    Parameters
    ----------
    policy, horizon : what chose the rows; the log may have fewer than the horizon.
    replays : how often it is replayed; each check has an eighth of that, at least 100.
    level : of the intervals that are checked.
    progress : called with the share that is done.
    delay : rounds after which an outcome entered the counts.
    """

    policy: Policy
    horizon: int
    replays: int = REPLAYS
    level: float = 0.95
    progress: Callable[[float], None] = lambda share: None
    delay: int = 0
    _methods: dict[str, IntervalMethod] = field(default_factory=dict)
    _naive: tuple[Roots | None, ...] = ()

    def why_not(self, counts: Counts, setting: Setting) -> str | None:
        """Why the policy cannot be replayed, in a sentence; None if it can."""
        try:
            self.check(counts, setting)
        except InvalidValue as refused:
            return str(refused)
        return None

    def check(self, counts: Counts, setting: Setting) -> None:
        """Refuse what the policy cannot have done."""
        rows, name = int(counts.pulls.sum()), self.policy.name
        if self.policy.reveals:
            raise InvalidValue(
                f"collected_by must be a policy that sees what the log has, got {name!r}, which sees every outcome."
            )
        if rows > self.horizon:
            raise InvalidValue(
                f"horizon must be at least the number of rows, {rows:,}, got {self.horizon:,}; give the horizon that "
                f"{name} was told."
            )
        try:
            curve = self.policy.curve(setting.maximizing(), self.horizon)
        except NotIdentified as refused:
            raise InvalidValue(f"{name} cannot have collected these rows: {refused}") from None
        if rows < setting.arms * curve.first_pulls:
            raise InvalidValue(
                f"{name} starts with {curve.first_pulls:,} rows of each arm, which makes "
                f"{setting.arms * curve.first_pulls:,}; the log has {rows:,}."
            )

    def beliefs(self, found: Sequence[Belief], counts: Counts, setting: Setting) -> list[Belief]:
        """Calibrated intervals; confidence sequences where the check fails."""
        self.check(counts, setting)
        targets = self._targets(found)
        calibrated = self._calibrated(targets, counts, setting) if targets else {}
        if MCAR in calibrated:
            calibrated[NAIVE] = calibrated[MCAR]  # the same mean
        self._methods = {name: self._method(name, one) for name, one in calibrated.items()}
        for name in (*(belief.name for belief in found), NAIVE, "bounds"):
            self._methods.setdefault(name, IntervalMethod(SEQUENCE))
        self._naive = calibrated[NAIVE].roots if NAIVE in calibrated else ()
        return [
            _belief(belief, calibrated[belief.name])
            if self._methods[belief.name].method == REPLAYED
            else sequence_belief(belief, counts)
            for belief in found
        ]

    def naive(self, estimate: Estimate, counts: Counts, arm: int) -> Estimate:
        """The mean of the observed, calibrated like mcar."""
        roots = self._naive[arm] if self._methods[NAIVE].method == REPLAYED else None
        if roots is not None:
            return roots.estimate(estimate)
        return in_sequence(estimate, float(counts.pulls[arm]))

    def collection(self) -> Collection:
        """The policy, and what became of each assumption."""
        return Collection("replayed", self.policy.name, self.horizon, self.replays, self._methods)

    def _targets(self, found: Sequence[Belief]) -> list[Target]:
        """What is calibrated: all assumptions, and the naive mean."""
        targets = [Target(belief.name, belief.assumption) for belief in found]
        same = any(one.name == MCAR for one in targets)
        return targets if same else [*targets, Target(NAIVE, Mcar())]

    def _method(self, name: str, found: Calibrated) -> IntervalMethod:
        coverage = found.coverage if math.isfinite(found.coverage) else None
        if any(roots is None for roots in found.roots) or coverage is None:
            reason = (
                f"{name}: in most replays of {self.policy.name} some arm had no interval, so that its intervals are "
                "confidence sequences."
            )
            return IntervalMethod(SEQUENCE, coverage, reason)
        if not found.holds:
            reason = (
                f"{name}: calibrated intervals held the truth in {coverage:.1%} of the replayed logs where "
                f"{self.level:.4g} was asked for, so that its intervals are confidence sequences."
            )
            return IntervalMethod(SEQUENCE, coverage, reason)
        return IntervalMethod(REPLAYED, coverage)

    def _calibrated(
        self, targets: Sequence[Target], counts: Counts, setting: Setting
    ) -> dict[str, Calibrated]:
        families = _families(targets, self.policy)
        key = key_of(
            counts,
            setting,
            self.policy,
            self.horizon,
            self.delay,
            self.replays,
            self.level,
            targets,
            type(self),
        )
        found = kept(key, Calibrated, [target.name for target in targets], setting.arms)
        if found is not None:
            return found
        total, done = len(families) * self._replays_in_all, 0

        def tick() -> None:
            nonlocal done
            done += 1
            if done % 20 == 0:
                self.progress(done / total)

        stop = np.zeros(1, np.int64)
        rows = int(counts.pulls.sum())
        replays = Replays(self.policy, setting, self.horizon, rows, stop, tick, min(self.delay, rows))
        pool, each = on_all_cores(stop)
        results: dict[str, Calibrated] = {}
        with pool:
            for number, family in enumerate(families):
                seed = np.random.SeedSequence(SEED, spawn_key=(number,))
                roots, held = self._made(Neighbourhood(replays, counts, family), seed, each)
                for i, target in enumerate(family):
                    coverage, error = _coverage(held[:, i])
                    results[target.name] = Calibrated(tuple(roots[i]), coverage, error, self.level)
        keep(key, results)
        return results

    @property
    def _replays_in_all(self) -> int:
        return self.replays + CHECKED * (1 + self._checks)

    @property
    def _checks(self) -> int:
        """Replays of a replayed log."""
        return max(self.replays // SHARE_CHECKED, FEWEST_CHECKED)

    def _made(
        self, near: Neighbourhood, seed: np.random.SeedSequence, each: Callable[..., Iterable[Any]]
    ) -> tuple[list[list[Roots | None]], FloatArray]:
        """Calibrated roots of each target and arm, and whether those of replayed logs hold."""
        first, second = seed.spawn(2)
        roots = calibrate(near, self.replays, first, each)
        return roots, check(near, self._checks, self.level, second, each)


def _families(targets: Sequence[Target], policy: Policy) -> list[list[Target]]:
    """Those that can share their replays; the first of each says how far arms may be from their estimates."""
    alone = [[target] for target in targets if isinstance(target.assumption, ByLikelihood)]
    together = [target for target in targets if not isinstance(target.assumption, ByLikelihood)]
    own = [
        target
        for target in together
        if type(target.assumption) is type(policy.assumption) and target.name != NAIVE
    ]
    first = own[:1] or [target for target in together if target.name == REFERENCE] or together[:1]
    families = [[*first, *(target for target in together if target not in first)], *alone]
    return [family for family in families if family]


def _belief(belief: Belief, calibrated: Calibrated) -> Belief:
    estimates = tuple(
        roots.estimate(one) if roots is not None and math.isfinite(one.at(1.0)) else one
        for one, roots in zip(belief.estimates, calibrated.roots, strict=True)
    )
    return replace(belief, estimates=estimates)


def _coverage(held: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> tuple[float, float]:
    """Share of the intervals (logs, arms) that hold their truth, and its standard error over logs.

    The error is at least that of independent intervals of the nominal kind, so that few logs do not seem exact.
    """
    known = np.isfinite(held)
    if known.sum() < held.size / 2:
        return math.nan, math.nan
    shares = np.array([row[seen].mean() for row, seen in zip(held, known, strict=True) if seen.any()])
    spread = float(shares.std(ddof=1) / math.sqrt(len(shares)))
    return float(held[known].mean()), max(spread, math.sqrt(0.05 * 0.95 / known.sum()))


RUN_REPLAYS = 200  # of each run
LEVEL = 0.95


def run_intervals(
    policy: Policy,
    counts: Counts,
    setting: Setting,
    horizon: int,
    delay: int,
    seed: int,
    stop: IntArray,
    follow_ups: FollowUps | None = None,
) -> FloatArray:
    """Low and high end for each arm, shape (2, arms); NaN for oracles, and where there is no interval.

    An arm that is refused in most replays has no calibrated interval.
    """
    ends = np.full((2, setting.arms), np.nan)
    if policy.assumption is None or policy.reveals:
        return ends
    rows = int(counts.pulls.sum())
    replays = Replays(policy, setting, horizon, rows, stop, lambda: None, delay, follow_ups)
    near = Neighbourhood(replays, counts, [Target(policy.name, policy.assumption)])
    [roots] = calibrate(near, RUN_REPLAYS, np.random.SeedSequence(seed))
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    for arm, own in enumerate(roots):
        try:
            estimate = policy.assumption.estimate(counts, arm, setting)
        except NotIdentified:
            continue
        if own is not None:
            ends[:, arm] = estimate.at(own.root(-z)), estimate.at(own.root(z))
            if setting.range_known:  # a few outcomes may leave next to nothing out
                ends[0, arm] = max(ends[0, arm], min(setting.low, estimate.mean))
                ends[1, arm] = min(ends[1, arm], max(setting.high, estimate.mean))
    return ends
