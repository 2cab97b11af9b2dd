"""Own rows as a world, whatever library or file they come from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.worlds.visits import COLUMNS, SMALL, VISITS, real, small, visits
from truant.errors import InvalidValue
from truant.logs.read import read
from truant.worlds import from_table, make


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
        '"dose, mg",a.b,"y""z"\n10,007,1\n9,north,2.5\n10,north,\n9,007,3\n,007,100\n10,north,7\n', "utf-8"
    )
    world = real(from_table(path, arm="dose, mg", mediator="a.b", outcome='y"z', levels=()))
    assert (world.arm_names, world.mediator_names) == ((9, 10), ("007", "north"))
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


def test_worlds_load_no_table_library_until_a_table_comes() -> None:
    code = "import sys, truant.worlds; sys.exit(bool({'pyarrow', 'duckdb', 'narwhals'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class ArrowOnly:
    """A table of a library that nobody knows, with nothing but the Arrow interface."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("read_as", [from_table, read])
def test_the_arrow_interface_is_enough(read_as: Any) -> None:
    found = read_as(ArrowOnly(pl.from_pandas(visits()).to_arrow()), **COLUMNS)
    arms = found.arms if read_as is read else found.arm_names
    assert arms == ("new", "old")


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_values_that_are_equal_are_one_level(zero: float) -> None:
    table = small(m=[1.0, zero, 1.0, 0.0, zero, 1.0, 1.0, 0.0])
    assert from_table(table, **SMALL).mediator_names == ("0", "1")


def test_nan_is_missing_in_every_library() -> None:
    columns = {
        "arm": ["a", "b"] * 3,
        "m": [1.0, 2.0, float("nan"), 1.0, 2.0, 1.0],
        "y": [1.0, 2, 3, 4, 5, None],
    }
    for source in (
        columns,
        pl.DataFrame(columns),
        pl.DataFrame(columns).lazy(),
        pl.DataFrame(columns).to_arrow(),
    ):
        world = real(from_table(source, **SMALL))
        assert world.mediator_names == ("1", "2")
        assert world.mediator_observation[0, 0] == pytest.approx(2 / 3)


@pytest.mark.parametrize(("written", "number"), [("1_000", None), (" 2.5 ", 2.5), ("1e2", 100)])
def test_texts_that_are_numbers(written: str, number: float | None) -> None:
    table = small(y=[written, "2", "3", "4", "5", "", "7", "8"])
    if number is None:
        with pytest.raises(InvalidValue, match=f"^Column 'y' must be numbers, it holds '{written}'; if that"):
            from_table(table, **SMALL)
    else:
        outcomes = real(from_table(table, **SMALL)).samples
        assert outcomes is not None
        assert outcomes[1][1].tolist() == [number, 7]
