"""The commands: what they print, what they write, and one sentence for whatever they refuse."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import truant
import truant.lab.simulate as lab
from truant import charts, registry
from truant.cli import cli
from truant.errors import InvalidValue, TruantError
from truant.lab.result import Simulation
from truant.policies import policy_names

MAR = [
    "simulate",
    "--world",
    "mar",
    "--policy",
    "mar-ucb",
    "--policy",
    "naive-ucb",
    "--horizon",
    "1e3",
    "--runs",
    "3",
]


def run(*arguments):
    return CliRunner().invoke(cli, arguments, prog_name="truant")


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )


@pytest.fixture
def no_simulation(monkeypatch):
    """Fails the test if anything is simulated."""

    def refuse(*arguments, **parameters):
        raise AssertionError("simulated before the input was checked")

    monkeypatch.setattr(lab, "simulate", refuse)


def test_json_is_what_the_library_gives():
    result = run(*MAR, "--seed", "3", "--set", "gamma=0.5,1.0", "--set", "arms=4", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    parameters = {"gamma": (0.5, 1.0), "arms": 4}
    expected = lab.simulate(
        "mar", ["mar-ucb", "naive-ucb"], horizon=1000, runs=3, seed=3, parameters=parameters
    )
    expected = expected.summary()
    assert found["parameters"] == {"gamma": [0.5, 1.0], "arms": 4}
    for summary in (found, expected):
        for policy in summary["policies"]:
            assert policy.pop("nanoseconds_per_round") > 0
            assert set(policy) == {"name", "regret", "regret_first_half", "best_arm_share"}
    assert found == expected


def test_json_keeps_stdout_for_json_even_when_files_are_written(tmp_path):
    out, chart = tmp_path / "runs.parquet", tmp_path / "chart.svg"
    result = run(*MAR, "--json", "--out", str(out), "--chart", str(chart))
    assert result.exit_code == 0, result.stderr
    assert result.stderr.splitlines() == [f"Wrote {out}", f"Wrote {chart}"]
    simulation = Simulation.load(out)
    printed = json.loads(result.stdout)
    assert printed == json.loads(json.dumps(simulation.summary()))
    assert simulation.policies == ["mar-ucb", "naive-ucb"]
    assert "mar-ucb" in chart.read_text()


def test_table_for_people():
    result = run("simulate", "--world", "mnar-hidden", "--horizon", "200", "--runs", "2")
    assert result.exit_code == 0, result.stderr
    assert "World mnar-hidden  200 rounds, 2 runs" in result.stdout
    rows = [line.split()[0] for line in result.stdout.splitlines() if "%" in line]
    assert rows == ["naive-ucb", "mnar-ucb", "oracle-ucb"]  # by default
    assert "difference: regret minus that of naive-ucb" in result.stdout


def test_a_policy_given_twice_runs_once():
    result = run(
        "simulate",
        "--world",
        "rates",
        *["--policy", "mcar-ucb"] * 2,
        "--horizon",
        "50",
        "--runs",
        "1",
        "--json",
    )
    assert [policy["name"] for policy in json.loads(result.stdout)["policies"]] == ["mcar-ucb"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--world", "mra"], "Unknown world 'mra'; did you mean 'mar'?"),
        (["--world", "mar", "--policy", "mar-ubc"], "Unknown policy 'mar-ubc'; did you mean 'mar-ucb'?"),
        (["--world", "mar", "--policy", "mar-ucb:levle=2"], "did you mean 'level'?"),
        (["--world", "mar", "--policy", "mnar-ucb"], "mnar needs a discrete outcome"),
        (["--world", "mar", "--set", "gama=1"], "did you mean 'gamma'?"),
        (["--world", "mar", "--set", "gamma"], "Parameters are written key=value, got 'gamma'."),
        (["--world", "mar", "--set", "gamma=nan,1"], "gamma must be"),
        (["--world", "mar", "--runs", "0"], "runs must be a whole number of at least 1, got 0."),
        (["--world", "mar", "--horizon", "-5"], "horizon must be a whole number of at least 1, got -5."),
    ],
)
def test_a_refusal_is_one_sentence(arguments, sentence):
    result = run("simulate", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    problem = run("simulate", *arguments, "--json")
    assert problem.exit_code == 2
    assert problem.stdout == ""
    details = json.loads(problem.stderr)
    assert set(details) == {"type", "title", "status", "detail"}
    assert details["detail"] == result.stderr.strip()


@pytest.mark.parametrize(
    ("arguments", "title", "status"),
    [
        (["--world", "mra"], "Unknown name", 404),
        (["--world", "mar", "--policy", "mnar-ucb"], "Not identified", 422),
        (["--world", "mar", "--runs", "0"], "Invalid value", 400),
        (["--world", "mar", "--runs", "1.5"], "Invalid value", 400),
        ([], "Invalid usage", 400),
    ],
)
def test_problems_have_a_title_and_a_status(arguments, title, status):
    details = json.loads(run("simulate", *arguments, "--json").stderr)
    assert (details["title"], details["status"]) == (title, status)
    assert details["type"] == "urn:truant:error:" + title.lower().replace(" ", "-")


def test_usage_errors_point_to_help():
    result = run("simulate", "--world", "mar", "--horizn", "many")
    assert result.exit_code == 2
    assert "No such option" in result.stderr
    assert "truant simulate --help" in result.stderr
    assert "No such command 'simualte'" in run("simualte").stderr


@pytest.mark.usefixtures("no_simulation")
@pytest.mark.parametrize(
    ("option", "name", "sentence"),
    [
        ("--chart", "chart.jpg", "must end in .png, .svg or .html"),
        ("--chart", "none/chart.png", "does not exist; make it first."),
        ("--out", "runs.txt", "must end in .csv or .parquet"),
        ("--out", "none/runs.parquet", "does not exist; make it first."),
    ],
)
def test_output_paths_are_checked_before_the_work(tmp_path, option, name, sentence):
    result = run(*MAR, option, str(tmp_path / name))
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_keeps_what_is_finished(monkeypatch, tmp_path):
    whole = lab.simulate("mar", ["mar-ucb"], horizon=100, runs=2, seed=0)
    monkeypatch.setattr(lab, "simulate", lambda *arguments, **parameters: whole)
    result = run(*MAR, "--out", str(tmp_path / "runs.parquet"))
    assert result.exit_code == 130
    assert result.stderr == "Stopped after 2 of 3 runs; what follows is about these.\n"
    assert Simulation.load(tmp_path / "runs.parquet").runs == 2

    def interrupted(*arguments, **parameters):
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "simulate", interrupted)
    result = run(*MAR)
    assert result.exit_code == 130
    assert "before the first run was finished" in result.stderr


@pytest.mark.parametrize("error", [KeyboardInterrupt(), InvalidValue("The disk is full.")])
def test_what_was_written_before_the_end_is_said(monkeypatch, tmp_path, error):
    def failing(*arguments, **options):
        raise error

    monkeypatch.setattr(charts, "save_chart", failing)
    runs = tmp_path / "runs.parquet"
    result = run(*MAR, "--out", str(runs), "--chart", str(tmp_path / "chart.svg"))
    assert runs.is_file()
    if isinstance(error, KeyboardInterrupt):
        assert (result.exit_code, result.stderr) == (130, f"Stopped after writing {runs}.\n")
    else:
        assert (result.exit_code, result.stderr) == (2, f"The disk is full. Written before: {runs}.\n")


@pytest.mark.parametrize("output", ["> /dev/full", ">&-"])
def test_an_output_that_cannot_be_printed_to(output):
    command = f"{sys.executable} -m truant worlds {output}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    if "full" in output:
        assert (done.returncode, done.stderr) == (2, "Cannot print the result: No space left on device.\n")


def test_compiled_code_is_needed():
    done = subprocess.run(
        [sys.executable, "-m", "truant", *MAR],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "truant runs compiled code only; unset NUMBA_DISABLE_JIT.\n"


@pytest.mark.parametrize(
    ("command", "kind"), [("worlds", "world"), ("assumptions", "assumption"), ("indices", "index")]
)
def test_lists_name_every_part(command, kind):
    rows = json.loads(run(command, "--json").stdout)[command]
    assert [row["name"] for row in rows] == registry.names(kind)
    keys = {"name", "summary", "parameters", "meanings"} | ({"needs"} if kind == "assumption" else set())
    assert all(set(row) == keys and row["summary"] for row in rows)
    lines = run(command).stdout.partition("\n\nParameters:\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == registry.names(kind)
    assert all(row["summary"] in line for row, line in zip(rows, lines, strict=True))


def test_parameters_are_listed_with_their_defaults():
    rows = {row["name"]: row["parameters"] for row in json.loads(run("worlds", "--json").stdout)["worlds"]}
    assert rows["confounded"]["K"] == 5
    assert rows["mar"]["gamma"] == [0.8, 1.0]
    assert "gamma=0.8,1.0" in next(
        line for line in run("worlds").stdout.splitlines() if line.startswith("mar ")
    )


def test_policies_lists_every_combination_and_name():
    rows = {row["name"]: row for row in json.loads(run("policies", "--json").stdout)["policies"]}
    assert sorted(rows) == sorted(policy_names())
    assert all(row["summary"] for row in rows.values())
    own = registry.find("assumption", "mar").parameters | registry.find("index", "epsilon-greedy").parameters
    assert set(rows["mar-epsilon-greedy"]["parameters"]) == {*own, "first_pulls", "follow_up", "budget"}
    unset = dict.fromkeys(("first_pulls", "follow_up", "budget"))
    assert rows["naive-ucb"]["parameters"] == {"alpha": 2.0, **unset}
    listed, explained = run("policies").stdout.split("\n\nParameters:\n")
    assert "first_pulls" not in listed
    assert "\nfirst_pulls " in explained  # once, for all


@pytest.mark.parametrize("command", ["worlds", "policies", "assumptions", "indices"])
def test_every_parameter_is_explained_once(command):
    rows = json.loads(run(command, "--json").stdout)[command]
    explained = run(command).stdout.split("\n\nParameters:\n")[1].split("\n\n")[0].splitlines()
    assert len(explained) == len({line.split()[0] for line in explained})
    assert {line.split()[0] for line in explained} == {name for row in rows for name in row["parameters"]}
    if command == "worlds":  # other packages explain their own, or not at all
        rows = [row for row in rows if row["name"] in registry.built_in_names("world")]
    for row in rows:
        assert list(row["meanings"]) == list(row["parameters"])
        assert all(re.fullmatch(r"[A-Z].*\.", text) for text in row["meanings"].values()), row


def test_one_world_is_shown_in_detail():
    text = run("worlds", "mar").stdout
    assert text.startswith("mar: Missing at random given the mediator")
    assert "Symbols: a arm, M mediator, m one of its K levels, Y outcome" in text  # the description uses them
    assert "\ngamma=0.8,1.0  Probability that an outcome is observed (1: no outcome is missing)" in text
    assert text.endswith("\nTo set one: truant simulate --world mar --set gamma=0.8,1.0\n")
    (row,) = json.loads(run("worlds", "mar", "--json").stdout)["worlds"]
    assert (row["name"], row["meanings"]["arms"]) == ("mar", "Number of arms.")
    assert run("indices", "greedy").stdout.endswith("\nIt has no parameters.\n")


@pytest.mark.parametrize("command", ["worlds", "policies", "assumptions", "indices"])
def test_an_unknown_name_in_a_list_is_refused(command):
    result = run(command, "mra")
    assert result.exit_code == 2
    assert "'mra'" in result.stderr
    assert "Known:" in result.stderr or f"`truant {command}` lists all." in result.stderr


@pytest.mark.parametrize("word", ["missing", "missing_rate", "observed", "p_missing", "missingness", "drop"])
def test_words_for_missingness_point_to_gamma(word):
    result = run("simulate", "--world", "mar", "--set", f"{word}=0.3")
    assert result.exit_code == 2
    assert result.stderr == (
        f"Unknown parameter of world 'mar': '{word}'; the probability that an outcome is observed is gamma: gamma=0.7 "
        "makes 30% of the outcomes missing, gamma=0.5,1.0 draws it from that range. Known: K, arms, gamma, sd.\n"
    )
    with pytest.raises(TruantError, match="the probability that an outcome is observed is gamma"):
        truant.world("mar", **{word: 0.3})
    with pytest.raises(TruantError, match=r"'mnar-hidden': .*\. Known: K, L, arms\.") as error:
        truant.world("mnar-hidden", **{word: 0.3})  # its gamma cannot be set
    assert "it is fixed which outcomes are likely to be missing; `truant worlds mnar-hidden`" in str(
        error.value
    )
    with pytest.raises(TruantError, match=r"30% of the outcomes missing\. Known") as error:
        truant.world("pbc", **{word: 0.3})  # it takes no range
    assert "draws it" not in str(error.value)


def complete(words):
    arguments = words.split(" ")
    result = python(
        "-m",
        "truant",
        _TRUANT_COMPLETE="bash_complete",
        COMP_WORDS=" ".join(["truant", *arguments]),
        COMP_CWORD=str(len(arguments)),
    )
    return [line.removeprefix("plain,") for line in result.stdout.split()]


def test_a_command_that_is_no_more_answers_with_its_successor():
    for options in ([], ["--figure", "mnar", "--quick"], ["--help"]):
        result = run("reproduce", *options)
        assert result.exit_code == 2
        assert "truant reproduce was replaced by python -m research reproduce, in a clone" in result.stderr
    problem = json.loads(run("reproduce", "--json").stderr)
    assert problem["detail"].startswith("truant reproduce was replaced by")


def test_completion_knows_names_and_parameters():
    assert complete("simulate --world conf") == ["confounded"]
    assert {"mar-ucb", "mar-thompson"} <= set(complete("simulate --json --policy mar-"))
    assert set(complete("simulate --policy paper-mnar")) == {"paper-mnar", "paper-mnar-literal"}
    assert complete("simulate --world confounded --set e") == ["eps="]
    assert complete("simulate --world confounded:eps=0.2 --set e") == ["eps="]
    assert complete("simulate --set e") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert f"_TRUANT_COMPLETE={shell}_complete" in result.stdout


def test_completion_finds_the_shell_in_use(monkeypatch):
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert "fish_complete" in run("completion").stdout
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    result = run("completion")
    assert result.exit_code == 2
    assert result.stderr == "The shell must be bash, zsh or fish, got 'tcsh'.\n"


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from truant.cli import cli; cli(['--help'], standalone_mode=False);"
        "heavy = {'numpy', 'numba', 'pandas', 'narwhals', 'altair', 'pyarrow', 'rich'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = python("-c", script)
    assert result.returncode == 0, result.stderr
    assert "Compare policies on simulated outcomes" in result.stdout
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_real_process_refuses_without_a_traceback():
    result = python("-m", "truant", "simulate", "--world", "nowhere")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Unknown world 'nowhere'")
    assert "Traceback" not in result.stderr


def test_version():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert run("--version").stdout == f"truant {project['version']}\n"


def test_same_seed_same_numbers_whatever_the_threads():
    one, two = (json.loads(run(*MAR, "--threads", threads, "--json").stdout) for threads in ("1", "2"))
    means = [[policy["regret"]["mean"] for policy in summary["policies"]] for summary in (one, two)]
    assert means[0] == means[1]
    assert np.all(np.array(means) > 0)


def test_an_option_that_was_removed_says_what_to_do():
    result = run(*MAR, "--log")
    assert result.exit_code == 2
    assert "simulation.chart(log=True)" in result.stderr
