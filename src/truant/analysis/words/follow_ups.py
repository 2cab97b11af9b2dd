"""Follow-ups in words: how many there were, and how many more would settle the question."""

from __future__ import annotations

from collections.abc import Sequence

from truant.analysis.analysis import FEW_OUTCOMES, Analysis, Arm
from truant.analysis.words.figures import listed
from truant.text import named

PLAN = "`truant plan` says how many, from which arms and levels, and lists rows to follow up"


def follow_up_text(arm: Arm) -> str:
    """Follow-ups of an arm, as a cell: 40, or 38 of 40 if some failed."""
    if arm.answered == arm.follow_ups:
        return f"{arm.follow_ups:,}"
    return f"{arm.answered:,} of {arm.follow_ups:,}"


def answers_text(analysis: Analysis) -> str:
    """The answers of all arms: '120 answered follow-ups'."""
    answered = sum(arm.answered for arm in analysis.arms)
    return f"{answered:,} answered follow-{'up' if answered == 1 else 'ups'}"


def follow_ups_fact(analysis: Analysis) -> str:
    """Follow-ups of all arms, for headings: '130 missing outcomes followed up, 120 answered'."""
    asked = sum(arm.follow_ups for arm in analysis.arms)
    answered = sum(arm.answered for arm in analysis.arms)
    end = "all answered" if answered == asked else f"{answered:,} answered"
    return f"{asked:,} missing {'outcome' if asked == 1 else 'outcomes'} followed up, {end}"


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


def arms_text(arms: Sequence[str]) -> str:
    """Arm 'a'; arms 'a' and 'b'."""
    return f"{'arm' if len(arms) == 1 else 'arms'} {listed(map(named, arms))}"


def rounded(number: int) -> int:
    """To two digits: it is a guess."""
    digits = max(len(str(number)) - 2, 0)
    return round(number, -digits)
