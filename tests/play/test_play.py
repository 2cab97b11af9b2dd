"""One run: it leaves its generator where it was, and nothing behind."""

import gc

import numpy as np

from truant.play.run import play
from truant.policies import named
from truant.worlds import make

WORLD, POLICY = make("mcar"), named("naive-ucb")


def short_run(rng):
    return play(POLICY, WORLD, rng, 50, np.array([50]))


def stream(seed):
    return np.random.Generator(np.random.SFC64(seed))


def test_a_stream_is_read_from_where_it_is_and_left_there():
    rng = stream(1)
    rng.random(7)
    first, again, other = short_run(rng), short_run(rng), short_run(stream(1))
    np.testing.assert_array_equal(first.counts.table, again.counts.table)
    assert not np.array_equal(first.counts.table, other.counts.table)
    rest = stream(1).random(8)
    assert rng.random() == rest[7]


def test_runs_leave_nothing_behind():
    """Compiled code without reference counts keeps every generator that it is given."""
    short_run(stream(0))
    gc.collect()
    before = len(gc.get_objects())
    for run in range(200):
        short_run(stream(run))
    gc.collect()
    assert len(gc.get_objects()) - before < 100
