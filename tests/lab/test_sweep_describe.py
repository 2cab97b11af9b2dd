"""A study as charts and pages take it: what holds, what varies, and rows with the values of their block."""

from truant.charts.sweep import Varied
from truant.documents.sweep import verdict
from truant.lab.study_file import study_of
from truant.lab.sweep_result import swept_blocks

POLICIES = ["naive-ucb", {"name": "mar-ucb", "vary": {"level": [0.5, 1], "first_pulls": [2]}}]


def blocks_of(worlds, cells=(), **study):
    table = {"runs": 2, "policies": ["naive-ucb"], **study, "worlds": worlds}
    rows = [{"policy_level": None, "policy_first_pulls": None, **cell} for cell in cells]
    return swept_blocks(study_of(table), rows)


def test_what_varies_and_what_holds():
    world = {"name": "mar", "set": {"sd": 1.5}, "vary": {"K,arms": [2, 3], "gamma": [0.5]}}
    (block,) = blocks_of([world], horizon=[100, 2000], delay=3, policies=POLICIES)
    assert (block.number, block.title, block.world) == (1, "mar", "mar")
    assert list(block.conditions) == ["sd = 1.5", "outcomes 3 rounds late"]
    assert list(block.varied) == [Varied("K", "K = arms", (2, 3)), Varied("horizon", "horizon", (100, 2000))]
    assert [varied.column for varied in block.varied_in_policies] == ["policy_level", "policy_first_pulls"]
    (block,) = blocks_of(["mar"], horizon=2000, delay=[0, 5])
    assert list(block.conditions) == ["2,000 rounds"]
    assert list(block.varied) == [Varied("delay", "delay", (0, 5))]


def test_values_are_those_of_the_block_whatever_the_type_of_the_shared_column():
    worlds = [
        {"name": "mar", "vary": {"gamma": [0.2, 1]}},
        {"name": "mar", "vary": {"gamma": [0.2, [0.5, 1.0]]}},
        {"name": "mar-peaked", "vary": {"K": [2, 3]}},
    ]
    cells = [
        {"block": 1, "gamma": "0.2"},
        {"block": 1, "gamma": "1"},
    ]  # a text, for the sake of the second block
    cells += [{"block": 2, "gamma": "0.2"}, {"block": 2, "gamma": "0.5–1"}]
    cells += [{"block": 3, "gamma": None, "K": 2}]
    numbers, texts, other = blocks_of(worlds, cells)
    assert numbers.varied[0].numeric
    assert [row["gamma"] for row in numbers.rows] == [0.2, 1]
    assert not texts.varied[0].numeric
    assert [row["gamma"] for row in texts.rows] == ["0.2", "0.5–1"]
    assert texts.varied[0].values == ("0.2", "0.5–1")
    assert [(row["gamma"], row["K"]) for row in other.rows] == [(None, 2)]


def test_single_points():
    assert [block.is_point for block in blocks_of(["mar", "mcar"])] == [True, True]
    assert [block.is_point for block in blocks_of(["mar"], horizon=[10, 20])] == [False]
    assert [block.is_point for block in blocks_of(["mar"], policies=POLICIES)] == [False]


def row(policy, behind, best=False, as_good=False):
    return {"policy": policy, "behind_mean": behind, "best": best, "as_good": as_good}


def test_the_verdict_counts_wins_and_leaves_oracles_out():
    rows = [row("a", 0.0, True, True), row("b", 3.0), row("oracle-ucb", None)]
    rows += [row("a", 1.0, False, True), row("b", 0.0, True, True), row("oracle-ucb", None)]
    rows += [row("a", 0.0, True, True), row("b", 2.0), row("oracle-ucb", None)]
    assert verdict(rows) == (
        "a has the lowest mean regret at 2 of 3 points (at 3 no policy is better by more than two standard errors); "
        "b has the lowest mean regret at 1 of 3 points (at 1 no policy is better by more than two standard errors)."
    )
    assert verdict(rows[2:3]) == "No policy of this study can be compared with another."
