"""The command `truant reproduce`: what it prints, and what it refuses."""

import json
import re

import pytest

from tests.reproduction.made import invoke, written
from truant.errors import InvalidValue, UnknownName
from truant.reproduction import reproduce, run, work


def test_the_command_prints_what_it_writes(tmp_path, small):
    arguments = ["--figure", "mar-known-p", "--quick", "--runs", "3", "--seed", "5", "--threads", "1"]
    result = invoke(*arguments, "--out", str(tmp_path), "--json")
    assert result.exit_code == 0, result.stderr
    printed = json.loads(result.stdout)
    assert printed == json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    for key in ("figures", "curves"):
        assert printed[key] == small.summary[key]  # whatever the threads
    assert {"truant", "python", "numpy", "numba", "pyarrow"} == set(printed["versions"])
    assert {path.name for path in tmp_path.iterdir()} == written(["mar-known-p"])
    assert re.fullmatch(rf"1 figure in \d+ s: {re.escape(str(tmp_path))}/index.html\n", result.stderr)


def test_the_command_tells_people_what_became_of_the_claims(tmp_path, monkeypatch, small):
    monkeypatch.setattr(run, "reproduce", lambda *arguments, **parameters: small)
    result = invoke("--figure", "mar-known-p")
    assert result.exit_code == 0, result.stderr
    claim = small.summary["figures"][0]["claims"][0]
    assert f"{claim['verdict']}: {claim['claim']}" in result.stdout
    assert claim["figures"] in " ".join(result.stdout.split())
    assert result.stdout.splitlines()[-1].endswith("index.html")


@pytest.fixture
def no_simulation(monkeypatch):
    """Fails the test if anything is simulated."""

    def refuse(*arguments, **parameters):
        raise AssertionError("simulated before the input was checked")

    monkeypatch.setattr(work, "simulate", refuse)


@pytest.mark.usefixtures("no_simulation")
def test_refusals_come_before_the_work(tmp_path):
    result = invoke("--figure", "mar-peeked", "--out", str(tmp_path / "x"))
    assert result.exit_code == 2
    assert result.stderr.startswith("Unknown figure 'mar-peeked'; did you mean 'mar-peaked'?")
    with pytest.raises(UnknownName, match="Unknown figure 'nothing'"):
        reproduce("nothing", out=tmp_path)
    for wrong, sentence in (
        ({"runs": 0}, "runs must be"),
        ({"seed": -1}, "seed must"),
        ({"threads": 0}, "threads"),
    ):
        with pytest.raises(InvalidValue, match=sentence):
            reproduce("mnar", out=tmp_path / "x", **wrong)
    assert not (tmp_path / "x").exists()


@pytest.mark.usefixtures("no_simulation")
def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    for out in ("file", "file/inside"):
        result = invoke("--figure", "mnar", "--out", str(tmp_path / out))
        assert result.exit_code == 2
        assert result.stderr.startswith("Cannot use ")
        assert len(result.stderr.splitlines()) == 1
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "taken" / "index.html").mkdir(parents=True)
    (tmp_path / "taken" / ".truant").write_text("truant reproduction\n")
    with pytest.raises(InvalidValue, match="it is a folder"):
        reproduce("mnar", out=tmp_path / "taken")
    with pytest.raises(InvalidValue, match="A folder is needed, got 3"):
        reproduce("mnar", out=3)
