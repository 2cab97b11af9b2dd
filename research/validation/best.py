"""Calibration of the probability of being best, and how often a clear winner is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from research.figures import Figure, mean, share, table
from research.sources import assumption_modules
from research.validation.best_arms import ROWS, leaders
from research.validation.measures import share_with_error

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.1  # of the replications, to confirm the figures
ARMS = (2, 5, 20)
SPREADS = (0.0, 0.5, 1.0, 3.0, 10.0)  # of the arms' true means, in standard errors of an estimate


def section(bench: Workbench) -> list[str]:
    replications = bench.runs(1000, 10)
    rows = []
    for arms in ARMS:
        for spread in SPREADS:
            found = bench.piece(
                leaders,
                assumption_modules("mar"),
                arms=arms,
                spread=spread,
                replications=replications,
                first=bench.first,
            )
            rows.append(row(arms, spread, found))
    return [
        "## The probability of being best",
        f"{replications} tables for each row, {ROWS} rows per arm, outcomes missing by mediator level, "
        "analysed under `mar`. The true means of the arms are normal; their spread is given in standard "
        "errors of an estimate (0: all arms are equal, so no arm is the best). *Said* is the mean "
        "probability that the analysis gives the leader, *true* the share of tables in which the leader is "
        "the best. The probability uses a flat prior: where arms differ clearly (spread 3 and 10) the two "
        "agree; where the differences are of the size of the noise, the probability is too high for the "
        "leader, more so with many arms. There the analysis warns (`flat-prior`, from three arms on) and "
        "gives the probability with means shrunk towards each other, *shrunk*. A winner is *clear* from .95 "
        "on; *wrong* is the share of all tables with a clear verdict for an arm that is not the best.",
        table(("arms", "spread", "said", "shrunk", "true", "warned", "clear", "clear and wrong"), rows),
    ]


def row(arms: int, spread: float, found: list[dict[str, Any]]) -> list[str]:
    clear = [one["kind"] == "clear" for one in found]
    return [
        str(arms),
        f"{spread:g}",
        mean_probability([one["probability"] for one in found]),
        mean_probability([one["shrunk"] for one in found]),
        "-" if spread == 0 else share_with_error([one["right"] for one in found]),
        share([one["warned"] for one in found], "{:.1%}"),
        share(clear, "{:.1%}"),
        share_with_error([one["kind"] == "clear" and not one["right"] for one in found]),
    ]


def mean_probability(values: list[float]) -> Figure:
    figure = mean(values)
    return figure.with_text(f"{figure.value:.3f}")
