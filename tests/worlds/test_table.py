"""Own rows as a world: it draws what the table says, hides what the table hides, and refuses in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from truant import checks, datasets, theory
from truant.cli import cli
from truant.errors import InvalidValue, UnknownName
from truant.lab.simulate import simulate
from truant.logs.read import read
from truant.worlds import DiscreteWorld, RealWorld, World, from_table, make

ROOT = Path(__file__).parents[2]
VISITS = ROOT / "examples" / "visits.csv"
COLUMNS = {"arm": "mail", "outcome": "spent", "mediator": "opened"}
PULLS = 60_000  # per arm

FloatArray = npt.NDArray[np.float64]


def real(world: World) -> RealWorld:
    assert isinstance(world, RealWorld)
    return world


def discrete(world: World) -> DiscreteWorld:
    assert isinstance(world, DiscreteWorld)
    return world


def visits() -> pd.DataFrame:
    return pd.read_csv(VISITS)


def bought() -> pd.DataFrame:
    """The visits with a yes-or-no outcome: more than 5 was spent."""
    table = visits()
    return table.assign(bought=(table["spent"] > 5).astype(float).where(table["spent"].notna()))


def small(**changed: Any) -> pd.DataFrame:
    """Two arms, two levels, every cell with outcomes; level 1 of arm b has one of its three missing."""
    columns: dict[str, list[Any]] = {
        "arm": ["b", "a", "a", "b", "a", "b", "b", "b"],
        "m": [1, 0, 1, 0, 0, 1, 1, 0],
        "y": [1.5, 2.0, 3.0, 4.0, 5.0, None, 7.0, 8.0],
    }
    return pd.DataFrame({**columns, **changed})


SMALL = {"arm": "arm", "mediator": "m", "outcome": "y", "levels": ()}


def check_share(hits: npt.NDArray[np.bool_], share: float) -> None:
    """Within five standard errors of a share."""
    assert abs(hits.mean() - share) <= 5 * np.sqrt(share * (1 - share) / len(hits)) + 1e-12


def pulled(world: World, arm: int, seed: int = 1) -> tuple[npt.NDArray[np.int64], FloatArray]:
    return world.pulls(np.full(PULLS, arm), seed=seed)


# What the table says


def test_the_truth_is_the_cells_at_the_tables_weights() -> None:
    world = real(from_table(VISITS, **COLUMNS))
    groups = visits().groupby(["mail", "opened"])["spent"]
    means, shares = groups.mean().unstack(), groups.size().unstack()
    shares = shares.div(shares.sum(axis=1), axis=0)
    np.testing.assert_allclose(world.means, (means * shares).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(world.outcome_means, means, rtol=1e-12)
    np.testing.assert_allclose(world.mediator_probabilities, shares, rtol=1e-12)
    np.testing.assert_allclose(
        world.observation[:, 1], (groups.count() / groups.size()).unstack(), rtol=1e-12
    )
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
    p, seen = world.mediator_probabilities, world.observation[:, 1]
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
        np.testing.assert_array_equal(world.observation[:, 1], expected)
        np.testing.assert_array_equal(world.observation[:, 0], expected)
        np.testing.assert_array_equal(world.means, from_table(VISITS, **COLUMNS).means)
    by_arm = real(from_table(VISITS, gamma=[[0.5], [0.9]], mediator_gamma=[0.7, 1], **COLUMNS))
    np.testing.assert_array_equal(by_arm.observation[:, 1], [[0.5, 0.5], [0.9, 0.9]])
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


# Kinds of outcomes


def test_few_distinct_outcomes_make_a_discrete_world() -> None:
    table = bought()
    world = discrete(from_table(table, arm="mail", mediator="opened", outcome="bought"))
    same = real(from_table(table, arm="mail", mediator="opened", outcome="bought", levels=()))
    np.testing.assert_allclose(world.means, same.means, rtol=1e-12)
    assert world.setting.levels == (0.0, 1.0)
    np.testing.assert_allclose(world.observation, np.repeat(same.observation[:, 1, :, None], 2, axis=2))
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
        (["1", " 2", "true", "false", "", "2", "1", "1"], {}, (0.0, 1.0, 2.0)),
    ],
)
def test_levels_are_given_or_found_as_in_logs(outcomes: Any, given: Any, levels: Any) -> None:
    table = small(y=outcomes)
    world = from_table(table, arm="arm", outcome="y", **given)
    assert world.setting.levels == levels
    assert read(table, arm="arm", outcome="y", **given).setting.levels == levels


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
            world.observation[:, 1, 0],
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


# Where rows come from


def test_all_kinds_of_tables_give_one_world(tmp_path: Path) -> None:
    table = visits()
    table.to_parquet(tmp_path / "visits.parquet")
    table.to_csv(tmp_path / "semicolons.csv", sep=";", index=False)
    table.to_csv(tmp_path / "visits.tsv.gz", sep="\t", index=False)
    sources: list[Any] = [table, dict(table.items()), pl.from_pandas(table), pl.from_pandas(table).lazy()]
    sources += [pl.from_pandas(table).to_arrow(), str(VISITS), *sorted(tmp_path.iterdir())]
    assert len(sources) == 9
    first = real(from_table(table, **COLUMNS))
    for source in sources:
        world = real(from_table(source, **COLUMNS))
        assert world.arm_names == first.arm_names
        for one, two in zip(
            world.pulls([0, 1] * 500, seed=3), first.pulls([0, 1] * 500, seed=3), strict=True
        ):
            np.testing.assert_array_equal(one, two)


def test_numbers_in_a_csv_are_numbers_and_names_stay_names(tmp_path: Path) -> None:
    path = tmp_path / "odd [1].csv"
    path.write_text(
        '"dose, mg",a.b,"y""z"\n10,NA,1\n9,None,2.5\n10,None,\n9,NA,3\n,NA,100\n10,None,7\n', "utf-8"
    )
    world = real(from_table(path, arm="dose, mg", mediator="a.b", outcome='y"z', levels=()))
    assert (world.arm_names, world.mediator_names) == ((9, 10), ("NA", "None"))
    assert world.means.tolist() == [2.75, pytest.approx(1 / 3 + 2 / 3 * 7)]
    assert world.setting.high == 7  # the row without an arm is no row


def test_text_in_a_data_frame_is_text() -> None:
    table = small(arm=["9", "10", "10", "9", "10", "9", "9", "9"])
    assert from_table(table, **SMALL).arm_names == ("10", "9") == read(table, **SMALL).arms


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    for outcome in (1, 2):
        path.write_text(f"arm,y\na,{outcome}\nb,0\na,{outcome}\n", "utf-8")
        os.utime(path, ns=(outcome, outcome))
        assert make("table", data=str(path), arm="arm", outcome="y").means.tolist() == [outcome, 0]


def test_worlds_do_without_pandas_until_a_table_comes() -> None:
    code = "import sys, truant.worlds; sys.exit('pandas' in sys.modules or 'duckdb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


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


# What is refused

REFUSED: list[tuple[pd.DataFrame, dict[str, Any], str]] = [
    (
        small(m=[1, 0, 1, 0, 0, 2, 1, 0]),
        {},
        "Each cell needs an observed outcome to draw from, and arm 'b' with mediator '2' has none in its 1 rows; "
        "name a mediator with fewer levels, or leave these rows out.",
    ),
    (
        small(y=[None, 2, 3, None, 5, None, None, None]),
        {"mediator": None},
        "Each cell needs an observed outcome to draw from, and arm 'b' has none in its 5 rows; leave the arm out.",
    ),
    (
        small(m=[None, 0, 1, None, 0, None, None, None]),
        {},
        "The mediator of arm 'b' is missing in all of its 5 rows; leave the arm out, or the mediator.",
    ),
    (
        small(m=[None] * 8),
        {},
        "The mediator is missing in every row: 'm'; check the columns, or leave it out.",
    ),
    (small(y=[None] * 8), {}, "All 8 outcomes in column 'y' are missing; at least one must be observed."),
    (
        small(y=["1", "NA", "3", "4", "x", "2", "2", "2"]),
        {},
        "Column 'y' must be numbers, it holds 'NA' and 'x'; if that stands for missing, leave it blank.",
    ),
    (
        small(y=[float("inf"), 2, 3, 4, 5, 6, 7, 8]),
        {},
        "Outcomes must be missing or within ±1e+100, 'y' holds inf; if that stands for missing, leave it blank.",
    ),
    (
        small(y=list(pd.date_range("2020-01-01", periods=8))),
        {},
        "Column 'y' must be numbers, got datetime64[ns]; name another column.",
    ),
    (
        small(),
        {"range": (2, 9)},
        "Outcomes must be within the range 2 to 9, 'y' holds 1.5; widen the range, or leave it blank if it is missing.",
    ),
    (
        small(),
        {"levels": (1.5, 2, 3, 4)},
        "Outcomes must be one of the levels 1.5, 2, 3, 4; 'y' holds 5; "
        "add the level, or leave it blank if it is missing.",
    ),
    (
        small(y=[3.0] * 8),
        {},
        "All observed outcomes of 'y' are 3; say what else they could be, with levels or range.",
    ),
    (small(arm=["a"] * 8), {}, "At least two arms are needed to compare, column 'arm' holds only 'a'."),
    (small(arm=[None] * 8), {}, "None of the 8 rows has an arm: column 'arm' is missing throughout."),
    (small()[:0], {}, "The table has no rows; there is nothing to learn from."),
    (small(m=[[1]] * 8), {}, "Column 'm' must hold plain values; name another column."),
    (
        small(),
        {"gamma": (0.5, 0.9)},
        "gamma must be one number or 2 rows (arms) of 2 (mediator levels), got (0.5, 0.9).",
    ),
    (
        small(),
        {"gamma": (0.5, 0.9, 0.4), "levels": None},
        "gamma must be one number or 2 rows (arms) of 2 (mediator levels), or of 2 x 7 (outcome levels), "
        "got (0.5, 0.9, 0.4).",
    ),
    (small(), {"gamma": 1.3}, "gamma must be in (0, 1], got 1.3."),
    (small(), {"gamma": "guessed"}, "gamma must be numbers or 'estimated', got 'guessed'."),
    (small(), {"gamma": "0.5"}, "gamma must be numbers or 'estimated', got '0.5'."),
    (
        small(),
        {"gamma": True},
        "gamma must be one number or 2 rows (arms) of 2 (mediator levels), got True.",
    ),
    (
        small(),
        {"mediator_gamma": True},
        "mediator_gamma must be one number or 2 (one for each arm), got True.",
    ),
    (small(), {"mediator_gamma": "0.5"}, "mediator_gamma must be numbers or 'estimated', got '0.5'."),
    (small(), {"range": (-1e300, 1e300)}, "range must be within ±1e+100, got -1e+300."),
    (small(), {"levels": (0, 1e300)}, "levels must be within ±1e+100, got 1e+300."),
    (small(), {"levels": (0, 10**400)}, "levels must be finite, got a number too large for one."),
    (
        small(y=pd.Series([10**400, *range(7)], dtype=object)),
        {},
        "Column 'y' must be numbers, it holds one too large for a float; leave it blank if it is missing.",
    ),
    (
        small(y=[{}, *range(7)]),
        {},
        "Column 'y' must be numbers, it holds '{}'; if that stands for missing, leave it blank.",
    ),
    (small(y=[1j] * 8), {}, "Column 'y' must be numbers, got complex128; name another column."),
    (small(), {"mediator_gamma": 0}, "mediator_gamma must be in (0, 1], got 0."),
    (
        small(),
        {"mediator_gamma": (1, 1, 1)},
        "mediator_gamma must be one number or 2 (one for each arm), got (1, 1, 1).",
    ),
    (small(), {"mediator": 5}, "A column name is needed, got 5."),
    (small(), {"levels": 5}, "levels must be at least two increasing values, got (5.0,)."),
    (small(), {"outcome": "arm"}, "Arm, outcome and mediators must be different columns, got 'arm' twice."),
]


@pytest.mark.parametrize(("table", "given", "sentence"), REFUSED)
def test_refusals(table: pd.DataFrame, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        from_table(table, **{**SMALL, **given})
    assert str(caught.value) == sentence


def test_columns_and_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        UnknownName, match=r"Unknown column 'spend'; did you mean 'spent'\? Known: mail, opened, spent"
    ):
        from_table(VISITS, arm="mail", outcome="spend")
    with pytest.raises(InvalidValue, match=r"^The file 'a{60}' cannot be read: File name too long; check"):
        from_table("a" * 5000 + ".csv", arm="a", outcome="y")
    with pytest.raises(UnknownName, match="Unknown column 'mail:1111"):
        from_table(VISITS, arm="mail", outcome="spent", mediator="mail:" + "1" * 5000)
    with pytest.raises(InvalidValue, match=r"^The file 'no.csv' does not exist; check the path\.$"):
        from_table("no.csv", arm="a", outcome="y")
    (tmp_path / "rows.xlsx").write_text("x", "utf-8")
    with pytest.raises(InvalidValue, match=r"must end in \.csv, .*\.pq, got '.*rows.xlsx'"):
        from_table(tmp_path / "rows.xlsx", arm="a", outcome="y")
    (tmp_path / "rows.csv").write_text("", "utf-8")
    with pytest.raises(InvalidValue, match="it is empty"):
        from_table(tmp_path / "rows.csv", arm="a", outcome="y")
    (tmp_path / "rows.parquet").write_text("no Parquet", "utf-8")
    with pytest.raises(
        InvalidValue, match=r"Cannot read '.*rows.parquet': .*; check that it is whole and readable\."
    ):
        from_table(tmp_path / "rows.parquet", arm="a", outcome="y")
    with pytest.raises(InvalidValue, match=r"data must be a pandas, polars or Arrow table.*got int\."):
        from_table(5, arm="a", outcome="y")
    with pytest.raises(InvalidValue, match="A dict of columns must make a table"):
        from_table({"a": [1, 2], "y": [1]}, arm="a", outcome="y")
    with pytest.raises(InvalidValue, match="A dict of columns must make a table: int too large"):
        from_table({"a": [1, 2], "y": [1, 10**400]}, arm="a", outcome="y")
    with pytest.raises(
        InvalidValue, match="A mediator may have at most 100 levels, 'cd420' has more; cut numbers"
    ):
        from_table(datasets.actg175(), arm="arms", outcome="cd496", mediator="cd420")


def test_the_named_world_says_what_it_needs() -> None:
    with pytest.raises(InvalidValue) as caught:
        make("table", data=str(VISITS), arm="mail")
    assert str(caught.value) == (
        "World 'table' needs a file and its columns, as in data=visits.csv, arm=mail, outcome=spent; "
        "outcome is not set."
    )
    with pytest.raises(
        InvalidValue, match=r"reads a file, got DataFrame as data; use truant\.worlds\.from_table"
    ):
        make("table", data=visits(), **COLUMNS)
