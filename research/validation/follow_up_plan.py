"""Whether a plan of follow-ups keeps its promise: the leader gets clear in the stated share of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from research.cores import each
from research.figures import mean, median, share, table
from research.markdown import verdict, yes
from research.validation.follow_up_tables import APART, MISSING, planned_and_followed

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.15  # of the tables, to confirm the figures
ARMS = (2, 3, 4)
OUTCOMES = ("real", "skewed", "0/1")
ROWS = 400  # of each arm
CHANCE = 0.8
REASONS = {
    "mar": "the mediator alone (the first scenario)",
    "shifted": "the mediator, and missing outcomes of an arm differ (the second scenario)",
    "mnar": "the outcome",
    "both": "mediator and outcome together",
}
PROMISED = ("mar", "shifted")


def section(bench: Workbench) -> list[str]:
    tables = len(ARMS) * bench.runs(18, 1)  # of each outcome, as many for each number of arms
    rows, judged = [], []
    for reason, words in REASONS.items():
        plans = []
        for outcome in OUTCOMES:
            plans += bench.piece(
                results,
                {"truant.assumptions.follow_up"},
                reason=reason,
                outcome=outcome,
                rows=ROWS,
                tables=tables,
                first=bench.first,
            )
        for kind in ("reached", "not-reached"):
            own = [one for one in plans if one["kind"] == kind]
            if not own:
                continue
            clear = [one["clear"] for one in own]
            stated = [_stated(one, reason) for one in own]
            error = float(np.sqrt(np.mean(stated) * (1 - np.mean(stated)) / len(own)))
            agrees = np.mean(clear) >= np.mean(stated) - 3 * error
            wrong = [one["wrong"] for one in own]
            judged += [yes(bool(agrees))] if reason in PROMISED else []
            rows.append(
                [
                    words,
                    {"reached": "80% within reach", "not-reached": "not within reach"}[kind],
                    share([one["kind"] == kind for one in plans], f"{len(own)}"),
                    median([one["follow_ups"] / one["missing"] for one in own], "{:.0%}"),
                    mean(stated, text=f"{np.mean(stated):.2f}"),
                    share(clear, f"{{:.2f}} ± {error:.2f}"),
                    share(wrong, f"{sum(wrong)}"),
                    yes(bool(agrees)) if reason in PROMISED else "",
                ]
            )
    return [
        "## Plans of follow-ups",
        f"`truant plan` on {tables * len(OUTCOMES)} tables of each kind: {ROWS} rows of each of two, three "
        f"or four arms, whose means differ by {APART} standard deviations of an outcome (standard deviation "
        f"between arms), three mediator levels, about {MISSING:.0%} of the outcomes missing; normal, "
        "log-normal and 0/1 outcomes in equal parts. The plan is carried out: the outcomes of random rows "
        "are revealed, and the table is analysed under `follow-up`. *Stated*: the mean probability of a "
        "clear leader that the plans state, in the scenario from which the tables come (for the last two "
        "kinds, which are in neither, in the worse scenario). *Clear*: the share of tables with a clear "
        "leader, ± the standard error. *Wrong*: tables in which the clear leader is not the best arm. Plans "
        "of the first two kinds must reach what they state, with an allowance of three standard errors. The "
        "other kinds are reported only: where missingness depends on the outcome, much of the lead among "
        "observed outcomes can be an artefact, and the leader becomes clear less often than stated; the "
        f"estimate remains valid. {verdict(judged, 'rows')}",
        table(
            (
                "missingness depends on",
                "plan",
                "tables",
                "followed up (median)",
                "stated",
                "clear",
                "wrong",
                "agrees",
            ),
            rows,
        ),
    ]


def _stated(one: dict[str, Any], reason: str) -> float:
    alike, differ = float(one["alike"]), float(one["differ"])
    return {"mar": alike, "shifted": differ}.get(reason, min(alike, differ))


def results(reason: str, outcome: str, rows: int, tables: int, first: int) -> list[dict[str, Any]]:
    """Each table from its plan to the answer; those that need no plan are left out.

    Parameters
    ----------
    first : seed of the first table.
    """
    seeds = range(first, first + tables)
    items = [(reason, outcome, ARMS[seed % len(ARMS)], rows, seed) for seed in seeds]
    return [
        found
        for found in each(planned_and_followed, items)
        if found is not None and found["kind"] != "settled"
    ]
