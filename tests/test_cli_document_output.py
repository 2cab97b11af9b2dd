"""With --json, standard output is one document, whatever a library prints and wherever it prints it from."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from truant.cli import cli, questions

NOISY = '''
import atexit, ctypes, os, sys, threading

def shout(when):
    print(when, "print")
    print(when, "stream", file=sys.__stdout__, flush=True)
    os.write(1, f"{when} descriptor\\n".encode())
    os.write(2, f"{when} error\\n".encode())
    os.system(f"echo {when} child")
    ctypes.CDLL(None).puts(f"{when} library".encode())  # C keeps it back until the process ends

def outlive():
    threading.main_thread().join()
    shout("thread")

shout("import")
threading.Thread(target=outlive).start()
atexit.register(shout, "exit")

def world(rng):
    """Prints."""
'''
WAYS = ("print", "stream", "descriptor", "error", "child", "library")
WHICH = ["which", "--answers", "no,yes,no,yes", "--json"]  # the quickest command


@pytest.mark.parametrize("redirection", ["", "2>&-"])
def test_nothing_but_the_document_reaches_standard_output(tmp_path, redirection):
    """A world of another package prints while it is imported, after the command and when the process ends."""
    about = tmp_path / "noisy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[truant.worlds]\nnoisy = noisy_module:world\n")
    (tmp_path / "noisy_module.py").write_text(NOISY)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = f"{sys.executable} -m truant worlds noisy --json {redirection}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert [row["name"] for row in json.loads(done.stdout)["worlds"]] == ["noisy"]
    expected = [f"{when} {way}" for when in ("import", "thread", "exit") for way in WAYS]
    assert sorted(done.stderr.splitlines()) == ([] if redirection else sorted(expected))


def test_within_another_process_standard_output_is_set_aside_until_the_command_ends(monkeypatch, capsys):
    original = questions.conclude

    def noisy(answers):
        print("noise")
        return original(answers)

    monkeypatch.setattr(questions, "conclude", noisy)
    before = sys.stdout
    cli(WHICH, standalone_mode=False)
    assert sys.stdout is before
    printed = capsys.readouterr()
    assert json.loads(printed.out)["schema"] == "truant/which/1"
    assert printed.err == "noise\n"
    result = CliRunner().invoke(cli, WHICH)
    assert (result.stdout, result.stderr) == (printed.out, printed.err)


def test_help_is_printed_on_standard_output_with_json_too():
    assert CliRunner().invoke(cli, [*WHICH, "--help"]).stdout.startswith("Usage: ")


@pytest.mark.parametrize(
    ("redirection", "code", "printed", "complaint"),
    [
        ("> /dev/full", 2, False, "Cannot print the result: No space left on device."),
        (">&-", 0, False, None),
        ("2>&-", 0, True, None),
    ],
)
def test_outputs_that_are_full_or_closed(redirection, code, printed, complaint):
    command = f"{sys.executable} -m truant {' '.join(WHICH)} {redirection}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert bool(done.stdout and json.loads(done.stdout)) == printed
    assert (json.loads(done.stderr)["detail"] if done.stderr else None) == complaint


def test_a_reader_that_has_gone():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "truant", *WHICH]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
