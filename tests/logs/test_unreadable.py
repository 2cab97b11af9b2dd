"""Files and databases that cannot be read are refused in one sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.logs.places import as_duckdb, as_parquet, as_sqlite, frame, in_postgres
from truant.errors import InvalidValue, MissingExtra, TruantError
from truant.logs.read import read
from truant.logs.source import plain_errors


def assert_refused(place: Any, sentence: str) -> str:
    with pytest.raises(TruantError) as refusal:
        read(place, arm="arm", outcome="y")
    said = str(refusal.value)
    assert said.startswith(sentence), said
    assert "\n" not in said
    return said


def test_files_that_cannot_be_read(tmp_path):
    whole = as_parquet(frame(5000), tmp_path)
    for name, part in (("half", 0.5), ("head", 0.001), ("none", 0)):
        data = Path(whole).read_bytes()
        (tmp_path / f"{name}.parquet").write_bytes(data[: int(len(data) * part)])
        assert_refused(tmp_path / f"{name}.parquet", f"Cannot read '{tmp_path}/{name}.parquet': ")
    torn = bytearray(Path(whole).read_bytes())
    torn[100:20_000] = b"x" * 19_900
    (tmp_path / "torn.parquet").write_bytes(torn)
    assert_refused(tmp_path / "torn.parquet", f"Cannot read '{tmp_path}/torn.parquet': ")
    (tmp_path / "empty.csv").write_text("")
    assert_refused(tmp_path / "empty.csv", f"Cannot read '{tmp_path}/empty.csv': ")
    (tmp_path / "broken.csv.gz").write_bytes(b"arm,y\na,1\n")
    assert_refused(tmp_path / "broken.csv.gz", f"Cannot read '{tmp_path}/broken.csv.gz': ")
    (tmp_path / "header.csv").write_text("arm,y\n")
    assert_refused(tmp_path / "header.csv", "The table has no rows")
    (tmp_path / "list.txt").write_text("arm,y\n")
    assert_refused(
        tmp_path / "list.txt",
        "A log must be files of one kind that end in .csv, .tsv, .csv.gz, .tsv.gz, .parquet",
    )
    assert_refused(tmp_path / "not.csv", f"The file '{tmp_path}/not.csv' does not exist; check the path.")
    assert_refused(
        str(tmp_path / "x*.csv"), f"No file matches '{tmp_path}/x*.csv'; check the folder and the pattern."
    )
    assert_refused(str(tmp_path / "*"), "A log must be files of one kind")
    (tmp_path / "bare").mkdir()
    assert_refused(tmp_path / "bare", f"The folder '{tmp_path}/bare' holds no file that ends in .csv")
    assert_refused("", "A file name is needed, got ''.")
    assert_refused(
        3,
        "data must be a path, a URL with ::table, a connection with table=, a pandas, polars or Arrow table, a Spark "
        "DataFrame or a dict of columns; got int.",
    )


def test_databases_that_cannot_be_read(tmp_path, postgres):
    place = as_sqlite(frame(10), tmp_path)
    in_postgres(postgres, frame(10), "visits")
    assert_refused(
        place.replace("::visits", "::visit"), "Unknown table 'visit'; did you mean 'visits'? Known: visits."
    )
    assert_refused(place.replace("::visits", ""), "A database URL must name its table: sqlite:///")
    assert_refused(place.replace("log.db", "no.db"), "The database file ")
    assert not (tmp_path / "no.db").exists()
    assert_refused(f"{postgres}::visit", "Unknown table 'visit'; did you mean 'visits'?")
    duck = as_duckdb(frame(10), tmp_path)
    assert_refused(duck.replace("::clinic.visits", "::visits"), "Unknown table 'visits'; there are none.")
    assert_refused(
        duck.replace("::clinic.visits", "::clinic.visit"), "Unknown table 'visit'; did you mean 'visits'?"
    )
    (tmp_path / "log.db").write_bytes(b"no database" * 100)
    assert_refused(place, "Cannot read sqlite:///")
    said = assert_refused(
        "postgresql://me:secret@127.0.0.1:1/shop::visits", "Cannot connect to postgresql://127.0.0.1:1/shop: "
    )
    assert "secret" not in said
    assert_refused(
        "postgress://host/db::visits", "Unknown kind of database 'postgress'; did you mean 'postgres'?"
    )


def test_a_missing_driver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r'pip install "truant\[postgres\]"\.$'):
        read("postgres://localhost/db::visits", arm="arm", outcome="y")
    with pytest.raises(InvalidValue, match="truant has not been tried on mysql; export the table as Parquet"):
        read("mysql://localhost/db::visits", arm="arm", outcome="y")


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet"])
def test_an_empty_file_is_called_empty(tmp_path, name):
    (tmp_path / name).touch()
    assert_refused(
        tmp_path / name, f"Cannot read '{tmp_path / name}': it is empty; a log needs a header and rows."
    )


def test_an_interrupted_query_is_an_interrupt_and_no_error():
    with pytest.raises(KeyboardInterrupt), plain_errors("the table"):
        raise RuntimeError("Query interrupted")  # what DuckDB says after Ctrl-C


class LostFrame:
    """A DataFrame of Spark whose Java ends with the first statement."""

    __module__ = "pyspark.sql.dataframe"
    schema = SimpleNamespace(
        fields=[
            SimpleNamespace(name=name, dataType=SimpleNamespace(simpleString=lambda: "string"))
            for name in ("arm", "y")
        ]
    )

    def __init__(self):
        catalog = SimpleNamespace(dropTempView=self.refuse)
        self.sparkSession = SimpleNamespace(sql=self.refuse, catalog=catalog)

    def createOrReplaceTempView(self, name):
        pass

    def refuse(self, text):
        raise ConnectionRefusedError(111, "Connection refused")


def test_a_lost_connection_is_one_sentence():
    with pytest.raises(InvalidValue) as raised:
        read(LostFrame(), arm="arm", outcome="y")
    assert str(raised.value) == (
        "Cannot read the Spark table: the connection was lost, and the server may have ended; see what it says there."
    )
