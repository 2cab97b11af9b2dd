"""One decision at a time, from counts alone: the same counts give the same scores, in any process."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from truant.assumptions.assumption import Curve, note_nothing
from truant.compile import link
from truant.counts import Counts, needed_counts
from truant.errors import HORIZON, InvalidValue, NotIdentified, counted, quoted
from truant.indices.index import Index, guessed_log_horizon
from truant.policies.policy import Policy, named
from truant.setting import FloatArray, IntArray, Setting, finite, needed_setting, share, whole_number
from truant.spec import Spec


class ScoredArms:
    """The arms of one table of counts, scored; with pending pulls, as if these came out like the settled ones."""

    def __init__(
        self, curve: Curve, index: Index, horizon: int, table: FloatArray, pending: FloatArray | None = None
    ) -> None:
        arms, z_grid = len(table), index.z_grid(curve.linear)
        self._index, self._table = index, table
        # below the counts of pulls may stand those of follow-ups
        own = table[:, : table.shape[1] // 2] if curve.follows_up else table
        pulls = _pulls(own, curve.discrete)
        self._settled = np.maximum(pulls, 1.0)
        self._pending = np.zeros(arms) if pending is None else pending.copy()
        self._parameters = np.ascontiguousarray(curve.parameters)
        self._memory = np.zeros((arms, curve.memory(len(z_grid))))
        self._notes_pulls = curve.note_pull is not note_nothing
        self._shared = np.zeros(curve.pooled + curve.scratch)
        self._scaled = np.zeros(table.shape[1:])
        self._index_parameters = index.parameters()
        self._log_horizon = float(np.log(horizon))
        if not index.horizon_known:
            rounds = float(pulls.sum() + self._pending.sum())
            self._log_horizon = guessed_log_horizon.py_func(rounds)  # type: ignore[attr-defined]
        self.z = np.tile(z_grid, (arms, 1))
        self.values = np.zeros((arms, len(z_grid)))
        pool = link(_pool, contribute=curve.contribute)
        pool(table, self._parameters, self._shared, np.zeros(curve.pooled))
        self._score = link(_score, known=curve.known, aim=index.aim, score_arm=curve.score_arm)
        self._score_arms(np.arange(arms))

    def _score_arms(self, arms: IntArray) -> None:
        factors = (self._settled + self._pending) / self._settled
        source = Scaled(self._table, factors, self._scaled)
        curve = CurveArrays(self._parameters, self._memory, self._shared)
        self._score(arms, source, curve, self._log_horizon, self._index_parameters, self.z, self.values)

    def await_more(self, chosen: FloatArray) -> None:
        """Count these choices as pending, too."""
        self._pending += chosen
        if self._notes_pulls:  # memory that notes single pulls knows nothing of scaled counts
            self._memory[:] = 0.0
        self._score_arms(np.flatnonzero(chosen > 0))

    def probabilities(self, ready: npt.NDArray[np.bool_], t: int) -> FloatArray:
        """Of a choice among the arms that are ready."""
        out = np.zeros(len(ready))
        some = np.zeros(int(ready.sum()))
        values = np.ascontiguousarray(self.values[ready])
        call = link(_probabilities, probabilities=self._index.probabilities)
        call(values, self.z[0].copy(), self._index_parameters, t, some)
        out[ready] = some
        return out

    def choose(self, t: int, rng: np.random.Generator) -> int:
        """One choice."""
        memory = np.zeros(self._index.memory(len(self.values)))
        call = link(_choose, update=self._index.update, choose=self._index.choose)
        return int(call(self.values, self.z[0].copy(), self._index_parameters, memory, t, rng))


def _pulls(table: FloatArray, discrete: bool) -> FloatArray:
    pulls: FloatArray = table.sum(axis=(1, 2)) if discrete else table[..., 0].sum(axis=1)
    return pulls


def _unbound(*arguments: Any) -> Any:
    raise AssertionError("bound by link")


contribute = known = aim = score_arm = probabilities = update = choose = _unbound


def _pool(table: FloatArray, parameters: FloatArray, shared: FloatArray, own: FloatArray) -> None:
    for a in range(len(table)):
        contribute(table[a], parameters[a], own)
        for k in range(len(own)):
            shared[k] += own[k]


class Scaled(NamedTuple):
    """Counts, and by how much those of each arm are multiplied."""

    table: FloatArray
    factors: FloatArray  # (arms,)
    scaled: FloatArray  # scratch, for one arm


class CurveArrays(NamedTuple):
    """What a curve is made from and keeps, by arm, and its sums over arms."""

    parameters: FloatArray
    memory: FloatArray
    shared: FloatArray


def _score(
    arms: IntArray,
    counts: Scaled,
    curve: CurveArrays,
    log_horizon: float,
    index_parameters: FloatArray,
    z: FloatArray,
    values: FloatArray,
) -> None:
    for a in arms:
        row = counts.scaled
        for m in range(row.shape[0]):
            for i in range(row.shape[1]):
                row[m, i] = counts.table[a, m, i] * counts.factors[a]
        aim(known(row, curve.shared, curve.parameters[a]), log_horizon, index_parameters, z[a])
        score_arm(row, curve.memory[a], curve.shared, curve.parameters[a], z[a], values[a])


def _probabilities(
    values: FloatArray, z_grid: FloatArray, parameters: FloatArray, t: int, out: FloatArray
) -> None:
    probabilities(values, z_grid, parameters, t, out)


def _choose(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    t: int,
    rng: np.random.Generator,
) -> int:
    update(values, z_grid, parameters, memory, -1, rng)
    return int(choose(values, z_grid, parameters, memory, t, rng))


class Scores(NamedTuple):
    """at(z) of each arm, in the outcome's own units; both have shape (arms, number of z)."""

    z: FloatArray  # where the index looks
    values: FloatArray


class Decider:
    """Scores, probabilities and choices of a policy, each a pure function of the counts.

    Parameters
    ----------
    policy : a name such as "mar-ucb", or a Policy; not an oracle.
    setting : what is known beforehand; with `minimize`, lower outcomes are better.
    horizon : number of decisions that are expected in all.

    Examples
    --------
    >>> import truant
    >>> setting = truant.Setting(arms=2, low=0, high=1)
    >>> counts = truant.Counts.fold(setting, [0, 0, 0, 1, 1, 1], [0] * 6, [1, 0, 1, 0, 0, 0])
    >>> truant.Decider("mcar-thompson", setting, horizon=1000).probabilities(counts).round(2)
    array([0.92, 0.08])
    """

    def __init__(self, policy: Policy | Spec | str, setting: Setting, horizon: int = HORIZON) -> None:
        if not isinstance(policy, Policy | Spec | str):
            raise InvalidValue(f"A policy must be a name or a Policy, got {quoted(policy)}.")
        self.policy = policy if isinstance(policy, Policy) else named(policy)
        if self.policy.reveals:
            raise InvalidValue(
                f"Policy {self.policy.name!r} sees outcomes that are missing, so it cannot decide from counts."
            )
        self.setting = needed_setting(setting)
        self.horizon = whole_number("horizon", horizon, at_least=1)
        self._inner = setting.maximizing()
        self._curve = self.policy.curve(self._inner, self.horizon)
        self._index = self.policy.index

    def __repr__(self) -> str:
        arms = counted(self.setting.arms, "arm")
        return f"<Decider {self.policy.name!r}: {arms}, horizon {self.horizon:,}>"

    @property
    def counts_pending(self) -> bool:
        """Whether pulls whose outcome may still come change the allocation."""
        return self._index.counts_pending

    @property
    def first_pulls(self) -> int:
        """Pulls of an arm before it is chosen by what is known of it."""
        return self._curve.first_pulls

    def scores(self, counts: Counts) -> Scores:
        """at(z) of each arm at the z that the index looks at: one for `ucb`, a grid for `thompson`."""
        scored = self._scored(self._table(counts))
        sign = -1.0 if self.setting.minimize else 1.0
        return Scores(sign * scored.z, sign * scored.values)

    def probabilities(self, counts: Counts) -> FloatArray:
        """The probability of each arm in the next choice."""
        table = self._table(counts)
        pulls = counts.pulls
        if pulls.min() < self._curve.first_pulls:
            fewest = pulls == pulls.min()
            return np.asarray(fewest / fewest.sum())
        self.check_probabilities()
        return self._scored(table).probabilities(np.ones(len(pulls), np.bool_), int(pulls.sum()) + 1)

    def choose(self, counts: Counts, seed: int | np.random.Generator) -> int:
        """The next arm; randomness and ties are decided by the seed."""
        table = self._table(counts)
        rng = seed
        if not isinstance(rng, np.random.Generator):
            rng = np.random.Generator(np.random.SFC64(whole_number("seed", rng, at_least=0)))
        pulls = counts.pulls
        if pulls.min() < self._curve.first_pulls:
            return int(rng.choice(np.flatnonzero(pulls == pulls.min())))
        return self._scored(table).choose(int(pulls.sum()) + 1, rng)

    def allocation(
        self,
        counts: Counts,
        *,
        pending: npt.ArrayLike | None = None,
        ahead: int = 10,
        minimum_share: float = 0.0,
        active: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """One probability per arm for the decisions until the counts are next looked at.

        An arm whose first pulls have not settled has an equal share; the others share the rest as the policy says.
        `ucb` counts pending pulls as if they came out like the settled ones, chooses the next `ahead` arms in turn,
        each pending from then on, and gives every arm its share of them.

        Parameters
        ----------
        counts : pulls whose outcome is observed, or known to be missing.
        pending : further pulls of each arm, whose outcome may still come.
        ahead : how many decisions `ucb` looks ahead.
        minimum_share : the least probability of an active arm.
        active : whether each arm may be chosen; all of them unless given.
        """
        table = self._table(counts)
        waiting = self._pending(pending)
        allowed = self._active(active)
        ahead = whole_number("ahead", ahead, at_least=1)
        least = share("minimum_share", minimum_share)
        count = int(allowed.sum())
        if least * count > 1 + 1e-12:
            raise InvalidValue(
                f"minimum_share must be at most 1/{count} for {count} active arms, got {minimum_share}."
            )
        ready = allowed & (counts.pulls >= self._curve.first_pulls)
        shares = np.where(allowed & ~ready, 1.0 / count, 0.0)
        if ready.any():
            self.check_probabilities()
            rest = 1.0 - shares.sum()
            shares += rest * self._among_ready(counts, table, waiting, ready, ahead)
        result: FloatArray = np.where(allowed, least + (1.0 - least * count) * shares, 0.0)
        result /= result.sum()
        return result

    def _among_ready(
        self, counts: Counts, table: FloatArray, pending: FloatArray, ready: npt.NDArray[np.bool_], ahead: int
    ) -> FloatArray:
        t = int(counts.pulls.sum() + pending.sum()) + 1
        if not self._index.counts_pending:
            return self._scored(table).probabilities(ready, t)
        scored = self._scored(table, pending)
        shares = np.zeros(len(table))
        for step in range(ahead):
            chosen = scored.probabilities(ready, t + step)
            shares += chosen / ahead
            scored.await_more(chosen)
        return shares

    def _scored(self, table: FloatArray, pending: FloatArray | None = None) -> ScoredArms:
        return ScoredArms(self._curve, self._index, self.horizon, table, pending)

    def check_probabilities(self) -> None:
        """Raise NotIdentified if the policy cannot say with what probability it chooses an arm."""
        if self._index.probabilities is None:
            raise NotIdentified(
                f"The index of policy {self.policy.name!r} cannot say its probabilities; add `probabilities` to it, "
                "or use choose."
            )

    def _table(self, counts: Counts) -> FloatArray:
        """The counts as the curve wants them, checked."""
        setting = self.setting
        counts = needed_counts(counts).checked(setting)
        if self._curve.discrete and counts.levels is None:
            raise InvalidValue(f"Policy {self.policy.name!r} needs counts of a discrete outcome, by level.")
        if not self._curve.discrete:
            counts = counts.real().about(setting.centre)
        if setting.minimize:
            counts = counts.reflected()
        return np.ascontiguousarray(self._curve.table(counts))

    def _pending(self, pending: npt.ArrayLike | None) -> FloatArray:
        arms = self.setting.arms
        if pending is None:
            return np.zeros(arms)
        waiting = finite("pending", pending)
        if waiting.shape != (arms,) or np.any(waiting < 0):
            raise InvalidValue(
                f"pending must be {arms} numbers of at least 0, one for each arm, got {quoted(pending)}."
            )
        return waiting

    def _active(self, active: npt.ArrayLike | None) -> npt.NDArray[np.bool_]:
        arms = self.setting.arms
        if active is None:
            return np.ones(arms, np.bool_)
        try:
            allowed = np.asarray(active)
        except ValueError:  # of rows of different lengths
            allowed = np.empty(0)
        if allowed.shape != (arms,) or allowed.dtype != np.bool_:
            raise InvalidValue(
                f"active must be {arms} times True or False, one for each arm, got {quoted(active)}."
            )
        if not allowed.any():
            raise InvalidValue("active must leave at least one arm.")
        return allowed
