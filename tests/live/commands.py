"""Runs commands of live experiments in tests, and makes experiments whose windows are over."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from truant.cli import cli
from truant.live.experiment import Experiment
from truant.live.times import ManualClock

CREATE = ["create", "mail", "--arms", "old,new", "--levels", "0,1", "--assume", "mcar", "--window", "7d"]
LONG_AGO = "2026-01-05 09:00"


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    """Commands use truant.db in a folder of the test, and act as tester."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUANT_STORE", raising=False)
    monkeypatch.setenv("TRUANT_ACTOR", "tester")
    return tmp_path


def run(*arguments, code=0):
    """The result of a command, which must end with this exit code."""
    result = CliRunner().invoke(cli, [str(one) for one in arguments], prog_name="truant")
    assert result.exit_code == code, result.output
    return result


def printed(*arguments, code=0):
    """The JSON document that a command prints."""
    return json.loads(run(*arguments, "--json", code=code).stdout)


def refused(*arguments):
    """The sentence with which a command refuses: on stderr, alone, and the same as JSON."""
    result = run(*arguments, code=2)
    assert result.stdout == ""
    sentence = result.stderr.removesuffix("\n")
    assert "\n" not in sentence
    problem = run(*arguments, "--json", code=2)
    assert problem.stdout == ""
    assert json.loads(problem.stderr)["detail"] == sentence
    return sentence


def settled_experiment(decisions=60, store="sqlite:///truant.db"):
    """An experiment of the past in which every third outcome is missing and every fourth decision is open still."""
    clock = ManualClock(LONG_AGO)
    experiment = Experiment.create(
        "mail",
        ["old", "new"],
        mediator_levels=["closed", "opened"],
        levels=[0, 1],
        assume="mar",
        window="7d",
        store=store,
        clock=clock,
        seed=1,
    )
    asked = experiment.ask(decisions)
    for i, decision in enumerate(asked):
        told = {"mediator": "opened" if i % 2 else "closed"}
        if i % 3:
            told["outcome"] = int(decision.arm == "new" and i % 5 > 0)
        experiment.tell(decision.id, **told)
    experiment.store.close()
    return asked
