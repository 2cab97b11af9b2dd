"""Sentences about an analysis: where its figures come from, what its columns mean, and what would change its winner.

Its verdict has sentences of its own, and so has each caution.
"""

from __future__ import annotations

from collections.abc import Sequence

from truant.analysis import Analysis
from truant.analysis.analysis import MissingCell
from truant.collection.intervals import FIXED, REPLAYED, SEQUENCE, WEIGHTED, Collection
from truant.documents.blocks import Better
from truant.documents.words import Figures, level_text, missing_share, percent, same_as_naive
from truant.errors import counted, named, visible
from truant.estimates.beliefs import built
from truant.evidence.sensitivity import Tipping
from truant.provenance import TURNED_ROUND, Provenance

DROPPED = "the missing rows dropped, as if outcomes were missing by chance alone"
FEW = 10  # rows of a cell below which its missing share says little
METHODS = {
    FIXED: "intervals for a fixed split",
    SEQUENCE: "confidence sequences, which are valid for any policy and any stopping time",
    REPLAYED: "intervals calibrated by replaying the policy",
    WEIGHTED: "adaptively weighted estimates",
}
BOUNDS = "bounds"  # in the intervals of a collection: of the worst case


def facts_sentence(analysis: Analysis) -> str:
    """Rows, arms, missing outcomes and follow-ups in one line."""
    pulls = sum(arm.pulls for arm in analysis.arms)
    facts = [counted(pulls, "row"), counted(len(analysis.arms), "arm")]
    text = f"{', '.join(facts)}, {percent(missing_share(analysis))} of the outcomes missing"
    if analysis.has_follow_ups:
        asked, answered = follow_ups_of(analysis)
        end = "all answered" if answered == asked else f"{answered:,} answered"
        text += f"; {counted(asked, 'missing outcome')} followed up, {end}"
    return f"{text}; {level_text(analysis.level)} intervals"


def about_sentences(analysis: Analysis, origin: Provenance) -> list[str]:
    """Where the figures come from, a short sentence each; `origin` may be of several analyses together."""
    lines = [
        f"{origin.source}: {origin.rows:,} rows",
        origin.mediators,
        direction_with_option(analysis),
        *origin.kept,
    ]
    if origin.units is not None:
        unit = f"clustered by {origin.columns['unit']}: {origin.units:,} units"
        lines.append(f"{unit}; tests of assumptions take all rows of a unit as one")
    lines += [*collection_sentences(analysis.collection), *value_sentences(analysis), *origin.without_arm]
    if origin.cut_outcome is not None:
        lines.append(origin.cut_outcome.sentence)
    return [*lines, *origin.notes]


def collection_sentences(collection: Collection) -> list[str]:
    """How intervals allow for the policy, a short sentence each; empty for a fixed split."""
    if collection.kind == FIXED:
        return []
    by_method: dict[str, list[str]] = {}
    for name, interval in collection.intervals.items():
        if name != BOUNDS:
            by_method.setdefault(interval.method, []).append(name)
    parts = [f"{', '.join(names)}: {METHODS[method]}" for method, names in by_method.items()]
    if len(by_method) == 1:
        parts = [METHODS[next(iter(by_method))]]
    who = "collected by a policy"
    if collection.policy is not None:
        who = f"collected by {collection.policy} with horizon {collection.horizon:,}"
    reasons = dict.fromkeys(one.reason for one in collection.intervals.values() if one.reason)
    return [f"{who}; {'; '.join(parts)}", *reasons]


def value_sentences(analysis: Analysis) -> list[str]:
    """The value of a mix under each assumption, in one sentence; none if it was not asked for."""
    if analysis.value is None:
        return []
    figures = Figures.of(analysis)
    mix = ", ".join(f"{name} {share:.4g}" for name, share in analysis.value.mix.items())
    values = [
        f"{name} {figures.number(one.mean)} [{figures.number(one.low)}, {figures.number(one.high)}]"
        for name, one in analysis.value.estimates.items()
    ]
    weighted = analysis.collection.kind == WEIGHTED
    shares = "" if weighted else " (assuming constant shares of the arms in the log)"
    return [f"value of the mix {mix}{shares}: {'; '.join(values) or 'no assumption can be used'}"]


def better_of(analysis: Analysis, about: Sequence[str] = ()) -> Better:
    """Which way is better, as one of these lines says it if one does."""
    short = direction_sentence(analysis)
    ways = [short, direction_with_option(analysis)]
    return Better(next((line for line in about if line in ways), short), short, analysis.minimize)


def direction_sentence(analysis: Analysis) -> str:
    """Which way is better, for the top of every report."""
    way = "lower" if analysis.minimize else "higher"
    return f"{way} {named(analysis.labels.outcome)} is better"


def direction_with_option(analysis: Analysis) -> str:
    """The same with the option that turns it round, where the reader can still set it."""
    return f"{direction_sentence(analysis)}{'' if analysis.minimize else TURNED_ROUND}"


def chances_sentence(groups: int) -> str:
    """What looking at several groups does to the error of naming a winner."""
    if groups < 2:
        return ""
    return (
        f"Intervals and probabilities are those of each group alone: with {groups} groups a false winner is more "
        "likely, and the most striking result may be due to chance."
    )


def meanings_sentence(analysis: Analysis) -> str:
    """What each column means: 'naive: mean of the observed outcomes; mcar: ...'; of those that say so."""
    meanings = {} if same_as_naive(analysis) else {"naive": "mean of the observed outcomes"}
    meanings |= {name: built(name).meaning for name in analysis.assumptions}
    if same_as_naive(analysis):
        meanings["mcar"] = DROPPED
    return "; ".join(f"{name}: {meaning}" for name, meaning in meanings.items() if meaning)


def missing_sentence(analysis: Analysis) -> str:
    """Where most is missing and where least."""
    cells = [cell for cell in analysis.missing if cell.pulls >= FEW]
    cells = cells or [cell for cell in analysis.missing if cell.pulls]
    share = missing_share(analysis)
    if not share:
        return "No outcome is missing."
    start = f"{percent(share)} of all outcomes are missing"
    most, least = max(cells, key=_share), min(cells, key=_share)
    mediated = len(analysis.labels.mediators) > 1
    if percent(_share(most)) == percent(_share(least)):
        return f"{start}, the same share in every arm{' and at every mediator level' if mediated else ''}."

    def where(cell: MissingCell) -> str:
        place = f" with {cell.place}" if mediated else ""
        return f"in arm {named(cell.arm)}{place} ({percent(_share(cell))})"

    return f"{start}: most {where(most)}, fewest {where(least)}."


def _share(cell: MissingCell) -> float:
    return cell.missing_share or 0.0


def course_sentence(analysis: Analysis) -> str:
    """How time was divided; empty if it was not asked for."""
    course = analysis.over_time
    if course is None:
        return ""
    left_out = f" {course.left_out:,} rows without a time are left out." if course.left_out else ""
    return f"By {visible(course.column)}: each dot is a period of {course.length}, drawn where it starts.{left_out}"


def tipping_sentence(tip: Tipping, figures: Figures) -> str:
    """How wrong an assumption must be about missing outcomes for another arm to be best."""
    winner, runner_up = named(tip.winner), named(tip.runner_up)
    if tip.gap == 0:
        return f"{winner} and {runner_up} are equal under {tip.assumption}."

    def by(shift: float | None, in_sd: float | None, direction: str) -> str:
        return f"{figures.number(shift)} {direction}" + (f" ({in_sd:.2f} sd)" if in_sd is not None else "")

    down = by(tip.shift, tip.shift_in_sd, f"worse than {tip.assumption} says")
    up = by(tip.runner_up_shift, tip.runner_up_shift_in_sd, "better")
    theirs = f"missing outcomes of the runner-up {runner_up}"
    if tip.shift is None and tip.runner_up_shift is None:
        return f"No outcome of {winner} or of the runner-up {runner_up} is missing, so this cannot change the winner."
    if tip.shift is None:
        first = f"No outcome of {winner} is missing"
    elif tip.possible is False:
        first = f"{winner} stays ahead whatever its missing outcomes were: on average {down} is impossible"
    else:
        first = f"{winner} stays ahead unless its missing outcomes were on average {down}"
    if tip.runner_up_shift is None:
        return f"{first}. No outcome of the runner-up {runner_up} is missing."
    if tip.runner_up_possible is False:
        return f"{first}. The {theirs} cannot have been on average {up}."
    if tip.shift is None or tip.possible is False:
        return f"{first}. It stays ahead unless the {theirs} were on average {up} than {tip.assumption} says."
    return f"{first}, or those of the runner-up {runner_up} {up}."


def follow_ups_of(analysis: Analysis) -> tuple[int, int]:
    """Of all arms: missing outcomes that were followed up, and answers."""
    return sum(arm.follow_ups for arm in analysis.arms), sum(arm.answered for arm in analysis.arms)
