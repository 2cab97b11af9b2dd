"""Outputs never destroy inputs, nor anything that is not an ordinary file; refused before the work begins."""

import os
import socket
import sqlite3

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import truant
from truant.cli import cli
from truant.errors import InvalidValue
from truant.files import check_outputs, output_folder
from truant.logs import read as reader
from truant.logs.places import inputs_of

ROWS = "arm,y,country\n" + "".join(f"{'ab'[i % 2]},{i % 3},{'DF'[i % 4 // 2]}\n" for i in range(60))
COLUMNS = {"arm": ["a", "b"] * 30, "y": [float(i % 3) for i in range(60)]}


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "own.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def no_reading(monkeypatch):
    def reading(*arguments, **named):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(reader, "read", reading)


def refused(*arguments):
    """The sentence of a command that is refused."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert (result.exit_code, type(result.exception)) == (2, SystemExit), result.output
    return result.stderr


def analyzed(data, *outputs):
    return refused("analyze", data, "--arm", "arm", "--outcome", "y", *outputs)


@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize(
    ("data", "out"),
    [
        ("own.csv", "own.csv"),
        ("own.csv", "./a/../own.csv"),
        ("a/../own.csv", "own.csv"),
        ("own.csv", "a/hard.csv"),
        ("a/soft.csv", "own.csv"),
        ("*.csv", "own.csv"),
        (".", "own.csv"),
        ("a/..", "a/hard.csv"),
        ("*.csv", "new.csv"),
        (".", "a/new.parquet"),
        ("**/*.csv", "a/b/NEW.CSV"),
    ],
)
def test_a_log_is_not_replaced_by_its_analysis(own, data, out):
    (own.parent / "a" / "b").mkdir(parents=True)
    os.link(own, own.parent / "a" / "hard.csv")
    (own.parent / "a" / "soft.csv").symlink_to(own)
    names = sorted(path.name for path in own.parent.rglob("*"))
    assert "Cannot write" in analyzed(data, "--out", out)
    assert own.read_text() == ROWS
    assert sorted(path.name for path in own.parent.rglob("*")) == names


def test_the_same_sentence_from_python(own):
    result = truant.analyze("own.csv", arm="arm", outcome="y")
    sentence = r"^Cannot write '.*own\.csv': it is an input of this command; choose another name or folder\.$"
    by_country = truant.analyze("own.csv", arm="arm", outcome="y", by="country")
    for save in (result.save, by_country.save, by_country.groups["D"].save):
        with pytest.raises(InvalidValue, match=sentence):
            save(own)
    os.link(own, "own.html")
    for report in (result.report, by_country.report):
        with pytest.raises(InvalidValue, match=r"own\.html': it is the input .*own\.csv"):
            report("own.html")
    assert result.save("other.csv").read_text() != ROWS == own.read_text()


def test_the_input_is_known_from_another_folder(own, monkeypatch):
    result = truant.analyze("own.csv", arm="arm", outcome="y")
    (own.parent / "sub").mkdir()
    monkeypatch.chdir(own.parent / "sub")
    with pytest.raises(InvalidValue, match="input"):
        result.save("../own.csv")
    result.save("own.csv")
    assert own.read_text() == ROWS


@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "SQLite"])
def test_a_database_is_not_replaced(own, kind):
    if kind == "duckdb":
        duckdb.connect("shop.html").execute("create table t as select 1 as arm, 1 as y").close()
    else:
        sqlite3.connect("shop.html").execute("create table t (arm, y)").connection.close()
    before = (own.parent / "shop.html").read_bytes()
    names = ("///shop.html", "shop.html", f"//{own.parent}/shop.html", f"///{own.parent}/sh%6Fp.html")
    for url in (f"{kind}:{name}::t" for name in names):
        assert "shop.html" in analyzed(url, "--html", "shop.html")
    assert (own.parent / "shop.html").read_bytes() == before


def test_the_table_of_a_world_is_not_replaced_by_its_runs(own):
    pq.write_table(pa.table(COLUMNS), "own.parquet")
    before = (own.parent / "own.parquet").read_bytes()
    settings = ["--set", "data=own.parquet", "--set", "arm=arm", "--set", "outcome=y"]
    runs = ["--policy", "naive-ucb", "--horizon", "20", "--runs", "1"]
    assert "it is an input" in refused(
        "simulate", "--world", "table", *settings, *runs, "--out", "own.parquet"
    )
    parameters = {"data": "own.parquet", "arm": "arm", "outcome": "y"}
    built = truant.worlds.from_table("own.parquet", arm="arm", outcome="y")
    for world in ("table", built):
        named = {"parameters": parameters} if world == "table" else {}
        simulation = truant.simulate(world, "naive-ucb", horizon=20, runs=1, progress=False, **named)
        with pytest.raises(InvalidValue, match="it is an input"):
            simulation.save("own.parquet")
    assert (own.parent / "own.parquet").read_bytes() == before


@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("link", "a symbolic link"),
        ("dangling", "a symbolic link"),
        ("fifo", "a named pipe"),
        ("socket", "a socket"),
        ("device", "a device"),
        ("folder", "a folder"),
    ],
)
def test_only_ordinary_files_are_replaced(own, kind, words, monkeypatch):
    target = own.parent / "out.csv"
    if kind in ("link", "dangling"):
        (own.parent / "far.csv").write_text("far") if kind == "link" else None
        target.symlink_to("far.csv")
    elif kind == "fifo":
        os.mkfifo(target)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("out.csv")
    elif kind == "folder":
        target.mkdir()
    else:
        pytest.importorskip("posix")
        monkeypatch.setattr("truant.files.Path.lstat", lambda path: os.stat(os.devnull))
        target.touch()
    before = sorted(os.listdir())
    assert f"it is {words}; name a" in analyzed("own.csv", "--out", target)
    assert sorted(os.listdir()) == before
    assert kind != "link" or (own.parent / "far.csv").read_text() == "far"


@pytest.mark.usefixtures("no_reading")
def test_a_file_is_no_folder(own):
    assert "'own.csv' is no folder" in analyzed("own.csv", "--out", "own.csv/out.csv")


def test_a_name_that_is_no_text_can_be_written(own):
    name = os.fsdecode(b"caf\xe9.csv")
    arguments = ["analyze", "own.csv", "--arm", "arm", "--outcome", "y", "--out", name]
    result = CliRunner().invoke(cli, arguments)
    assert (result.exit_code, result.exception) == (0, None)
    assert "Wrote caf" in result.stdout
    assert os.path.exists(name)


def test_two_outputs_are_two_files(own):
    (own.parent / "page.html").touch()
    os.link("page.html", "table.parquet")
    assert "they are one file; name two." in analyzed(
        "own.csv", "--out", "table.parquet", "--html", "page.html"
    )
    with pytest.raises(InvalidValue, match="they are one file"):
        check_outputs([("new.csv", (".csv",)), (own.parent / "new.csv", (".csv",))])


def test_what_is_no_input_may_be_replaced(own):
    for name in ("out.csv", "page.html"):
        (own.parent / name).write_text("before")
    result = CliRunner().invoke(
        cli,
        ["analyze", "own.csv", "--arm", "arm", "--outcome", "y", "--out", "out.csv", "--html", "page.html"],
    )
    assert result.exit_code == 0, result.output
    assert all((own.parent / name).read_text() != "before" for name in ("out.csv", "page.html"))
    check_outputs([("page.html", (".html",))], inputs_of("."))  # a page is not read from a folder


def test_files_with_brackets_in_their_names_are_no_patterns(own):
    (own.parent / "a[1].csv").write_text(ROWS)
    result = truant.analyze("a[1].csv", arm="arm", outcome="y")
    assert result.save("a1.csv").exists()


def test_names_that_are_none_are_refused(own):
    result = truant.analyze(own, arm="arm", outcome="y")
    for name in ("\ud800.csv", "\ud800"):
        with pytest.raises(
            InvalidValue,
            match=r"^'\\ud800.* cannot be a file name: it contains half of a surrogate pair\.$",
        ):
            result.save(name)
        with pytest.raises(InvalidValue, match="half of a surrogate pair"):
            output_folder(name, "sweep")
    for name in ("x.csv/", "x.csv/.", f"{own}/"):
        with pytest.raises(InvalidValue, match="it is the name of a folder; name a file"):
            result.save(name)
    assert os.listdir() == ["own.csv"]


def test_a_working_folder_that_was_removed(own, tmp_path, monkeypatch, no_reading):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    study = tmp_path / "study.toml"
    study.write_text('policies = ["naive-ucb"]\nworlds = ["mcar"]\n')
    sentence = "The working folder was removed; change to another, or give full paths."
    assert sentence in analyzed(own, "--out", "x.csv")
    assert sentence in analyzed("own.csv", "--out", tmp_path / "x.csv")
    assert sentence in refused("sweep", study, "--out", "out")


def test_a_file_that_only_another_user_can_replace(tmp_path, monkeypatch):
    target = tmp_path / "shared" / "x.csv"
    target.parent.mkdir()
    target.touch()
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    check_outputs([(target, (".csv",))])
    target.parent.chmod(0o1777)
    with pytest.raises(
        InvalidValue, match=r"is another user's, and only its owner can replace it in this folder; "
    ):
        check_outputs([(target, (".csv",))])
    check_outputs([(target.with_name("new.csv"), (".csv",))])


@pytest.mark.parametrize("end", ["/", "/."])
def test_a_command_takes_a_name_with_a_slash_for_a_folder(tmp_path, end):
    table = tmp_path / "log.csv"
    table.write_text("arm,y\na,1\nb,2\na,0\nb,1\n")
    arguments = [
        "analyze",
        str(table),
        "--arm",
        "arm",
        "--outcome",
        "y",
        "--out",
        f"{tmp_path / 'new.csv'}{end}",
    ]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    assert "folder" in result.stderr
    assert list(tmp_path.iterdir()) == [table]
