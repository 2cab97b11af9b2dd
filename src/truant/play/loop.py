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
from truant.counts import answer_level, answer_real, record_level, record_real
from truant.indices.index import guessed_log_horizon
from truant.policies.follow_up_rules import BUDGET, SUCCESS
from truant.setting import FloatArray, IntArray

# Each returns the outcome as it was counted: about the centre, or its level.


@hot
def record_real_outcome(row: FloatArray, mediator: int, outcome: float, about: FloatArray) -> float:
    """A real outcome into real counts; `about` is the centre."""
    record_real(row, mediator, outcome - about[0])
    return float(outcome - about[0])


@hot
def record_reflected_outcome(row: FloatArray, mediator: int, outcome: float, about: FloatArray) -> float:
    """The same where less is better."""
    record_real(row, mediator, about[0] - outcome)
    return float(about[0] - outcome)


@hot
def record_level_as_real(row: FloatArray, mediator: int, level: int, about: FloatArray) -> float:
    """A level into real counts; `about` has the levels' values about the centre, NaN for missing."""
    value = about[int(level)]
    record_real(row, mediator, value)
    return float(value)


@hot
def record_level_outcome(row: FloatArray, mediator: int, level: int, about: FloatArray) -> int:
    """A level into discrete counts."""
    record_level(row, mediator, int(level))
    return int(level)


@hot
def record_reflected_level(row: FloatArray, mediator: int, level: int, about: FloatArray) -> int:
    """The same where less is better: levels in reverse order, the last column is still missing."""
    last = len(about) - 1
    turned = last if int(level) == last else last - 1 - int(level)
    record_level(row, mediator, turned)
    return turned


# Whether an outcome as it was counted is missing; a follow-up is noted below the counts of the pulls, and its answer,
# as the world gives it, replaces the note.


@hot
def is_missing_outcome(counted: float, row: FloatArray) -> bool:
    """A real outcome."""
    return math.isnan(counted)


@hot
def is_missing_level(counted: int, row: FloatArray) -> bool:
    """A level in discrete counts."""
    return bool(counted == row.shape[1] - 1)


@hot
def answer_outcome(row: FloatArray, mediator: int, outcome: float, about: FloatArray) -> None:
    """A real outcome into real counts."""
    answer_real(row, mediator, outcome - about[0])


@hot
def answer_reflected_outcome(row: FloatArray, mediator: int, outcome: float, about: FloatArray) -> None:
    """The same where less is better."""
    answer_real(row, mediator, about[0] - outcome)


@hot
def answer_level_as_real(row: FloatArray, mediator: int, level: int, about: FloatArray) -> None:
    """A level into real counts."""
    answer_real(row, mediator, about[int(level)])


@hot
def answer_level_outcome(row: FloatArray, mediator: int, level: int, about: FloatArray) -> None:
    """A level into discrete counts."""
    answer_level(row, mediator, int(level))


@hot
def answer_reflected_level(row: FloatArray, mediator: int, level: int, about: FloatArray) -> None:
    """The same where less is better."""
    answer_level(row, mediator, len(about) - 2 - int(level))


def _unbound(*arguments: Any) -> Any:
    raise AssertionError("bound by link")


FINISHED, STOPPED, NO_SUCH_ARM = 0, 1, 2
LOOK_UP = 256  # rounds after which the loop looks whether it shall stop, however far the next checkpoint is
RENEWAL = 1.5  # all arms are scored anew when the rounds have grown by this factor

draw = record = note_pull = score_arm = contribute = known = aim = update = choose = _unbound
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
    about: FloatArray  # what `record` needs: the centre, or the levels' values about it


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
    arms, delay = len(source.gaps), len(ledger.waiting)
    first_rounds = arms * scoring.first_pulls + delay  # until the first pulls of all arms have settled
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
            if DELAYED:
                entering = exchange(t % delay, Pull(arm, mediator, outcome), ledger)
                if FOLLOWS_UP and following.answers[t % delay, 0] >= 0.0:
                    enter_answer(t % delay, source, ledger, following)
                    scoring.due[0, int(following.answers[t % delay, 0])] = 0
                    following.answers[t % delay, 0] = -1.0
            else:
                entering = Pull(arm, mediator, outcome)
            if not DELAYED or t >= delay:
                asked = enter(rng, t, entering, source, scoring, ledger, following, asked)
            t += 1
            renew = (POOLED or GUESSES_HORIZON) and t >= renewal
            if renew:
                renewal = int(t * RENEWAL) + 1
                if GUESSES_HORIZON:
                    log_horizon = guessed_log_horizon(t)
                sum_anew(scoring, ledger)
            # an arm is scored when its counts change, and where pending pulls count, when it is pulled
            for k in range(arms if renew else (2 if COUNTS_PENDING and entering.arm != arm else 1)):
                a = k if renew else (entering.arm if k == 0 else arm)
                ready = ledger.settled[a] if DELAYED else ledger.pulls[a]
                pending_due = COUNTS_PENDING and ledger.pulls[a] >= scoring.due[1, a]
                if ready > 0 and (renew or pending_due or ready >= scoring.due[0, a]):
                    score(a, ready, renew, log_horizon, scoring, choosing, ledger, following)
                    if t > first_rounds and not renew:
                        update(choosing.values, choosing.z_grid, choosing.parameters, choosing.memory, a, rng)
            if t == first_rounds or (renew and t > first_rounds):
                all_arms = np.int64(-1)
                update(choosing.values, choosing.z_grid, choosing.parameters, choosing.memory, all_arms, rng)
        if t < course.checkpoints[c]:
            continue
        total = 0.0
        for a in range(arms):
            total += ledger.pulls[a] * source.gaps[a]
        course.regret[c] = total
        if FOLLOWS_UP:
            course.follow_ups[c] = asked
        c += 1
        course.done[0] = c
    if DELAYED:
        enter_rest(min(t, delay), source, ledger, following)
    return FINISHED


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
    counted = record(row, pull.mediator, pull.outcome, source.about)
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
                answer(ledger.counts[arm, half:], pull.mediator, obtained, source.about)
    return asked


@step
def enter_answer(slot: int, source: Source, ledger: Ledger, following: Following) -> None:
    """The answer to a follow-up into the counts."""
    arm, half = int(following.answers[slot, 0]), ledger.counts.shape[1] // 2
    answer(
        ledger.counts[arm, half:], int(following.answers[slot, 1]), following.answers[slot, 2], source.about
    )


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
    renew: bool,
    log_horizon: float,
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
    if POOLED and not renew:
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
    aim(known(row, scoring.shared, parameters), log_horizon, choosing.parameters, choosing.z_grid)
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
        record(row, int(ledger.waiting[slot, 1]), ledger.waiting[slot, 2], source.about)
