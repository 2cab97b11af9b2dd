"""Own rows as a world: it draws what the table says and hides what the table hides."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tests.worlds.visits import COLUMNS, VISITS, check_share, pulled, real, visits
from truant import checks, theory
from truant.cli import cli
from truant.errors import InvalidValue
from truant.lab.simulate import simulate
from truant.logs.read import read
from truant.worlds import from_table, make


def test_the_truth_is_the_cells_at_the_tables_weights() -> None:
    world = real(from_table(VISITS, **COLUMNS))
    groups = visits().groupby(["mail", "opened"])["spent"]
    means, shares = groups.mean().unstack(), groups.size().unstack()
    shares = shares.div(shares.sum(axis=1), axis=0)
    np.testing.assert_allclose(world.means, (means * shares).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(world.outcome_means, means, rtol=1e-12)
    np.testing.assert_allclose(world.mediator_probabilities, shares, rtol=1e-12)
    np.testing.assert_allclose(world.observation, (groups.count() / groups.size()).unstack(), rtol=1e-12)
    assert (world.arm_names, world.mediator_names) == (("new", "old"), ("no", "yes"))
    assert (world.setting.low, world.setting.high) == (0.0, visits()["spent"].max())
    checks.check_world(world)


def test_outcomes_are_drawn_from_the_rows_of_their_cell() -> None:
    table = visits()
    world = from_table(table, **COLUMNS)
    for a, mail in enumerate(("new", "old")):
        mediators, outcomes = pulled(world, a)
        for m, opened in enumerate(("no", "yes")):
            cell = table[(table["mail"] == mail) & (table["opened"] == opened)]["spent"]
            drawn = outcomes[mediators == m]
            check_share(mediators == m, len(cell) / (table["mail"] == mail).sum())
            check_share(~np.isnan(drawn), cell.notna().mean())
            seen, rows = drawn[~np.isnan(drawn)], cell.dropna()
            assert set(seen) == set(rows)  # each of them, and nothing else
            assert abs(seen.mean() - rows.mean()) < 5 * rows.std() / np.sqrt(len(seen))
            for value in rows.quantile([0.1, 0.5, 0.9], interpolation="lower"):
                check_share(seen <= value, (rows <= value).mean())


def test_a_cells_outcomes_stay_in_the_order_of_the_rows() -> None:
    """Else another version of a sort would give other numbers for one seed."""
    table = visits()
    samples = real(from_table(table, **COLUMNS)).samples
    assert samples is not None
    for a, mail in enumerate(("new", "old")):
        for m, opened in enumerate(("no", "yes")):
            cell = table[(table["mail"] == mail) & (table["opened"] == opened)]["spent"]
            np.testing.assert_array_equal(samples[a][m], cell.dropna())


def test_actg175_is_the_trial() -> None:
    world = real(make("actg175"))
    assert world.arm_names == ("ZDV", "ZDV+ddI", "ZDV+ddC", "ddI")
    np.testing.assert_allclose(world.means, [270.6, 324.7, 335.1, 313.5], atol=0.05)
    p, seen = world.mediator_probabilities, world.observation
    missing = 1 - (p * seen).sum(axis=1)
    np.testing.assert_allclose(missing, [0.397, 0.362, 0.357, 0.374], atol=5e-4)
    dropped = (p * seen * world.outcome_means).sum(axis=1) / (p * seen).sum(axis=1)
    np.testing.assert_allclose(dropped, [287.6, 341.3, 354.8, 328.8], atol=0.05)
    on, off = (
        1 - (p * seen)[:, part].sum(axis=1) / p[:, part].sum(axis=1) for part in (slice(3), slice(3, 6))
    )
    np.testing.assert_allclose(
        [on.min(), on.max(), off.min(), off.max()], [0.20, 0.23, 0.61, 0.70], atol=0.005
    )
    assert np.all(real(make("actg175", gamma=0.5)).observation == 0.5)
    assert theory.instance_regret(world, horizon=10_000, assumption="mar") > 0


def test_pbc_has_the_names_of_its_arms() -> None:
    world = make("pbc")
    assert (world.arm_names, world.mediator_names) == (("D-penicillamine", "placebo"), ("0", "1"))
    assert real(make("pbc", gamma="estimated")).observation.min() == 1  # nothing is missing in the trial


@pytest.mark.parametrize("mediator", ["x:3", "x:4", ["g", "x:2"], "g"])
def test_mediators_are_cut_as_in_logs(mediator: Any) -> None:
    rng = np.random.default_rng(5)
    for n in (40, 41, 42, 90):
        x = np.where(
            rng.uniform(size=n) < 0.1, np.nan, rng.integers(0, 12, n) / 2
        )  # ties, and some are missing
        table = pd.DataFrame({"x": x, "g": rng.choice(["u", "v"], n), "y": rng.normal(size=n)})
        table["arm"] = np.where(np.arange(n) == 3, None, np.where(np.arange(n) % 2, "b", "a"))
        world = real(from_table(table, arm="arm", outcome="y", mediator=mediator))
        log = read(table, arm="arm", outcome="y", mediator=mediator)
        assert (world.arm_names, world.mediator_names) == (log.arms, log.mediators)
        pulls = log.counts.table[..., 0]
        np.testing.assert_allclose(
            world.mediator_probabilities, pulls[:, :-1] / pulls[:, :-1].sum(axis=1, keepdims=True)
        )
        np.testing.assert_allclose(
            world.mediator_observation[:, 0], pulls[:, :-1].sum(axis=1) / pulls.sum(axis=1)
        )


# What is missing


def test_nothing_missing_in_the_table_is_nothing_missing_in_the_world() -> None:
    world = real(from_table(visits().dropna(), **COLUMNS))
    assert world.observation.min() == world.mediator_observation.min() == 1
    assert not np.any(np.isnan(pulled(world, 0)[1]))


def test_what_is_missing_can_be_chosen() -> None:
    rows = [[0.5, 0.95], [0.9, 0.3]]
    for gamma, expected in ((0.4, np.full((2, 2), 0.4)), (rows, rows), ([0.5, 0.95, 0.9, 0.3], rows)):
        world = real(from_table(VISITS, gamma=gamma, **COLUMNS))
        np.testing.assert_array_equal(world.observation, expected)
        np.testing.assert_array_equal(world.observation_without_mediator, expected)
        np.testing.assert_array_equal(world.means, from_table(VISITS, **COLUMNS).means)
    by_arm = real(from_table(VISITS, gamma=[[0.5], [0.9]], mediator_gamma=[0.7, 1], **COLUMNS))
    np.testing.assert_array_equal(by_arm.observation, [[0.5, 0.5], [0.9, 0.9]])
    np.testing.assert_array_equal(by_arm.mediator_observation, [[0.7, 0.7], [1, 1]])
    mediators, outcomes = pulled(by_arm, 0)
    check_share(mediators < 0, 0.3)
    check_share(np.isnan(outcomes), 0.5)


def test_missing_mediators_stay_missing_as_often_and_without_their_outcomes() -> None:
    table = visits()
    rng = np.random.default_rng(2)
    hidden = rng.uniform(size=len(table)) < np.where(table["mail"] == "new", 0.4, 0.1)
    table.loc[hidden, "opened"] = None
    table.loc[hidden & (table["mail"] == "old"), "spent"] = np.nan  # those are lost altogether
    world = real(from_table(table, **COLUMNS))
    known = table.dropna(subset=["opened"])
    np.testing.assert_allclose(world.means, from_table(known, **COLUMNS).means, rtol=1e-12)
    for a, mail in enumerate(("new", "old")):
        of_arm = table[table["mail"] == mail]
        lost = of_arm["opened"].isna().to_numpy()
        mediators, outcomes = pulled(world, a)
        check_share(mediators < 0, lost.mean())
        check_share(~np.isnan(outcomes[mediators < 0]), of_arm["spent"].notna()[lost].mean())
        check_share(
            ~np.isnan(outcomes[mediators == 1]), of_arm["spent"].notna()[of_arm["opened"] == "yes"].mean()
        )
    checks.check_world(world)
    chosen = real(from_table(table, gamma=0.6, mediator_gamma=0.8, **COLUMNS))
    assert np.all(chosen.observation == 0.6)
    assert np.all(chosen.mediator_observation == 0.8)


# Which policy would have served me?


def test_mar_serves_better_than_dropping_the_holes() -> None:
    parameters = {"data": str(VISITS), **COLUMNS}
    policies = ["naive-ucb", "mcar-ucb", "mar-ucb"]
    result = simulate("table", policies, horizon=1500, runs=40, seed=1, parameters=parameters, progress=False)
    naive, dropping, mar = result.final
    for other in (naive, dropping):
        saved = other - mar  # paired: all face the same pulls
        assert saved.mean() > 3 * saved.std(ddof=1) / np.sqrt(len(saved))
    assert result.best_arm_share[2].mean() > 0.9


def test_the_command_line_takes_a_file_and_its_columns() -> None:
    words = ["--set", f"data={VISITS}", "--world", "table", "--runs=2", "--horizon=200", "--json"]
    words += [word for role, column in COLUMNS.items() for word in ("--set", f"{role}={column}")]
    result = CliRunner().invoke(cli, ["simulate", *words, "--set", "gamma=.9,.9,.5,.5"])
    assert result.exit_code == 0, result.output
    names = [policy["name"] for policy in json.loads(result.stdout)["policies"]]
    assert names == ["naive-ucb", "mar-ucb", "oracle-ucb"]
    refused = CliRunner().invoke(cli, ["simulate", *words, "--set", "arm=mial"])
    assert refused.exit_code == 2
    assert "did you mean 'mail'?" in refused.output


def test_a_url_is_refused_without_showing_its_password() -> None:
    with pytest.raises(InvalidValue, match="reads one file of this machine, no URL") as refused:
        from_table("postgres://u:s3cret@host/db::visits", arm="a", outcome="y")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("name", [".", "logs/*.parquet"])
def test_what_is_not_one_file_is_refused(name: str) -> None:
    with pytest.raises(InvalidValue, match=r"reads one file, and '.*' is none; name a file"):
        from_table(name, arm="a", outcome="y")
