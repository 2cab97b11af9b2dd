"""What a status says in sentences, the most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truant.analysis.shares import p_value, percent

if TYPE_CHECKING:
    from truant.live.status import Status

UNLIKELY = 0.01  # p-value from which a test is worth a sentence
TOO_MANY_LATE = 0.04  # share of outcomes in the last tenth of the window, from which it looks too short


def status_sentences(status: Status) -> list[str]:
    """The verdict, what is wrong, and what is pending."""
    return [
        status.verdict,
        *([status.stopping.sentence] if status.stopping else []),
        *_alarms(status),
        *_notes(status),
        *([] if status.settled else [status.learning]),
    ]


def _alarms(status: Status) -> list[str]:
    found = []
    asked = status.share_tests.get("asked")
    if asked is not None and asked.p_value_any_time < UNLIKELY:
        found.append(f"Arms were not chosen as often as their probabilities say: {asked.sentence}")
    withdrawn = status.share_tests.get("withdrawn")
    if withdrawn is not None and withdrawn.p_value_any_time < UNLIKELY:
        found.append(f"Withdrawals depend on the arm: {withdrawn.sentence}")
    found += [test.sentence for test in status.late_tests if test.p_value < UNLIKELY]
    if status.last_arrivals is not None and status.last_arrivals >= TOO_MANY_LATE:
        found.append(
            f"{percent(status.last_arrivals)} of the outcomes arrive in the last tenth of the window, so that more "
            "would come after it: the window looks too short."
        )
    return found


def _notes(status: Status) -> list[str]:
    found = []
    if status.late:
        found.append(
            f"{status.late:,} outcomes came after their window; they are kept and not counted."
            + "".join(f" {_quiet(test.p_value)}" for test in status.late_tests if test.p_value >= UNLIKELY)
        )
    outstanding = status.follow_ups.get("outstanding", 0)
    if outstanding:
        found.append(
            f"{outstanding:,} of {status.follow_ups['picked']:,} decisions that were picked for follow-up have no "
            "answer yet; tell outcome=None with followed_up for those that failed: answers alone are no random choice."
        )
    if (
        status.holdout is not None
        and status.holdout.mean is not None
        and status.holdout.adaptive_mean is not None
    ):
        found.append(
            f"Holdout: mean of the observed outcomes {status.holdout.mean:.4g}, beside "
            f"{status.holdout.adaptive_mean:.4g} where arms are chosen by the policy."
        )
    return found


def _quiet(p: float) -> str:
    return f"They do not differ from those in time (p = {p_value(p)}), which does not prove the assumption."
