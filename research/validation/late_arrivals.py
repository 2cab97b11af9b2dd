"""How often the late-arrival test rejects assumptions that hold, and ones that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from research.cores import each
from research.figures import share, table
from research.markdown import verdict, yes
from research.sources import policy_modules
from truant.counts import Counts
from truant.durations import DAY
from truant.evidence.live_tests import late_tests
from truant.policies.decider import Decider
from truant.setting import Setting
from truant.worlds.delays import Delay

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.1  # of the tables, to confirm the figures
LEVEL = 0.05
WINDOW, WAIT = 7 * DAY, 21 * DAY  # outcomes are late after the first and never seen after the second
FACTOR = 4.0
ROWS = (50, 200, 2000)  # of the first arm; the second has a quarter of them
LEVEL_SHARES = (0.7, 0.25, 0.05)  # of the mediator
REASONS = {"chance": None, "mediator": "mediator", "outcome": "outcome"}
OUTCOMES = {  # number of levels (0: real), low, high
    "normal": (0, -2.0, 5.0),
    "two levels": (2, 0.0, 1.0),
    "three levels": (3, 0.0, 2.0),
    "3% ones": (2, 0.0, 1.0),
    "lognormal": (0, 0.0, 20.0),
    "97% zeros": (0, 0.0, 20.0),
}
REAL = ("normal", "lognormal", "97% zeros")
LEVELS = ("two levels", "three levels", "3% ones")
# assumption: the outcomes it is tried on, and the reasons of being late under which it holds
TRIED = {
    "mcar": (OUTCOMES, ("chance",)),
    "mar": (OUTCOMES, ("chance", "mediator")),
    "mediator-mar": (("normal", "lognormal"), ("chance", "mediator")),
    "mnar": (LEVELS, ("chance", "outcome")),
    "both-mnar": (("three levels",), ("chance", "outcome")),
}
MISSING_MEDIATORS = ("mediator-mar", "both-mnar")
CHOSEN = [  # policy, arms, outcome, share of outcomes that is late
    ("mcar-thompson", 5, "two levels", 0.1),
    ("mar-thompson", 5, "normal", 0.1),
    ("mar-thompson", 10, "normal", 0.3),
    ("mar-ucb", 5, "normal", 0.3),
]
DECISIONS, BATCH = 1000, 20


def section(bench: Workbench) -> list[str]:
    many, few, runs = bench.runs(500, 10), bench.runs(150, 4), bench.runs(200, 4)
    rows, agrees = [], []
    for name, (outcomes, holds) in TRIED.items():
        for outcome in outcomes:
            for reason in REASONS:
                null = reason in holds
                number = many if null else few
                shares = [
                    share(
                        bench.piece(
                            rejections,
                            assumption=name,
                            outcome=outcome,
                            reason=reason,
                            rows=n,
                            replications=number,
                            first=bench.first,
                        )
                    )
                    for n in ROWS
                ]
                answer = yes(max(one.value for one in shares) <= _highest(number)) if null else ""
                agrees += [answer] if null else []
                kind = "size" if null else "power"
                rows.append([f"`{name}`", outcome, reason, kind, *shares, answer])
    chosen = []
    for policy, arms, outcome, late in CHOSEN:
        size = share(
            bench.piece(
                chosen_rejections,
                policy_modules(policy),
                policy=policy,
                arms=arms,
                outcome=outcome,
                late=late,
                replications=runs,
                first=bench.first,
            )
        )
        agrees.append(yes(size.value <= _highest(runs)))
        chosen.append([f"`{policy}`", str(arms), outcome, f"{late:.0%}", size, agrees[-1]])
    return [*_words(many, few, rows, agrees), *_chosen_words(runs, chosen)]


def _highest(replications: int) -> float:
    return LEVEL + 3 * float(np.sqrt(LEVEL * (1 - LEVEL) / replications))


def _words(many: int, few: int, rows: list[list[str]], agrees: list[str]) -> list[str]:
    late = _late_by_rows()
    return [
        "## Tests by late arrivals",
        "How often outcomes that arrived after their window of 7 days contradict an assumption at "
        f"{LEVEL:g}. Delays are exponential with a mean of 2 days, independent of everything else; or their "
        "mean grows fourfold over the mediator levels or the outcome. Outcomes that take longer than 21 "
        "days are never observed. There are two arms, the second with a quarter of the rows of the first: "
        f"{', '.join(f'{n:,}' for n in ROWS)} rows have {', '.join(f'{n:.1f}' for n in late)} late "
        "outcomes in both arms on average, if the delay is independent. There are three mediator levels "
        "with shares .7, .25 and .05; for `mediator-mar` and `both-mnar` a fifth of the mediators is "
        "missing. *Lognormal*: standard deviation 1.6 of the logarithm; *97% zeros*: the others are "
        f"lognormal; both are counted by their moments only. {many:,} tables for a size (standard error of "
        f".05: {np.sqrt(0.0475 / many):.3f}), {few:,} for a power (at most {np.sqrt(0.25 / few):.3f}). A row "
        "agrees if its sizes are at most .05 plus three standard errors; powers are reported, not judged. "
        f"{verdict(agrees, 'sizes, with the table below,')}",
        table(
            ("assumption", "outcome", "late by", "", *(f"{n:,} rows" for n in ROWS), "agrees"),
            rows,
        ),
    ]


def _chosen_words(runs: int, rows: list[list[str]]) -> list[str]:
    return [
        f"The same when a policy chooses the arms, {DECISIONS:,} decisions in batches of {BATCH}, using only "
        "outcomes in time; whether an outcome is late is independent, and another fifth is never observed. "
        f"All arms have the same mean. {runs:,} runs (standard error of .05: {np.sqrt(0.0475 / runs):.3f}).",
        table(("policy", "arms", "outcome", "late", "size", "agrees"), rows),
    ]


def _late_by_rows() -> list[float]:
    late = float(np.exp(-WINDOW / (2 * DAY)) - np.exp(-WAIT / (2 * DAY)))
    return [(n + n // 4) * late for n in ROWS]


def rejections(
    assumption: str, outcome: str, reason: str, rows: int, replications: int, first: int
) -> list[bool]:
    """Of each replication, whether late outcomes contradict the assumption.

    Parameters
    ----------
    first : seed of the first replication.
    """
    seeds = range(first, first + replications)
    return each(_rejected, [(assumption, outcome, reason, rows, seed) for seed in seeds])


def _rejected(item: tuple[str, str, str, int, int]) -> bool:
    name, outcome, reason, rows, seed = item
    counts, late, setting = drawn(outcome, reason, rows, seed, name in MISSING_MEDIATORS)
    return rejects(counts, late, setting, name)


def rejects(counts: Counts, late: Counts, setting: Setting, assumption: str) -> bool:
    """Whether there is a test and it rejects."""
    return any(test.p_value < LEVEL for test in late_tests(counts, late, setting, assumption))


def drawn(
    outcome: str, reason: str, rows: int, seed: int, missing_mediators: bool = False
) -> tuple[Counts, Counts, Setting]:
    """Outcomes in time and late ones, of two arms."""
    rng = np.random.default_rng([seed, rows, *map(len, (outcome, reason))])
    L, low, high = OUTCOMES[outcome]
    levels = {"levels": tuple(range(L))} if L else {"low": low, "high": high}
    setting = Setting(arms=2, mediators=len(LEVEL_SHARES), **levels)
    a = np.repeat([0, 1], [rows, rows // 4])
    m = rng.choice(len(LEVEL_SHARES), len(a), p=LEVEL_SHARES)
    y = outcomes_at(rng, outcome, m, 0.1 * a)
    depends: Any = REASONS[reason]
    delay = Delay.parse("exponential:2d", depends, FACTOR).draw(rng, setting, a, m, y)
    seen = np.where(rng.random(len(a)) < 0.2, -1, m) if missing_mediators else m
    late = (delay > WINDOW) & (delay <= WAIT)
    counts = Counts.fold(setting, a, seen, np.where(delay <= WINDOW, y, np.nan))
    return counts, Counts.fold(setting, a[late], seen[late], y[late]), setting


def outcomes_at(
    rng: np.random.Generator, outcome: str, m: npt.NDArray[np.int64], shift: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Outcomes that grow with the mediator level."""
    place = m / (len(LEVEL_SHARES) - 1)
    if outcome == "normal":
        return np.asarray(rng.normal(1.5 * place + shift, 1.0))
    if outcome == "lognormal":
        return np.asarray(np.exp(rng.normal(place + shift, 1.6)))
    if outcome == "97% zeros":
        some = rng.random(len(m)) < 0.03 * (1 + place)
        return np.asarray(np.where(some, np.exp(rng.normal(1.0 + np.asarray(shift), 1.0, len(m))), 0.0))
    rare, top = (0.05, 1) if outcome == "3% ones" else (1.0, OUTCOMES[outcome][0] - 1)
    return np.asarray(rng.binomial(top, rare * (0.25 + 0.5 * place + np.asarray(shift))), np.float64)


def chosen_rejections(
    policy: str, arms: int, outcome: str, late: float, replications: int, first: int
) -> list[bool]:
    """The same of runs in which a policy chose the arms; lateness is chance."""
    seeds = range(first, first + replications)
    return each(_chosen_rejected, [(policy, arms, outcome, late, seed) for seed in seeds])


def _chosen_rejected(item: tuple[str, int, str, float, int]) -> bool:
    policy, arms, outcome, late, seed = item
    rng = np.random.default_rng([seed, arms, len(policy)])
    L, low, high = OUTCOMES[outcome]
    levels = {"levels": tuple(range(L))} if L else {"low": low, "high": high}
    setting = Setting(arms=arms, mediators=len(LEVEL_SHARES), **levels)
    decider = Decider(policy, setting, DECISIONS)
    counts, afterwards = Counts.empty(setting), Counts.empty(setting)
    for _ in range(DECISIONS // BATCH):
        a = rng.choice(arms, BATCH, p=decider.allocation(counts))
        m = rng.choice(len(LEVEL_SHARES), BATCH, p=LEVEL_SHARES)
        y, place = outcomes_at(rng, outcome, m, 0.0), rng.random(BATCH)
        is_late = place < late
        counts = counts.merge(Counts.fold(setting, a, m, np.where(is_late | (place > 0.8), np.nan, y)))
        afterwards = afterwards.merge(Counts.fold(setting, a[is_late], m[is_late], y[is_late]))
    return rejects(counts, afterwards, setting, policy.rpartition("-")[0])
