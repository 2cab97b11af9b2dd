"""Folder names such as `opened=2024` are columns only if that was asked for."""

from __future__ import annotations

import os

import pandas as pd
import pytest
from click.testing import CliRunner

from tests.logs.test_unreadable import assert_refused
from truant.cli import cli
from truant.errors import InvalidValue
from truant.logs.read import read

VISITS = pd.DataFrame({"arm": ["a", "b", "a", "b"], "opened": [0, 1, 1, 0], "y": [1, 0, 1, 1]})


def written(folder, table, kind):
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "csv":
        table.to_csv(folder / "log.csv", index=False)
    else:
        table.to_parquet(folder / "log.parquet")
    return folder / f"log.{kind}"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_is_that_of_the_file(tmp_path, kind):
    for place in (written(tmp_path / "opened=2024", VISITS, kind), tmp_path, f"{tmp_path}/*/log.{kind}"):
        assert read(place, arm="arm", outcome="y", mediator="opened").mediators == ("0", "1")
        with pytest.raises(
            InvalidValue, match=r"^Column 'opened' is both in the files and in their folder names; "
        ):
            read(place, arm="arm", outcome="y", partitioned=True)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_folders_are_columns_if_asked_for(tmp_path, kind):
    for day, site in ((1, "north"), (2, "new york")):
        written(tmp_path / f"day={day}" / f"site={site}", VISITS, kind)
    with pytest.raises(LookupError, match="Unknown column 'site'"):
        read(tmp_path, arm="arm", outcome="y", mediator="site")
    log = read(tmp_path, arm="arm", outcome="y", mediator=["day", "site"], partitioned=True)
    assert log.mediators == ("day=1, site=north", "day=2, site=new york")
    assert log.counts.pulls.tolist() == [4, 4]
    arguments = ["analyze", str(tmp_path), "--arm", "arm", "--outcome", "y", "--mediator", "day"]
    assert CliRunner().invoke(cli, arguments).exit_code == 2
    assert CliRunner().invoke(cli, [*arguments, "--partitioned"]).exit_code == 0


def test_folders_must_be_alike(tmp_path):
    written(tmp_path / "day=1", VISITS, "csv")
    written(tmp_path / "month=1", VISITS, "csv")
    with pytest.raises(
        InvalidValue, match=r"^All files must be below folders of the same keys: .* has 'day', "
    ):
        read(tmp_path, arm="arm", outcome="y", partitioned=True)
    with pytest.raises(InvalidValue, match=r"^partitioned is for files, and these data are not a file"):
        read(VISITS, arm="arm", outcome="y", partitioned=True)


def test_a_key_in_other_case_is_a_clash(tmp_path):
    place = written(tmp_path / "Opened=9", VISITS, "parquet")
    assert read(place, arm="arm", outcome="y", mediator="opened").mediators == ("0", "1")
    with pytest.raises(InvalidValue, match=r"^Column 'Opened' is both in the files"):
        read(place, arm="arm", outcome="y", partitioned=True)


def test_saved_simulations_and_worlds_take_no_columns_from_folders(tmp_path):
    import truant
    from truant.lab.store import load

    folder = tmp_path / "policy=x" / "arm=z"
    path = written(folder, VISITS, "csv")
    assert truant.world("table", data=str(path), arm="arm", outcome="y").setting.arms == 2
    path = written(folder, VISITS, "parquet")
    assert truant.world("table", data=str(path), arm="arm", outcome="y").setting.arms == 2
    found = truant.simulate("mar", ["mar-uniform"], horizon=20, runs=2)
    assert load(found.save(folder / "sim.parquet")).policies == found.policies


def test_what_other_programs_keep_in_a_folder_is_not_read(tmp_path):
    written(tmp_path / "a", VISITS, "csv")
    for name in (
        ".hidden.csv",
        "_SUCCESS",
        "_part.csv",
        ".ipynb_checkpoints/log.csv",
        "_temporary/0/log.csv",
    ):
        path = tmp_path / "a" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("arm,y\nz,1\n")
    for i in range(3):
        os.symlink(tmp_path, tmp_path / "a" / f"loop{i}")
    for place in (tmp_path, f"{tmp_path}/**/*.csv"):
        assert read(place, arm="arm", outcome="y").rows == 4


def test_rows_of_one_file_do_not_count_twice(tmp_path):
    path = written(tmp_path, VISITS, "csv")
    os.symlink(path, tmp_path / "latest.csv")
    assert "are the same file, whose rows would count twice" in assert_refused(
        tmp_path, f"'{tmp_path}/latest.csv' and "
    )


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "log.csv")
    assert_refused(tmp_path / "log.csv", f"Cannot read '{tmp_path}/log.csv': it is a device or a pipe")


def test_a_name_that_is_no_text_is_refused(tmp_path):
    with open(os.path.join(os.fsencode(tmp_path), b"\xff.csv"), "wb") as file:
        file.write(b"arm,y\na,1\nb,0\n")
    assert "its name is not UTF-8; rename it." in assert_refused(tmp_path, "Cannot read ")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_folder_names_are_texts_as_they_are(tmp_path, kind):
    for day in ("2024-01-01", "2024-1-1", "007"):
        written(tmp_path / f"day={day}", VISITS, kind)
    log = read(tmp_path, arm="day", outcome="y", partitioned=True)
    assert log.arms == ("007", "2024-01-01", "2024-1-1")


def test_a_folder_name_with_two_signs(tmp_path):
    written(tmp_path / "day=a=b", VISITS, "csv")
    written(tmp_path / "day=c", VISITS, "csv")
    with pytest.raises(InvalidValue, match=r"'day=a=b' has more than one =: rename the folder, or leave out"):
        read(tmp_path, arm="arm", outcome="y", partitioned=True)
