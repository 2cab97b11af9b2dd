"""The command `python -m research reproduce`: what it prints, and what it refuses."""

import json
import re

import pytest
from jsonschema import Draft202012Validator
from research.__main__ import main
from research.reference.schemas import fields, occurring

from research.reproduction import command, reproduce, run
from tests.research.reproduction.made import FOLDER, invoke, written
from tests.schemas import strict
from truant.errors import InvalidValue, UnknownName


def test_the_command_prints_what_it_writes(tmp_path, small, capsys):
    arguments = ["mar-known-p", "--quick", "--runs", "3", "--seed", "5", "--threads", "1"]
    result = invoke(capsys, *arguments, "--out", str(tmp_path), "--json")
    assert result.status == 0, result.err
    printed = json.loads(result.out)
    assert printed == json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    for key in ("figures", "curves", "claims"):
        assert printed[key] == small.summary[key]  # whatever the threads
    assert {"truant", "python", "numpy", "numba", "pyarrow"} == set(printed["versions"])
    assert {path.name for path in tmp_path.iterdir()} == written(["mar-known-p"])
    made, ended = result.err.splitlines()
    assert re.fullmatch(r"mar-known-p: made in \d+ s", made)
    assert re.fullmatch(rf"1 figure in \d+ s: {re.escape(str(tmp_path))}/index.html", ended)


def test_the_schema_describes_the_document(small):
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    document = small.summary | {"left_out": {"pbc": "The data need truant[data]."}}
    assert [error.message for error in Draft202012Validator(strict(schema)).iter_errors(document)] == []
    assert {field.path for field in fields(schema)} <= set(occurring(document, schema))


def test_the_command_tells_people_what_became_of_the_claims(monkeypatch, small, capsys):
    monkeypatch.setattr(command, "reproduce", lambda **options: small)
    monkeypatch.setattr("sys.argv", ["research", "reproduce", "mar-known-p"])
    main()
    result = capsys.readouterr()
    claim = small.summary["figures"][0]["claims"][0]
    verdict = f"{claim['verdict']} in the world of the text"
    assert f"  {verdict}: {claim['claim']}\n    {claim['figures']}\n" in result.out
    assert "known p: 1,388 ± 527 in a run of the notebook's code" in result.out
    assert result.err.splitlines()[-1].endswith("index.html")


def test_verdicts_or_findings_are_printed_and_what_is_left_out():
    claim = {
        "claim": "Less is more.",
        "as": "published",
        "verdict": "depends",
        "figures": "a lost 1 and b lost 2.",
    }
    figures = [
        {"name": "one", "title": "First", "claims": [claim], "findings": ["Not shown."], "stored_plots": []},
        {"name": "two", "title": "Second", "claims": [], "findings": ["Shown."], "stored_plots": []},
    ]
    lines = command.lines({"figures": figures, "left_out": {"pbc": "It needs truant[data]."}})
    assert lines[0].startswith("The paper: I. Mahrooghi")
    assert lines[2:9] == [
        "one  First",
        "  depends in what was run for the paper: Less is more.",
        "    a lost 1 and b lost 2.",
        "",
        "two  Second",
        "  Shown.",
        "",
    ]
    assert lines[9].startswith("survives: the runs confirm the claim")
    assert lines[10:] == ["pbc is left out: It needs truant[data]."]


@pytest.fixture
def no_simulation(monkeypatch):
    """Fails the test if anything is simulated."""

    def refuse(*arguments, **parameters):
        raise AssertionError("simulated before the input was checked")

    monkeypatch.setattr(run, "simulate", refuse)


@pytest.mark.usefixtures("no_simulation")
def test_refusals_come_before_the_work(tmp_path, capsys):
    result = invoke(capsys, "mar-peeked", "--out", str(tmp_path / "x"))
    assert result.status == 2
    assert "error: Unknown figure 'mar-peeked'; did you mean 'mar-peaked'?" in result.err
    result = invoke(capsys, "mnar", "--set", "gamma=1", "--out", str(tmp_path / "x"))
    assert result.status == 2
    assert "error: Unknown setting 'gamma'" in result.err
    with pytest.raises(UnknownName, match="Unknown figure 'nothing'"):
        reproduce(["nothing"], out=tmp_path)
    for wrong, sentence in (
        ({"runs": 0}, "runs must be"),
        ({"seed": -1}, "seed must"),
        ({"horizon": 1}, "horizon must be a whole number of at least 2"),
        ({"alpha": 0}, "alpha must be"),
        ({"threads": 0}, "threads"),
    ):
        with pytest.raises(InvalidValue, match=sentence):
            reproduce(["mnar"], out=tmp_path / "x", **wrong)
    assert not (tmp_path / "x").exists()


@pytest.mark.usefixtures("no_simulation")
def test_a_folder_that_cannot_be_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    for out in ("file", "file/inside"):
        result = invoke(capsys, "mnar", "--out", str(tmp_path / out))
        assert result.status == 2
        assert "error: Cannot use " in result.err
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").touch()
    with pytest.raises(InvalidValue, match=r"it holds 'thesis\.tex' and no file"):
        reproduce(["mnar"], out=tmp_path / "thesis")
    (tmp_path / "taken" / "index.html").mkdir(parents=True)
    (tmp_path / "taken" / ".truant").write_text("truant reproduction\n")
    with pytest.raises(InvalidValue, match="it is a folder"):
        reproduce(["mnar"], out=tmp_path / "taken")
