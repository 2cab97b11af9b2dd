"""What is asked of a table: keywords, options, the stub and the file come from one statement."""

import inspect
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from research.reference.stub import STUB, stub

import truant
from truant.cli import cli
from truant.errors import InvalidValue, UnknownName
from truant.logs.question import PlanQuestion, Question
from truant.logs.question_file import read_question, save_question
from truant.questions import options

ROWS = {
    "mail": ["a", "b"] * 30,
    "spent": [1.0, None, 2.0, 3.0, 5.0, 2.5] * 10,
    "opened": ["yes", "no", "yes"] * 20,
}
ASKED = {"arm": "mail", "outcome": "spent"}


def run(*words):
    return CliRunner().invoke(cli, list(words))


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["mail,spent,opened"]
    lines += [f"{a},{'' if y is None else y},{m}" for a, y, m in zip(*ROWS.values(), strict=True)]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    return "t.csv"


def test_no_other_list_of_the_fields():
    source = Path(truant.__file__).parent
    files = [path for path in source.rglob("*.py") if "only_missing_values" in path.read_text()]
    assert len(files) <= 4


def test_the_stub_is_current():
    assert STUB.read_text(encoding="utf-8") == stub(), "run python -m research.reference"


@pytest.mark.parametrize(("function", "kind"), [(truant.analyze, Question), (truant.plan, PlanQuestion)])
def test_keywords_and_options_are_the_fields(function, kind):
    known = options(kind)
    assert set(known) <= set(inspect.signature(function).parameters)
    command = cli.commands[function.__name__]
    assert {name for name, one in known.items() if one.flags != ()} <= {one.name for one in command.params}
    described = re.findall(r"^ +(\w+) : ", inspect.cleandoc(function.__doc__), re.MULTILINE)
    assert set(known) <= {
        *described,
        *re.findall(r"^(\w+) : ", inspect.cleandoc(function.__doc__), re.MULTILINE),
    }


def test_an_unknown_keyword_and_one_that_is_needed():
    with pytest.raises(UnknownName, match="did you mean 'mediator'"):
        truant.analyze(ROWS, **ASKED, mediatr="opened")
    with pytest.raises(InvalidValue, match=r"truant\.plan needs outcome: the column with the outcome"):
        truant.plan(ROWS, arm="mail")


def test_what_was_given():
    assert Question(**ASKED).given() == ASKED
    assert Question(**ASKED, mediator=[], level=0.95, minimize=False, range=None).given() == ASKED
    more = {"mediator": ["opened"], "level": 0.9, "minimize": True, "missing_values": ["-99"]}
    assert Question(**ASKED, **more).given() == ASKED | more


def test_a_question_is_saved_and_read(table):
    options = [
        "--arm",
        "mail",
        "--outcome",
        "spent",
        "--mediator",
        "opened",
        "--range",
        "0,10",
        "--missing-values",
    ]
    options += ["-99,?", "--where", "opened <> 'x\"y'", "--cut-outcome", "2", "--level", ".9", "--minimize"]
    first = run("analyze", table, *options, "--json", "--save-question", "monthly.toml")
    assert first.exit_code == 0, first.stderr
    assert "Wrote monthly.toml" in first.stderr
    assert read_question("monthly.toml", Question)["missing_values"] == ["-99", "?"]
    assert run("analyze", "--question", "monthly.toml", "--json").stdout == first.stdout
    again = truant.analyze(table, question="monthly.toml")
    assert json.loads(json.dumps(again.summary())) == json.loads(first.stdout)
    other = run("analyze", "--question", "monthly.toml", "--level", ".8", "--mediator", "opened", "--json")
    assert json.loads(other.stdout)["level"] == 0.8
    assert truant.analyze(table, question=Path("monthly.toml"), level=0.7).level == 0.7


def test_a_plan_is_asked_from_a_file(table):
    Path("plan.toml").write_text('data = "t.csv"\narm = "mail"\noutcome = "spent"\nbudget = 7\n')
    found = run("plan", "--question", "plan.toml", "--json")
    assert json.loads(found.stdout)["follow_ups"] == 7
    assert truant.plan(table, question="plan.toml").follow_ups == 7


def test_an_option_is_still_needed(table):
    Path("part.toml").write_text('arm = "mail"\n')
    found = run("analyze", table, "--question", "part.toml")
    assert found.exit_code == 2
    assert "Missing option '--outcome'" in found.stderr
    assert "Missing argument 'DATA'" in run("analyze", "--question", "part.toml", "--outcome", "spent").stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('mediatr = "opened"', "q.toml: Unknown key of a question 'mediatr'; did you mean 'mediator'?"),
        ("missing-values = []", "did you mean 'missing_values'?"),
        ('level = "high"', "q.toml: level must be a number, got 'high'."),
        ("minimize = 1", "q.toml: minimize must be true or false, got 1."),
        ('range = "0,1"', "q.toml: range must be a list of numbers, got '0,1'."),
        ("range = [3, 1]", "q.toml: range must be two numbers, low < high, got [3, 1]."),
        ("mediator = [1]", "q.toml: mediator must be a text or a list of texts, got [1]."),
        ('collected = "fix"', "q.toml: Unknown way of collecting 'fix'; did you mean 'fixed'?"),
        ("data = 3", "q.toml: Unknown key of a question 'data'"),
        ('table = "x"', "q.toml: Unknown key of a question 'table'"),
        ("arm = ", "Cannot read the question 'q.toml': Invalid value"),
    ],
)
def test_errors_name_the_file_and_the_key(text, words, table):
    Path("q.toml").write_text(f'{text}\noutcome = "spent"\n')
    found = run("analyze", table, "--question", "q.toml", "--arm", "mail")
    assert (found.exit_code, found.stdout) == (2, "")
    assert words in found.stderr
    with pytest.raises((InvalidValue, UnknownName)) as error:
        truant.analyze(table, question="q.toml", arm="mail")
    assert words in str(error.value)


def test_a_file_that_is_not_there():
    assert (
        "Cannot read the question 'no.toml': No such file"
        in run("analyze", "t.csv", "--question", "no.toml").stderr
    )


def test_values_are_written_as_toml(tmp_path):
    asked = {
        "arm": 'a "quoted" \\ name\x7f\n',
        "value": {"a b": 0.5, "c": 1},
        "range": (-1e30, 0.1),
        "levels": [0.0, 1.0],
        "minimize": True,
        "control": 3,
        "outcome": "é",
    }
    path = save_question(asked, tmp_path / "q.toml")
    found = read_question(path, Question)
    assert found == asked | {"range": [-1e30, 0.1]}


def test_a_password_is_not_kept(tmp_path, monkeypatch):
    from truant.cli.tables import save_question_file

    path = save_question_file("postgresql://me:secret@host/db::t", ASKED, str(tmp_path / "q.toml"))
    assert "secret" not in path.read_text()
