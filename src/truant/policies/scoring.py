"""All arms of one table of counts, scored at once: what a single decision is made from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from truant.assumptions.assumption import Curve, note_nothing
from truant.compile import link
from truant.indices.index import Index, guessed_log_horizon
from truant.setting import FloatArray, IntArray


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
        self._score(
            arms,
            self._table,
            (self._settled + self._pending) / self._settled,
            self._memory,
            self._shared,
            self._parameters,
            self._log_horizon,
            self._index_parameters,
            self.z,
            self.values,
            self._scaled,
        )

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


def _score(
    arms: IntArray,
    table: FloatArray,
    factors: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    log_horizon: float,
    index_parameters: FloatArray,
    z: FloatArray,
    values: FloatArray,
    scaled: FloatArray,
) -> None:
    for a in arms:
        for m in range(table.shape[1]):
            for i in range(table.shape[2]):
                scaled[m, i] = table[a, m, i] * factors[a]
        aim(known(scaled, shared, parameters[a]), log_horizon, index_parameters, z[a])
        score_arm(scaled, memory[a], shared, parameters[a], z[a], values[a])


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
