"""Results of a simulation: regret at checkpoints, pulls and final estimates; as tables, chart and file."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from truant.envelope import ABSENT, document_fields, plain
from truant.errors import InvalidValue, quoted, require, visible
from truant.files import TABLES, output_path
from truant.lab.records import MeanFigure, PolicyFigures, RunsFigure, SimulationSummary, SimulationTerms
from truant.play.run import paired_difference, standard_deviation, summarize_regret
from truant.policies.follow_up_rules import FollowUps
from truant.setting import LARGEST, FloatArray, IntArray, as_numbers, finite, switch, whole_number
from truant.shown import Shown
from truant.tables.arrow import make_table
from truant.tables.write import html_table, plain_rows, text_table, write_table
from truant.worlds.world import EQUAL, losses

if TYPE_CHECKING:  # slow to import, and not needed to simulate
    import altair as alt
    import pyarrow as pa

    from truant.documents.blocks import Document

FIGURES = ("mean", "sd", "median", "p90")  # of regret and costs, in summaries
MOST_PIXELS = 20_000  # of a chart's side


@dataclass(eq=False, kw_only=True, repr=False)
class Simulation(Shown):
    """The finished runs of some policies in one world; all policies of a run faced the same instance.

    Parameters
    ----------
    world : name of the world.
    parameters : what was set of the world; plain JSON values.
    horizon : rounds T of each run.
    delay : rounds after which an outcome entered the counts.
    minimize : less is better: the best arm has the lowest mean.
    seed : of the whole simulation.
    policies : the P names.
    rounds : (C,) checkpoints, increasing up to the horizon, half of it among them.
    regret : (P, R, C) cumulative pseudo-regret at the checkpoints.
    pulls : (P, R, arms) pulls of each arm.
    estimates : (P, R, arms) final estimate of each arm's mean, NaN where there is none.
    means : (R, arms) true means.
    nanoseconds : (P, R) CPU time of the loop.
    follow_up : what a follow-up costs and how often it succeeds; None if missing outcomes could not be followed up.
    follow_ups : (P, R, C) follow-ups until each checkpoint; None likewise.
    low, high : (P, R, arms) ends of calibrated 95% intervals, NaN where there are none; None unless asked for.
    inputs : paths of the files that the world was read from, which `save` refuses to write; not saved.
    """

    _views: ClassVar = {"document": "truant.documents.simulation:simulation_document"}

    world: str
    parameters: dict[str, Any]
    horizon: int
    seed: int
    policies: list[str]
    rounds: IntArray
    regret: FloatArray
    pulls: IntArray
    estimates: FloatArray
    means: FloatArray
    nanoseconds: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    delay: int = 0
    minimize: bool = False
    follow_up: FollowUps | None = None
    follow_ups: FloatArray | None = None
    inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # as a file would give them back: tuples are lists, numpy numbers are numbers
        self.parameters = json.loads(json.dumps(self.parameters, default=_as_json))
        if not isinstance(self.policies, Sequence) or not all(
            isinstance(name, str) for name in self.policies
        ):
            raise InvalidValue(f"policies must be a list of names, got {quoted(self.policies)}.")
        self.policies = list(self.policies)
        self.horizon = whole_number("horizon", self.horizon, at_least=1)
        for name in ("rounds", "pulls"):
            numbers = finite(name, getattr(self, name))
            if np.any(np.abs(numbers) > LARGEST):
                raise InvalidValue(f"{name} must be at most {LARGEST:,}, got {np.abs(numbers).max():g}.")
            setattr(self, name, np.atleast_1d(numbers).astype(np.int64))
        if (self.low is None) != (self.high is None):
            raise InvalidValue("low and high are the two ends of intervals; give both or none.")
        if (self.follow_up is None) != (self.follow_ups is None):
            raise InvalidValue("follow_up has the terms of follow_ups; give both or none.")
        ends = () if self.low is None else ("low", "high")
        bought = () if self.follow_ups is None else ("follow_ups",)
        for name in ("regret", "estimates", "means", "nanoseconds", *ends, *bought):
            setattr(self, name, as_numbers(name, getattr(self, name)))
        if self.means.ndim != 2 or self.means.size == 0 or not self.policies:
            raise InvalidValue(
                "A simulation needs at least one policy, one arm and one finished run, got none."
            )
        if len(set(self.policies)) < len(self.policies):
            raise InvalidValue(f"Policies must have different names, got {', '.join(self.policies)}.")
        if list(self.rounds[-1:]) != [self.horizon] or np.any(np.diff(self.rounds, prepend=0) <= 0):
            raise InvalidValue(f"rounds must increase from 1 or more to the horizon {self.horizon}.")
        if self._half not in self.rounds:
            raise InvalidValue(f"rounds must contain half of the horizon, {self._half}.")
        cells = (len(self.policies), self.runs)
        shapes: dict[str, tuple[int, ...]] = {"nanoseconds": cells}
        shapes |= dict.fromkeys(("regret", *bought), (*cells, len(self.rounds)))
        shapes |= dict.fromkeys(("pulls", "estimates", *ends), (*cells, self.means.shape[1]))
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise InvalidValue(f"{name} must have shape {shape}, got {getattr(self, name).shape}.")

    @property
    def runs(self) -> int:
        """Number of finished runs."""
        return len(self.means)

    @property
    def final(self) -> FloatArray:
        """Regret at the horizon, shape (P, R)."""
        return self.regret[:, :, -1]

    @property
    def follow_up_costs(self) -> FloatArray:
        """What the follow-ups of each run cost until each checkpoint, shape (P, R, C)."""
        if self.follow_up is None or self.follow_ups is None:
            return np.zeros_like(self.regret)
        return self.follow_up.cost * self.follow_ups

    @property
    def total_cost(self) -> FloatArray:
        """Regret and follow-ups together, at each checkpoint, shape (P, R, C)."""
        return self.regret + self.follow_up_costs

    @property
    def best(self) -> npt.NDArray[np.bool_]:
        """Which arms were best in each run, shape (R, arms)."""
        return np.asarray(losses(self.means, self.minimize) <= EQUAL)

    @property
    def best_arm_share(self) -> FloatArray:
        """Share of the pulls that went to a best arm, shape (P, R)."""
        share: FloatArray = (self.pulls * self.best).sum(axis=2) / self.pulls.sum(axis=2)
        return share

    @property
    def coverage(self) -> FloatArray | None:
        """Share of the intervals of each policy that hold the true mean, NaN without any; None unless asked for."""
        if self.low is None or self.high is None:
            return None
        known = np.isfinite(self.low) & np.isfinite(self.high)
        held = known & (self.low <= self.means) & (self.means <= self.high)
        count = known.sum(axis=(1, 2))
        out = np.full(len(count), np.nan)
        return np.asarray(np.divide(held.sum(axis=(1, 2)), count, out=out, where=count > 0))

    @property
    def _half(self) -> int:
        return max(1, self.horizon // 2)

    @property
    def _first_half(self) -> FloatArray:
        half: FloatArray = self.regret[:, :, np.searchsorted(self.rounds, self._half)]
        return half

    def summary(self) -> dict[str, Any]:
        """The main figures as plain JSON values; the same as `truant simulate --json`."""
        figures = SimulationSummary(
            **self._terms(),
            follow_up=ABSENT if self.follow_up is None else self.follow_up,
            runs=self.runs,
            policies=[_policy_figures(row) for row in plain_rows(self._columns())],
        )
        return dict(plain(figures))

    def _terms(self) -> dict[str, Any]:
        """What was simulated."""
        return {name: getattr(self, name) for name in document_fields(SimulationTerms)}

    def table(self) -> pa.Table:
        """One row per policy: final regret over the runs, and its paired difference to the first policy.

        Where missing outcomes could be followed up, the difference is that of the total cost.
        """
        return make_table(self._columns())

    def _columns(self) -> dict[str, Any]:
        """The columns of `table`, which are shown without Arrow."""
        regret = summarize_regret(self.final, self._first_half)
        total = self.total_cost[:, :, -1]
        difference_mean, difference_se = paired_difference(total, total[0])
        columns: dict[str, Any] = {
            "policy": self.policies,
            "regret_mean": regret.mean,
            "regret_sd": regret.sd,
            "regret_median": regret.median,
            "regret_p90": regret.p90,
            "share_above_10x_median": regret.share_above_10x_median,
            "regret_first_half_mean": regret.first_half_mean,
            "best_arm_share": self.best_arm_share.mean(axis=1),
            "nanoseconds_per_round": self.nanoseconds.mean(axis=1) / self.horizon,
            "difference_mean": difference_mean,
            "difference_se": difference_se,
        }
        if self.coverage is not None:
            columns["interval_coverage"] = self.coverage
        if self.follow_ups is not None:
            columns["follow_ups_mean"] = self.follow_ups[:, :, -1].mean(axis=1)
            for name, final in (("follow_up_cost", self.follow_up_costs[:, :, -1]), ("total_cost", total)):
                figures = summarize_regret(final, final)
                columns |= {f"{name}_{key}": getattr(figures, key) for key in FIGURES}
        return columns

    def curves(self) -> pa.Table:
        """Regret over rounds, one row per policy and checkpoint: mean, sd, and mean ± sd as low and high.

        Where missing outcomes could be followed up: total cost.
        """
        mean, sd = self.total_cost.mean(axis=1), standard_deviation(self.total_cost, axis=1)
        columns = {"mean": mean, "sd": sd, "low": mean - sd, "high": mean + sd}
        return _tidy({"policy": self.policies, "round": self.rounds}, columns)

    def long(self) -> pa.Table:
        """Regret over rounds, one row per policy, run and checkpoint; with follow-ups, also their cost and both."""
        places = {"policy": self.policies, "run": np.arange(self.runs), "round": self.rounds}
        columns = {"regret": self.regret}
        if self.follow_ups is not None:
            columns |= {"follow_up_cost": self.follow_up_costs, "total_cost": self.total_cost}
        return _tidy(places, columns)

    def arms(self) -> pa.Table:
        """One row per policy, run and arm: its pulls, true mean, final estimate and interval, if there are any."""
        means = np.broadcast_to(self.means, self.pulls.shape)
        arms = np.arange(self.means.shape[1])
        places = {"policy": self.policies, "run": np.arange(self.runs), "arm": arms}
        columns: dict[str, FloatArray | IntArray] = {"pulls": self.pulls, "mean": means}
        columns["estimate"] = self.estimates
        if self.low is not None and self.high is not None:
            columns |= {"low": self.low, "high": self.high}
        return _tidy(places, columns)

    def chart(self, *, log: bool = False, width: int = 560, height: int = 340) -> alt.LayerChart:
        """Mean regret over rounds with a band of ±1 sd; `log` for a logarithmic y axis."""
        switch("log", log)
        for name, size in (("width", width), ("height", height)):
            if whole_number(name, size, at_least=1) > MOST_PIXELS:
                raise InvalidValue(f"{name} must be at most {MOST_PIXELS:,} pixels, got {size:,}.")
        from truant.charts import regret_chart

        return regret_chart(
            self.curves(),
            title=f"World {self.world}",
            subtitle=self._line() + ("; mean ± 1 sd" if self.runs > 1 else ""),
            log=log,
            width=width,
            height=height,
            quantity="regret" if self.follow_up is None else "regret and cost of follow-ups",
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a row for each policy and run to a .csv or .parquet file, whole or not at all.

        A .parquet file holds everything and can be loaded again; a .csv file holds the final figures of each run.
        """
        target = output_path(path, TABLES, self.inputs)
        if target.suffix.lower() == ".csv":
            return write_table(final_columns(self), target, "simulation-runs")
        require("logs", "Saved simulations", "pyarrow")
        from truant.lab.store import save

        return save(self, target)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Simulation:
        """Read the .parquet file that `save` wrote."""
        require("logs", "Saved simulations", "pyarrow")
        from truant.lab.store import load

        return load(path)

    def _line(self) -> str:
        """What was run, in one line."""
        settings = [f"{key} = {_words(value)}" for key, value in self.parameters.items()]
        rounds = "1 round" if self.horizon == 1 else f"{self.horizon:,} rounds"
        runs = "1 run" if self.runs == 1 else f"{self.runs:,} runs"
        usual = circumstances(self.delay, self.minimize)
        return ", ".join([*settings, rounds, runs, *usual, *follow_up_words(self.follow_up)])

    def __repr__(self) -> str:
        heading = visible(f"Simulation of world {self.world}: {self._line()}")
        return f"{heading}\n{text_table(self._columns())}"

    def document(self) -> Document:
        """Everything as blocks, which terminal and page render."""
        rows, title = plain_rows(self._columns()), f"World {self.world}"
        document: Document = self._view("document", rows, title, self._line())
        return document

    def __str__(self) -> str:
        return Shown.__str__(self).rstrip("\n")

    def _repr_html_(self) -> str:
        import html

        heading = html.escape(f"World {self.world}: {self._line()}")
        return f"<p>{heading}</p>{html_table(self._columns())}"


def _policy_figures(row: Mapping[str, Any]) -> PolicyFigures:
    """A row of the table as documents have it."""

    def over_runs(name: str) -> RunsFigure:
        return RunsFigure(*(row[f"{name}_{key}"] for key in FIGURES))

    followed = "follow_ups_mean" in row
    return PolicyFigures(
        name=row["policy"],
        regret=over_runs("regret"),
        follow_ups=MeanFigure(row["follow_ups_mean"]) if followed else ABSENT,
        follow_up_cost=over_runs("follow_up_cost") if followed else ABSENT,
        total_cost=over_runs("total_cost") if followed else ABSENT,
        regret_first_half=MeanFigure(row["regret_first_half_mean"]),
        best_arm_share=row["best_arm_share"],
        nanoseconds_per_round=row["nanoseconds_per_round"],
        interval_coverage=row.get("interval_coverage", ABSENT),
    )


def circumstances(delay: int, minimize: bool) -> list[str]:
    """What is not usual about the outcomes, in words."""
    late = f"outcomes {delay:,} round{'s' if delay > 1 else ''} late"
    return [words for words, said in ((late, delay > 0), ("lower is better", minimize)) if said]


def follow_up_words(terms: FollowUps | None) -> list[str]:
    """What follow-ups cost, in words."""
    if terms is None:
        return []
    failing = f", {terms.success:.0%} of them succeed" if terms.success < 1 else ""
    return [f"a follow-up costs {terms.cost:g}{failing}"]


def _tidy(places: Mapping[str, Any], columns: Mapping[str, FloatArray | IntArray]) -> pa.Table:
    """A row per combination of the places, the last varying fastest, which the columns' axes follow."""
    grid = np.meshgrid(*(np.asarray(values) for values in places.values()), indexing="ij")
    named = {name: values.ravel() for name, values in zip(places, grid, strict=True)}
    return make_table(named | {name: values.ravel() for name, values in columns.items()})


def _as_json(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise InvalidValue(f"World parameters must be numbers, texts or lists of them, got {value!r}.")


def _words(value: Any) -> str:
    return "–".join(f"{v}" for v in value) if isinstance(value, list) else f"{value}"


def final_columns(simulation: Simulation) -> dict[str, Any]:
    """A row for each policy and run; columns that have one number for each arm end in the arm's number, from 0."""
    policies, runs = len(simulation.policies), simulation.runs
    columns: dict[str, Any] = {
        "policy": np.repeat(simulation.policies, runs),
        "run": np.tile(np.arange(runs), policies),
        "regret": simulation.final.ravel(),
    }
    if simulation.follow_ups is not None:
        columns["follow_ups"] = simulation.follow_ups[:, :, -1].ravel()
    means = np.broadcast_to(simulation.means, simulation.pulls.shape)
    per_arm = {"pulls": simulation.pulls, "estimate": simulation.estimates, "mean": means}
    if simulation.low is not None and simulation.high is not None:
        per_arm |= {"low": simulation.low, "high": simulation.high}
    for name, values in per_arm.items():
        for arm in range(values.shape[2]):
            columns[f"{name}_{arm}"] = values[:, :, arm].ravel()
    return columns


def versions() -> dict[str, str]:
    """Of truant, Python and the packages that compute."""
    names = ("truant", "numpy", "numba", "pyarrow")
    return {"python": platform.python_version()} | {name: version(name) for name in names}
