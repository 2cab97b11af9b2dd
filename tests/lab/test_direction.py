"""Less is better: a run of the world with that direction is, pull for pull, that of the world with outcomes -Y."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import truant
from truant.cli import cli
from truant.errors import InvalidValue
from truant.lab.result import Simulation
from truant.worlds import DiscreteWorld, RealWorld, make

HORIZON = 1500


def real_worlds():
    """Samples far from zero, skewed; the second world has them negated."""
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(3), 4)
    samples = [[3 + rng.exponential(1 + 0.3 * a + m, 40) for m in range(3)] for a in range(4)]
    shown, seen = rng.uniform(0.3, 0.9, (4, 3)), rng.uniform(0.5, 1.0, (4, 1))
    high = max(cell.max() for row in samples for cell in row)
    one = RealWorld(p, None, shown, mediator_observation=seen, samples=samples, low=1.0, high=high)
    negated = [[-cell for cell in row] for row in samples]
    other = RealWorld(p, None, shown, mediator_observation=seen, samples=negated, low=-high, high=-1.0)
    return one, other


def discrete_worlds():
    """The second has levels reversed and negated; its cells are drawn in the order of the first."""
    one = make("mnar", seed=3, arms=4)
    assert isinstance(one, DiscreteWorld)
    turned = [-level for level in reversed(one.setting.levels)]
    other = DiscreteWorld(
        one.joint[..., ::-1], one.observation[..., ::-1], one.mediator_observation, levels=turned
    )
    chances, aliases, rows, columns = one.tables
    L = len(turned)
    other.tables = (chances, aliases, rows, np.where(columns == L, L, L - 1 - columns))
    return one, other


CASES = [
    *((real_worlds, policy) for policy in ("mcar-ucb", "mar-ucb", "mediator-mar-ucb", "mar-thompson")),
    *((real_worlds, policy) for policy in ("naive-ucb", "zero-ucb", "paper-mar", "oracle-ucb")),
    *((discrete_worlds, policy) for policy in ("mnar-ucb", "mar-ucb", "mar-thompson", "naive-ucb")),
]


@pytest.mark.parametrize("delay", [0, 30])
@pytest.mark.parametrize(("worlds", "policy"), CASES)
def test_less_is_more_of_the_opposite(worlds, policy, delay):
    world, opposite = worlds()
    options = {"horizon": HORIZON, "runs": 2, "seed": 5, "delay": delay, "progress": False}
    down = truant.simulate(world, policy, minimize=True, **options)
    up = truant.simulate(opposite, policy, **options)
    assert np.array_equal(down.pulls, up.pulls)
    assert down.regret == pytest.approx(up.regret, rel=1e-12)
    assert down.estimates == pytest.approx(-up.estimates, rel=1e-6, nan_ok=True)
    assert np.array_equal(down.best, up.best)
    assert np.array_equal(down.best_arm_share, up.best_arm_share)
    assert np.all(down.best[0] == (world.means == world.means.min()))
    assert down.minimize
    assert not up.minimize


def test_a_policy_finds_the_lowest_mean():
    world = RealWorld(
        np.full((4, 2), 0.5), [[0.9, 0.9], [0.5, 0.7], [0.1, 0.3], [0.6, 0.8]], 0.7, outcome_sd=0.3
    )
    policies = ["mar-ucb", "mar-thompson", "oracle-ucb"]
    result = truant.simulate(world, policies, horizon=2000, runs=5, minimize=True, progress=False)
    assert np.array_equal(result.pulls.argmax(axis=2), np.full((3, 5), 2))
    assert np.all(result.best_arm_share > 0.8)
    assert np.all(np.diff(result.regret, axis=2) >= 0)


def test_the_world_that_was_given_stays_as_it_was():
    world = make("mar", seed=1)
    turned = world.minimizing()
    assert turned.setting.minimize
    assert not world.setting.minimize
    assert turned.draw is world.draw
    before = world.means.copy()
    turned.means += 1.0
    for table in turned.tables:
        table[:] = 0
    assert np.array_equal(world.means, before)
    assert any(table.any() for table in world.tables)
    truant.simulate(world, "naive-ucb", horizon=50, runs=1, minimize=True, progress=False)
    assert not world.setting.minimize


@pytest.mark.parametrize("name", ["mar", "mnar", "lognormal", "conversion", "mediator-mar"])
def test_gaps_and_the_revealed_world_follow_the_direction(name):
    world = make(name, seed=2).minimizing()
    assert np.array_equal(world.gaps, world.means - world.means.min())
    assert np.array_equal(world.best, world.means == world.means.min())
    assert world.revealed().setting.minimize
    assert np.array_equal(world.revealed().best, world.best)
    assert world.minimizing().setting.minimize


def test_a_world_may_say_so_itself(tmp_path):
    rows = {
        "mail": ["a"] * 60 + ["b"] * 60,
        "cost": list(np.linspace(1, 2, 60)) + list(np.linspace(2, 3, 60)),
    }
    world = truant.worlds.from_table(rows, arm="mail", outcome="cost", minimize=True)
    assert list(world.best) == [True, False]
    result = truant.simulate(world, "mar-ucb", horizon=500, runs=2, progress=False)
    assert result.minimize
    assert np.all(result.best_arm_share > 0.8)
    path = tmp_path / "cost.csv"
    path.write_text(
        "mail,cost\n" + "\n".join(f"{a},{y}" for a, y in zip(rows["mail"], rows["cost"], strict=True))
    )
    arguments = [
        "simulate",
        "--world",
        "table",
        "--policy",
        "mar-ucb",
        "--horizon",
        "300",
        "--runs",
        "2",
        "--json",
    ]
    for key, value in {"data": path, "arm": "mail", "outcome": "cost", "minimize": "true"}.items():
        arguments += ["--set", f"{key}={value}"]
    found = CliRunner().invoke(cli, arguments)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["minimize"] is True
    with pytest.raises(InvalidValue, match="minimize must be true or false"):
        truant.worlds.from_table(rows, arm="mail", outcome="cost", minimize="yes")


def test_direction_and_delay_are_shown_and_kept(tmp_path):
    options = {"horizon": 300, "runs": 2, "delay": 100, "minimize": True, "progress": False}
    result = truant.simulate("mar", "mar-ucb", **options)
    assert result.summary()["minimize"] is True
    assert result.summary()["delay"] == 100
    assert "300 rounds, 2 runs, outcomes 100 rounds late, lower is better" in repr(result)
    again = Simulation.load(result.save(tmp_path / "runs.parquet"))
    assert (again.delay, again.minimize) == (100, True)
    assert np.array_equal(again.best_arm_share, result.best_arm_share)
    plain = truant.simulate("mar", "mar-ucb", horizon=300, runs=2, progress=False)
    assert plain.summary()["minimize"] is False
    assert plain.summary()["delay"] == 0
    assert "late" not in repr(plain)


def test_the_command_line_passes_both_on():
    base = ["simulate", "--world", "mar", "--policy", "mar-ucb", "--horizon", "400", "--runs", "2"]
    found = CliRunner().invoke(cli, [*base, "--delay", "1e2", "--minimize", "--json"])
    assert found.exit_code == 0, found.output
    said = json.loads(found.stdout)
    assert (said["delay"], said["minimize"]) == (100, True)
    own = truant.simulate("mar", "mar-ucb", horizon=400, runs=2, delay=100, minimize=True, progress=False)
    assert said["policies"][0]["regret"]["mean"] == own.final.mean()
    shown = CliRunner().invoke(cli, [*base, "--delay", "1"])
    assert "outcomes 1 round late" in shown.output


@pytest.mark.parametrize(
    ("delay", "words"),
    [
        (-1, "delay must be a whole number of at least 0, got -1."),
        (1.5, "delay must be a whole number of at least 0, got 1.5."),
        ("soon", "delay must be a whole number, got 'soon'."),
        (301, "delay must be at most the horizon, 300 rounds, got 301."),
    ],
)
def test_delays_that_cannot_be_are_refused(delay, words):
    with pytest.raises(InvalidValue) as refusal:
        truant.simulate("mar", "mar-ucb", horizon=300, runs=1, delay=delay, progress=False)
    assert str(refusal.value) == words


def test_a_delay_that_memory_cannot_hold_is_refused():
    with pytest.raises(InvalidValue, match="at most 10,000,000 rounds, got 20,000,000: outcomes"):
        truant.simulate("mar", "mar-ucb", horizon=10**9, runs=1, delay=2 * 10**7, progress=False)


def test_minimize_is_true_or_false():
    with pytest.raises(InvalidValue, match="minimize must be true or false, got 1"):
        truant.simulate("mar", "mar-ucb", horizon=300, runs=1, minimize=1, progress=False)
