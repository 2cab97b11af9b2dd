"""truant opens no connection but to a database that was named, and a home folder stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.logs.places import as_csv, as_duckdb, as_parquet, as_sqlite, frame
from tests.logs.test_unreadable import assert_refused


@pytest.mark.parametrize(
    "place",
    [
        "http://127.0.0.1:1/log.csv",
        "HTTPS://127.0.0.1:1/log.csv",
        "s3://bucket/log.parquet",
        "S3a://bucket/*.parquet",
        "gs://bucket/log.csv",
        "hf://datasets/a/b.csv",
        "az://box/log.csv",
        "r2://bucket/log.csv",
        "http:/127.0.0.1/log.csv",
        "s3://bucket/shop.db::visits",
    ],
)
def test_files_of_the_network_are_refused(place):
    said = assert_refused(place, "truant reads no files from the network (")
    assert "download the file" in said
    assert "pass a connection" in said


@pytest.mark.parametrize(
    "place", ["csv://log.csv", "Parquet://x.parquet::t", "polars://::t", "datafusion://x::t"]
)
def test_kinds_of_urls_that_nothing_reads_are_refused(place):
    assert_refused(place, "Unknown kind of database ")


def test_a_file_url_is_refused_with_what_to_write(tmp_path):
    place = as_csv(frame(10), tmp_path)
    assert_refused(f"file://{place}", "Write the path of a file as it is, without file:")


CODE = """
import pyarrow.parquet, sys
from truant.logs.read import read
for place in (*sys.argv[1:], pyarrow.parquet.read_table(sys.argv[2])):
    read(place, arm="arm", outcome="y", mediator="dose:3")
"""


def test_home_and_working_folder_stay_empty(tmp_path):
    table = frame(300)
    data, home, here, temporary = (tmp_path / name for name in ("data", "home", "here", "temporary"))
    for folder in (data, home, here, temporary):
        folder.mkdir()
    places = [as_csv(table, data), as_parquet(table, data), as_sqlite(table, data), as_duckdb(table, data)]
    keep = {"HOME": str(home), "TMPDIR": str(temporary), "TRUANT_CACHE_DIR": str(tmp_path / "cache")}
    before = sorted(os.listdir(data))
    subprocess.run(
        [sys.executable, "-c", CODE, *map(str, places)],
        cwd=here,
        env=os.environ | keep,
        check=True,
    )
    assert [os.listdir(folder) for folder in (home, here, temporary)] == [[], [], []]
    assert sorted(os.listdir(data)) == before
