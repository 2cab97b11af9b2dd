"""`truant demo`: it speaks at once, runs again in its folder, and its next commands work; what it refuses."""

import json
import os
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

from truant.cli import cli
from truant.cli.lab import _program


def run(*arguments):
    return CliRunner().invoke(cli, [str(one) for one in arguments], prog_name="truant")


ENDED_BEFORE_THE_WORK = """
import os, sys
from truant.cli import main
class Work:
    def find_spec(name, path, target=None):
        if name == "truant.demo.run":
            os._exit(3)  # what was not written yet is lost
sys.meta_path.insert(0, Work)
main()
"""


def test_the_first_line_comes_at_once_also_in_a_file(tmp_path):
    with (tmp_path / "said.txt").open("w") as file:
        command = [sys.executable, "-c", ENDED_BEFORE_THE_WORK, "demo", "--out", "demo"]
        assert subprocess.run(command, stdout=file, cwd=tmp_path).returncode == 3
    assert (tmp_path / "said.txt").read_text().startswith("Three mails, simulated, so that the true mean")


def test_it_tells_its_parts_in_order(ran):
    assert [line[:4] for line in ran.lines] == ["1/3 ", "2/3 ", "3/3 ", "Draw"]


def test_the_next_commands_work(ran):
    assert len(ran.demo.commands) == 3
    printed = []
    for _, command in ran.demo.commands:
        program, *arguments = shlex.split(command)
        assert program == "truant"
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        printed.append(result.stdout)
    analysis, plan, status = printed
    assert "'story' is the clear winner" in analysis
    assert "Follow up 60 of" in plan
    assert "700 decisions: " in status
    assert "with an outcome already" in status  # the last windows are open: the experiment ends today
    assert {"analysis.html", "follow-up.csv"} <= {path.name for path in ran.demo.folder.iterdir()}


def test_it_runs_again_in_its_folder(ran):
    folder = ran.demo.folder
    before = (folder / "mails.csv").read_bytes()
    result = run("demo", "--out", folder)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line for line in lines if line in ran.lines] == ran.lines  # the same figures, from the same seeds
    assert str(folder / "index.html") in result.stdout
    after_next = [line for line in lines[lines.index("Next: three commands to try") + 1 :] if line.strip()]
    assert after_next[1:6:2] == [command for _, command in ran.demo.commands]
    assert (folder / "mails.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("called", "on_path", "program"),
    [
        ("bin/truant", True, "truant"),
        ("bin/truant", False, os.path.join("bin", "truant")),
        ("lib/truant/__main__.py", False, "python -m truant"),
        ("lib/pytest/__main__.py", False, "truant"),
    ],
)
def test_next_commands_are_called_as_this_one_was(tmp_path, monkeypatch, called, on_path, program):
    file = tmp_path / called
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(file.parent) if on_path else str(tmp_path))
    monkeypatch.setattr(sys, "argv", [called])
    assert _program() == program


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.write_text("mine"), "it is a file"),
        (lambda path: (path.mkdir(), (path / "mine.txt").write_text("mine")), "it holds 'mine.txt'"),
        (
            lambda path: (path.mkdir(), (path / ".truant").write_text("truant sweep\n")),
            "it holds something else than a demo (.truant says 'truant sweep')",
        ),
    ],
)
def test_other_content_is_refused_and_left_as_it_is(tmp_path, make, reason):
    make(tmp_path / "out")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    result = run("demo", "--out", tmp_path / "out", "--json")
    assert result.exit_code == 2
    assert not result.stdout
    problem = json.loads(result.stderr.splitlines()[-1])
    assert reason in problem["detail"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_missing_extras_are_named_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("truant.cli.lab.is_installed", lambda extra: extra != "charts")
    result = run("demo", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr == 'The demo needs the extras logs and charts: pip install "truant[logs,charts]".\n'
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()
