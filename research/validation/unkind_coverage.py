"""Coverage of 95% intervals in unkind worlds, with and without a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from research.figures import Note, share, table
from research.markdown import verdict, yes
from research.sources import assumption_modules
from research.validation.unkind_tables import INTERVAL_WARNINGS, LIKELIHOODS, unkind_tables

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.6  # of the tables, to confirm the figures
BAND = (0.92, 0.975)
FALSE_ALARMS = 0.1  # most warnings in a world whose intervals hold
SIZES = (100, 300, 2000)
FEW = 20  # tables, below which a share is not judged
OFTEN, RARELY, LOW = [0.2, 1.0], [0.05, 0.15], [0.05, 1.0]  # chances of being observed, uniform
COLUMNS = (
    *("assumption", "outcome", "K", "observed", "rows", "all tables", "without a warning"),
    *("warned", "no interval", "empty level", "agrees"),
)
WORLDS: list[tuple[str, str, int, list[float]]] = [
    ("mcar", "normal", 1, RARELY),
    ("mcar", "lognormal, sigma 1.6", 1, OFTEN),
    ("mcar", "97% zeros, the rest nearly equal", 1, OFTEN),
    ("mcar", "97% zeros, the rest lognormal, sigma 1.2", 1, OFTEN),
    ("mcar", "rate near .02", 1, OFTEN),
    ("mar", "normal", 2, RARELY),
    ("mar", "normal", 6, LOW),
    ("mar", "exponential", 3, LOW),
    ("mar", "lognormal, sigma 1", 3, RARELY),
    ("mar", "lognormal, sigma 1.6", 4, OFTEN),
    ("mar", "lognormal, sigma 1.6", 2, RARELY),
    ("mar", "97% zeros, the rest lognormal, sigma 1.2", 2, OFTEN),
    ("mar", "rate near .3", 6, LOW),
    ("mar", "rate near .3", 3, RARELY),
    ("mar", "rate near .02", 3, OFTEN),
    ("mar-known", "exponential", 3, LOW),
    ("mar-known", "lognormal, sigma 1.6", 3, OFTEN),
    ("mediator-mar", "lognormal, sigma 1", 3, LOW),
    ("mediator-mar", "rate near .02", 2, OFTEN),
    ("mnar", "plain levels", 2, LOW),
    ("mnar", "plain levels", 4, LOW),
    ("mnar", "skewed levels", 3, OFTEN),
    ("mediator-mnar", "plain levels", 3, LOW),
    ("mediator-mnar", "skewed levels", 3, OFTEN),
    ("both-mnar", "plain levels", 2, LOW),
    ("both-mnar", "plain levels", 3, OFTEN),
]


def section(bench: Workbench) -> list[str]:
    many, few = bench.runs(2000, 20), bench.runs(200, 4)
    rows = []
    for name, outcome, K, gamma in WORLDS:
        replications = few if name in LIKELIHOODS else many
        for n in SIZES:
            tables = bench.piece(
                unkind_tables,
                assumption_modules(name),
                assumption=name,
                outcome=outcome,
                K=K,
                gamma=gamma,
                rows=n,
                replications=replications,
                first=bench.first,
            )
            rows.append(
                [f"`{name}`", outcome, str(K), f"{gamma[0]:g}-{gamma[1]:g}", f"{n:,}", *judged(tables)]
            )
    error = np.sqrt(0.95 * 0.05)
    return [
        "## Coverage of 95% intervals in unkind worlds",
        "Each table is one arm of a new world: K mediator levels with their own shares, means and "
        f"probabilities of observation, which are uniform between the two numbers. There are {many:,} tables "
        f"in each row, {few:,} for the assumptions that are fitted by likelihood; the standard error of a "
        f"coverage of .95 is {error / np.sqrt(many):.3f} and {error / np.sqrt(few):.3f}. *Warned*: the "
        "analysis gives `skewed` or `thin-cell`, which say that the interval may be unreliable. *No "
        "interval*: all outcomes are equal and the range is not known, or a mediator level has no observed "
        "outcome and the range is not known (an analyst is told to merge levels). *Empty level*: the same "
        "with a known range; the level's share of the range is added to the interval, and these tables "
        "count as not warned. A row agrees if the coverage of the tables without a warning is between "
        f"{BAND[0]} and {BAND[1]}, with an allowance of three standard errors, and if warnings are at most "
        f"{FALSE_ALARMS:.0%} where the coverage of all tables is in this band. The constants of the "
        "intervals and of their warnings were chosen by simulation in worlds of these kinds, with other "
        "seeds: the tables are new but the kinds of worlds are not, and coverage may be lower elsewhere. "
        f"{verdict([row[-1] for row in rows], 'rows')}",
        table(COLUMNS, rows),
    ]


def judged(tables: list[list[Any]]) -> list[str]:
    """Coverage of all tables and of those without a warning, shares, and whether they keep the promise."""
    having = [(held, bool(INTERVAL_WARNINGS & set(codes))) for held, codes in tables if held is not None]
    everywhere = [held for held, _ in having]
    unwarned = [held for held, warned in having if not warned]
    warned = [warned for _, warned in having]
    empty = [held is not None and "empty-cell" in codes for held, codes in tables]
    rarely = not warned or np.mean(warned) <= FALSE_ALARMS
    return [
        share(everywhere) if everywhere else Note("-"),
        share(unwarned) if unwarned else Note("-"),
        share(warned, "{:.1%}") if warned else Note("-"),
        share([held is None for held, _ in tables], "{:.1%}"),
        share(empty, "{:.1%}"),
        yes(in_band(unwarned) and (rarely or not _strictly(everywhere))),
    ]


def in_band(held: list[bool]) -> bool:
    """Whether a coverage is in the band, up to three standard errors; too few tables are not judged."""
    if len(held) < FEW:
        return True
    mean, error = float(np.mean(held)), 3 * np.sqrt(0.95 * 0.05 / len(held))
    return bool(BAND[0] - error <= mean <= BAND[1] + error)


def _strictly(held: list[bool]) -> bool:
    return len(held) >= FEW and bool(BAND[0] <= np.mean(held) <= BAND[1])
