"""The sentences of a plan of follow-ups."""

from __future__ import annotations

from truant.analysis.follow_up_plan import ALIKE, DIFFER, WORST_CASE, FollowUpPlan
from truant.text import named

KIND_TITLES = {
    "reached": "Follow-ups can settle it",
    "not-reached": "Follow-ups may not settle it",
    "settled": "Clear already",
}
MOST_NAMED = 6  # arms in a sentence


def chance(probability: float) -> str:
    """A probability that was simulated: whole percents, and never certainty."""
    return ">99%" if probability > 0.99 else "<1%" if probability < 0.01 else f"{probability:.0%}"


def plan_title(plan: FollowUpPlan) -> str:
    """The kind of the plan in a few words."""
    budget, needed = plan.options.budget, plan.needed
    if plan.kind == "reached" and budget is not None and needed is not None and budget < needed:
        return "More follow-ups are needed"
    return KIND_TITLES[plan.kind]


def plan_sentence(plan: FollowUpPlan) -> str:
    """How many follow-ups, of which arms, and what they bring."""
    options = plan.options
    least = f"{100 * options.chance:.4g}%"
    if plan.kind == "settled":
        return (
            f"No follow-up is needed: {named(str(plan.leader))} is the best arm whatever the reason for missingness, "
            f"with a probability of at least {100 * options.level:.4g}%."
        )
    of = f"{plan.missing:,} missing outcomes" + (" that are left" if plan.followed_up else "")
    if options.budget is not None:
        first = f"{_follow_ups(plan.follow_ups)} of the {of} ({_by_arm(plan)}). {_promise(plan)}"
        if plan.needed is None:
            return f"{first} No number of follow-ups reaches {least} in both cases, not even all of them."
        few = plan.needed > plan.follow_ups
        enough = (
            f"For {least} in both cases, {plan.needed:,} are needed"
            if few
            else f"{plan.needed:,} are enough for {least} in both cases"
        )
        return f"{first} {enough}."
    if plan.kind == "not-reached":
        return (
            f"Even all {of} together may not settle it. {_promise(plan)} {least} was asked for: {_open(plan)}the arms "
            "hardly differ, or the table has too few rows; collect more rows, too."
        )
    return (
        f"Follow up {plan.follow_ups:,} of the {of} ({_by_arm(plan)}): the estimates are then right whatever the "
        f"reason for missingness, {_condition(plan)}. {_promise(plan)}"
    )


def _condition(plan: FollowUpPlan) -> str:
    """What must hold of failed follow-ups for the estimates to be right."""
    if not _some_fail(plan):
        return "if all calls are answered"
    if plan.options.failures == WORST_CASE:
        return "and their intervals allow for any outcome of a failed call"
    return "if outcomes of failed calls are like those of answered ones"


def _some_fail(plan: FollowUpPlan) -> bool:
    return plan.options.success < 1 or plan.failed > 0


def _open(plan: FollowUpPlan) -> str:
    """That failed follow-ups leave a difference open; empty if they do not."""
    if not plan.left_open > 0:
        return ""
    return (
        f"outcomes of failed calls may have any value in the range, so that a difference of up to {plan.left_open:.3g} "
        "between the two leading arms stays open however many others are answered, "
    )


def _promise(plan: FollowUpPlan) -> str:
    """How likely the best arm becomes the clear winner, in each scenario."""
    alike, differ = (chance(plan.point.chances[name]) for name in (ALIKE, DIFFER))
    return (
        f"The best arm becomes the clear winner with a probability of {alike} if missing outcomes are "
        f"{_like(plan)}, and of {differ} if the mean of each arm's missing outcomes differs from that by about "
        f"{plan.options.differ:.3g} standard deviations."
    )


def _in_deviations(plan: FollowUpPlan) -> str:
    if not plan.outcome_sd > 0 or plan.smallest_difference is None:
        return ""
    return f" ({plan.smallest_difference / plan.outcome_sd:.2g} standard deviations of an outcome)"


def _follow_ups(number: int) -> str:
    return "Follow up 1" if number == 1 else f"Follow up {number:,}"


def _by_arm(plan: FollowUpPlan) -> str:
    parts = [f"{number:,} of {named(arm)}" for arm, number in plan.by_arm().items() if number]
    more = len(parts) - MOST_NAMED
    return ", ".join(parts[:MOST_NAMED]) + (f" and others of {more} more arms" if more > 0 else "")


def _like(plan: FollowUpPlan) -> str:
    return "like the answers so far" if plan.followed_up else "like the observed ones"


def scenario_titles(plan: FollowUpPlan) -> dict[str, str]:
    """Each scenario in a few words."""
    return {ALIKE: f"{_like(plan)}", DIFFER: "different from the observed ones"}


def scenario_sentences(plan: FollowUpPlan) -> dict[str, str]:
    """What each scenario takes for the missing outcomes."""
    mediator = " and mediator level" if len(plan.labels.mediators) > 1 else ""
    alike = (
        "the mean of the missing outcomes of an arm differs from that of its observed ones as the answers so far do"
        if plan.followed_up
        else f"missing outcomes have the mean of the observed ones of the same arm{mediator}"
    )
    return {
        ALIKE: f"{alike}, up to its sampling error",
        DIFFER: "the means of missing and observed outcomes of an arm differ by a random amount with mean 0 and a "
        f"standard deviation of {plan.options.differ:.3g} times that of an outcome",
    }


def _failures_note(plan: FollowUpPlan) -> str:
    """How many calls fail, and what the probabilities take of them."""
    facts = [f"{plan.failed:,} earlier follow-ups brought no outcome"] if plan.failed else []
    if plan.options.success < 1:
        facts.append(f"{100 * plan.options.success:.4g}% of the calls are expected to be answered")
    if plan.options.failures != WORST_CASE:
        return (
            f"{'; '.join(facts)}. The probabilities hold if a failed call has nothing to do with the outcome; analyze "
            "then with --failed-follow-ups ignorable."
        )
    open_ = (
        f": a difference of up to {plan.left_open:.3g} between the two leading arms stays open however many others "
        "are answered"
        if plan.left_open > 0
        else ""
    )
    return (
        f"{'; '.join(facts)}. Outcomes of failed calls may have any value in the range{open_}. If calls fail for "
        "reasons unrelated to the outcome, plan and analyze with --failed-follow-ups ignorable."
    )


def plan_notes(plan: FollowUpPlan) -> list[str]:
    """What to know before calling."""
    options = plan.options
    notes = []
    if plan.follow_ups:
        notes.append(
            "Call in the order of the list and do not replace a row by another: whom you call must not depend on the "
            "outcome. You may stop early: the first calls of the list are a fair sample, too."
        )
    if _some_fail(plan):
        notes.append(_failures_note(plan))
    if plan.smallest_difference is not None:
        notes.append(
            f"A difference of {plan.smallest_difference:.3g} between the two leading arms{_in_deviations(plan)} "
            f"makes the better one the clear winner with a probability of {100 * options.chance:.4g}%."
        )
    if plan.kind != "settled":
        notes.append(
            "The probabilities hold in these two scenarios. If missing outcomes differ by more, and the lead among the "
            "observed outcomes comes from that, the best arm becomes the clear winner less often; the estimate stays "
            "right."
        )
    return notes
