"""Rows that a known policy chose: intervals calibrated by replaying it.

For tables the roots of the calibration are kept in the user's cache folder, beside compiled code: they are safe to
delete, and made again if damaged. For simulations the intervals at the end of a run are made with the policy at hand.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from truant.assumptions import REFERENCE, Estimate
from truant.assumptions.by_likelihood import ByLikelihood
from truant.assumptions.mcar import MCAR, Mcar
from truant.collection.calibration import Roots
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
        folder = cache_folder()
        file = None if folder is None else folder / f"replay-{self._key(counts, setting, targets)}.bin"
        if file is not None and (kept := _kept(file, {target.name for target in targets}, setting.arms)):
            return kept
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
        if file is not None:
            plain = {name: asdict(one) for name, one in results.items()}
            write(file, json.dumps(plain).encode())
        return results

    def _key(self, counts: Counts, setting: Setting, targets: Sequence[Target]) -> str:
        """A name for what decides the roots: counts, what the policy was told, how it is replayed, and the code."""
        policy, own = self.policy, type(self)
        parts = [policy.index, policy.assumption, *(target.assumption for target in targets)]
        modules = {type(part).__module__ for part in parts if part is not None}
        modules |= {policy.curve.__module__, "truant.collection.replay", __name__, own.__module__}
        names = [(target.name, repr(target.assumption)) for target in targets]
        run = (policy.name, self.horizon, self.delay, self.replays, self.level, names, own.__name__)
        digest = hashlib.sha256(f"{run!r} {counts.levels!r} {counts.centre!r}\n".encode())
        for field_ in fields(setting):
            value = getattr(setting, field_.name)
            digest.update(value.tobytes() if isinstance(value, np.ndarray) else f"{value!r}\n".encode())
        digest.update(np.ascontiguousarray(counts.table).tobytes())
        digest.update(code_fingerprint(*sorted(modules)).encode())
        return digest.hexdigest()[:32]

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


def _kept(file: Path, names: set[str], arms: int) -> dict[str, Calibrated] | None:
    """What was kept in a file; None if there is nothing, or not all of it."""
    content = read(file)
    try:
        found = {
            name: Calibrated(
                **plain | {"roots": tuple(one and Roots.restored(**one) for one in plain["roots"])}
            )
            for name, plain in json.loads(content or b"").items()
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return found if set(found) == names and all(len(one.roots) == arms for one in found.values()) else None


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
