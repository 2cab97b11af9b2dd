"""The document of a rehearsal: its variants, what each promises, and what is wrong with any of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from scipy import stats

from truant.documents.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Document,
    Facts,
    Finding,
    On,
    Section,
    Sentence,
    Table,
    Template,
)
from truant.documents.words import level_text, number
from truant.envelope import FloatOrNaN
from truant.errors import counted as in_number

if TYPE_CHECKING:
    import altair as alt

AT_CLOSE = "at_close"  # decisions are counted when their window closes
ERRORS = 3.0  # standard errors beyond which a coverage that is too low is not chance
SURE = 0.0027  # probability of a bias by chance (two-sided), below which it is one
UNDECIDED = 0.05  # probability of a difference by chance, above which two variants cost about the same
CHANCE = 0.01  # probability below which a number of false winners is not chance
MOST_NAMED = 3  # variants in one sentence
WORDS = ("window", "assumption", "counted")  # columns of words
FEW = 2  # variants that cost about the same as the best and are named


class RehearsalTerms(TypedDict):
    """What was rehearsed."""

    world: str  # name of the world
    parameters: dict[str, Any]  # the parameters of the world that were set, by name
    delay: str  # how long outcomes take, such as `exponential:2d`
    # what the mean delay depends on: `arm`, `mediator` or `outcome`; None if it is the same for all
    late_depends_on: str | None
    late_factor: float  # how many times longer the mean delay is at the highest value than at the lowest
    decisions: int  # number of decisions of a run
    days: float  # length of a run in days
    step: str  # how often windows are closed and shares updated, such as `6h`
    level: float  # level of intervals, and probability from which a winner is clear
    runs: int  # number of runs of each variant
    null: bool  # whether the null world, in which all arms are equal, was rehearsed, too
    seed: int  # seed of all runs
    settings: dict[str, Any]  # more settings of the experiment that were given, by name


@dataclass(frozen=True)
class RehearsalRow:
    """The figures of one variant over its runs; NaN where there are none."""

    window: str  # the window, such as `7d`
    assume: str  # the assumption
    policy: str  # the policy
    settle: str  # when an outcome is counted: `at_close` of the window or `on_arrival`
    runs: int  # number of runs
    regret: float  # mean regret of a run, in units of the outcome
    regret_se: FloatOrNaN  # standard error of the mean regret; NaN with a single run
    excess: float  # mean regret minus that of the variant with the least, run by run
    excess_se: FloatOrNaN  # standard error of this difference; NaN with a single run
    right_winners: int  # runs that called a best arm the clear winner
    wrong_winners: int  # runs that called another arm the clear winner
    null_runs: int  # number of runs in the null world
    false_winners: int  # runs in the null world that called a clear winner
    coverage: FloatOrNaN  # share of the intervals that contain the true mean; NaN if there are none
    intervals: int  # number of intervals
    # mean error of the estimates, arms weighted by their settled decisions; NaN if there are none
    bias: FloatOrNaN
    bias_se: FloatOrNaN  # standard error of the bias; NaN with a single run
    # mean number of days until the shares of the arms changed by what was learned; NaN if they never did
    first_learning_days: FloatOrNaN
    learned: int  # runs in which they changed
    # share of the outcomes that arrived in their window, of those that are not missing in the world; NaN if there are
    # none
    arrived: FloatOrNaN

    @property
    def is_biased(self) -> bool:
        """The mean error of the estimates is not chance."""
        return _beyond_chance(self.bias, self.bias_se, self.runs, SURE)

    @property
    def costs_more(self) -> bool:
        """It has clearly more regret than the variant with the least."""
        return self.excess > 0 and _beyond_chance(self.excess, self.excess_se, self.runs, UNDECIDED)

    def covers_too_little(self, level: float) -> bool:
        """Intervals contain the true mean less often than promised, by more than chance."""
        error: float = math.sqrt(level * (1 - level) / max(self.intervals, 1))
        return self.coverage < level - ERRORS * error

    def calls_too_often(self, level: float) -> bool:
        """In the null world a winner is called more often than promised, by more than chance."""
        chance = float(stats.binom.sf(self.false_winners - 1, max(self.null_runs, 1), 1 - level))
        return self.false_winners > 0 and chance < CHANCE


def _beyond_chance(value: float, error: float, runs: int, chance: float) -> bool:
    """Whether a mean of a few runs differs from 0, by Student's t."""
    if runs < 2 or not error > 0:
        return False
    return 2 * float(stats.t.sf(abs(value) / error, runs - 1)) < chance


def best_row(rows: Sequence[RehearsalRow]) -> RehearsalRow:
    """The variant with the least mean regret."""
    return min(rows, key=lambda row: row.regret)


def nothing_wrong(rows: Sequence[RehearsalRow], level: float) -> bool:
    """No variant is biased, covers too little or calls too many winners."""
    return not any(
        row.is_biased or row.covers_too_little(level) or row.calls_too_often(level) for row in rows
    )


def verdict_sentences(rows: Sequence[RehearsalRow], level: float) -> list[str]:
    """Which variant costs least, what it promises, and what is wrong with any of them."""
    names = Names(rows)
    best = best_row(rows)
    found = [_cost(best, rows, names), _knowledge(best)]
    if any(row.null_runs for row in rows):
        found.append(_null(rows, level, names))
    biased = [f"{names.of(row)} by {row.bias:+.2g} ± {row.bias_se:.1g}" for row in rows if row.is_biased]
    if biased:
        found.append(f"Estimates are biased with {_listed(biased)}.")
    short = [f"{names.of(row)}, {row.coverage:.0%}" for row in rows if row.covers_too_little(level)]
    if short:
        found.append(
            f"Intervals contain the true mean less often than {level_text(level)} with {_listed(short, '; ')}."
        )
    return found


@dataclass(frozen=True)
class Names:
    """What variants are called in a sentence: by what differs between them."""

    rows: Sequence[RehearsalRow]

    def of(self, row: RehearsalRow) -> str:
        """The name of a variant."""
        parts = []
        if len({one.policy for one in self.rows}) > 1 or len({one.assume for one in self.rows}) > 1:
            parts.append(row.assume)
        if len({one.settle for one in self.rows}) > 1:
            parts.append(counted(row))
        return f"a window of {row.window}" + (f" ({', '.join(parts)})" if parts else "")


def counted(row: RehearsalRow) -> str:
    """When a decision enters the counts."""
    return "at the close" if row.settle == AT_CLOSE else "on arrival"


def _cost(best: RehearsalRow, rows: Sequence[RehearsalRow], names: Names) -> str:
    figure = f"regret {_with_error(best.regret, best.regret_se)} a run"
    if len(rows) == 1:
        return f"With {names.of(best)}: {figure}."
    others = [row for row in rows if row is not best]
    close = [names.of(row) for row in others if not row.costs_more]
    sentence = f"Least regret with {names.of(best)}: {figure}"
    if close:
        listed = _listed(close) if len(close) <= FEW else f"{len(close)} other variants"
        sentence += f"; not significantly more with {listed}"
    worst = max(others, key=lambda row: row.excess)
    if worst.costs_more:
        sentence += f"; most with {names.of(worst)}, {_with_error(worst.excess, worst.excess_se)} more"
    return f"{sentence}."


def _knowledge(row: RehearsalRow) -> str:
    first = (
        f"learning starts after {_days(row.first_learning_days)}"
        if row.learned
        else "no run learned anything"
    )
    arrived = (
        f"{row.arrived:.0%} of the outcomes arrive in the window, " if row.arrived == row.arrived else ""
    )
    winners = f"the best arm is the clear winner in {row.right_winners} of {row.runs} runs"
    wrong = f" and a wrong one in {row.wrong_winners}" if row.wrong_winners else ""
    return f"In this variant, {arrived}{first}, and {winners}{wrong}."


def _null(rows: Sequence[RehearsalRow], level: float, names: Names) -> str:
    most = max(rows, key=lambda row: row.false_winners / max(row.null_runs, 1))
    promised = f"nominal: at most {level_text(1 - level)}"
    if any(row.calls_too_often(level) for row in rows):
        bad = [
            f"{names.of(row)} in {row.false_winners} of {row.null_runs} runs"
            for row in rows
            if row.calls_too_often(level)
        ]
        return (
            f"In the null world (all arms equal) a winner is named too often with {_listed(bad)}; {promised}."
        )
    if most.false_winners == 0:
        return f"In the null world (all arms equal) no run named a winner ({most.null_runs} runs of each; {promised})."
    runs = f"{most.false_winners} of {most.null_runs} runs"
    where = f" with {names.of(most)}" if len(rows) > 1 else ""
    most_often = "at most " if where else ""
    return f"In the null world (all arms equal) a winner was named in {most_often}{runs}{where} ({promised})."


LEAVES = {"in window": 1, "more": 2, "first learning": 3, "bias": 4}
"""Columns that leave a narrow terminal, in their turn; files have them all."""


def rehearsal_document(rehearsal: Any) -> Document:
    """A finished rehearsal: its verdict, the figures of its variants, and what was rehearsed."""
    rows, about = rehearsal.rows, rehearsal.about
    level = about["level"]
    sentences, settled = verdict_sentences(rows, level), nothing_wrong(rows, level)
    kind, heading = ("planned", "No problems found") if settled else ("depends", "Problems found")
    table = _variants(rows, about)
    facts = [
        ("decisions in a run", f"{about['decisions']:,}"),
        ("days", f"{about['days']:.4g}"),
        ("variants", f"{len(rows):,}"),
        ("runs of each", f"{about['runs']:,}"),
    ]
    method = {"step": about["step"], "level": level_text(level), "null": about["null"]}
    blocks: list[Block] = [
        Finding(kind, heading, sentences[0], blocks=[Bullets("", sentences[1:])], on=On.HTML),
        Facts(facts),
        replace(table, on=On.TERMINAL | On.NOTEBOOK),
        Finding(kind, "", sentences[0], blocks=[*map(Sentence, sentences[1:])], on=On.TERMINAL),
        Section("Variants", [table, Sentence(table.legend, "faint")], on=On.PAGE),
        _chart("regret", "Regret of a run", rows, "regret", "regret_se"),
        _chart("bias", "Bias of the estimates", rows, "bias", "bias_se"),
        Section("How this was computed", [Template("rehearsal.html", method)], folded=True, on=On.PAGE),
    ]
    return Document(title(about), about_lines(about), blocks)


def _variants(rows: Sequence[RehearsalRow], about: Mapping[str, Any]) -> Table:
    """The figures of every variant."""
    figures = cells_of(rows)
    names = list(figures[0])
    least = rows.index(best_row(rows))
    cells = [
        [Cell(*own[name], star=i == least and len(rows) > 1 and name == "regret") for name in names]
        for i, own in enumerate(figures)
    ]
    null = " null: runs of the null world (all arms equal) with a winner;" if "null" in names else ""
    legend = (
        "more: regret beyond that of the best variant (★); winner: runs in which the best arm is the clear winner;"
        f"{null} covered: intervals that contain the true mean (nominal: {level_text(about['level'])}); bias: mean "
        "error of the estimates; first learning: days until shares change; in window: outcomes that arrive in their "
        "window, of those that are not missing; ±: standard error."
    )
    return Table(
        f"Variants of the experiment; {about['runs']:,} runs of each",
        [Column(name, name in WORDS, LEAVES.get(name, 0)) for name in names],
        cells,
        legend=legend,
        tones={least: "strong"},
    )


def series_of(row: RehearsalRow, rows: Sequence[RehearsalRow]) -> str:
    """What a line of a chart is called: by what differs between the variants, the window aside."""
    names = [row.assume] if len({one.assume for one in rows}) > 1 else []
    names += [counted(row)] if len({one.settle for one in rows}) > 1 else []
    return ", ".join(names) or row.policy


def _chart(name: str, heading: str, rows: Sequence[RehearsalRow], value: str, error: str) -> Chart:
    """A figure by window; nothing is drawn if there is none."""
    known = [row for row in rows if math.isfinite(getattr(row, value))]
    several = len({series_of(row, rows) for row in rows}) > 1

    def draw() -> alt.LayerChart | None:
        from truant.charts.columns import chart_data
        from truant.charts.rehearsal import windows_chart

        if not known:
            return None
        columns = {
            "window": [row.window for row in known],
            "series": [series_of(row, rows) for row in known],
            "value": [getattr(row, value) for row in known],
            "error": [getattr(row, error) if math.isfinite(getattr(row, error)) else None for row in known],
        }
        zero = value == "bias"
        return windows_chart(chart_data(columns), figure=value, zero_line=zero, width="container")

    figures = ", ".join(
        f"{number(getattr(row, value))} with a window of {row.window}"
        + (f" ({series_of(row, rows)})" if several else "")
        for row in known
    )
    sentence = "Bars: ± 2 standard errors."
    if value == "bias":
        sentence = (
            "Mean error of the estimates of the arms' means, arms weighted by their counted decisions. "
            + sentence
        )
    return Chart(name, draw, f"{heading} by window: {figures}.", heading, sentence)


def title(about: Mapping[str, Any]) -> str:
    """The heading."""
    return f"Rehearsal in world {about['world']}"


def about_lines(about: Mapping[str, Any]) -> list[str]:
    """What was rehearsed, in a few lines."""
    late = f"delay {about['delay']}"
    if about["late_depends_on"]:
        late += f", depending on the {about['late_depends_on']}"
    decisions = f"{in_number(about['decisions'], 'decision')} in {about['days']:.4g} days"
    runs = in_number(about["runs"], "run") + (" and as many in the null world" if about["null"] else "")
    settings = [f"{name} = {value}" for name, value in about["parameters"].items()]
    return [
        "; ".join([*([", ".join(settings)] if settings else []), decisions, late]) + ".",
        f"{runs} of each variant, seed {about['seed']}; windows are closed every {about['step']}.",
    ]


def cells_of(rows: Sequence[RehearsalRow]) -> list[dict[str, tuple[str, str]]]:
    """Each variant's figures as texts, with a standard error or none; without columns that are the same for all."""
    found = [_cells(row) for row in rows]
    same = [name for name in ("assumption", "counted") if len({one[name] for one in found}) == 1]
    if len(rows) == 1:
        same.append("more")
    if not any(row.wrong_winners for row in rows):
        same.append("wrong")
    if not any(row.null_runs for row in rows):
        same.append("null")
    return [{name: cell for name, cell in one.items() if name not in same} for one in found]


def _cells(row: RehearsalRow) -> dict[str, tuple[str, str]]:
    def known(value: float, text: str) -> str:
        return text if value == value else "–"

    def error(value: float) -> str:
        return f"± {number(value)}" if value == value else ""

    days = f"{row.first_learning_days:.3g} d"
    return {
        "window": (row.window, ""),
        "assumption": (row.assume, ""),
        "counted": (counted(row), ""),
        "regret": (number(row.regret), error(row.regret_se)),
        "more": (number(row.excess, sign=True), error(row.excess_se)) if row.excess else ("least", ""),
        "winner": (f"{row.right_winners} of {row.runs}", ""),
        "wrong": (f"{row.wrong_winners} of {row.runs}", ""),
        "null": (f"{row.false_winners} of {row.null_runs}", ""),
        "covered": (known(row.coverage, f"{row.coverage:.1%}"), ""),
        "bias": (known(row.bias, f"{row.bias:+.3f}"), error(row.bias_se)),
        "first learning": (known(row.first_learning_days, days), ""),
        "in window": (known(row.arrived, f"{row.arrived:.0%}"), ""),
    }


def _with_error(value: float, error: float) -> str:
    return number(value) if error != error else f"{number(value)} ± {number(error)}"


def _days(days: float) -> str:
    text = f"{days:.3g}"
    return f"{text} day" if text == "1" else f"{text} days"


def _listed(names: Sequence[str], between: str = ", ") -> str:
    shown = list(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        shown.append(f"{len(names) - MOST_NAMED} more")
    return shown[0] if len(shown) == 1 else f"{between.join(shown[:-1])} and {shown[-1]}"
