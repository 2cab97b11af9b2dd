"""Regret and cost of policies that follow up missing outcomes, beside those that assume why outcomes are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from research.figures import Figure, mean, median, plus_minus, share, table
from research.markdown import standard_error, verdict, yes
from research.sources import policy_modules, world_modules
from research.validation.follow_up_runs import Runs, Terms, as_runs, follow_up_runs
from research.validation.measures import (
    ERRORS,
    LIMITS,
    LINEAR,
    MOST_STRAIGHT,
    NAIVE,
    PRICE,
    QUARTER,
    ratio,
)
from research.validation.zoo import UNKIND

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.04  # of the runs, to confirm the figures
RESAMPLES = 200  # of a bootstrap
VALUE, THRESHOLD, THOMPSON = "follow-up-ucb", "follow-up-ucb:follow_up=threshold", "follow-up-thompson"
FOLLOWING = (VALUE, THRESHOLD, THOMPSON)
ORACLE = "oracle-ucb"
OWN = {  # worlds, and policies that assume why outcomes are missing: rightly, but for the last world
    "mnar-hidden": ("mnar-ucb",),
    "mnar": ("mnar-ucb",),
    "mediator-mnar-hidden": ("mediator-mnar-ucb",),
    "confounded": ("mar-ucb",),
    "mar-low": ("mar-ucb",),
    "mediator-and-outcome": ("mar-ucb", "mnar-ucb"),
}
COSTS = (0.1, 1.0)
OTHERWISE = {  # circumstances, tried in one world
    "usual": (Terms(0.1), ""),
    "half of the follow-ups succeed": (Terms(0.1, success=0.5), ""),
    "outcomes and answers 1,000 rounds late": (Terms(0.1, delay=1000), ""),
    "at most 200 follow-ups": (Terms(0.1), "budget=200"),
    "at most 50 follow-ups": (Terms(0.1), "budget=50"),
}
TRIED_IN = "mnar-hidden"
OF_SPREAD = Terms(0.1, of_spread=True)
WILD, TIE = 50.0, 0.01  # times the median; gap to the next arm, below which a run may cost that
COLUMNS = (
    *("world", "policy", "cost of one", "total cost", "median", "90%", "regret", "follow-ups"),
    *("of naive's", "of the oracle's", "wild", "within limits"),
)


class Found(NamedTuple):
    """The runs of a policy under some terms."""

    policy: str
    terms: Terms | None
    runs: Runs


def section(bench: Workbench) -> list[str]:
    rows, pairs = [], []
    for world in OWN:
        found = main_runs(bench, world)
        rows += [row(world, one, found) for one in found]
        pairs += [pair_row(world, cost, found) for cost in COSTS]
    otherwise = otherwise_rows(bench)
    unkind = [
        cells for world, assumption in UNKIND.items() for cells in unkind_rows(bench, world, assumption)
    ]
    runs, horizon = sizes(bench)
    unkind_runs, unkind_horizon = unkind_sizes(bench)
    return [
        "## Follow-ups: regret and cost",
        f"{horizon:,} rounds, {runs} runs; outcomes are between 0 and 1 on average. *Total cost* is regret "
        "plus the cost of the follow-ups, mean ± standard error, with its median and 90% quantile; regret "
        f"and the number of follow-ups are also listed separately. `{VALUE}` and `{THOMPSON}` follow up "
        f"where the expected gain is above the cost; `{THRESHOLD}` has a simple rule: ten answers of each "
        "arm, then further follow-ups while the uncertainty from missing outcomes is large compared with "
        "the gap to the next arm. The other policies assume why outcomes are missing (in "
        f"`mediator-and-outcome` no assumption holds) or, in the case of `{ORACLE}`, see every outcome. "
        f"*Wild*: runs whose total cost is above {WILD:.0f} times the median and in which the best arm is at "
        f"least {TIE:g} better than the next.",
        f"{LIMITS} For policies that follow up, these limits apply to the total cost, and none of their runs "
        f"may be wild. {verdict([cells[-1] for cells in rows if cells[-1] != '-'], 'rows')}",
        table(COLUMNS, rows),
        "### Comparison with the simple rule",
        f"Total cost of `{VALUE}` minus that of `{THRESHOLD}` in the same runs, mean ± standard error, and "
        "the ratio of their medians. A row agrees if the difference is not above 0 by more than two "
        f"standard errors. {verdict([cells[-1] for cells in pairs], 'rows')}",
        table(("world", "cost of one", "difference", "ratio of medians", "follow-ups", "agrees"), pairs),
        "### Failures, delays and budgets",
        f"World `{TRIED_IN}`; a follow-up costs {OTHERWISE['usual'][0].cost:g}. A follow-up that fails costs "
        "as much. The limits are those above; with a budget, no run may exceed it, but runs may be wild, "
        f"since a budget can be too small. {verdict([cells[-1] for cells in otherwise], 'rows')}",
        table(
            (
                *("circumstances", "policy", "total cost", "median", "90%", "regret", "follow-ups", "most"),
                *("wild", "within limits"),
            ),
            otherwise,
            title=f"{TRIED_IN}, circumstances",  # begins with the world: its rows share instances
        ),
        "### Unkind worlds",
        f"{unkind_horizon:,} rounds, {unkind_runs} runs; a follow-up costs {OF_SPREAD.cost:g} of the spread "
        "of an outcome that the policy is told. The worlds are those of the section *Unkind worlds*. A run "
        f"is *straight* if its second half adds more than {LINEAR} times the regret of its first half and "
        "the best arm has less than half of the pulls (whatever the median is, because most runs of a "
        "policy can be straight here).",
        f"Limits: at most {MOST_STRAIGHT:.1%} straight runs, and a total cost of at most {QUARTER:g} times "
        f"naive's regret where naive-ucb does not learn, otherwise {PRICE:g} times it, with an allowance of "
        f"{ERRORS:.0f} standard errors. "
        f"{verdict([cells[-1] for cells in unkind if cells[-1] != '-'], 'rows')}",
        table(
            (
                *("world", "policy", "total cost", "median", "regret", "follow-ups", "of naive's"),
                *("of the oracle's", "second half / first", "straight", "within limits"),
            ),
            unkind,
        ),
    ]


def sizes(bench: Workbench) -> tuple[int, int]:
    """Runs and rounds."""
    return bench.runs(400, 4), bench.size(100_000, 2000)


def unkind_sizes(bench: Workbench) -> tuple[int, int]:
    """Runs and rounds in the unkind worlds."""
    return bench.runs(400, 4), bench.size(50_000, 1000)


def played(
    bench: Workbench, world: str, policy: str, size: tuple[int, int], terms: Terms | None = None
) -> Found:
    """The runs of a policy, kept."""
    runs, horizon = size
    rows = bench.piece(
        follow_up_runs,
        policy_modules(policy) | world_modules(world),
        world=world,
        policy=policy,
        horizon=horizon,
        runs=runs,
        seed=bench.seed,
        terms=None if terms is None else list(terms),
    )
    return Found(policy, terms, as_runs(rows))


def main_runs(bench: Workbench, world: str) -> list[Found]:
    """All policies of a world; those that follow up at each cost."""
    size = sizes(bench)
    return [
        *(played(bench, world, policy, size) for policy in (NAIVE, *OWN[world], ORACLE)),
        *(played(bench, world, policy, size, Terms(cost)) for cost in COSTS for policy in FOLLOWING),
    ]


def named(found: Sequence[Found], policy: str, cost: float | None = None) -> Runs:
    """The runs of a policy at a cost."""
    [runs] = [
        one.runs for one in found if one.policy == policy and (one.terms.cost if one.terms else None) == cost
    ]
    return runs


def row(world: str, one: Found, found: Sequence[Found]) -> list[str]:
    """One policy of a world."""
    naive, oracle = named(found, NAIVE), named(found, ORACLE)
    agrees = "-"
    if one.terms:
        agrees = yes(beside_naive(one.runs, naive) and not wild(one.runs).any())
    return [
        world,
        f"`{one.policy}`",
        f"{one.terms.cost:g}" if one.terms else "-",
        *costs(one.runs),
        rounded(one.runs.regret),
        rounded(one.runs.follow_ups) if one.terms else "-",
        "1" if one.policy == NAIVE else ratio_of(one.runs.total, naive.total),
        "1" if one.policy == ORACLE else ratio_of(one.runs.total, oracle.total),
        count(wild(one.runs)),
        agrees,
    ]


def costs(runs: Runs) -> list[str]:
    """Total cost: mean with its standard error, median, 90% quantile."""
    return [mean(runs.total, 0), median(runs.total), upper_decile(runs.total)]


def rounded(values: Any) -> Figure:
    """A mean in a table, without its standard error."""
    return mean(values, text=f"{values.mean():,.0f}")


def ratio_of(values: Any, others: Any) -> Figure:
    """The ratio of two means in the same runs."""
    return plus_minus(*ratio(values, others), size=len(values))


def count(which: Any) -> Figure:
    """How many runs have a property; their share is the figure."""
    return share(which, f"{which.sum()}")


def upper_decile(values: Any) -> Figure:
    """The 90% quantile, with the standard error that order statistics imply; with few runs, of an exponential tail."""
    ordered, number = np.sort(values), len(values)
    value = float(np.quantile(values, 0.9, method="median_unbiased"))
    half = 1.96 * np.sqrt(number * 0.9 * 0.1)  # half the width of the 95% interval, in ranks
    low, high = (round(0.9 * number + s * half) for s in (-1, 1))
    if high < number:
        error = (ordered[high] - ordered[low]) / (2 * 1.96)
    else:
        upper = ordered[number // 2 :]
        error = np.sqrt(0.9 / (0.1 * number)) * (upper.mean() - upper[0])
    return plus_minus(value, float(error), size=number, text=f"{value:,.0f}")


def ratio_of_medians(values: Any, others: Any) -> Figure:
    """The ratio of two medians in the same runs, with its standard error by a bootstrap."""
    again = np.random.default_rng(1).integers(len(values), size=(RESAMPLES, len(values)))
    ratios = np.median(values[again], axis=1) / np.median(others[again], axis=1)
    value = float(np.median(values) / np.median(others))
    return plus_minus(value, float(ratios.std()), size=len(values), text=f"{value:.2f}")


def wild(runs: Runs) -> Any:
    """Which runs cost far more than others, though the best arm is not hard to tell from the next."""
    return (runs.total > WILD * np.median(runs.total)) & (runs.gap >= TIE)


def grows(runs: Runs) -> bool:
    """Whether regret grows as fast late as early, on average."""
    first = runs.first_half.mean()
    return bool(runs.regret.mean() - first >= LINEAR * first)


def beside_naive(runs: Runs, naive: Runs) -> bool:
    """Whether the total cost is within the limit beside naive's regret."""
    found, error = ratio(runs.total, naive.total)
    return found <= (QUARTER if grows(naive) else PRICE) + ERRORS * error


def pair_row(world: str, cost: float, found: Sequence[Found]) -> list[str]:
    """The value of information beside the simple rule."""
    ours, simple = named(found, VALUE, cost), named(found, THRESHOLD, cost)
    difference = ours.total - simple.total
    return [
        world,
        f"{cost:g}",
        mean(difference, 1),
        ratio_of_medians(ours.total, simple.total),
        f"{ours.follow_ups.mean():,.0f} / {simple.follow_ups.mean():,.0f}",
        yes(difference.mean() <= 2 * standard_error(difference)),
    ]


def otherwise_rows(bench: Workbench) -> list[list[str]]:
    """Both rules in other circumstances."""
    naive = played(bench, TRIED_IN, NAIVE, sizes(bench)).runs
    rows = []
    for words, (terms, setting) in OTHERWISE.items():
        for policy in (VALUE, THRESHOLD):
            spec = f"{policy}{',' if ':' in policy else ':'}{setting}" if setting else policy
            runs = played(bench, TRIED_IN, spec, sizes(bench), terms).runs
            most = float(setting.partition("=")[2] or np.inf)
            tame = runs.follow_ups.max() <= most if setting else not wild(runs).any()
            within = beside_naive(runs, naive) and tame
            rows.append(
                [
                    words,
                    f"`{policy}`",
                    *costs(runs),
                    rounded(runs.regret),
                    rounded(runs.follow_ups),
                    f"{runs.follow_ups.max():,.0f}",
                    count(wild(runs)),
                    yes(within),
                ]
            )
    return rows


def straight(runs: Runs) -> Any:
    """Which runs stay with a bad arm."""
    return (runs.regret - runs.first_half > LINEAR * runs.first_half) & (runs.best_share < 0.5)


def growth(runs: Runs) -> Figure:
    """Regret of the second half of the rounds over that of the first."""
    second, error = ratio(runs.regret - runs.first_half, runs.first_half)
    return plus_minus(second, error, size=len(runs.regret), text=f"{second:.2f}")


def unkind_rows(bench: Workbench, world: str, assumption: str) -> list[list[str]]:
    """Policies in a world with skewed or unequally noisy outcomes."""
    size = unkind_sizes(bench)
    naive, oracle = (played(bench, world, policy, size) for policy in (NAIVE, ORACLE))
    found = [
        naive,
        played(bench, world, f"{assumption}-ucb", size),
        oracle,
        *(played(bench, world, policy, size, OF_SPREAD) for policy in (VALUE, THOMPSON)),
    ]
    rows = []
    for one in found:
        runs = one.runs
        within = beside_naive(runs, naive.runs) and straight(runs).mean() <= MOST_STRAIGHT
        rows.append(
            [
                world,
                f"`{one.policy}`",
                *costs(runs)[:2],
                rounded(runs.regret),
                rounded(runs.follow_ups) if one.terms else "-",
                "1" if one is naive else ratio_of(runs.total, naive.runs.total),
                "1" if one is oracle else ratio_of(runs.total, oracle.runs.total),
                growth(runs),
                share(straight(runs), f"{straight(runs).sum()} of {len(runs.regret)}"),
                yes(within) if one.terms else "-",
            ]
        )
    return rows
