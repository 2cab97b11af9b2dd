"""A CSV file is read as it is, or refused with its file, its line and the likely cause."""

from __future__ import annotations

import gzip

import pytest
from click.testing import CliRunner

from tests.logs.test_unreadable import assert_refused
from truant.cli import cli
from truant.errors import TruantError
from truant.logs.read import read


def log_of(folder, data: bytes, name: str = "log.csv", **options):
    (folder / name).write_bytes(data)
    return read(folder / name, arm="arm", outcome="y", **options)


def sums(log) -> dict[str, tuple[float, float]]:
    """Rows of each arm, and how many outcomes of it were 1."""
    ones = log.counts.table[:, :, log.counts.levels.index(1.0)].sum(axis=1)
    return {arm: (int(n), int(k)) for arm, n, k in zip(log.arms, log.counts.pulls, ones, strict=True)}


ROWS = [("a", "1"), ("b", "0"), ("a", "1"), ("a", "0")]
RIGHT = {"a": (3, 2), "b": (1, 0)}


def written(delimiter=",", end="\n", header=("arm", "y"), rows=ROWS, last=True) -> bytes:
    lines = [delimiter.join(row) for row in (header, *rows)]
    return (end.join(lines) + (end if last else "")).encode()


@pytest.mark.parametrize(
    "data",
    [
        written(";"),
        written("\t"),
        written("|"),
        written(end="\r\n"),
        written(end="\r"),
        written(last=False),
        b"\xef\xbb\xbf" + written(),
        written() + b"\n\n\n",
        written().replace(b"b,0\n", b"b,0\n\n\n"),
        written(header=("arm", "y", ""), rows=[(*row, "") for row in ROWS]),
        written(header=('"arm"', '"y"'), rows=[(f'"{arm}"', f'"{y}"') for arm, y in ROWS]),
        written(header=("arm", "note", "y"), rows=[(arm, '"x, ""y""\n1,2\n"', y) for arm, y in ROWS]),
        written(";", header=("arm", "note, first", "y"), rows=[(arm, "1,5", y) for arm, y in ROWS]),
        written(header=("arm", "note", "y"), rows=[(arm, '5" pipe', y) for arm, y in ROWS]),
        written(header=("arm", "y", "note"), rows=[(*row, "# 1") for row in ROWS]),
        written().replace(b"b,0", b"#b,0").replace(b"#b", b'"b"'),
    ],
)
def test_the_same_rows_in_other_forms(tmp_path, data):
    assert sums(log_of(tmp_path, data)) == RIGHT
    assert sums(log_of(tmp_path, gzip.compress(data, mtime=0), "log.csv.gz")) == RIGHT


def test_a_hash_begins_no_comment_and_no_line_is_skipped(tmp_path):
    assert sums(log_of(tmp_path, b"arm,y\n#a,1\n#b,0\na,1\n")) == {"#a": (1, 1), "#b": (1, 0), "a": (1, 1)}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"arm,y\na,1\nb\n", "line 3 has 1 field where the header has 2; it may be cut off, or"),
        (
            b"arm,y\na,1\nb,1,5\n",
            "line 3 has 3 fields where the header has 2; a value that holds a comma must",
        ),
        (
            b"arm,y\na,1\nb,5,\n",
            "line 3 has 3 fields where the header has 2; a value that holds a comma must",
        ),
        (b"arm,y,z\na,1\nb,5\n", "line 2 has 2 fields where the header has 3; it may be cut off, or"),
        (b'arm,n,y\na,"x\ny",1\nb,5\n', "line 4 has 2 fields where the header has 3"),
        (b'arm,y\na,1\nb,"2\na,1\n', 'in line 3 a quote (") is never closed, or text follows a closing one'),
        (
            b'arm,y\na,1\nb,"2"x\na,1\n',
            'in line 3 a quote (") is never closed, or text follows a closing one',
        ),
        (b'arm,"y\na,1\n', 'in line 1 a quote (") is never closed'),
        (
            b"arm,y\na,1\nb\xe9,0\n",
            "line 3 is not UTF-8; say which encoding the file has, e.g. --encoding latin-1",
        ),
        (b"arm,gr\xf6\xdfe,y\na,1,1\n", "line 1 is not UTF-8; say which encoding the file has"),
        (
            b"arm,y\na,1\r\nb,0\n",
            "line 2 ends in CRLF and lines before it end in LF; save it with one kind of",
        ),
        (b"arm,y\r\na,1\r\nb,0\n", "line 3 ends in LF and lines before it end in CRLF"),
        (b"arm,y\na,1\nb\0,0\n", "line 3 holds a NUL byte"),
        ("arm,y\na,1\n".encode("utf-16"), "it is UTF-16; say so: --encoding utf-16"),
        ("arm,y\na,1\n".encode("utf-16-le"), "line 1 holds a NUL byte; "),
        (b"\n\narm,y\na,1\n", "line 1 is empty; the first line must name the columns."),
        (b",\na,1\n", "line 1 is empty; the first line must name the columns."),
        (b"PK\x03\x04abc", "it is a zip or Excel file; save the table as CSV."),
        (gzip.compress(b"arm,y\na,1\n", mtime=0), "it is compressed by gzip; let its name end in .csv.gz."),
        (b"arm,y\na,1\nb," + b"x" * 2_100_000 + b"\n", "line 3 is longer than two million bytes"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, data, said):
    (tmp_path / "log.csv").write_bytes(data)
    assert said in assert_refused(tmp_path / "log.csv", f"Cannot read '{tmp_path}/log.csv': ")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"b\n", "line 400002 has 1 field where the header has 2"),
        (b"b,1,\n", "line 400002 has 3 fields where the header has 2"),
        (b"b,0\r\n", "line 400002 ends in CRLF and lines before it end in LF"),
        (b"\xff,1\n", "line 400002 is not UTF-8"),
        (b'b,"1\n', 'in line 400002 a quote (") is never closed'),
    ],
)
def test_what_comes_late_is_found_in_its_file(tmp_path, bad, said):
    (tmp_path / "1.csv").write_bytes(b"arm,y\na,1\nb,0\n")
    (tmp_path / "2.csv").write_bytes(b"arm,y\n" + b"a,1\nb,0\n" * 200_000 + bad)
    assert said in assert_refused(tmp_path, f"Cannot read '{tmp_path}/2.csv': ")


def test_mixed_line_ends_drop_no_rows(tmp_path):
    """DuckDB 2.0 counts four million rows here, without a word."""
    (tmp_path / "log.csv").write_bytes(b"arm,y\n" + b"a,1\n" * 4_000_000 + b"b,0\r\nb,0\n")
    assert_refused(tmp_path / "log.csv", f"Cannot read '{tmp_path}/log.csv': line 4000002 ends in CRLF")


def test_line_breaks_in_quotes_make_no_rows(tmp_path):
    """What looks like rows within a value, at the borders of what DuckDB's threads share."""
    row = b'a,"' + b"b,0,0\n" * 40 + b'",1\n'
    log = log_of(tmp_path, b"arm,note,y\n" + row * 150_000 + b"b,,0\n")
    assert sums(log) == {"a": (150_000, 150_000), "b": (1, 0)}


def test_files_of_one_log_agree_by_name(tmp_path):
    (tmp_path / "1.csv").write_bytes(b"arm,y\na,1\n")
    (tmp_path / "2.csv").write_bytes(b"y;arm\n0;b\n")
    (tmp_path / "3.csv").write_bytes(b"y;arm\r\n1;a\r\n")
    assert sums(read(tmp_path, arm="arm", outcome="y")) == {"a": (2, 2), "b": (1, 0)}
    (tmp_path / "4.csv").write_bytes(b"arm,x\na,1\n")
    said = f"Files of a log must have the same columns: '{tmp_path}/4.csv' differs from '{tmp_path}/1.csv', "
    assert_refused(tmp_path, said + "it has no column 'y'.")


def test_parquet_files_of_one_log_agree(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"arm": ["a", "b"], "y": [1, 0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"y": [1.5, 0.25], "arm": ["a", "b"]}), tmp_path / "2.parquet")
    log = read(tmp_path, arm="arm", outcome="y", levels=())
    assert log.setting.low == 0
    assert log.setting.high == 1.5  # not rounded to the first file's whole numbers
    pq.write_table(pa.table({"arm": ["a", "b"], "x": [1, 0]}), tmp_path / "3.parquet")
    assert_refused(tmp_path, "Files of a log must have the same columns: 'x' is in only one of ")


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "UTF-16", "utf-16-be", "utf_32", "mac-roman", "utf-8"]
)
def test_other_encodings(tmp_path, encoding):
    text = "arm,größe,y\ncafé,1,1\nthé,2,0\ncafé,3,1\n"
    for data, name in (
        (text.encode(encoding), "log.csv"),
        (gzip.compress(text.encode(encoding)), "log.csv.gz"),
    ):
        log = log_of(tmp_path, data, name, mediator="größe:2", encoding=encoding)
        assert sums(log) == {"café": (2, 2), "thé": (1, 0)}
    arguments = [
        "analyze",
        str(tmp_path / "log.csv"),
        "--arm",
        "arm",
        "--outcome",
        "y",
        "--encoding",
        encoding,
    ]
    assert "café" in CliRunner().invoke(cli, [*arguments, "--json"]).output.encode().decode("unicode_escape")


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("latin1x", "Unknown encoding 'latin1x'; did you mean "),
        ("base64", "Unknown encoding 'base64'"),
        ("rot13", "Unknown encoding 'rot13'"),
        ("a\0b", "Unknown encoding 'a\\x00b'"),
        ("", "Unknown encoding ''"),
        (3, "encoding must be a name such as 'latin-1' or 'utf-16', got 3."),
        ("ascii", "Cannot read '{}/log.csv': line 3 is not ascii; name the encoding that the file has."),
    ],
)
def test_encodings_that_are_none(tmp_path, encoding, said):
    with pytest.raises(TruantError) as refusal:
        log_of(tmp_path, "arm,y\na,1\nthé,0\n".encode(), encoding=encoding)
    assert str(refusal.value).startswith(said.format(tmp_path))


def test_an_encoding_is_for_text_files(tmp_path):
    import pandas as pd

    table = pd.DataFrame({"arm": ["a", "b"], "y": [1, 0]})
    table.to_parquet(tmp_path / "log.parquet")
    with pytest.raises(TruantError, match=r"^encoding is for CSV files, Parquet files have none"):
        read(tmp_path / "log.parquet", arm="arm", outcome="y", encoding="latin-1")
    with pytest.raises(TruantError, match=r"^encoding is for files, and these data are not a file"):
        read(table, arm="arm", outcome="y", encoding="latin-1")


def test_a_header_that_is_a_row_is_hinted_at(tmp_path):
    (tmp_path / "log.csv").write_bytes(b"a,1\nb,0\n")
    said = assert_refused(tmp_path / "log.csv", "Unknown column 'arm'")
    assert said.endswith("The first line must name the columns; here it holds '1'.")


def test_columns_of_one_name_are_refused_where_they_are_asked_for(tmp_path):
    assert sums(log_of(tmp_path, b"arm,y,x,x\na,1,2,3\nb,0,2,3\na,1,2,3\na,0,4,5\n")) == RIGHT
    (tmp_path / "log.csv").write_bytes(b"arm,y,y\na,1,2\n")
    assert_refused(tmp_path / "log.csv", "Column 'y' occurs 2 times; rename all but one.")


LONG = ("x" * 150_000, "1")


def test_a_long_field_beside_a_stray_quote(tmp_path):
    rows = [('5" pipe', "0"), LONG, ('5" pipe', "1")]
    data = written(header=("note", "y"), rows=rows).replace(b"note,", b"note,arm,")
    data = data.replace(b"pipe,0", b"pipe,a,0").replace(b"x,1", b"x,a,1").replace(b"pipe,1", b"pipe,b,1")
    assert sums(log_of(tmp_path, data)) == {"a": (2, 1), "b": (1, 1)}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"arm,y\na,1\nb," + b"x" * 3_000_000 + b"\n", "; shorten its values."),
        (b'arm,y\na,1\nb,"' + b"x" * 3_000_000 + b'"\n', 'a quote (") may never be closed.'),
        (b"sep=;\r\narm;y\r\na;1\r\nb;0\r\n", "line 1 is 'sep=;', which only Excel reads; remove it"),
        ("arm,y\na,1\nb,0\n".encode("utf-32"), "it is UTF-32; say so: --encoding utf-32"),
    ],
)
def test_the_cause_is_the_right_one(tmp_path, data, says):
    with pytest.raises(TruantError) as refusal:
        log_of(tmp_path, data)
    assert says in str(refusal.value)


def test_a_file_in_utf_32(tmp_path):
    assert sums(log_of(tmp_path, written().decode().encode("utf-32"), encoding="utf-32")) == RIGHT
