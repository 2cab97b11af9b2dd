"""Outcomes that come late: what a delay of D rounds costs, beside what theory says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from research.figures import mean, table
from research.markdown import standard_error, verdict, yes
from research.validation import which
from research.validation.measures import ERRORS, regret

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.lab.result import Simulation

CONFIRMED_SHARE = 0.1  # of the runs, to confirm the figures
DELAYS = (0, 100, 1000)


class Case(NamedTuple):
    """A world, the assumption that holds in it, and the number of rounds."""

    world: str
    assumption: str
    horizon: int = 50_000

    @property
    def policies(self) -> list[str]:
        return [f"{self.assumption}-ucb", f"{self.assumption}-thompson"]


CASES = (
    Case("mar", "mar", 100_000),
    Case("mnar", "mnar", 100_000),
    Case("conversion", "mar"),
    Case("lognormal", "mcar"),
    Case("rates", "mcar"),
    Case("noisy-arm", "mar"),
)


def section(bench: Workbench) -> list[str]:
    results = {case: by_delay(bench, case) for case in CASES}
    which.write(bench, {case.world: found for case, found in results.items()})
    rows = [row(case, policy, found) for case, found in results.items() for policy in case.policies]
    delays = [delay_of(bench, delay) for delay in DELAYS]
    columns = ["world", "policy", "rounds", *(f"D = {delay:,}" for delay in delays)]
    columns += ["D x mean gap", "D x sum of gaps", "agrees"]
    return [
        "## Late outcomes",
        f"Mean regret ± standard error, {bench.runs(100, 4)} runs, if every outcome (and its mediator) "
        "becomes known D rounds after its pull. Until the first outcome is known, no policy can distinguish "
        "the arms, so on average over the order of arms the regret is at least D times the mean gap (the "
        "gap of an arm is the best mean minus its mean). Joulani, György and Szepesvári (2013) show for UCB "
        "that a delay adds at most D times the sum of gaps to its regret bound. Both columns are for the "
        "largest D. A row agrees if the regret at each D exceeds that without delay by at most D times the "
        f"sum of gaps, with an allowance of {ERRORS:.0f} standard errors. "
        f"{verdict([r[-1] for r in rows], 'rows')}",
        table(columns, rows),
    ]


def delay_of(bench: Workbench, delay: int) -> int:
    return bench.size(delay, delay // 10)


def by_delay(bench: Workbench, case: Case) -> list[Simulation]:
    """A simulation for each delay; all have the same instances and pulls."""
    runs, horizon = bench.runs(100, 4), bench.size(case.horizon, 2000)
    delays = [delay_of(bench, delay) for delay in DELAYS]
    return [bench.simulated(case.world, case.policies, horizon, runs, delay) for delay in delays]


def row(case: Case, policy: str, found: list[Simulation]) -> list[str]:
    at_once, latest = found[0], found[-1]
    delays = [delay if latest.horizon == case.horizon else delay // 10 for delay in DELAYS]
    gaps = at_once.means.max(axis=1, keepdims=True) - at_once.means
    before = regret(at_once, policy)
    within = []
    for delay, result in zip(delays, found, strict=True):
        beyond = regret(result, policy) - before - delay * gaps.sum(axis=1)
        within.append(not delay or beyond.mean() <= ERRORS * standard_error(beyond))
    figures = [mean(regret(result, policy), 0) for result in found]
    bounds = (delays[-1] * gaps.mean(axis=1), delays[-1] * gaps.sum(axis=1))
    promised = [mean(bound, text=f"{bound.mean():,.0f}") for bound in bounds]
    return [case.world, f"`{policy}`", f"{latest.horizon:,}", *figures, *promised, yes(all(within))]
