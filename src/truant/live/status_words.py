"""What a status says in sentences, the most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truant.analysis.shares import p_value, percent
from truant.durations import duration_text
from truant.live.configuration import ON_ARRIVAL
from truant.live.times import in_words, moment
from truant.text import counted

if TYPE_CHECKING:
    from truant.live.status import Status

UNLIKELY = 0.01  # p-value from which a test is worth a sentence
TOO_MANY_LATE = 0.04  # share of outcomes in the last tenth of the window, from which it looks too short


def status_sentences(status: Status) -> list[str]:
    """The verdict, what is wrong, and what is pending."""
    return [
        status.verdict,
        *([] if status.settled or not _says_more(status) else [status.learning]),
        *([status.stopping.sentence] if status.stopping else []),
        *_alarms(status),
        *_notes(status),
    ]


def waiting_sentence(status: Status) -> str:
    """What is waited for while no decision is settled."""
    if not status.decisions:
        return "No decision has been made yet."
    if status.configuration["settle"] == ON_ARRIVAL or status.next_close is None:
        return "No outcome has been told yet."
    first = in_words(moment("next_close", status.next_close))
    return f"No window has closed yet; the first closes on {first}. Until then nothing is counted."


def _says_more(status: Status) -> bool:
    """Whether the sentence on learning says more than when the first window closes."""
    configuration = status.configuration
    return (
        not status.decisions
        or configuration["settle"] == ON_ARRIVAL
        or configuration["warm_up"] != duration_text(0)
    )


def _alarms(status: Status) -> list[str]:
    found = [one.message for one in status.analysis.warnings if one.code == "drift"]
    asked = status.share_tests.get("asked")
    if asked is not None and asked.p_value_any_time < UNLIKELY:
        found.append(asked.sentence)
    withdrawn = status.share_tests.get("withdrawn")
    if withdrawn is not None and withdrawn.p_value_any_time < UNLIKELY:
        found.append(
            f"Withdrawals depend on the arm (p = {p_value(withdrawn.p_value_any_time)}): the arms differ in which "
            "decisions remain, so that comparisons may be biased."
        )
    found += [test.sentence for test in status.late_tests if test.p_value < UNLIKELY]
    if status.last_arrivals is not None and status.last_arrivals >= TOO_MANY_LATE:
        found.append(
            f"{percent(status.last_arrivals)} of the outcomes arrive in the last tenth of the window, so that more may "
            "come after it: the window may be too short."
        )
    return found


def _notes(status: Status) -> list[str]:
    found = []
    if status.late:
        found.append(
            f"{status.late:,} outcomes were told after their window; they are stored but not counted."
        )
        found += [_quiet(test.p_value) for test in status.late_tests if test.p_value >= UNLIKELY]
    if status.told_late:
        found.append(
            f"{status.told_late:,} of them happened in their window but were told after it closed: set grace to "
            "the time that a report may take."
        )
    if status.configuration["settle"] == ON_ARRIVAL and status.pending:
        found.append(
            "Outcomes are counted as they arrive: while decisions are pending, estimates are biased if fast outcomes "
            "differ from slow ones."
        )
    outstanding = status.follow_ups.get("outstanding", 0)
    if outstanding:
        found.append(
            f"{outstanding:,} of {status.follow_ups['picked']:,} decisions that were picked for follow-up have no "
            "answer yet; tell outcome=None with followed_up for those that failed: the answered ones alone are "
            "not a random sample."
        )
    if status.follow_ups.get("rounds", 0) > 1:
        found.append(
            f"Follow-ups were picked in {status.follow_ups['rounds']:,} rounds; the estimate assumes that the missing "
            "outcomes of an arm and mediator level are alike in all rounds."
        )
    holdout = status.holdout
    if holdout is not None and holdout.mean is not None and holdout.adaptive_mean is not None:
        assume, decisions = status.configuration["assume"], counted(holdout.decisions, "decision")
        found.append(
            f"Holdout ({decisions}): mean {holdout.mean:.4g} under {assume}, compared with "
            f"{holdout.adaptive_mean:.4g} where the policy chooses the arms."
        )
    return found


def _quiet(p: float) -> str:
    return (
        f"Late outcomes do not differ from those in time by more than chance (p = {p_value(p)}), which does not prove "
        "the assumption."
    )
