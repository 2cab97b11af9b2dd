"""Delay and direction in a study: what is run, what is shown, what is refused."""

import json

import pandas as pd
import pytest

import truant
from truant.errors import InvalidValue
from truant.lab.study import check
from truant.lab.study_file import study_of

STUDY = {
    "title": "Late costs",
    "seed": 3,
    "runs": 4,
    "horizon": 200,
    "minimize": True,
    "delay": [0, 20],
    "policies": ["mar-ucb", "naive-ucb"],
    "worlds": [{"name": "mar", "set": {"arms": 3}}],
}


def test_a_study_with_both_has_the_numbers_of_simulate(tmp_path):
    result = truant.sweep(STUDY, out=tmp_path / "out", progress=False)
    rows = pd.read_parquet(result.results)
    assert set(rows["delay"]) == {0, 20}
    for delay in (0, 20):
        own = truant.simulate(
            "mar",
            STUDY["policies"],
            horizon=200,
            runs=4,
            seed=3,
            parameters={"arms": 3},
            delay=delay,
            minimize=True,
            progress=False,
        )
        for policy, regret, share in zip(STUDY["policies"], own.final, own.best_arm_share, strict=True):
            found = rows[(rows["policy"] == policy) & (rows["delay"] == delay)]
            assert list(found["regret"]) == list(regret)
            assert list(found["best_arm_share"]) == list(share)
    summary = json.loads((result.folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["minimize"] is True
    assert {row["delay"] for row in summary["rows"]} == {0, 20}
    page = result.page.read_text(encoding="utf-8")
    assert "Lower is better." in page
    assert "delay" in page


def test_one_delay_is_said_in_words(tmp_path):
    result = truant.sweep(STUDY | {"delay": 20, "minimize": False}, out=tmp_path / "out", progress=False)
    page = result.page.read_text(encoding="utf-8")
    assert "outcomes 20 rounds late" in page
    assert "Lower is better." not in page


def test_spans_and_own_delays():
    study = study_of(STUDY | {"delay": {"from": 10, "to": 100, "steps": 3, "scale": "log"}})
    assert [point.delay for point in study.points()] == [10, 32, 100]
    own = study_of(STUDY | {"worlds": [{"name": "mar", "delay": 7}, "mcar"]})
    assert [(point.world.name, point.delay) for point in own.points()] == [
        ("mar", 7),
        ("mcar", 0),
        ("mcar", 20),
    ]
    assert all(point.minimize for point in own.points())


def test_a_world_that_turns_round_is_another_world():
    usual, turned = (check(study_of(STUDY | {"minimize": minimize})) for minimize in (False, True))
    assert set(usual).isdisjoint(turned)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"delay": -1}, "delay must be a whole number of at least 0, got -1"),
        ({"delay": [5, 201]}, "delay must be at most the horizon, 200 rounds, got 201"),
        ({"delay": [5, 5]}, "5 is listed twice"),
        ({"minimize": "yes"}, "minimize must be true or false, got 'yes'"),
    ],
)
def test_what_cannot_be_is_refused(change, words):
    with pytest.raises(InvalidValue, match=words):
        study_of(STUDY | change)
