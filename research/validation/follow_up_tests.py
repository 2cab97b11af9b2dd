"""How often tests by follow-ups reject assumptions that hold, and ones that do not."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from research.cores import each
from research.figures import share, table
from research.markdown import verdict, yes
from research.sources import assumption_modules
from truant import registry
from truant.assumptions import ChiSquare
from truant.assumptions.cells import QUESTION
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.evidence.contradictions import p_value
from truant.setting import Setting

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.05  # of the tables, to confirm the figures
LEVEL, LARGEST_SIZE = 0.05, 0.06
ASKED = (20, 50, 200)
ARMS, ROWS = 2, 1000
REASONS = {
    "none": "by chance alone",
    "mediator": "by the mediator",
    "outcome": "by the outcome",
    "both": "by mediator and outcome",
}
HOLDS = {"mcar": ("none",), "mar": ("none", "mediator"), "mnar": ("none", "outcome")}
OUTCOMES = {  # mediator levels, and levels of the outcome (0: real)
    "two levels": (3, 2),
    "rare, two levels": (2, 2),
    "three levels": (3, 3),
    "five levels": (5, 5),
    "normal": (3, 0),
    "lognormal": (5, 0),
}
FITTED = ("two levels", "three levels")  # outcomes of the tables that mnar is tried on


def section(bench: Workbench) -> list[str]:
    many, few = bench.runs(1000, 10), bench.runs(500, 4)
    rows, agrees = [], []
    for name, holds in HOLDS.items():
        for outcome in OUTCOMES if name != "mnar" else FITTED:
            for reason, words in REASONS.items():
                number = few if name == "mnar" else many
                shares = [
                    share(
                        bench.piece(
                            rejections,
                            assumption_modules(name),
                            assumption=name,
                            reason=reason,
                            outcome=outcome,
                            asked=asked,
                            replications=number,
                            first=bench.first,
                        )
                    )
                    for asked in ASKED
                ]
                highest = LARGEST_SIZE + 2 * np.sqrt(LEVEL * (1 - LEVEL) / number)
                null = reason in holds
                answer = yes(max(one.value for one in shares) <= highest) if null else ""
                agrees += [answer] if null else []
                rows.append([f"`{name}`", outcome, words, "size" if null else "power", *shares, answer])
    return [
        "## Tests by follow-ups",
        f"How often follow-ups contradict an assumption at {LEVEL:g}: two arms of {ROWS:,} rows, about 40% "
        "of the outcomes missing, and 20, 50 or 200 of these in each arm followed up, the lowest mediator "
        f"level three times as often as the others. {many:,} tables, {few:,} for `mnar`, of one arm; the "
        f"standard error of a size of .05 is {np.sqrt(0.0475 / many):.3f} and {np.sqrt(0.0475 / few):.3f}. A "
        f"row agrees if all its sizes are at most {LARGEST_SIZE}, with an allowance of two standard errors; "
        f"powers are reported, not judged. {verdict(agrees, 'sizes')}",
        table(
            ("assumption", "outcome", "missing", "", *(f"{asked} per arm" for asked in ASKED), "agrees"), rows
        ),
    ]


def rejections(
    assumption: str, reason: str, outcome: str, asked: int, replications: int, first: int
) -> list[bool]:
    """Of each replication, whether follow-ups contradict the assumption.

    Parameters
    ----------
    first : seed of the first replication.
    """
    seeds = range(first, first + replications)
    return each(_rejected, [(assumption, reason, outcome, asked, seed) for seed in seeds])


def _rejected(item: tuple[str, str, str, int, int]) -> bool:
    name, reason, outcome, asked, seed = item
    counts, setting = drawn(reason, outcome, asked, seed)
    model = _assumption(name)
    try:
        tests = [*model.tests(counts, setting)]
        tests += model.read(counts, 0, setting).tests
    except NotIdentified:
        return False
    usable = [test for test in tests if isinstance(test, ChiSquare) and test.question == QUESTION]
    return bool(usable) and p_value(usable[0]) < LEVEL


def drawn(reason: str, outcome: str, asked: int, seed: int) -> tuple[Counts, Setting]:
    """A table whose outcomes are missing for a reason, with follow-ups of so many in each arm."""
    rng = np.random.default_rng([seed, asked, *map(len, (reason, outcome))])
    K, L = OUTCOMES[outcome]
    a = np.repeat(np.arange(ARMS), ROWS)
    m = rng.choice(K, ARMS * ROWS, p=rng.dirichlet(np.full(K, 4.0)))
    y = _outcomes(rng, outcome, K, L, a, m)
    place = np.argsort(np.argsort(y)) / len(y) if L == 0 else y / (L - 1)  # 0 to 1
    chance = np.full(len(y), 0.6)
    if reason in ("mediator", "both"):
        chance += 0.4 * (m / (K - 1) - 0.5)
    if reason in ("outcome", "both"):
        chance += 0.4 * (place - 0.5) * (1.0 if reason == "outcome" else 1.0 - 2.0 * (m == 0))
    seen = rng.random(len(y)) < chance
    followed_up = np.zeros(len(y), bool)
    for arm in range(ARMS):
        missing = np.flatnonzero((a == arm) & ~seen)
        weight = np.where(m[missing] == 0, 3.0, 1.0)
        number = min(asked, len(missing))
        followed_up[rng.choice(missing, number, replace=False, p=weight / weight.sum())] = True
    levels = {"levels": tuple(range(L))} if L else {"low": -20.0, "high": 500.0}
    setting = Setting(arms=ARMS, mediators=K, **levels)
    return Counts.fold(setting, a, m, np.where(seen | followed_up, y, np.nan), followed_up), setting


def _outcomes(
    rng: np.random.Generator, outcome: str, K: int, L: int, a: npt.NDArray[Any], m: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    middle = 0.25 + 0.5 * m / (K - 1) + 0.05 * a
    if outcome == "normal":
        return np.asarray(rng.normal(3 * middle, 1.0))
    if outcome == "lognormal":
        return np.asarray(np.exp(rng.normal(middle, 1.0)))
    rare = 0.1 if "rare" in outcome else 1.0
    return np.asarray(rng.binomial(L - 1, rare * middle), np.float64)


@functools.cache
def _assumption(name: str) -> Any:
    return registry.find("assumption", name).build()
