"""Semi-synthetic truth where every assumption is wrong: what follow-ups of a random few make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from research.figures import Figure, mean, share, table
from research.markdown import standard_error, verdict, yes
from research.sources import assumption_modules
from research.validation.complete_data import NAMES
from research.validation.coverage import BAND
from research.validation.follow_up_deletions import (
    ASSUMPTIONS,
    FOLLOW_UP,
    HIDDEN,
    NOTHING,
    SEEN,
    follow_ups_per_arm,
    given_back,
)

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.15  # of the resamples, to confirm the figures
GIVEN_BACK = (50, 100, 200)  # of each arm, if so many are missing
WRONG = 0.05  # share of tables in which `follow-up` may be clear about a wrong arm
ERRORS = 3.0

Found = Sequence[dict[str, Any]]  # of each table, by the number that was given back


def section(bench: Workbench) -> list[str]:
    replications = bench.runs(80, 6)
    rows, verdicts = [], []
    for name in NAMES:
        found = bench.piece(
            given_back,
            assumption_modules(*ASSUMPTIONS, FOLLOW_UP),
            name=name,
            numbers=[NOTHING, *GIVEN_BACK],
            replications=replications,
            first=bench.first,
        )
        rows += [
            row(name, assumption, number, found)
            for number in (NOTHING, *GIVEN_BACK)
            for assumption in (ASSUMPTIONS if number == NOTHING else (FOLLOW_UP,))
        ]
        verdicts += [verdict_row(name, number, found) for number in (NOTHING, *GIVEN_BACK)]
    judged = [cells[-1] for cells in rows + verdicts if cells[-1] != "-"]
    return [
        "## Semi-synthetic data: some of the deleted outcomes are followed up",
        f"The complete tables of the section on deleted outcomes, resampled {replications} times. Outcome "
        "and mediator are in classes, from the worst to the best. Outcomes of the second best arm that are "
        "not above the class of its mediator are often missing, and so are outcomes of the other arms that "
        f"are not below it: such an outcome is observed with probability {HIDDEN:g}, any other with "
        f"{SEEN:g}. Missingness therefore depends on mediator and outcome together, no assumption holds, and "
        "dropping rows favours the second best arm. Then some missing outcomes of each arm, drawn at "
        f"random, are given back, as follow-ups would: {', '.join(map(str, GIVEN_BACK))}, or all if fewer "
        "are missing.",
        "*Clear*: the probability of being the best arm is at least .95 under the assumption. "
        "*Contradicted*: a test of the assumption has p < .05. Coverage is that of 95% intervals of all "
        f"arms, with its standard error. A row of `{FOLLOW_UP}` agrees if its coverage is at most .03 from "
        f"the nominal .95 and it is clear about a wrong arm in at most {WRONG:.0%} of the tables, both with "
        f"an allowance of {ERRORS:.0f} standard errors.",
        table(
            (
                *("data", "given back per arm", "assumption", "clear, best arm", "clear, wrong arm"),
                *("contradicted", "coverage, all arms", "agrees"),
            ),
            rows,
        ),
        "The verdict on the same tables under all assumptions together, which prefers follow-ups to "
        f"assumptions. It agrees if it is clear about a wrong arm in at most {WRONG:.0%} of the tables that "
        f"have follow-ups, with an allowance of {ERRORS:.0f} standard errors. "
        f"{verdict(judged, 'rows of both tables')}",
        table(
            ("data", "given back per arm", "clear, best arm", "clear, wrong arm", "other", "agrees"), verdicts
        ),
    ]


def row(name: str, assumption: str, number: int, found: Found) -> list[str]:
    """One assumption, with so many outcomes given back."""
    words = [name, numbers(name, number), f"`{assumption}`"]
    all_answers = [one[str(number)]["answers"].get(assumption) for one in found]
    answers = [answer for answer in all_answers if answer is not None]
    if not answers:
        return [*words, "-", "-", "-", "-", "-"]
    clear, right = (np.array([answer[key] for answer in answers]) for key in ("clear", "right"))
    coverage = mean([np.mean(answer["held"]) for answer in answers], 3)
    agrees = "-"
    if assumption == FOLLOW_UP:
        intervals = sum(len(answer["held"]) for answer in answers)
        agrees = yes(near_nominal(coverage.value, coverage.error, intervals) and rare(clear & ~right))
    return [
        *words,
        shown(clear & right),
        shown(clear & ~right),
        share([answer["contradicted"] for answer in answers], "{:.0%}"),
        coverage,
        agrees,
    ]


def verdict_row(name: str, number: int, found: Found) -> list[str]:
    """The verdict, with so many outcomes given back."""
    clear = np.array([one[str(number)]["kind"] == "clear" for one in found])
    right = np.array([one[str(number)]["right"] for one in found])
    agrees = "-" if number == NOTHING else yes(rare(clear & ~right))
    return [
        name,
        numbers(name, number),
        *map(shown, (clear & right, clear & ~right, ~clear)),
        agrees,
    ]


def numbers(name: str, number: int) -> str:
    """How many are asked for and, if fewer are expected to be missing, how many there are."""
    per_arm = follow_ups_per_arm(name, number)
    return f"{number}" if round(per_arm) == number else f"{number} ({per_arm:.0f} on average)"


def shown(held: Any) -> Figure:
    """A share of the tables with its standard error."""
    return share(held, f"{{:.2f}} ± {standard_error(held):.2f}")


def rare(wrong: Any) -> bool:
    """Whether errors are as rare as they must be."""
    allowed = ERRORS * np.sqrt(WRONG * (1 - WRONG) / len(wrong))
    return bool(np.mean(wrong) <= WRONG + allowed)


def near_nominal(share: float, error: float, intervals: int) -> bool:
    """Whether the coverage of so many intervals is near .95."""
    error = max(error, float(np.sqrt(0.95 * 0.05 / intervals)))  # all may hold
    return BAND[0] - ERRORS * error <= share <= BAND[1] + ERRORS * error
