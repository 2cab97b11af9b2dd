"""Judgements of regret: straight runs, ratios, delays, and the table of policies."""

import numpy as np
import pytest
from research.validation import delay, measures, plans, regret, which, wrong

from research import ROOT
from truant.lab.result import Simulation
from truant.lab.simulate import plan_of


def simulation(first, second, share):
    """Runs of the policies `ours` and `naive-ucb` with this regret in each half, and this share of the best arm."""
    first, second = np.asarray(first, float), np.asarray(second, float)
    share = np.asarray(share, float)
    return Simulation(
        world="made up",
        parameters={},
        horizon=1000,
        seed=0,
        policies=["ours", "naive-ucb"],
        rounds=[500, 1000],
        regret=np.stack([first, first + second], axis=2),
        pulls=np.stack([1000 * share, 1000 * (1 - share)], axis=2),
        estimates=np.zeros((*share.shape, 2)),
        means=np.tile([1.0, 0.0], (share.shape[1], 1)),
        nanoseconds=np.zeros(share.shape),
    )


def test_a_straight_run_goes_on_losing_far_from_the_best_arm():
    first = [[10, 10, 100, 100, 100, 11, 9, 10], [50] * 8]
    second = [[1, 9, 90, 70, 90, 1, 1, 1], [40] * 8]
    share = [[0.9, 0.1, 0.1, 0.1, 0.6, 0.9, 0.9, 0.9], [0.1] * 8]
    result = simulation(first, second, share)
    # the second run is not above three times the median, the fourth slows down, the fifth found the best arm
    assert measures.straight(result, "ours").tolist() == [
        False,
        False,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert not measures.straight(result, "naive-ucb").any()
    assert measures.grows(result, "naive-ucb")
    assert not measures.grows(simulation([[1], [10]], [[1], [7]], [[1], [1]]), "naive-ucb")


def test_regret_is_judged_beside_naive():
    rng = np.random.default_rng(2)
    noise = 1 + 0.01 * rng.normal(size=(2, 200))
    share = np.ones((2, 200))

    def within(ours, naive_late, **limit):
        first, second = np.array([[ours], [50.0]]) * noise, np.array([[0.0], [naive_late]]) * noise
        return measures.beside_naive(simulation(first, second, share), "ours", **limit)

    assert within(24.0, 50.0)  # naive does not learn, and loses 100
    assert not within(26.0, 50.0)
    assert within(109.0, 5.0)  # naive learns, and loses 55
    assert not within(112.0, 5.0)
    assert not within(57.0, 5.0, price=1.0)


def test_the_ratio_of_means_has_the_error_of_repeated_samples():
    rng = np.random.default_rng(3)
    y = rng.gamma(4.0, 1.0, (4000, 100))
    x = 0.5 * y + rng.normal(1.0, 1.0, y.shape)
    found = np.array([measures.ratio(a, b) for a, b in zip(x, y, strict=True)])
    assert found[:, 0].mean() == pytest.approx(0.75, abs=0.005)
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.05)


def test_the_bootstrap_error_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(4).normal(size=(2, 400))
    error = measures.bootstrap_error(lambda places: values[:, places(400)].mean(axis=1))
    assert error == pytest.approx(values.std(axis=1) / 20, rel=0.15)  # 200 resamples: standard error .05
    apart = measures.bootstrap_error(lambda places: np.abs(places(400) - places(400)).sum())
    assert apart == 0  # results with as many runs get the same ones


@pytest.mark.parametrize("truth", [0.0, 0.05, 1.0])
def test_the_error_of_a_root_holds_near_zero_too(truth):
    roots = np.sqrt(np.maximum(np.random.default_rng(5).normal(truth, 0.1, 10_000), 0))
    spread = np.sqrt(np.mean((roots - np.sqrt(truth)) ** 2))
    assert spread / 1.05 < measures.root_error(truth, 0.1) < 2 * spread


def test_every_case_of_regret_has_a_yardstick():
    for case in {case.assumption: case for case in regret.CASES}.values():
        sticks = plans.yardsticks(case.world, case.assumption, 1000, 2, 1)
        assert len(sticks) == 2
        assert min(sticks) > 0


def test_policies_for_discrete_outcomes_refuse_real_worlds():
    assert wrong.possible("mar-ucb", "mnar")
    assert not wrong.possible("mnar-ucb", "mar-low")


def test_a_delay_may_cost_as_much_as_its_bound():
    case = delay.Case("made up", "mar", 1000)
    at_once, late, later = (simulation([[x] * 3] * 2, [[1] * 3] * 2, [[1] * 3] * 2) for x in (10, 100, 1000))
    for result in (at_once, late, later):
        result.policies[0] = "mar-ucb"
    row = delay.row(case, "mar-ucb", [at_once, late, later])  # the gaps are 0 and 1
    assert row[-3:] == ["500", "1,000", "yes"]
    later.regret[0, :, -1] += 20
    assert delay.row(case, "mar-ucb", [at_once, late, later])[-1] == "**no**"


def test_the_table_of_policies_takes_the_place_of_its_old_self():
    clear, even = (
        simulation([ours, [12.0, 13.0, 11.0]], [[0.0] * 3] * 2, [[1.0] * 3] * 2)
        for ours in ([2.0, 3.0, 1.5], [14.0, 11.0, 11.5])
    )
    for result in (clear, even):
        result.policies[:] = ["mar-ucb", "mar-thompson"]
    text = which.block({world: [clear, even, even] for world in which.KINDS.values()})
    assert "| `mar-ucb` | 2 / 12 | either; `mar-ucb` is repeatable | 12 / 12 |" in text
    page = f"before\n{which.BEGIN}\nold\n{which.END}\nafter\n"
    assert which.replaced(page, text) == f"before\n{text}\nafter\n"
    with pytest.raises(ValueError, match="marks"):
        which.replaced("no marks", text)


def test_the_page_of_the_lab_has_a_place_for_the_table_of_policies():
    page = (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")
    assert which.replaced(page, f"{which.BEGIN}{which.END}") != page
    for world in which.KINDS.values():
        assert world in {case.world for case in delay.CASES}


@pytest.mark.parametrize("world", ["mar", "mcar:gamma=0.5", "mar-low:sd=10"])
def test_instances_are_those_of_simulate(world):
    theirs, ours = plan_of(world, "mar-ucb", 100, 7, {}), plans.plan_named(world, ["mar-ucb"], 100, 7)
    for run in range(2):
        assert np.array_equal(theirs.instance(run).means, ours.instance(run).means)
        assert theirs.generator(run).random() == ours.generator(run).random()
