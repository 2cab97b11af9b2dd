"""What the demo found, in sentences for terminal and page; made from the results, whatever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truant.analysis.shares import chance, percent
from truant.demo.learning import DROPS, HORIZON, LEARNS, LearningResult
from truant.demo.live import LiveResult
from truant.demo.table import CALLS, TableResult

if TYPE_CHECKING:
    from truant.logs.log_analysis import LogAnalysis

PARTS = (
    "A table with missing outcomes",
    f"Two policies, {HORIZON:,} customers",
    "A live experiment on SQLite",
)
LITTLE_LATE, LIKE_A_LINE = 0.1, 0.45  # shares of the loss in the second half
# tables with seeds 1 to 100: python examples/demo.py 100
SETTLED_BY_CALLS, TABLES = 100, 100


def named_by(analysis: LogAnalysis) -> str | None:
    """The mail that an analysis calls the clear winner; None if it calls none."""
    return analysis.verdict.arm if analysis.verdict.kind == "clear" else None


def headline(result: TableResult) -> str:
    """What the table shows, in one sentence."""
    named = named_by(result.by_mediator)
    return (
        f"The best of three mails is '{result.best}'. Dropping the rows with a missing outcome names "
        f"'{result.dropping_names}', setting missing outcomes to 0 names '{result.zeros_name}', and truant names "
        f"{_quoted(named)}."
    )


def table_sentences(result: TableResult) -> list[str]:
    """What each way to treat the missing outcomes says, beside the true means."""
    naive = {arm.arm: arm.naive for arm in result.by_mediator.arms}
    dropped = naive[result.dropping_names]
    true = ", ".join(f"{mail} {mean:.1f}" for mail, mean in result.true_means.items())
    return [
        f"True means: {true}.",
        f"Dropping the rows with a missing outcome names '{result.dropping_names}' (mean "
        f"{0 if dropped is None else dropped.mean:.1f}): {_right_or_wrong(result.dropping_names, result.best)}. "
        f"Setting missing outcomes to 0 names '{result.zeros_name}': "
        f"{_right_or_wrong(result.zeros_name, result.best)}.",
        _estimate_sentence("truant names", result.by_mediator, "mar", "under mar, with the column 'opened'"),
        f"Without that column truant names {_quoted(named_by(result.no_mediator))}. "
        + _estimate_sentence(
            f"After {CALLS} follow-ups drawn at random, it names",
            result.followed,
            "follow-up",
            "whatever the reason for missingness",
        ),
    ]


def harmless_sentence(result: TableResult) -> str:
    """Where dropping rows does no harm, and what the table shows there."""
    mails = " and ".join(f"'{arm.arm}'" for arm in result.harmless.arms)
    dropping, named = result.harmless.winner["naive"], named_by(result.harmless)
    same = "the same mail" if dropping == named else "different mails"
    return (
        "Dropping rows does no harm where all customers of a mail have the same chance that their outcome is known. "
        f"That is so for {mails}: of these two, dropping rows names '{dropping}' and truant names "
        f"{_quoted(named)}, {same}."
    )


def calls_sentence(result: TableResult) -> str:
    """What the plan promised before the calls."""
    alike, differ = (f"{100 * chance:.0f}%" for chance in result.plan.chances.values())
    return (
        f"Before the calls, truant gives a probability of {alike} that {CALLS} of them make a winner clear if missing "
        f"outcomes are like the observed ones, and of {differ} if they differ by a typical amount. The plan cannot "
        f"know that the missing outcomes of '{result.dropping_names}' differ by more than that. With these mails "
        f"the probability is higher: '{result.best}' was the clear winner after {CALLS} calls in {SETTLED_BY_CALLS} of "
        f"{TABLES} tables, this one and others that were simulated before this demo."
    )


def learning_sentences(result: LearningResult) -> list[str]:
    """What each policy lost."""
    simulation = result.simulation
    return [
        f"{DROPS} drops missing outcomes. {_policy_sentence(result, DROPS)}",
        f"{LEARNS} uses whether a mail was opened. {_policy_sentence(result, LEARNS)}",
        f"Loss: spending that the best mail would have brought in addition; mean of {simulation.runs} runs of "
        f"{simulation.horizon:,} customers.",
    ]


def _policy_sentence(result: LearningResult, policy: str) -> str:
    mail, share = max(result.shares(policy).items(), key=lambda item: item[1])
    late = result.late_share(policy)
    learned = (
        "it has learned" if late < LITTLE_LATE else "it does not learn" if late > LIKE_A_LINE else "it learns"
    )
    return (
        f"It sends '{mail}' to {percent(share)} of the customers and loses {result.lost(policy):,.0f}, "
        f"{chance(late)} of it in the second half: {learned}."
    )


def live_sentences(result: LiveResult) -> list[str]:
    """What came in, what is missing, and what is known."""
    status = result.status
    shares = ", ".join(f"{arm.arm} {arm.share:.0%}" for arm in status.arms)
    return [
        f"{status.decisions:,} customers in four weeks: {status.observed:,} outcomes in time, "
        f"{status.settled - status.observed:,} missing ({status.late:,} of these came after the window of 7 days), "
        f"{status.pending:,} pending.",
        f"Shares for the next customer: {shares}.",
        status.verdict,
    ]


def _estimate_sentence(start: str, analysis: LogAnalysis, assumption: str, end: str) -> str:
    named = named_by(analysis)
    if named is None:
        return f"{start} no mail {end}."
    found = next(arm.estimates[assumption] for arm in analysis.arms if arm.arm == named)
    return (
        f"{start} '{named}' {end}: mean {found.mean:.1f}, 95% interval [{found.low:.1f}, {found.high:.1f}]."
    )


def _right_or_wrong(named: str, best: str) -> str:
    return "the right mail" if named == best else "the wrong mail"


def _quoted(mail: str | None) -> str:
    return "no mail" if mail is None else f"'{mail}'"
