"""How the worst regret grows with T, n, gamma and the rest, beside the slopes that the theorems promise.

A theorem speaks of the worst instance, so each point is the worst of several gaps between one best arm and all
others, in units of the gap at which the arms can just be told apart: c sqrt(n V / T).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from research.figures import plus_minus, table
from research.markdown import picture, standard_error, verdict, yes
from research.validation.measures import Places, bootstrap_error
from research.validation.pictures import save, slope_panels
from research.validation.sweeps import SWEEPS, Point, Sweep

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.08  # of the runs, to confirm the figures
GAPS = (1.5, 2.0, 3.0, 4.0, 5.0)
TOLERANCE = 0.05  # of a slope, beside twice its standard error
COLUMNS = (
    "theorem",
    "as a function of",
    "policy",
    "lower",
    "measured",
    "upper",
    "last step",
    "share of upper bound",
    "agrees",
)


@dataclass(frozen=True)
class Line:
    """One policy's worst regret along a sweep.

    Parameters
    ----------
    finals : of each point the regret of the runs, a row for each gap.
    """

    sweep: Sweep
    policy: str
    points: Sequence[Point]
    finals: Sequence[npt.NDArray[np.float64]]

    @functools.cached_property
    def regret(self) -> npt.NDArray[np.float64]:
        return np.array([worst.mean() for worst in self.worst])

    @functools.cached_property
    def error(self) -> npt.NDArray[np.float64]:
        """Standard errors."""
        return np.array([standard_error(worst) for worst in self.worst])

    @functools.cached_property
    def worst(self) -> list[npt.NDArray[np.float64]]:
        """The runs at the worst gap of each point."""
        return [final[np.argmax(final.mean(axis=1))] for final in self.finals]

    @property
    def x(self) -> npt.NDArray[np.float64]:
        return np.array([point.x for point in self.points])

    def slope_of(self, values: npt.ArrayLike, last: int = 0) -> tuple[float, float]:
        """Slope of values along the sweep with the weights of the measured points; of the last ones if said."""
        some = slice(-last, None)
        relative = (self.error / self.regret)[some]
        return fitted_slope(np.log(self.x)[some], np.log(np.asarray(values))[some], relative)

    def statistics(self, places: Places = np.arange) -> dict[str, float]:
        """The figures of its row by column, of the runs at these places."""
        line = replace(self, finals=[final[:, places(final.shape[1])] for final in self.finals])
        if not line.error.all():  # the same run throughout
            return dict.fromkeys(COLUMNS[3:-1], np.nan)
        return {
            "lower": line.slope_of([point.lower for point in self.points])[0],
            "measured": line.slope_of(line.regret)[0],
            "upper": line.slope_of([point.upper for point in self.points])[0],
            "last step": line.slope_of(line.regret, last=2)[0],
            "share of upper bound": float(np.max(line.regret / [point.upper for point in self.points])),
        }


def fitted_slope(x: npt.ArrayLike, y: npt.ArrayLike, error: npt.ArrayLike) -> tuple[float, float]:
    """Slope of y over x by weighted least squares, and its standard error.

    The error counts the scatter about the line as well, where that is larger than the points' own errors.
    """
    x, y, weight = np.asarray(x, float), np.asarray(y, float), 1 / np.asarray(error, float) ** 2
    about = x - np.average(x, weights=weight)
    spread = (weight * about**2).sum()
    slope = (weight * about * y).sum() / spread
    rest = y - np.average(y, weights=weight) - slope * about
    scatter = (weight * rest**2).sum() / max(len(x) - 2, 1)
    return float(slope), float(np.sqrt(max(scatter, 1.0) / spread))


def section(bench: Workbench) -> list[str]:
    lines = [line for sweep in SWEEPS for line in lines_of(bench, sweep)]
    chart(bench, lines)
    rows = [row(line) for line in lines]
    return [
        "## Regret against the theorems",
        "Slopes on logarithmic axes (least squares, ± standard error) of the worst mean regret over gaps of "
        f"{', '.join(f'{c:g}' for c in GAPS)} times sqrt(n V / T), between one best arm and n - 1 equal "
        "ones; n is the number of arms, T the number of rounds and V the variance of an arm's estimate per "
        "pull. *Lower* and *upper*: slopes of the theorems' bounds at the same points (for `mnar`, which "
        "has no lower bound, that of sqrt(n T V) with V the efficient variance). The upper bounds contain a "
        "log T that the lower ones lack. *Last step*: slope between the last two points, which is closest "
        "to the limit. *Share*: the largest ratio of measured regret to the upper bound, which must not "
        f"exceed 1. A row agrees if its slope is between the two, with an allowance of {TOLERANCE} and two "
        f"standard errors, and its share is below 1. {verdict([r[-1] for r in rows], 'rows')}",
        table(COLUMNS, rows),
        picture("validation-slopes.png", "Worst regret along each sweep, with the promised slopes"),
    ]


def lines_of(bench: Workbench, sweep: Sweep) -> list[Line]:
    values = bench.size(sweep.values, sweep.values[:2])
    points = [sweep.point(value, 0.0) for value in values]
    finals = [finals_of(bench, sweep, value) for value in values]
    return [
        Line(sweep, policy, points, [final[:, number] for final in finals])
        for number, policy in enumerate(sweep.policies)
    ]


def finals_of(bench: Workbench, sweep: Sweep, value: float) -> npt.NDArray[np.float64]:
    """Regret at each of the gaps, by policy and run."""
    runs = bench.runs(60 if sweep.point(value, 0.0).horizon > 100_000 else sweep.runs, 8)
    points = [sweep.point(value, gap) for gap in GAPS]
    return np.array([bench.simulated(at.world, sweep.policies, at.horizon, runs).final for at in points])


def row(line: Line) -> list[str]:
    values, (slope, error) = line.statistics(), line.slope_of(line.regret)
    slack = TOLERANCE + 2 * error
    low, high = sorted([values["lower"], values["upper"]])
    agrees = low - slack <= slope <= high + slack and values["share of upper bound"] <= 1
    texts = {column: f"{value:.2f}" for column, value in values.items()}
    texts["measured"] += f" ± {error:.2f}"
    texts["share of upper bound"] = f"{values['share of upper bound']:.2g}"
    errors = bootstrap_error(lambda places: list(line.statistics(places).values()))
    runs = min(final.shape[1] for final in line.finals)
    figures = [  # in 6 digits the slope of a root is .5, whatever the weights of the points
        plus_minus(float(f"{value:.6g}"), sampling, size=runs, text=texts[column])
        for (column, value), sampling in zip(values.items(), errors, strict=True)
    ]
    return [line.sweep.name, line.sweep.label, f"`{line.policy}`", *figures, yes(agrees)]


def chart(bench: Workbench, lines: list[Line]) -> None:
    rows = []
    for line in lines:
        for point, regret, error in zip(line.points, line.regret, line.error, strict=True):
            low = point.lower * np.exp(np.mean(np.log(line.regret / [p.lower for p in line.points])))
            rows.append(
                {
                    "panel": f"{line.sweep.name}: {line.sweep.label}",
                    "policy": line.policy,
                    "x": point.x,
                    "regret": regret,
                    "error": error,
                    "promised": low,
                }
            )
    save(bench, "validation-slopes.png", slope_panels(rows))
