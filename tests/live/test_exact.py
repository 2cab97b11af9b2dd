"""Exact sums: whatever the order, and after taking away what was added, the same to the last bit."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.live.counted import assert_sound, kept
from truant.live.exact import ONE, add_exactly, amounts_of, as_floats, exact, exact_sums
from truant.live.store import statements


def odd_numbers(seed, size=2000):
    """Floats of all magnitudes and signs, the smallest ones and zero among them."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=size) * 10.0 ** rng.integers(-40, 40, size)
    values[:5] = [0.0, -0.0, 5e-324, -5e-324, 2.5e-310]
    return rng.permutation(values)


def test_sums_are_those_of_fractions():
    values = odd_numbers(1)
    places = np.random.default_rng(2).integers(0, 7, len(values))
    found = exact_sums(places, values)
    for place in range(7):
        wanted = sum(Fraction(value) for value in values[places == place].tolist())
        assert Fraction(found[place], ONE) == wanted
        floats = as_floats(found[place])
        assert floats[0] == math.fsum(values[places == place])
        assert sum(map(Fraction, floats)) == wanted
        assert exact(floats) == found[place]


def test_what_is_taken_away_leaves_no_trace():
    """In another order, and in other portions."""
    first, second = odd_numbers(3), odd_numbers(4)
    places = np.random.default_rng(5).integers(0, 4, len(first))
    one, rest = np.zeros(4), {}
    add_exactly(one, rest, exact_sums(places, first))
    before = one.copy(), dict(rest)
    for some in np.array_split(np.arange(len(second)), 9):
        add_exactly(one, rest, exact_sums(places[some], second[some]))
    assert not np.array_equal(one, before[0])
    other = np.random.default_rng(6).permutation(len(second))
    add_exactly(one, rest, exact_sums(places[other], second[other]), sign=-1)
    assert np.array_equal(one, before[0])
    assert rest == before[1]
    add_exactly(one, rest, amounts_of(one, rest), sign=-1)
    assert not one.any()
    assert not rest


@pytest.fixture
def spent(create, clock):
    """An experiment with outcomes whose sums cannot be written as floats."""
    experiment = create(levels=None, range=(0, 200), policy="mcar-thompson", holdout=0.2)
    told = []
    for number in range(90):
        decision = experiment.ask()
        told.append((decision, 0.1 + number / 3))
        experiment.tell(decision.id, outcome=told[-1][1])
        clock.advance("40m")
        if number == 45:
            clock.advance("8d")
            experiment.close_windows()
    clock.advance("8d")
    experiment.close_windows()
    return experiment, told


def test_corrections_change_the_counts_at_once_and_to_the_last_bit(spent):
    experiment, told = spent
    cells = kept(experiment).table.copy()
    version = experiment.refresh().head.counts_version
    for decision, outcome in told[::7]:
        experiment.correct(decision.id, outcome=outcome / 7)
    assert not np.array_equal(kept(experiment).table, cells)
    assert experiment.refresh().head.counts_version == version + len(told[::7])
    assert_sound(experiment)
    for decision, outcome in told[::7]:
        experiment.correct(decision.id, outcome=outcome)
    assert np.array_equal(kept(experiment).table, cells)
    experiment.withdraw(told[3][0].id)
    assert_sound(experiment)
    experiment.close_windows()
    assert_sound(experiment)


def test_days_are_counted_again_while_others_are_counted(spent, clock):
    """What differs is added to what the day holds by then."""
    experiment, _ = spent
    sound = kept(experiment).table.copy()

    def damage(transaction):
        for day in {row // 86_400_000_000 for (row,) in transaction.rows("SELECT asked FROM decisions")}:
            cells = statements.day_cells(transaction, experiment.number, [day])
            for (kind, _), table in cells.items():
                if kind == "settled":
                    nearest = table["table"] if isinstance(table, dict) else table
                    nearest[0][0][2] += 1.0
                    statements.write_cells(transaction, experiment.number, 1, {(kind, day): nearest})
            statements.mark_stale(transaction, experiment.number, day)

    experiment.store.write(damage)
    assert not np.array_equal(kept(experiment).table, sound)
    experiment.close_windows()
    assert np.array_equal(kept(experiment).table, sound)
    events = [event for event in experiment.events() if event["body"].get("recounted")]
    assert len(events) == 1
    assert_sound(experiment)
