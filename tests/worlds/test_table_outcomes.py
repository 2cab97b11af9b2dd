"""Own rows as a world: which outcomes are discrete, and which levels they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.worlds.visits import SMALL, VISITS, bought, check_share, discrete, pulled, real, small, visits
from truant import checks, theory
from truant.errors import InvalidValue
from truant.lab.simulate import simulate
from truant.logs.read import read
from truant.worlds import DiscreteWorld, RealWorld, from_table


def test_few_distinct_outcomes_make_a_discrete_world() -> None:
    table = bought()
    world = discrete(from_table(table, arm="mail", mediator="opened", outcome="bought"))
    same = real(from_table(table, arm="mail", mediator="opened", outcome="bought", levels=()))
    np.testing.assert_allclose(world.means, same.means, rtol=1e-12)
    assert world.setting.levels == (0.0, 1.0)
    np.testing.assert_allclose(world.observation, np.repeat(same.observation[..., None], 2, axis=2))
    for a, mail in enumerate(("new", "old")):
        mediators, outcomes = pulled(world, a)
        cell = table[(table["mail"] == mail) & (table["opened"] == "yes")]["bought"]
        drawn = outcomes[mediators == 1]
        check_share(np.isnan(drawn), cell.isna().mean())
        check_share(drawn[~np.isnan(drawn)] == 1, cell.mean())
    checks.check_world(world)
    result = simulate(world, ["mnar-ucb", "mar-ucb"], horizon=500, runs=2, progress=False)  # mnar can play
    assert result.pulls.sum() == 2 * 2 * 500


def test_a_discrete_outcome_may_hide_itself_if_so_chosen() -> None:
    columns = {"arm": "mail", "mediator": "opened", "outcome": "bought"}
    world = discrete(from_table(bought(), gamma=[[[0.9, 0.2]], [[0.3, 1.0]]], **columns))
    np.testing.assert_array_equal(world.observation[0], [[0.9, 0.2], [0.9, 0.2]])
    np.testing.assert_array_equal(world.observation[1], [[0.3, 1.0], [0.3, 1.0]])
    assert theory.instance_regret(world, horizon=10_000, assumption="mnar") > 0


@pytest.mark.parametrize(
    ("outcomes", "given", "levels"),
    [
        ([True, False, True, True, True, False, True, False], {}, (0.0, 1.0)),
        ([True, False, True, True, True, False, True, False], {"range": (0, 2)}, None),
        ([1, 2, 3, 1, 2, 3, 1, 2], {}, (1.0, 2.0, 3.0)),
        ([1, 2, 3, 1, 2, 3, 1, 2], {"levels": (0, 1, 2, 3)}, (0.0, 1.0, 2.0, 3.0)),
        ([1, 2, 3, 1, 2, 3, 1, 2], {"levels": ()}, None),
        ([1, 2, 3, 1, 2, 3, 1, 2], {"range": (1, 3)}, (1.0, 2.0, 3.0)),
        ([1, 2, 3, 1, 2, 3, 1, 2], {"range": (0, 5)}, None),
        ([None, True, True, True, True, None, True, True], {}, (0.0, 1.0)),
        (pd.Categorical([1, 2, 3, 1, 2, None, 1, 2]), {}, (1.0, 2.0, 3.0)),
        (["Yes", " no", "NO", "no", "", "n/a", "yes", "yes"], {}, (0.0, 1.0)),
        (["1", " 2", "NA", "none", "", "2", "1", "1"], {}, (1.0, 2.0)),
    ],
)
def test_levels_are_given_or_found_as_in_logs(outcomes: Any, given: Any, levels: Any) -> None:
    table = small(y=outcomes)
    world = from_table(table, arm="arm", outcome="y", **given)
    assert world.setting.levels == levels
    assert read(table, arm="arm", outcome="y", **given).setting.levels == levels


def test_words_and_numbers_are_no_one_outcome() -> None:
    table = small(y=["1", " 2", "true", "false", "", "2", "1", "1"])
    for read_it in (from_table, read):
        with pytest.raises(InvalidValue) as refusal:
            read_it(table, arm="arm", outcome="y")
        assert str(refusal.value) == (
            "Column 'y' mixes words and numbers, such as 'false' and '1'; write all of it in one way."
        )


def test_more_than_ten_distinct_values_are_real() -> None:
    for distinct, expected in ((10, DiscreteWorld), (11, RealWorld)):
        table = pd.DataFrame({"arm": [0, 1] * 22, "y": np.repeat(np.arange(22) % distinct, 2)})
        assert isinstance(from_table(table, arm="arm", outcome="y"), expected)


def test_without_a_mediator_there_is_one_level() -> None:
    for none in ((), None):
        world = real(from_table(VISITS, arm="mail", outcome="spent", mediator=none))
        assert world.setting.mediators == 1
        np.testing.assert_allclose(world.means, visits().groupby("mail")["spent"].mean(), rtol=1e-12)
        np.testing.assert_allclose(
            world.observation[:, 0],
            visits().groupby("mail")["spent"].count() / visits()["mail"].value_counts(),
        )


@pytest.mark.parametrize("levels", [(), None])
def test_a_cell_that_never_occurs_is_never_drawn(levels: Any) -> None:
    table = small(m=[1, 0, 0, 0, 0, 1, 1, 0])  # arm a has no level 1
    world = from_table(table, **{**SMALL, "levels": levels})
    assert world.setting.mediator_probabilities is not None
    np.testing.assert_array_equal(world.setting.mediator_probabilities, [[1, 0], [0.4, 0.6]])
    assert not np.any(pulled(world, 0)[0] == 1)
    assert world.means[0] == pytest.approx(10 / 3)
    checks.check_world(world)
