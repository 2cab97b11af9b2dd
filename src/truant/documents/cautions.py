"""What to know before relying on a figure, and what to do: one sentence for each code; and the answers of tests."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Sequence

from truant.documents.words import chance, listed, p_value
from truant.errors import filled, named, visible
from truant.estimates.beliefs import Caution, Labels
from truant.evidence.contradictions import DOUBTFUL
from truant.evidence.course import OverTime
from truant.evidence.live_tests import UNLIKELY, LateTest, ShareTest

MERGE = "merge_labels=True (--merge-labels)"
AN_ARM = "if it is an arm, say only_missing_values=[] (--only-missing-values '')"
MOST_NAMED = 5  # arms in a sentence
MANY_LEVELS = 8  # of a numeric mediator, above which it is better cut
SENTENCES: dict[str, Callable[..., str]] = {}  # by code; each takes a caution and its facts


def caution_sentence(caution: Caution) -> str:
    """The sentence of a caution; that of an assumption's concern is the assumption's own."""
    make = _concern if "assumption_text" in caution.facts else SENTENCES[caution.code]
    return make(caution, **caution.facts)


def _says(make: Callable[..., str]) -> Callable[..., str]:
    """Enters the function as the one of the code that its name is: `_uneven_split` is that of `uneven-split`."""
    SENTENCES[make.__name__[1:].replace("_", "-")] = make
    return make


# -- of tables


@_says
def _missing_arm(caution: Caution, column: str, words: Sequence[str]) -> str:
    left = f"{caution.value:,.0f} rows whose {column!r} is {listed(map(repr, words))} were left out"
    return f"{left}, since that means missing; {AN_ARM}."


@_says
def _where_on_outcome(caution: Caution, outcome: str) -> str:
    return (
        f"where uses the outcome {outcome!r}: it selects rows by the value that is to be estimated, and may drop those "
        "whose outcome is missing, so that estimates are not those of the whole arm; choose rows by what was known "
        "before the outcome."
    )


@_says
def _thousands(caution: Caution, column: str, example: str, whole: str | None) -> str:
    beside = "" if whole is None else f" beside {whole!r}"
    return (
        f"Every dot in {column!r} stands before three digits, as in {example!r}{beside}, and was taken as the decimal "
        f"sign ({example!r} is {float(example):g}): if dots stand between thousands, say decimal=',' (--decimal ,)."
    )


@_says
def _sentinel(caution: Caution, column: str, rows: int, low: float, high: float) -> str:
    value = f"{caution.value:g}"
    return (
        f"{column!r} is {value} in {rows:,} rows and {low:g} to {high:g} in all others: if {value} stands for missing, "
        f"say missing_values=[{value}] (--missing-values={value})."
    )


@_says
def _set_aside(caution: Caution, names: Sequence[str], single: bool, alike: Sequence[tuple[str, str]]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    those = ", ".join(map(repr, names[:MOST_NAMED])) + more
    each = " each" * (len(names) > 1)
    what = f"{'a single row' if single else 'no observed outcome'}{each}"
    rows = f"{caution.value:,.0f} row{'s' * (caution.value != 1)}"
    text = f"Set aside: {those}, with {what} ({rows}); the other arms are compared without."
    if not alike:
        return text
    beside = "; ".join(f"{other!r} may be {one!r}" for one, other in alike[:MOST_NAMED])
    return f"{text} {beside}: if they are one, say {MERGE}."


@_says
def _alike_labels(
    caution: Caution,
    column: str = "",
    pair: tuple[str, str] = ("", ""),
    total: float = 0.0,
    condition: str = "",
) -> str:
    if condition:
        return (
            f"The arm {caution.arm!r} has {caution.value:,.0f} of {total:,.0f} rows and may be a row that sums up the "
            f"others; if so, leave it out with where: {condition}."
        )
    one, other = pair
    how = "blanks, case, invisible characters or the way a character is stored"
    if one.casefold() == other.casefold():
        how = "upper and lower case"
    return f"{one!r} and {other!r} of {column!r} differ only in {how} and count as two; if they are one, say {MERGE}."


@_says
def _probabilities_off(caution: Caution, column: str, inverse: float, rows: int) -> str:
    return (
        f"The probabilities in {named(column)} do not fit the rows: over the rows of arm {named(caution.arm)}, "
        f"1/probability adds up to {inverse:,.0f}, and should be near {rows:,} (all rows). Check that the column holds "
        "the probability with which the row's own arm was chosen."
    )


@_says
def _units_in_several_arms(caution: Caution, column: str, units: int, in_several_arms: int) -> str:
    return (
        f"{in_several_arms:,} of {units:,} units of {column!r} ({caution.value:.1%}) have rows in several arms: "
        "differences and probabilities take arms as independent, which they are not then; each arm's own interval "
        "holds."
    )


@_says
def _few_units(caution: Caution, column: str, least: int) -> str:
    return (
        f"Arm {caution.arm!r} has rows of {caution.value:.0f} units of {column!r} only: its interval is a rough guess; "
        f"collect at least {least} units in each arm."
    )


# -- of counts


@_says
def _uneven_split(
    caution: Caution, arms: Sequence[str], shares: Sequence[float], expected: Sequence[float]
) -> str:
    parts = ", ".join(
        f"{named(name)} {have:.1%} instead of {want:.1%}"
        for name, have, want in zip(arms, shares, expected, strict=True)
    )
    return (
        f"Units are not split over the arms as expected ({parts}; {p_text(caution.value)}): find the cause before you "
        "use the results."
    )


@_says
def _empty_cell(caution: Caution, pulls: int, mediator: int, labels: Labels) -> str:
    first = cut_advice(labels) or "merge this level with another"
    if mediator == len(labels.mediators):  # no level that could be merged
        first = "find out these mediators"
    return (
        f"In arm {named(caution.arm)}, none of the {pulls} outcomes with {labels.place(mediator)} was observed; mar "
        f"cannot estimate their mean: {first} or collect more."
    )


@_says
def _rarely_observed(caution: Caution, pulls: int, mediator: int, labels: Labels) -> str:
    share = f"{(caution.value or 0.0) / pulls:.1%} of {pulls:,} outcomes with {labels.place(mediator)}"
    return (
        f"In arm {named(caution.arm)}, {share} were observed; few rows have a large weight: check whether they are "
        "typical."
    )


def _concern(
    caution: Caution, assumption: str, assumption_text: str, mediator: int | None, labels: Labels
) -> str:
    """What an assumption says about an arm, with the names in its places; how to cut a mediator is known here."""
    place, cut = None if mediator is None else labels.place(mediator), cut_advice(labels)
    if caution.code == "empty-cell" and place is not None and cut is not None:
        return (
            f"Under {assumption}, no outcome of arm {named(caution.arm)} with {place} was observed, which widens the "
            f"interval; {cut}, or collect more."
        )
    return filled(assumption_text, assumption, f"arm {named(caution.arm)}", place)


@_says
def _contradicted(caution: Caution, assumption: str, question: str) -> str:
    where = f" in arm {named(caution.arm)}" if caution.arm else ""
    return (
        f"The data contradict {assumption}{where} ({p_text(caution.value)}): the answer to “{question}” is no. Use the "
        "estimate of another assumption."
    )


@_says
def _flat_prior(caution: Caution, assumption: str, arms: int, probability: float) -> str:
    return (
        f"Under {assumption}, the {arms} arms differ hardly more than by chance, so the probability that "
        f"{named(caution.arm)} is the best ({chance(probability)}) is too high; with the means shrunk towards each "
        f"other it is {chance(caution.value or 0.0)}."
    )


# -- of the course over time


@_says
def _shares_move(caution: Caution, first: float, last: float) -> str:
    return (
        f"The arms' shares of the rows change over time ({caution.arm!r} from {first:.1%} to {last:.1%}; p = "
        f"{caution.value:.2g}): the log looks adaptive, so that plain intervals are too narrow and the estimates of "
        "arms that were left are too low; say how the rows were collected with collected_by and horizon (a policy of "
        "truant), probability (a column with the probability of each choice) or collected adaptive."
    )


@_says
def _recent_missing(caution: Caution, before: float, start: str, exact: float, over_time: OverTime) -> str:
    if over_time.running:
        return (
            f"{caution.value:.1%} of the outcomes of the decisions that were counted last are missing, more than "
            "before: check that outcomes are still told, and that the window is long enough. Pending decisions are not "
            "counted."
        )
    limit = f"'{start}'"
    if over_time.numeric:  # in all its digits, where the label has fewer
        limit = start if float(start) == exact else repr(exact)
    column = over_time.column
    if not re.fullmatch(r"[^\W\d]\w*", column):
        column = '"{}"'.format(column.replace('"', '""'))
    return (
        f"From {start} on, {caution.value:.1%} of the outcomes are missing, before that {before:.1%}: the last ones "
        f"may be pending rather than missing; leave them out with where: {column} < {limit}."
    )


@_says
def _drift(caution: Caution) -> str:
    return (
        "Outcomes change over time within arm and mediator level, and so do the shares of the arms: arms are compared "
        "on different days, so that estimates and intervals may be wrong and no winner is called clear. Decisions with "
        "fixed shares (warm_up, holdout) can be compared."
    )


@_says
def _never_told(
    caution: Caution,
    column: str,
    levels: Sequence[str | float],
    settled: int,
    missing: int,
    can_be_absent: bool,
) -> str:
    names = [named(level) if isinstance(level, str) else f"{level:g}" for level in levels]
    more = [f"one of {len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else []
    text = (
        f"None of the {settled:,} settled decisions has the {column} {' or '.join(names[:MOST_NAMED] + more)}"
    )
    check = "check how your system tells it, and how the levels are spelled."
    if not missing or not can_be_absent:
        return f"{text}: {check}"
    setting = "mediator_absent" if column == "mediator" else "absent"
    value = levels[0] if isinstance(levels[0], str) else names[0]
    option = f"--{setting.replace('_', '-')} {shlex.quote(value)}"
    return (
        f"{text}, and {missing:,} have no {column}: if {names[0]} is what happens when nothing is told, set "
        f"{setting}={names[0]} ({option}). It cannot be changed later: create another experiment with it, and import "
        f"the export of this one. Otherwise {check}"
    )


def cut_advice(labels: Labels) -> str | None:
    """To cut a mediator that is a number with many values; None if it is none, or has few."""
    if len(labels.mediators) <= MANY_LEVELS or not labels.mediator_column:
        return None
    try:
        if not all(math.isfinite(float(text)) for text in labels.mediators):
            return None
    except ValueError:
        return None
    cut = f"{visible(labels.mediator_column)}:3"
    return (
        f"cut {named(labels.mediator_column)}, which has {len(labels.mediators):,} values, into thirds: --mediator "
        f"{shlex.quote(cut)} (mediator={cut!r})"
    )


def p_text(value: float | None) -> str:
    """P = 0.034; p < 0.001 for what is smaller."""
    text = p_value(math.nan if value is None else value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


# -- of the tests of experiments


def late_sentence(test: LateTest) -> str:
    """Whether late outcomes differ, and what it means for the assumption."""
    late, like, p = f"Late outcomes ({test.late:,})", test.comparison.like, p_text(test.p_value)
    if test.p_value >= DOUBTFUL:
        of = "the distribution of the mediator" if test.comparison.of_mediators else "mean"
        return (
            f"{late} show no difference in {of} from outcomes in time of {like} ({p}). That does not prove "
            f"{test.assumption}: outcomes that never came may still differ."
        )
    if test.comparison.of_mediators:
        what = f"have another distribution of the mediator than outcomes in time of {like} ({p})"
        related = "the mediator, even among equal outcomes"
    else:
        how = f"{abs(test.difference):.3g} {'higher' if test.difference > 0 else 'lower'} on average"
        what = f"are {how} than outcomes in time of {like} ({p})"
        related = "its value"
    return (
        f"{late} {what}: when an outcome comes is related to {related}, so {test.assumption} is in doubt. The test "
        "says nothing about outcomes that never came."
    )


def shares_sentence(test: ShareTest) -> str:
    """Whether arms were chosen as often as their probabilities say."""
    if test.arm is None:
        return "Choices cannot be compared with their probabilities: none of them was random."
    p = p_text(test.p_value_any_time)
    if test.p_value_any_time >= UNLIKELY:
        return f"Arms were chosen as often as their probabilities say ({p}, at any number of looks)."
    return (
        f"Arms were not chosen as often as their probabilities say: arm {test.arm_name} {test.chosen:,.0f} times "
        f"instead of {test.expected:,.1f} ({p}, at any number of looks). Find the cause before you use the results: "
        "decisions may be lost, repeated or changed on their way."
    )
