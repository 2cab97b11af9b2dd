"""Results of a rehearsal: a row of figures for each variant, in words, as tables, files and a page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truant.documents import document
from truant.documents import rehearsal as words
from truant.documents.rehearsal import RehearsalRow, RehearsalTerms
from truant.envelope import plain
from truant.errors import visible
from truant.files import TABLES, output_path
from truant.rehearsal.plan import Variant
from truant.rehearsal.run import RunFigures
from truant.setting import FloatArray
from truant.shown import Shown
from truant.tables.arrow import make_table
from truant.tables.write import write_table

if TYPE_CHECKING:
    import pyarrow as pa

Runs = Mapping[tuple[Variant, bool], Sequence[RunFigures]]


class RehearsalSummary(RehearsalTerms):
    """Windows and assumptions of a live experiment, compared in a simulated world."""

    verdict: str  # what the rehearsal found, in some sentences
    rows: tuple[
        RehearsalRow, ...
    ]  # one entry for each variant: window, assumption, policy and way of settling


@dataclass(frozen=True, kw_only=True)
class RehearsedRun:
    """A run of a variant."""

    window: str  # the window
    assume: str  # the assumption
    policy: str  # the policy
    settle: str  # when an outcome is counted: `at_close` or `on_arrival`
    null: bool  # whether the run is in the null world, in which all arms are equal
    run: int  # number of the run, from 0
    regret: float  # regret of the run, in units of the outcome
    winner: int | None  # number of the arm that was called clearly the best, from 1; None if there is none
    right: bool  # whether this is a best arm
    # days until the shares of the arms changed by what was learned; NaN if they did not
    first_learning_days: float
    arrived: int  # outcomes that arrived in their window
    shown: int  # outcomes that are not missing in the world and whose window is over


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsal(Shown):
    """A finished rehearsal.

    Parameters
    ----------
    about : what was rehearsed, as plain values: world, delay, rate, days and the like.
    rows : the figures of each variant.
    figures : of every run, by variant and whether it was in the null world.
    """

    _views: ClassVar = {"document": "truant.documents.rehearsal:rehearsal_document"}

    about: RehearsalTerms
    rows: tuple[RehearsalRow, ...]
    figures: Runs = field(repr=False)

    @classmethod
    def of(cls, about: RehearsalTerms, figures: Runs) -> Rehearsal:
        """Sum up the runs of every variant."""
        variants = list(dict.fromkeys(variant for variant, _ in figures))
        regrets = {variant: _column(figures[variant, False], "regret") for variant in variants}
        best = regrets[min(variants, key=lambda variant: float(regrets[variant].mean()))]
        rows = tuple(
            row_of(
                variant, figures[variant, False], figures.get((variant, True), ()), regrets[variant] - best
            )
            for variant in variants
        )
        return cls(about, rows, figures)

    @property
    def best(self) -> RehearsalRow:
        """The variant with the least mean regret."""
        return words.best_row(self.rows)

    @property
    def sentences(self) -> list[str]:
        """The verdict: the variant with the least regret, and those with bias, low coverage or false winners."""
        return words.verdict_sentences(self.rows, self.about["level"])

    @property
    def verdict(self) -> str:
        """The same in one text."""
        return " ".join(self.sentences)

    def summary(self) -> dict[str, Any]:
        """The figures as plain values, as `truant rehearse --json` prints them."""
        found: RehearsalSummary = {**self.about, "verdict": self.verdict, "rows": self.rows}
        return document("rehearsal", 2, plain(found))

    def table(self) -> pa.Table:
        """One row for each variant."""
        return make_table(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        rows = [asdict(row) for row in self.rows]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def arms(self) -> pa.Table:
        """One row for each variant, world (null or not), run and arm: decisions, true mean, estimate and interval."""
        found: list[dict[str, Any]] = []
        for (variant, null), runs in self.figures.items():
            for number, run in enumerate(runs):
                for arm in range(len(run.truth)):
                    own = {name: getattr(run, name)[arm] for name in _OF_ARMS}
                    found.append({**variant._asdict(), "null": null, "run": number, "arm": arm + 1, **own})
        return make_table({name: [row[name] for row in found] for name in found[0]})

    def runs(self) -> pa.Table:
        """One row for each variant, world (null or not) and run."""
        return make_table(self._runs())

    def _runs(self) -> dict[str, list[Any]]:
        """The columns of `runs`, which are written as .csv without Arrow."""
        found = [
            RehearsedRun(
                **variant._asdict(),
                null=null,
                run=number,
                regret=run.regret,
                winner=None if run.winner is None else run.winner + 1,
                right=run.right,
                first_learning_days=run.first_learning,
                arrived=run.arrived,
                shown=run.shown,
            )
            for (variant, null), runs in self.figures.items()
            for number, run in enumerate(runs)
        ]
        return {one.name: [getattr(row, one.name) for row in found] for one in fields(RehearsedRun)}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a row for each run to a .csv or .parquet file, whole or not at all."""
        target = output_path(path, TABLES)
        return write_table(self._runs(), target, "rehearsal-runs", 2, fields=self.about)

    def __str__(self) -> str:
        from truant.tables.write import text_table

        lines = [words.title(self.about), *text_table(self._columns()).splitlines(), self.verdict]
        return "\n".join(map(visible, lines))

    __repr__ = __str__


_OF_ARMS = ("decisions", "settled", "truth", "estimate", "low", "high")


def row_of(
    variant: Variant, runs: Sequence[RunFigures], null: Sequence[RunFigures], excess: FloatArray
) -> RehearsalRow:
    """The figures of one variant."""
    regret, errors = _column(runs, "regret"), np.array([_error(run) for run in runs])
    covered, intervals = (sum(part) for part in zip(*map(_covered, runs), strict=True))
    learned = [run.first_learning for run in runs if run.first_learning == run.first_learning]
    shown = sum(run.shown for run in runs)
    return RehearsalRow(
        **variant._asdict(),
        runs=len(runs),
        regret=float(regret.mean()),
        regret_se=_se(regret),
        excess=float(excess.mean()),
        excess_se=_se(excess),
        right_winners=sum(run.right for run in runs),
        wrong_winners=sum(run.winner is not None and not run.right for run in runs),
        null_runs=len(null),
        false_winners=sum(run.winner is not None for run in null),
        coverage=covered / intervals if intervals else float("nan"),
        intervals=intervals,
        bias=float(np.nanmean(errors)) if np.isfinite(errors).any() else float("nan"),
        bias_se=_se(errors[np.isfinite(errors)]),
        first_learning_days=float(np.mean(learned)) if learned else float("nan"),
        learned=len(learned),
        arrived=sum(run.arrived for run in runs) / shown if shown else float("nan"),
    )


def _column(runs: Sequence[RunFigures], name: str) -> FloatArray:
    return np.array([getattr(run, name) for run in runs], np.float64)


def _se(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _error(run: RunFigures) -> float:
    """Mean error of the estimates, each arm weighted by its settled decisions."""
    weights, error = np.array(run.settled, float), np.array(run.estimate) - np.array(run.truth)
    known = np.isfinite(error) & (weights > 0)
    return float(np.average(error[known], weights=weights[known])) if known.any() else float("nan")


def _covered(run: RunFigures) -> tuple[int, int]:
    """Intervals that hold the true mean, and all of them."""
    low, high, truth = (np.array(values) for values in (run.low, run.high, run.truth))
    known = np.isfinite(low) & np.isfinite(high)
    return int((known & (low <= truth) & (truth <= high)).sum()), int(known.sum())
