"""The one compiled loop: every world, assumption and index runs through it.

`run` is a template: `truant.compile.link` binds draw, record, note_pull, score_arm and choose to a world's, a
layout's, a curve's and an index's compiled functions, and numba inlines them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truant.compile import hot
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


def run(
    rng: np.random.Generator,
    tables: Any,  # of the world's draw
    gaps: FloatArray,  # (arms,)
    about: FloatArray,
    first_pulls: int,
    growth: float,
    log_horizon: float,
    parameters: FloatArray,  # (arms, any) of the curve
    memory: FloatArray,  # (arms, any) of the curve
    shared: FloatArray,  # sums over arms, then scratch space
    contributions: FloatArray,  # (arms + 1, POOLED): what each arm has put into the sums; the last row is scratch
    z_grid: FloatArray,
    values: FloatArray,  # (arms, z_grid), at(z) of each arm
    due: IntArray,  # (2, arms): settled pulls, and pulls, at which an arm is next scored
    index_parameters: FloatArray,
    index_memory: FloatArray,
    counts: FloatArray,  # (arms, K+1, columns), filled here
    scaled: FloatArray,  # (K+1, columns), scratch
    pulls: IntArray,  # (arms,), filled here
    settled: IntArray,  # (arms,), those of them whose outcome has entered the counts (or is known to be missing)
    waiting: FloatArray,  # (delay, 3): arm, mediator, outcome of the last rounds
    missing_tables: Any,  # of the world's draw_missing
    rule: FloatArray,  # what `worth` is told: success, budget, cost, horizon, and its own parameters
    described: FloatArray,  # (arms, any): what `describe` says of each arm
    wanted: FloatArray,  # (arms,): whether a follow-up of the arm is worth its cost
    answers: FloatArray,  # (delay, 3): arm (-1: none), mediator, outcome of the follow-ups of the last rounds
    follow_ups: FloatArray,  # (checkpoints,), filled here
    checkpoints: IntArray,  # rounds after which regret is noted
    regret: FloatArray,  # (checkpoints,), filled here
    progress: IntArray,  # (1,), checkpoints done, for whoever watches
    stop: IntArray,  # (1,), set by whoever wants it to end
) -> int:
    """Play until the last checkpoint; returns FINISHED, STOPPED or NO_SUCH_ARM. Makes no arrays (see `lean`)."""
    arms, delay = len(gaps), len(waiting)
    first_rounds = arms * first_pulls + delay  # until the first pulls of all arms have settled
    renewal = first_rounds
    t = c = 0
    asked = 0.0
    half = counts.shape[1] // 2
    if RULED:
        for a in range(arms):
            describe(counts[a], shared, parameters[a], described[a])
    while c < len(checkpoints):
        if stop[0]:
            return STOPPED
        pause = min(checkpoints[c], t + LOOK_UP)
        while t < pause:
            if t < first_rounds:
                arm = t % arms
            else:
                arm = choose(values, z_grid, index_parameters, index_memory, t + 1, rng)
                if arm < 0 or arm >= arms:  # the rest would write beyond its arrays
                    return NO_SUCH_ARM
            mediator, outcome = draw(rng, arm, tables)
            pulls[arm] += 1
            entering = arm
            if DELAYED:
                slot = t % delay
                entering, earlier, late = int(waiting[slot, 0]), int(waiting[slot, 1]), waiting[slot, 2]
                waiting[slot, 0], waiting[slot, 1], waiting[slot, 2] = arm, mediator, outcome
                if FOLLOWS_UP and answers[slot, 0] >= 0.0:
                    answered = int(answers[slot, 0])
                    answer(counts[answered, half:], int(answers[slot, 1]), answers[slot, 2], about)
                    due[0, answered] = 0
                    answers[slot, 0] = -1.0
                if t >= delay:
                    row = counts[entering]
                    if FOLLOWS_UP:
                        row = counts[entering, :half]
                    counted = record(row, earlier, late, about)
                    note_pull(row, memory[entering], earlier, counted)
                    settled[entering] += 1
                    if (
                        FOLLOWS_UP
                        and is_missing(counted, row)
                        and asked < rule[BUDGET]
                        and worth(entering, t, rule, described, wanted, rng)
                    ):
                        asked += 1.0
                        ask(counts[entering, half:], earlier)
                        due[0, entering] = 0
                        if rng.random() < rule[SUCCESS]:
                            answers[slot, 0], answers[slot, 1] = entering, earlier
                            answers[slot, 2] = draw_missing(rng, entering, earlier, missing_tables)
            else:
                row = counts[arm]
                if FOLLOWS_UP:
                    row = counts[arm, :half]
                counted = record(row, mediator, outcome, about)
                note_pull(row, memory[arm], mediator, counted)
                if (
                    FOLLOWS_UP
                    and is_missing(counted, row)
                    and asked < rule[BUDGET]
                    and worth(arm, t, rule, described, wanted, rng)
                ):
                    asked += 1.0
                    ask(counts[arm, half:], mediator)
                    due[0, arm] = 0  # to be scored anew
                    if rng.random() < rule[SUCCESS]:
                        found = draw_missing(rng, arm, mediator, missing_tables)
                        answer(counts[arm, half:], mediator, found, about)
            t += 1
            renew = (POOLED or GUESSES_HORIZON) and t >= renewal
            if renew:
                renewal = int(t * RENEWAL) + 1
                if GUESSES_HORIZON:
                    log_horizon = guessed_log_horizon(t)
                for k in range(contributions.shape[1]):
                    shared[k] = 0.0
                for a in range(arms):
                    row = counts[a]
                    if FOLLOWS_UP and not READS_FOLLOW_UPS:
                        row = counts[a, :half]
                    contribute(row, parameters[a], contributions[a])
                    for k in range(contributions.shape[1]):
                        shared[k] += contributions[a, k]
            # an arm is scored when its counts change, and where pending pulls count, when it is pulled
            for k in range(arms if renew else (2 if COUNTS_PENDING and entering != arm else 1)):
                a = k if renew else (entering if k == 0 else arm)
                ready = settled[a] if DELAYED else pulls[a]
                if ready < due[0, a] and not renew and not (COUNTS_PENDING and pulls[a] >= due[1, a]):
                    continue
                if ready == 0:
                    continue
                if growth > 0.0:
                    due[0, a] = ready + max(np.int64(1), np.int64(growth * ready))
                    due[1, a] = pulls[a] + max(np.int64(1), np.int64(growth * pulls[a]))
                row = counts[a]
                if FOLLOWS_UP and not READS_FOLLOW_UPS:
                    row = counts[a, :half]
                if POOLED and not renew:
                    fresh = contributions[arms]
                    contribute(row, parameters[a], fresh)
                    for i in range(contributions.shape[1]):
                        shared[i] += fresh[i] - contributions[a, i]
                        contributions[a, i] = fresh[i]
                if COUNTS_PENDING:
                    factor = pulls[a] / ready
                    for m in range(row.shape[0]):
                        for i in range(row.shape[1]):
                            scaled[m, i] = row[m, i] * factor
                    row = scaled
                if STARTS_ANEW:
                    for i in range(memory.shape[1]):
                        memory[a, i] = 0.0
                aim(known(row, shared, parameters[a]), log_horizon, index_parameters, z_grid)
                score_arm(row, memory[a], shared, parameters[a], z_grid, values[a])
                if RULED:
                    describe(row, shared, parameters[a], described[a])
                    wanted[a] = -1.0  # to be found when a follow-up is possible
                if t > first_rounds and not renew:
                    update(values, z_grid, index_parameters, index_memory, a, rng)
            if t == first_rounds or (renew and t > first_rounds):
                update(values, z_grid, index_parameters, index_memory, np.int64(-1), rng)
        if t < checkpoints[c]:
            continue
        total = 0.0
        for a in range(arms):
            total += pulls[a] * gaps[a]
        regret[c] = total
        if FOLLOWS_UP:
            follow_ups[c] = asked
        c += 1
        progress[0] = c
    if DELAYED:  # what is still to come
        for slot in range(min(t, delay)):
            arm = int(waiting[slot, 0])
            row = counts[arm]
            if FOLLOWS_UP:
                row = counts[arm, :half]
                if answers[slot, 0] >= 0.0:
                    answer(
                        counts[int(answers[slot, 0]), half:], int(answers[slot, 1]), answers[slot, 2], about
                    )
            record(row, int(waiting[slot, 1]), waiting[slot, 2], about)
    return FINISHED
