"""The verdict in words: which arm is best, what each assumption says, and what would settle it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from truant.analysis import Analysis
from truant.analysis.verdict import FEW_OUTCOMES, LITTLE, Answer, Kind
from truant.documents.blocks import Tone
from truant.documents.cautions import cut_advice
from truant.documents.words import UNKNOWN, Figures, arms_text, chance, listed, percent, rounded
from truant.errors import named, visible
from truant.estimates.beliefs import built
from truant.estimates.ranking import MoreRows
from truant.evidence.contradictions import DOUBTFUL, Test

KIND_TITLES: dict[Kind, str] = {
    "clear": "Clear winner",
    "equal": "Equal within the tolerance",
    "unsettled": "Not settled",
    "depends": "Depends on the assumption",
    "no-mediator": "No mediator",
    "not-identified": "Not identified",
    "one-arm": "One arm",
}
TONES: dict[Kind, Tone] = {
    "clear": "good",
    "equal": "strong",
    "unsettled": "strong",
    "depends": "doubt",
    "no-mediator": "doubt",
    "not-identified": "doubt",
    "one-arm": "strong",
}
PLAN = "`truant plan` says how many, from which arms and levels, and lists rows to follow up"
DRIFT = "drift"  # the code of a warning: arms are compared on different days


def verdict_sentence(analysis: Analysis) -> str:
    """Which arm is best, or why none can be named; then what was contradicted and what could not be tried."""
    return " ".join([_SENTENCES[analysis.verdict.kind](analysis), *_remarks(analysis)])


def answer_sentences(analysis: Analysis, figures: Figures) -> list[str]:
    """What each assumption says, side by side; none without a contest."""
    if len(analysis.arms) < 2:
        return []
    return [_answer(answer, figures) for answer in analysis.verdict.answers]


def settling_sentences(analysis: Analysis) -> list[str]:
    """What would settle the question; none where it is settled."""
    verdict = analysis.verdict
    if verdict.kind in ("clear", "equal"):
        return []
    if verdict.doubtful_label:
        return ["Settle which rows are of which arm, and analyze again."]
    if verdict.evidence is not None and verdict.kind != "one-arm":
        return follow_up_sentences(analysis)
    if verdict.kind == "one-arm":
        return ["Add rows of another arm."]
    if verdict.unused_follow_ups is not None:
        return ["Make the follow-ups usable, and analyze again: the reason is listed below."]
    if verdict.kind == "not-identified":
        return [
            "Collect more rows, merge levels of the mediator, or give the range or the levels of the outcome: the "
            "reasons are listed below."
        ]
    if verdict.kind == "no-mediator":
        cut = cut_advice(analysis.labels)
        return [
            *([f"{cut[0].upper()}{cut[1:]}."] if cut else []),
            f"{'Or name another' if cut else 'Name a'} mediator: a column known for every row before the outcome, and "
            "related to which outcomes are missing (for example: opened the mail, came to the first visit).",
            "Or find out the missing outcomes of a random sample of rows.",
            *([] if analysis.setting.mediators > 1 else ["More rows of the same kind will not help."]),
        ]
    if verdict.kind == "depends":
        return [
            "Find out why outcomes are missing, or find out the missing outcomes of a random sample of rows. More rows "
            "of the same kind will not help."
        ]
    without = [arm.arm for arm in analysis.arms if any(map(_no_interval, arm.estimates.values()))]
    if without:
        return [
            f"Collect more outcomes of {arms_text(without)}, or give the range or the levels of the outcome."
        ]
    if verdict.doubtful_arms:
        return [f"Collect more outcomes of {arms_text(verdict.doubtful_arms)}."]
    return [_running(one, analysis) for one in verdict.more_rows if one.rows != 0]


def _clear(analysis: Analysis) -> str:
    verdict = analysis.verdict
    if verdict.by_follow_up:
        proof = next(answer for answer in verdict.answers if answer.assumption == verdict.evidence)
        return (
            f"{named(verdict.arm)} is the clear winner, whatever the reason for missingness: it leads "
            f"{_under([proof])}, which rests on {answers_text(analysis)}{_if_like_answers(analysis)}."
        )
    winner, under = f"{named(verdict.arm)} is the clear winner", _under(verdict.remaining)
    if verdict.by_bounds:
        return f"{winner}, whatever the missing outcomes were: it leads {under}, and the worst-case bounds agree."
    return f"{winner} {under}."


def _equal(analysis: Analysis) -> str:
    verdict = analysis.verdict
    names = listed(answer.assumption for answer in verdict.remaining)
    return (
        f"{named(verdict.arm)} can be chosen: the expected loss of choosing it now is within the tolerance of "
        f"{verdict.tolerance:g} under {names}."
    )


def _unsettled(analysis: Analysis) -> str:
    verdict = analysis.verdict
    sides = f"Not settled: {_sides(verdict.remaining)}."
    if verdict.doubtful_label:
        why = next(one.message for one in analysis.warnings if verdict.arm in one.arms)
        return (
            f"{sides} No winner is clear while it is in doubt which rows are of {named(verdict.arm)}: {why}"
        )
    if any(one.code == DRIFT for one in analysis.warnings):
        return f"{sides} No winner is clear while outcomes and the shares of the arms change over time."
    if verdict.unused_follow_ups is not None:
        return f"{sides} No winner is clear while the follow-ups cannot be used: {verdict.unused_follow_ups}"
    if verdict.doubtful_arms:
        arms = arms_text(verdict.doubtful_arms)
        if verdict.evidence is not None:
            few = f"The outcomes or the answers to follow-ups of {arms} are too few"
            return f"{sides} {few}, or one or two of them decide the mean."
        return f"{sides} The outcomes of {arms} are too few, or one or two of them decide the mean."
    return f"{sides} A clear winner needs at least {100 * verdict.level:.4g}%."


def _depends(analysis: Analysis) -> str:
    return f"The best arm depends on why outcomes are missing: {_sides(analysis.verdict.remaining)}."


def _no_mediator(analysis: Analysis) -> str:
    verdict = analysis.verdict
    remaining = [answer.assumption for answer in verdict.remaining]
    names = [name for name in remaining if built(name).is_naive_without_mediator]
    same = f" Without a mediator, {listed(['naive', *names])} give the same estimates." if names else ""
    why = "no mediator helps to tell whether they differ from the observed ones"
    if analysis.setting.mediators > 1:
        same = ""
        why = (
            "the mediator shows no relation to the outcome nor to which outcomes are missing, so that it cannot tell "
            "whether they differ from the observed ones"
        )
    elif analysis.labels.mediators != ("all",):
        why = "the mediator has one level only, so that it cannot tell whether they differ from the observed ones"
    return (
        f"No arm can be named the best: {percent(verdict.missing_share)} of the outcomes are missing, and {why}. If "
        f"they do not differ, {_sides(verdict.remaining)}.{same}"
    )


def _not_identified(analysis: Analysis) -> str:
    verdict = analysis.verdict
    if verdict.answers:
        names = listed(verdict.contradicted)
        return f"No arm can be named the best: the data contradict every assumption that could be used ({names})."
    unobserved = [arm.arm for arm in analysis.arms if not arm.observed]
    if len(unobserved) == len(analysis.arms):
        return "No arm can be named the best: no outcome is observed yet."
    naive = analysis.winner.get("naive")
    end = "lowest" if analysis.minimize else "highest"
    several = sum(arm.naive is not None for arm in analysis.arms) > 1
    also = f" Among the observed outcomes, {named(naive)} has the {end} mean." if naive and several else ""
    why = f": no outcome of {listed(list(map(named, unobserved)))} is observed" if unobserved else ""
    return f"No arm can be named the best: no assumption can be used on these data{why}.{also}"


def _one_arm(analysis: Analysis) -> str:
    return f"There is only one arm, {named(analysis.arms[0].arm)}, so there is nothing to compare."


_SENTENCES = {
    "clear": _clear,
    "equal": _equal,
    "unsettled": _unsettled,
    "depends": _depends,
    "no-mediator": _no_mediator,
    "not-identified": _not_identified,
    "one-arm": _one_arm,
}


def _remarks(analysis: Analysis) -> list[str]:
    """What was contradicted, what leaving out would have said, and what could not be tried."""
    verdict = analysis.verdict
    remarks = []
    if tested := _tested(analysis):
        remarks.append(tested)
    naive = analysis.winner.get("naive")
    if verdict.kind == "clear" and naive not in (None, verdict.arm):
        remarks.append(f"Dropping the rows with a missing outcome would name {named(naive)} instead.")
    others = [] if not verdict.by_follow_up else [one for one in verdict.remaining if one.arm != verdict.arm]
    if others:
        remarks.append(f"{_sides(others)}, but this rests on an assumption.")
    if verdict.kind == "clear" and verdict.not_tried and not verdict.by_follow_up:
        remarks.append(f"{listed(verdict.not_tried)} could not be used.")
    return remarks


def _tested(analysis: Analysis) -> str:
    """Which assumptions the data contradict, and which they cannot test; empty if there is nothing to say."""
    verdict = analysis.verdict
    contradicted = verdict.contradicted if verdict.remaining else []
    beyond = {item.assumption for item in analysis.untestable}
    untested = [answer.assumption for answer in verdict.remaining if answer.assumption in beyond]
    certain = verdict.by_bounds or verdict.by_follow_up
    if verdict.kind != "clear" or certain or verdict.missing_share <= LITTLE:
        untested = []
    parts = [f"contradict {listed(contradicted)}"] if contradicted else []
    parts += [f"cannot test {listed(untested)}"] if untested else []
    return f"The data {'; they '.join(parts)}." if parts else ""


def _sides(answers: Sequence[Answer]) -> str:
    """'a' leads under mcar (probability of being the best: 99.0%) and mar (98.1%); 'b' leads under mnar (97.0%)."""
    arms = dict.fromkeys(answer.arm for answer in answers)
    own = [[answer for answer in answers if answer.arm == arm] for arm in arms]
    return "; ".join(
        f"{named(arm)} leads {_under(some, i == 0)}"
        for i, (arm, some) in enumerate(zip(arms, own, strict=True))
    )


def _under(answers: Sequence[Answer], explained: bool = True) -> str:
    """'under mcar (probability of being the best: 99.0%) and mar (98.1%)'; not explained, without these words."""
    first = "probability of being the best: " if explained else ""
    names = [f"{one.assumption} ({'' if i else first}{_chance(one)})" for i, one in enumerate(answers)]
    return f"under {listed(names)}"


def _chance(answer: Answer) -> str:
    return "not known" if math.isnan(answer.probability) else chance(answer.probability)


def _answer(answer: Answer, figures: Figures) -> str:
    start = f"{visible(answer.assumption)}: {named(answer.arm)}"
    end = " Contradicted by the data." if answer.contradicted else ""
    if math.isnan(answer.probability):
        return f"{start}; its probability of being the best is not known, since an arm has no interval.{end}"
    cost = loss_text(answer, figures)
    return (
        f"{start} is the best with probability {chance(answer.probability)}; expected loss if you choose it now: "
        f"{cost}.{end}"
    )


def _running(needed: MoreRows, analysis: Analysis) -> str:
    name, arm = needed.assumption, named(needed.arm)
    if needed.rows is None:
        return (
            f"Under {name}, no realistic number of rows of the same kind would make {arm} a clear winner if the "
            "estimates are right."
        )
    rows = rounded(needed.rows)
    share = needed.rows / sum(one.pulls for one in analysis.arms)
    times = f"{share:,.0f} times" if share >= 10 else f"{share:.2g} times" if share >= 1 else percent(share)
    more = f"{rows:,} more {'row' if rows == 1 else 'rows'} ({times} {'of ' if share < 1 else ''}the present number)"
    return (
        f"Under {name}, {arm} would be a clear winner after about {more}, if the estimates are right and the arms "
        "keep their shares."
    )


def _if_like_answers(analysis: Analysis) -> str:
    """The one condition of `follow-up`, where failed follow-ups were stated to be ignorable."""
    return ", if the outcomes of failed follow-ups are like these" if analysis.failures_ignored else ""


def _no_interval(estimate: Any) -> bool:
    return math.isnan(estimate.probability_best) and math.isnan(estimate.low)


def loss_text(answer: Answer, figures: Figures) -> str:
    """The expected loss of choosing its winner now, one digit finer than outcomes; a dash for what is not known."""
    if math.isnan(answer.expected_loss):
        return UNKNOWN
    finer = Figures(figures.decimals + 1)
    least = 10.0**-finer.decimals
    return (
        f"below {finer.number(least)}" if answer.expected_loss < least else finer.number(answer.expected_loss)
    )


def standing(answer: Answer, analysis: Analysis) -> str:
    """What the data say of an assumption."""
    if answer.contradicted:
        return "contradicted"
    if answer.assumption == analysis.verdict.evidence:
        return "cannot be tested" if analysis.failures_ignored else "assumes nothing"
    if any(test.assumption == answer.assumption and test.could_contradict for test in analysis.tests):
        return "not contradicted"
    if any(item.assumption == answer.assumption for item in analysis.untestable):
        return "cannot be tested"
    return "not tested"


def data_answer(test: Test) -> str:
    """What the data answer to the question of a test."""
    if test.p_value >= DOUBTFUL:
        return "not contradicted" if test.could_contradict else "yes"
    return "contradicted" if test.could_contradict else "no, but this does not contradict it"


def answers_text(analysis: Analysis) -> str:
    """The answers of all arms: '120 answered follow-ups'."""
    answered = sum(arm.answered for arm in analysis.arms)
    return f"{answered:,} answered follow-{'up' if answered == 1 else 'ups'}"


def follow_up_sentences(analysis: Analysis) -> list[str]:
    """What would settle the question where there are follow-ups, but too few."""
    verdict = analysis.verdict
    few = [arm.arm for arm in analysis.arms if arm.missing_share > 0 and arm.answered < FEW_OUTCOMES]
    few = [arm for arm in few if arm in verdict.doubtful_arms]
    if few:
        return [
            f"Follow up more missing outcomes of {arms_text(few)}: at least {FEW_OUTCOMES} answers are needed. {PLAN}."
        ]
    if verdict.doubtful_arms:
        return [
            f"Collect more outcomes of {arms_text(verdict.doubtful_arms)}, or follow up more missing ones. {PLAN}."
        ]
    if not verdict.more_follow_ups:
        return [
            "Collect more rows: if the estimates are right, following up all missing outcomes would not make a clear "
            "winner."
        ]
    number = rounded(verdict.more_follow_ups)
    leader = next(answer.arm for answer in verdict.answers if answer.assumption == verdict.evidence)
    return [
        f"Follow up more missing outcomes: after about {number:,} more, with the same shares of arms, {named(leader)} "
        f"would be a clear winner if the estimates are right. {PLAN}."
    ]
