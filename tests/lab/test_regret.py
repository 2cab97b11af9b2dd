"""Final regret near expected figures, 50 runs each; lower is welcome.

Expected figures are (mean, sd, runs) of another implementation of the same policies and worlds. The standard
error of the difference uses both spreads; where none is known for an expected figure, ours stands in. Those of
oracle-thompson in confounded and mnar-clear are our own, with another seed: the oracles' curve allows for skewed
outcomes, and with a normal one they had 17 and 80.
"""

import numpy as np
import pytest

import research  # noqa: F401 - finds its worlds
from truant.lab.simulate import simulate

RUNS = 50
EXPECTED = {
    "mar": {
        "mar-ucb": (201, 42, 300),
        "naive-ucb": (185, 45, 300),
        "mar-thompson": (270, 50, 300),
        "paper-mar": (9220, 776, 300),
        "paper-mar-known": (1409, 3283, 300),
    },
    "confounded": {
        "mar-ucb": (1375, 911, 300),
        "naive-ucb": (44_755, None, 300),
        "mar-thompson": (1414, None, 300),
        "paper-mar": (21_014, None, 300),
        "paper-mar-known": (1479, None, 300),
        "oracle-thompson": (22, 6.8, 200),
    },
    "mnar": {
        "mnar-ucb": (336, 583, 200),
        "mnar-ucb:level=cautious": (520, None, 200),
        "naive-ucb": (1080, None, 200),
        "paper-mnar": (20_597, 9599, 200),
    },
    "mnar-clear": {
        "mnar-ucb": (110, 57, 200),
        "mnar-ucb:level=cautious": (219, None, 200),
        "mnar-thompson": (142, None, 200),
        "naive-ucb": (1081, None, 200),
        "paper-mnar": (18_046, None, 200),
        "oracle-thompson": (102, 37, 200),
    },
    "mediator-mnar": {
        "mediator-mnar-ucb": (101, 60, 200),
        "naive-ucb": (703, None, 200),
        "paper-mediator-mnar": (18_466, None, 200),
        "oracle-thompson": (78, None, 200),
    },
}
# what cannot be "better than expected": were these lower, the world would not be the one described
TWO_SIDED = ("naive-ucb", "paper-mar", "paper-mnar", "paper-mediator-mnar")


@pytest.mark.parametrize("world", EXPECTED)
def test_regret(world):
    policies = list(EXPECTED[world])
    result = simulate(world, policies, horizon=100_000, runs=RUNS, seed=11, progress=False)
    for name, regret in zip(policies, result.final, strict=True):
        mean, sd, runs = EXPECTED[world][name]
        spread = regret.std(ddof=1)
        error = np.sqrt(spread**2 / RUNS + (sd or spread) ** 2 / runs)
        assert regret.mean() < mean + 4 * error, name
        if name in TWO_SIDED:
            assert regret.mean() > mean - 4 * error, name


def test_dropping_the_missing_rows_never_recovers_where_the_mediator_matters():
    result = simulate(
        "confounded", ["naive-ucb", "mar-ucb"], horizon=100_000, runs=20, seed=3, progress=False
    )
    half = np.searchsorted(result.rounds, 50_000)
    first, second = (
        result.regret[..., half].mean(axis=1),
        (result.final - result.regret[..., half]).mean(axis=1),
    )
    assert second[0] > 0.8 * first[0]  # linear
    assert second[1] < 0.5 * first[1]  # it learns


def test_nothing_to_lose_where_all_arms_are_equal():
    result = simulate("null", ["mar-ucb", "naive-ucb"], horizon=2000, runs=3, seed=1, progress=False)
    assert result.final == pytest.approx(np.zeros((2, 3)), abs=1e-9)
    assert result.best_arm_share == pytest.approx(np.ones((2, 3)))
