"""The one compiled loop: every world, assumption and index runs through it.

`run` and its steps are a template: `truant.compile.link` binds draw, record, note_pull, score_arm and choose to a
world's, a layout's, a curve's and an index's compiled functions, and numba inlines them. Their arrays come in six
records.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from truant.compile import hot, step
from truant.indices.index import guessed_log_horizon
from truant.policies.follow_up_rules import BUDGET, SUCCESS
from truant.setting import FloatArray, IntArray

# An outcome of the world as it is counted: a value about the centre, or a level; reflected where less is better.
# `about` is the centre, or has the levels' values about it, NaN for missing.


@hot
def value(outcome: float, about: FloatArray) -> float:
    """A real outcome."""
    return float(outcome - about[0])


@hot
def reflected_value(outcome: float, about: FloatArray) -> float:
    """A real outcome where less is better."""
    return float(about[0] - outcome)


@hot
def value_of_level(outcome: int, about: FloatArray) -> float:
    """A level in real counts."""
    return float(about[int(outcome)])


@hot
def level(outcome: int, about: FloatArray) -> int:
    """A level in discrete counts."""
    return int(outcome)


@hot
def reflected_level(outcome: int, about: FloatArray) -> int:
    """A level where less is better: in reverse order, the last column is still missing."""
    last = len(about) - 1
    return last if int(outcome) == last else last - 1 - int(outcome)


# Whether an outcome as it is counted is missing.


@hot
def is_missing_outcome(counted: float, row: FloatArray) -> bool:
    """A real outcome."""
    return math.isnan(counted)


@hot
def is_missing_level(counted: int, row: FloatArray) -> bool:
    """A level in discrete counts."""
    return bool(counted == row.shape[1] - 1)


def _unbound(*arguments: Any) -> Any:
    raise AssertionError("bound by link")


FINISHED, STOPPED, NO_SUCH_ARM = 0, 1, 2
LOOK_UP = 256  # rounds after which the loop looks whether it shall stop, however far the next checkpoint is
RENEWAL = 1.5  # all arms are scored anew when the rounds have grown by this factor

draw = as_counted = record = note_pull = score_arm = contribute = known = aim = update = choose = _unbound
draw_missing = is_missing = ask = answer = describe = worth = _unbound
POOLED = False  # arms contribute to sums over all arms
DELAYED = False  # outcomes enter the counts some rounds after the pull
COUNTS_PENDING = False  # and until then count as if they had come out like the others
STARTS_ANEW = False  # the memory of an arm follows its settled pulls, which are not what is scored
GUESSES_HORIZON = False
FOLLOWS_UP = False  # missing outcomes may be followed up; the lower half of the counts is theirs
READS_FOLLOW_UPS = False  # the curve reads both halves of the counts
RULED = False  # the rule for follow-ups wants to know what the curve says of the arms


class Source(NamedTuple):
    """Where outcomes come from, and how they are counted."""

    tables: Any  # of the world's draw
    missing_tables: Any  # of its draw_missing
    gaps: FloatArray  # (arms,)
    about: FloatArray  # what `as_counted` needs: the centre, or the levels' values about it


class Scoring(NamedTuple):
    """The curve: what it is made from, what it keeps, and when an arm is next scored."""

    first_pulls: int  # of each arm
    growth: float
    parameters: FloatArray  # (arms, any)
    memory: FloatArray  # (arms, any)
    shared: FloatArray  # sums over arms, then scratch space
    contributions: (
        FloatArray  # (arms + 1, POOLED): what each arm has put into the sums; the last row is scratch
    )
    due: IntArray  # (2, arms): settled pulls, and pulls, at which an arm is next scored


class Choosing(NamedTuple):
    """The index: what it looks at."""

    log_horizon: float
    parameters: FloatArray
    memory: FloatArray
    z_grid: FloatArray
    values: FloatArray  # (arms, z_grid), at(z) of each arm


class Ledger(NamedTuple):
    """What was seen."""

    counts: FloatArray  # (arms, K+1, columns), filled here; those of follow-ups, if any, are its lower half
    scaled: FloatArray  # (K+1, columns), scratch
    pulls: IntArray  # (arms,), filled here
    settled: (
        IntArray  # (arms,), those of them whose outcome has entered the counts (or is known to be missing)
    )
    waiting: FloatArray  # (delay, 3): arm, mediator, outcome of the last rounds


class Following(NamedTuple):
    """When missing outcomes are followed up."""

    rule: FloatArray  # what `worth` is told: success, budget, cost, horizon, and its own parameters
    described: FloatArray  # (arms, any): what `describe` says of each arm
    wanted: FloatArray  # (arms,): whether a follow-up of the arm is worth its cost
    answers: FloatArray  # (delay, 3): arm (-1: none), mediator, outcome of the follow-ups of the last rounds


class Course(NamedTuple):
    """What is noted on the way, and when to end."""

    checkpoints: IntArray  # rounds after which regret is noted
    regret: FloatArray  # (checkpoints,), filled here
    follow_ups: FloatArray  # (checkpoints,), filled here
    done: IntArray  # (1,), checkpoints done, for whoever watches
    stop: IntArray  # (1,), set by whoever wants it to end


class Pull(NamedTuple):
    """One pull, or the answer to a follow-up."""

    arm: int
    mediator: int
    outcome: Any  # a value, or a level


class Now(NamedTuple):
    """Where a run is."""

    first: bool  # the first pulls of all arms have not settled yet
    renew: bool  # all arms are scored anew
    log_horizon: float


def run(
    rng: np.random.Generator,
    source: Source,
    scoring: Scoring,
    choosing: Choosing,
    ledger: Ledger,
    following: Following,
    course: Course,
) -> int:
    """Play until the last checkpoint; returns FINISHED, STOPPED or NO_SUCH_ARM. Makes no arrays (see `lean`)."""
    arms = len(source.gaps)
    first_rounds = arms * scoring.first_pulls + len(ledger.waiting)  # until the first pulls have settled
    renewal = first_rounds
    log_horizon = choosing.log_horizon
    t = c = 0
    asked = 0.0
    if RULED:
        for a in range(arms):
            describe(ledger.counts[a], scoring.shared, scoring.parameters[a], following.described[a])
    while c < len(course.checkpoints):
        if course.stop[0]:
            return STOPPED
        pause = min(course.checkpoints[c], t + LOOK_UP)
        while t < pause:
            if t < first_rounds:
                arm = t % arms
            else:
                arm = choose(
                    choosing.values, choosing.z_grid, choosing.parameters, choosing.memory, t + 1, rng
                )
                if arm < 0 or arm >= arms:  # the rest would write beyond its arrays
                    return NO_SUCH_ARM
            mediator, outcome = draw(rng, arm, source.tables)
            ledger.pulls[arm] += 1
            pull = Pull(arm, mediator, outcome)
            entered, asked = settle(rng, t, pull, source, scoring, ledger, following, asked)
            t += 1
            renew = (POOLED or GUESSES_HORIZON) and t >= renewal
            if renew:
                renewal = int(t * RENEWAL) + 1
                if GUESSES_HORIZON:
                    log_horizon = guessed_log_horizon(t)
                sum_anew(scoring, ledger)
            now = Now(t <= first_rounds, renew, log_horizon)
            score_changed(rng, entered, arm, now, scoring, choosing, ledger, following)
            if t == first_rounds or (renew and t > first_rounds):
                all_arms = np.int64(-1)
                update(choosing.values, choosing.z_grid, choosing.parameters, choosing.memory, all_arms, rng)
        if t == course.checkpoints[c]:
            note(c, asked, source, ledger, course)
            c += 1
            course.done[0] = c
    if DELAYED:
        enter_rest(min(t, len(ledger.waiting)), source, ledger, following)
    return FINISHED


@step
def note(c: int, asked: float, source: Source, ledger: Ledger, course: Course) -> None:
    """What was lost until a checkpoint, and how often missing outcomes were followed up."""
    total = 0.0
    for a in range(len(source.gaps)):
        total += ledger.pulls[a] * source.gaps[a]
    course.regret[c] = total
    if FOLLOWS_UP:
        course.follow_ups[c] = asked


@step
def settle(
    rng: np.random.Generator,
    t: int,
    pull: Pull,
    source: Source,
    scoring: Scoring,
    ledger: Ledger,
    following: Following,
    asked: float,
) -> tuple[int, float]:
    """The outcome that is due in a round into the counts; returns its arm, and the number of follow-ups so far."""
    entering = pull
    if DELAYED:
        slot = t % len(ledger.waiting)
        entering = exchange(slot, pull, ledger)
        if FOLLOWS_UP and following.answers[slot, 0] >= 0.0:
            enter_answer(slot, source, ledger, following)
            scoring.due[0, int(following.answers[slot, 0])] = 0
            following.answers[slot, 0] = -1.0
    if not DELAYED or t >= len(ledger.waiting):
        asked = enter(rng, t, entering, source, scoring, ledger, following, asked)
    return entering.arm, asked


@step
def score_changed(
    rng: np.random.Generator,
    entered: int,
    pulled: int,
    now: Now,
    scoring: Scoring,
    choosing: Choosing,
    ledger: Ledger,
    following: Following,
) -> None:
    """Score an arm when its counts change, and where pending pulls count, when it is pulled."""
    several = 2 if COUNTS_PENDING and entered != pulled else 1
    for k in range(len(ledger.pulls) if now.renew else several):
        a = k if now.renew else (entered if k == 0 else pulled)
        ready = ledger.settled[a] if DELAYED else ledger.pulls[a]
        pending_due = COUNTS_PENDING and ledger.pulls[a] >= scoring.due[1, a]
        if ready > 0 and (now.renew or pending_due or ready >= scoring.due[0, a]):
            score(a, ready, now, scoring, choosing, ledger, following)
            if not now.first and not now.renew:
                update(choosing.values, choosing.z_grid, choosing.parameters, choosing.memory, a, rng)


@step
def exchange(slot: int, pull: Pull, ledger: Ledger) -> Pull:
    """The pull whose outcome is due now; this one takes its place."""
    waiting = ledger.waiting
    arm, mediator, outcome = int(waiting[slot, 0]), int(waiting[slot, 1]), waiting[slot, 2]
    waiting[slot, 0], waiting[slot, 1], waiting[slot, 2] = pull.arm, pull.mediator, pull.outcome
    return Pull(arm, mediator, outcome)


@step
def enter(
    rng: np.random.Generator,
    t: int,
    pull: Pull,
    source: Source,
    scoring: Scoring,
    ledger: Ledger,
    following: Following,
    asked: float,
) -> float:
    """An outcome into the counts, and the follow-up of a missing one; returns the number of follow-ups so far."""
    arm, half = pull.arm, ledger.counts.shape[1] // 2
    row = ledger.counts[arm]
    if FOLLOWS_UP:
        row = ledger.counts[arm, :half]
    counted = as_counted(pull.outcome, source.about)
    record(row, pull.mediator, counted)
    note_pull(row, scoring.memory[arm], pull.mediator, counted)
    if DELAYED:
        ledger.settled[arm] += 1
    if (
        FOLLOWS_UP
        and is_missing(counted, row)
        and asked < following.rule[BUDGET]
        and worth(arm, t, following.rule, following.described, following.wanted, rng)
    ):
        asked += 1.0
        ask(ledger.counts[arm, half:], pull.mediator)
        scoring.due[0, arm] = 0  # to be scored anew
        if rng.random() < following.rule[SUCCESS]:
            obtained = draw_missing(rng, arm, pull.mediator, source.missing_tables)
            if DELAYED:
                slot = t % len(ledger.waiting)
                following.answers[slot, 0], following.answers[slot, 1] = arm, pull.mediator
                following.answers[slot, 2] = obtained
            else:
                answer(ledger.counts[arm, half:], pull.mediator, as_counted(obtained, source.about))
    return asked


@step
def enter_answer(slot: int, source: Source, ledger: Ledger, following: Following) -> None:
    """The answer to a follow-up into the counts."""
    arm, half = int(following.answers[slot, 0]), ledger.counts.shape[1] // 2
    obtained = as_counted(following.answers[slot, 2], source.about)
    answer(ledger.counts[arm, half:], int(following.answers[slot, 1]), obtained)


@step
def sum_anew(scoring: Scoring, ledger: Ledger) -> None:
    """What all arms contribute, added up again."""
    for k in range(scoring.contributions.shape[1]):
        scoring.shared[k] = 0.0
    for a in range(ledger.counts.shape[0]):
        row = ledger.counts[a]
        if FOLLOWS_UP and not READS_FOLLOW_UPS:
            row = ledger.counts[a, : ledger.counts.shape[1] // 2]
        contribute(row, scoring.parameters[a], scoring.contributions[a])
        for k in range(scoring.contributions.shape[1]):
            scoring.shared[k] += scoring.contributions[a, k]


@step
def score(
    a: int,
    ready: int,
    now: Now,
    scoring: Scoring,
    choosing: Choosing,
    ledger: Ledger,
    following: Following,
) -> None:
    """at(z) of an arm with outcomes; `ready` of its pulls have settled."""
    if scoring.growth > 0.0:
        scoring.due[0, a] = ready + max(np.int64(1), np.int64(scoring.growth * ready))
        scoring.due[1, a] = ledger.pulls[a] + max(np.int64(1), np.int64(scoring.growth * ledger.pulls[a]))
    row = ledger.counts[a]
    if FOLLOWS_UP and not READS_FOLLOW_UPS:
        row = ledger.counts[a, : ledger.counts.shape[1] // 2]
    if POOLED and not now.renew:
        new = scoring.contributions[ledger.counts.shape[0]]
        contribute(row, scoring.parameters[a], new)
        for i in range(scoring.contributions.shape[1]):
            scoring.shared[i] += new[i] - scoring.contributions[a, i]
            scoring.contributions[a, i] = new[i]
    if COUNTS_PENDING:
        factor = ledger.pulls[a] / ready
        for m in range(row.shape[0]):
            for i in range(row.shape[1]):
                ledger.scaled[m, i] = row[m, i] * factor
        row = ledger.scaled
    if STARTS_ANEW:
        for i in range(scoring.memory.shape[1]):
            scoring.memory[a, i] = 0.0
    parameters = scoring.parameters[a]
    aim(known(row, scoring.shared, parameters), now.log_horizon, choosing.parameters, choosing.z_grid)
    score_arm(row, scoring.memory[a], scoring.shared, parameters, choosing.z_grid, choosing.values[a])
    if RULED:
        describe(row, scoring.shared, parameters, following.described[a])
        following.wanted[a] = -1.0  # to be found when a follow-up is possible


@step
def enter_rest(slots: int, source: Source, ledger: Ledger, following: Following) -> None:
    """What is still to come at the end."""
    for slot in range(slots):
        arm = int(ledger.waiting[slot, 0])
        row = ledger.counts[arm]
        if FOLLOWS_UP:
            row = ledger.counts[arm, : ledger.counts.shape[1] // 2]
            if following.answers[slot, 0] >= 0.0:
                enter_answer(slot, source, ledger, following)
        record(row, int(ledger.waiting[slot, 1]), as_counted(ledger.waiting[slot, 2], source.about))
