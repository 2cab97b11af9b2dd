"""Coverage of intervals that allow for the policy, at the end of adaptive runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from research.figures import Figure, Note, mean, share, table
from research.markdown import verdict, yes
from research.sources import policy_modules, world_modules
from research.validation.calibrated_intervals import METHODS, calibrated_runs, checked_runs
from research.validation.clustered import clustered_median
from research.validation.measures import share_with_error

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.1  # of the runs, to confirm the figures
HORIZONS = (2_000, 20_000)
CASES = (
    ("mcar", "mcar-ucb"),
    ("mar", "mar-ucb"),
    ("mar-low", "mar-ucb"),
    ("lognormal", "mcar-ucb"),
    ("mnar-clear", "mnar-ucb"),
)
LEAST = 0.93
REPLAYS = 200
COLUMNS = {"best": "best arm", "others": "other arms"}
NAMES = {"plain": "plain", "replayed": "replayed", "sequence": "confidence sequence"}


def section(bench: Workbench) -> list[str]:
    rows = []
    for world, policy in CASES:
        for horizon in HORIZONS:
            rows += case_rows(bench, world, policy, horizon)
    answers = [row[-1] for row in rows if row[-1]]
    return [
        "## Coverage of calibrated intervals at the end of adaptive runs",
        "Logs that a policy collected, with a new instance of the world in each run, ± standard error over "
        f"runs. *Plain*: intervals for a fixed split; *replayed*: those of `--collected-by` with {REPLAYS} "
        "replays (without its check); *confidence sequence*: those of `--collected adaptive`. Widths are "
        "medians of the ratio to the plain interval of the same arm. An arm without an estimate has no "
        "interval of any kind, and is counted as refused. A row of *replayed* agrees if the coverage of the "
        f"best arm and of the other arms is at least {LEAST:g}, with an allowance of two standard errors. "
        f"{verdict(answers, 'rows')}",
        table(
            (
                *("world", "policy", "rows", "intervals", "best arm", "width, best arm"),
                *("other arms", "width, other arms", "refused", "agrees"),
            ),
            rows,
        ),
        *check_paragraphs(bench),
    ]


def check_paragraphs(bench: Workbench) -> list[str]:
    """How often the check replaces intervals; not to confirm figures, since it takes as long as 13 analyses."""
    if bench.share < 1:
        return []
    return [
        "The check of `--collected-by` analyses 12 replayed logs in the same way, and uses confidence "
        "sequences instead of calibrated intervals where the coverage of the latter is too low. How often "
        "it does so, in logs of 2,000 rows:",
        table(("world", "policy", "logs", "coverage found by the check", "replaced"), check_rows(bench)),
    ]


def case_rows(bench: Workbench, world: str, policy: str, horizon: int) -> list[list[str]]:
    """A row for each kind of interval."""
    runs = bench.runs(16 if "mnar" in policy else 80, 4)
    ends = bench.piece(
        calibrated_runs,
        policy_modules(policy) | world_modules(world),
        policy=policy,
        world=world,
        horizon=bench.size(horizon, horizon // 10),
        runs=runs,
        replays=bench.size(REPLAYS, 80),
        seed=bench.seed,
    )
    refused = sum(arm is None for run in ends for which in COLUMNS for arm in run[which])
    rows = []
    for method in METHODS:
        cells, right = [], True
        for which in COLUMNS:
            covered, width = coverage(ends, which, method)
            right &= covered.value + 2 * covered.error >= LEAST
            cells += [covered, width]
        names = [world, f"`{policy}`", f"{horizon:,}"] if method == METHODS[0] else ["", "", ""]
        answer = yes(right) if method == "replayed" else ""
        rows.append([*names, NAMES[method], *cells, f"{refused}" if method == METHODS[0] else "", answer])
    return rows


def coverage(ends: list[dict[str, Any]], which: str, method: str) -> tuple[Figure, str]:
    """Share of the intervals that hold the truth, over runs, and the median width."""
    runs = [[arm[method] for arm in run[which] if arm is not None] for run in ends]
    shares = [float(np.mean([held for held, _ in run])) for run in runs if run]
    # the best arm is one interval in each run
    covered = share_with_error(shares) if which == "best" else mean(shares, 3)
    if method == "plain":  # the unit of widths
        return covered, "1.00"
    return covered, clustered_median([[width for _, width in run] for run in runs], "{:.2f}")


def check_rows(bench: Workbench) -> list[list[str]]:
    """How often the check lets a calibration stand."""
    rows = []
    for world, policy in CASES[:4]:
        logs = bench.piece(
            checked_runs,
            policy_modules(policy) | world_modules(world),
            policy=policy,
            world=world,
            horizon=bench.size(2_000, 300),
            runs=bench.runs(10, 2),
            replays=bench.size(REPLAYS, 200),
            seed=bench.seed,
        )
        checks = [check for check, _ in logs if check is not None]
        replaced = [not stands for check, stands in logs if check is not None]
        cells = ["–", "0"]
        if checks:
            cells = [mean(checks, text=f"{np.mean(checks):.3f}"), share(replaced, f"{sum(replaced)}")]
        rows.append([world, f"`{policy}`", Note(f"{len(checks)} of {len(logs)}"), *cells])
    return rows
