"""Coverage of 95% intervals with follow-ups: a fixed number of them, or as many as a rule asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from research.figures import Note, plus_minus, table
from research.markdown import verdict, yes
from research.sources import policy_modules, world_modules
from research.validation.clustered import Groups, clustered_median, clustered_percentage, clustered_share
from research.validation.follow_up_intervals import chosen_follow_ups, fixed_follow_ups
from research.validation.measures import share_with_error

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.1  # of the instances and runs, to confirm the figures
BAND = (0.93, 0.97)
ERRORS = 3.0  # standard errors that the band allows for
ANSWERS = (20, 50, 200)
ROWS = (1000, 5000)
SUCCESS = 0.7
PLAIN = {
    "mar-low": "the mediator",
    "mnar-hidden": "the outcome",
    "mediator-and-outcome": "mediator and outcome",
}
SKEWED = {"lognormal:K=3": "the mediator; skewed", "conversion": "the mediator; mostly 0, else skewed"}
POLICY, COST, HORIZONS = "follow-up-ucb", 0.1, (2_000, 20_000)
CHOSEN = (*PLAIN, "lognormal:K=3")
WIDE = 10.0  # times the plain interval
FEW = 20  # arms, below which a share is not judged

Arms = Sequence[Sequence[Any]]  # the answers of each arm, by replication


def section(bench: Workbench) -> list[str]:
    replications, runs = bench.runs(150, 4), bench.runs(60, 3)
    fixed = [
        row
        for world in PLAIN | SKEWED
        for rows in ROWS
        for row in fixed_rows(bench, world, rows, replications)
    ]
    failing = [row for world in PLAIN | SKEWED for row in failing_rows(bench, world, ROWS[0], replications)]
    chosen = [
        row for world in CHOSEN for horizon in HORIZONS for row in chosen_rows(bench, world, horizon, runs)
    ]
    return [
        "## Coverage of 95% intervals with follow-ups",
        f"The estimate `follow-up` in new instances of ten arms, {replications} in each row; the stated "
        "number of missing outcomes of each arm, drawn at random, is followed up. The table has the share "
        "of the intervals that contain the true mean ± its standard error over instances. *Warned*: the "
        "analysis gives `skewed` or `thin-cell`, which say that the interval may be unreliable. Coverage "
        f"must be between {BAND[0]} and {BAND[1]}, with an allowance of {ERRORS:.0f} standard errors, for "
        "all intervals and, where outcomes are skewed, for those without a warning. "
        f"{verdict([row[-1] for row in fixed], 'rows')}",
        table(
            (
                *("world", "missing by", "rows per arm", "answers"),
                *("all", "without a warning", "warned", "agrees"),
            ),
            fixed,
        ),
        "### Follow-ups that fail",
        f"{1 - SUCCESS:.0%} of the follow-ups fail, independently of the outcome; {ROWS[0]:,} rows of each "
        "arm. *Ignorable*: the analysis assumes that failures are like the others, which is true here; "
        "judged as above. *Worst case*: the outcomes of failures may be anywhere in the range; coverage "
        f"must be at least {BAND[0]}, with an allowance of {ERRORS:.0f} standard errors. "
        f"{verdict([row[-1] for row in failing], 'rows')}",
        table(
            (
                *("world", "answers", "ignorable, all", "ignorable, without a warning", "warned"),
                *("worst case", "agrees"),
            ),
            failing,
        ),
        "### Follow-ups chosen by a rule",
        f"Runs of `{POLICY}` where a follow-up costs {COST:g}, {runs} in each row. *Plain*: intervals for a "
        "fixed split; *calibrated*: those of `simulate(intervals=True)`, by 200 replays of each run. "
        "*Width*: median ratio of the calibrated to the plain interval of an arm, and the number of "
        f"intervals that are more than {WIDE:.0f} times as wide. *None*: arms without an estimate, and arms "
        "without a calibrated interval. A row agrees if the coverage of the calibrated intervals of the "
        f"best arm and of the other arms is in the band, with an allowance of {ERRORS:.0f} standard errors. "
        f"{verdict([row[-1] for row in chosen if row[-1]], 'rows')}",
        table(
            (
                *("world", "rounds", "arms", "answers (median)", "plain", "calibrated", "width"),
                *(f"above {WIDE:.0f} times", "none", "agrees"),
            ),
            chosen,
        ),
    ]


def fixed_rows(bench: Workbench, world: str, rows: int, replications: int) -> list[list[str]]:
    """One world with tables of one size."""
    out = []
    for answers in ANSWERS:
        found = fixed(bench, world, rows, answers, 1.0, replications)
        cells, agrees = coverages(found, world in SKEWED)
        missing = {**PLAIN, **SKEWED}[world]
        out.append([world, missing, f"{rows:,}", f"{answers}", *cells, yes(agrees)])
    return out


def failing_rows(bench: Workbench, world: str, rows: int, replications: int) -> list[list[str]]:
    """One world in which follow-ups fail."""
    out = []
    for answers in ANSWERS:
        found = fixed(bench, world, rows, answers, SUCCESS, replications)
        ignorable = [[(warned, held) for warned, _, held in arms] for arms in found]
        cells, agrees = coverages(ignorable, world in SKEWED)
        worst = [[held for _, held, _ in arms] for arms in found]
        lowest, error = clustered_share(worst)
        agrees = agrees and lowest >= BAND[0] - ERRORS * error
        out.append([world, f"{answers}", *cells, words(worst), yes(agrees)])
    return out


def fixed(
    bench: Workbench, world: str, rows: int, answers: int, success: float, replications: int
) -> list[Arms]:
    """What became of the intervals, kept."""
    found: list[Arms] = bench.piece(
        fixed_follow_ups,
        world_modules(world),
        world=world,
        rows=rows,
        answers=answers,
        success=success,
        replications=replications,
        first=bench.first,
    )
    return found


def coverages(found: Sequence[Arms], skewed: bool) -> tuple[list[str], bool]:
    """Coverage of all intervals and of those without a warning, the share of warnings; whether they are in the band."""
    everywhere = [[held for _, held in arms] for arms in found]
    unwarned = [[held for warned, held in arms if not warned] for arms in found]
    warned = clustered_percentage([[warned for warned, _ in arms] for arms in found])
    return [words(everywhere), words(unwarned), warned], in_band(unwarned if skewed else everywhere)


def words(held: Groups) -> str:
    """A coverage with its error."""
    if not _number(held):
        return "-"
    return plus_minus(*clustered_share(held), 3, len(held))


def in_band(held: Groups) -> bool:
    """Whether a coverage is in the band, up to some standard errors; too few are not judged."""
    if _number(held) < FEW:
        return True
    mean, error = clustered_share(held)
    edge = BAND[1] * (1 - BAND[1]) / _number(held)  # where all hold, they do not say how uncertain that is
    error = max(error, float(np.sqrt(edge)))
    return BAND[0] - ERRORS * error <= mean <= BAND[1] + ERRORS * error


def _number(held: Groups) -> int:
    return sum(one is not None for arms in held for one in arms)


def chosen_rows(bench: Workbench, world: str, horizon: int, runs: int) -> list[list[str]]:
    """Best and other arms at the end of runs."""
    ends = bench.piece(
        chosen_follow_ups,
        policy_modules(POLICY) | world_modules(world),
        world=world,
        policy=POLICY,
        horizon=bench.size(horizon, horizon // 10),
        runs=runs,
        cost=COST,
        seed=bench.seed,
    )
    rows = []
    for which in ("best", "others"):
        arms = [[arm for arm in run[which] if arm is not None] for run in ends]
        refused = sum(arm is None for run in ends for arm in run[which])
        plain, calibrated = ([[arm[k] for arm in run] for run in arms] for k in (0, 1))
        widths = [[arm[2] for arm in run if arm[2] is not None] for run in arms]
        without = sum(arm[1] is None for run in arms for arm in run)
        rows.append(
            [
                *((world, f"{horizon:,}") if which == "best" else ("", "")),
                which,
                Note(f"{np.median([arm[3] for run in arms for arm in run]):.0f}"),
                *(one_each(held) if which == "best" else words(held) for held in (plain, calibrated)),
                clustered_median(widths, "{:.2f}") if any(widths) else "-",
                clustered_percentage([[one > WIDE for one in run] for run in widths]) if any(widths) else "-",
                f"{refused} + {without}",
                yes(in_band(calibrated)),
            ]
        )
    return rows


def one_each(held: Groups) -> str:
    """A coverage of the best arm, which is at most one interval in each run."""
    known = [one for arms in held for one in arms if one is not None]
    return share_with_error(known) if known else "-"
