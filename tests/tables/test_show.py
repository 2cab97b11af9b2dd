"""Small tables as text, HTML and files."""

import csv
import json

import pyarrow.parquet as pq
import pytest

from truant.tables.arrow import make_table
from truant.tables.write import html_table, text_table, write_csv, write_parquet

TABLE = make_table(
    {"arm": ["a", "<b>, c"], "n": [10, 2], "mean": [1234.5678, float("nan")], "ok": [True, None]}
)


def test_text_lines_up():
    assert text_table(TABLE).splitlines() == [
        "arm      n   mean    ok",
        "a       10  1,235  True",
        "<b>, c   2",
    ]


def test_html_is_escaped_and_says_what_it_leaves_out():
    page = html_table(TABLE)
    assert "<td>&lt;b&gt;, c</td><td>2</td><td></td>" in page
    assert "rows" not in page
    assert html_table(TABLE, 1).endswith("</table><p>The first 1 of 2 rows.</p>")
    assert html_table(TABLE, 1).count("<tr>") == 2


def test_csv_gives_the_values_back(tmp_path):
    write_csv(TABLE, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["arm", "n", "mean", "ok"],
            ["a", "10", "1234.5678", "True"],
            ["<b>, c", "2", "", ""],
        ]


@pytest.mark.parametrize("number", [1, 12])
def test_parquet_names_its_schema(tmp_path, number):
    write_parquet(TABLE, tmp_path / "table.parquet", "some-table", number)
    kept = pq.read_table(tmp_path / "table.parquet")
    assert kept.to_pylist() == TABLE.to_pylist()
    assert json.loads(kept.schema.metadata[b"truant"])["schema"] == f"truant/some-table/{number}"
