"""`truant which` and docs/assumptions.md: the same questions, each way ends in an assumption, and its commands run."""

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from research.assumption_graphs import drawn, file_name, svg

from truant import registry
from truant.cli import cli
from truant.cli import which as command
from truant.cli.questions import (
    WORDS,
    advice_on,
    assumptions_reached,
    conclude,
    next_commands,
    paths,
    questions,
    targets,
)
from truant.errors import InvalidValue

ROOT = Path(__file__).parents[1]
WAITING = {"0", "7", "23", "63", "72", "73", "270"}  # numbers of read, poll and select, on x86 and ARM
PAGE = " ".join((ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8").split())
WAYS = {  # answers, and where they must lead
    "yes": "mcar",
    "no,no": "follow-up",
    "unknown,no": "follow-up",
    "no,yes,no,yes": "mar",
    "unknown,yes,no,yes": "mar",
    "no,yes,unknown": "follow-up",
    "no,yes,no,no,accident": "mediator-mar",
    "no,yes,no,no,value": "mediator-mnar",
    "no,yes,no,no,other": "follow-up",
    "no,yes,no,no,unknown": "follow-up",
    "no,yes,yes,yes": "follow-up",
    "no,yes,yes,unknown": "follow-up",
    "no,yes,yes,no,yes": "mnar",
    "no,yes,yes,no,no,accident": "both-mnar",
    "no,yes,yes,no,no,value": "both-mnar",
    "no,yes,yes,no,no,other": "follow-up",
    "no,yes,yes,no,no,unknown": "follow-up",
}
# of each assumption a way, and of follow-up one with and one without a mediator
RUN = ["yes", "no,no", "no,yes,no,yes", "no,yes,yes,no,yes", "no,yes,unknown"]
RUN += ["no,yes,no,no,accident", "no,yes,no,no,value", "no,yes,yes,no,no,value"]
SMALL = {
    "simulate": ["--horizon", "100", "--runs", "1"],
    "plan": ["--budget", "20"],
}  # sizes that take no time


def run(*arguments, **options):
    return CliRunner().invoke(cli, ["which", *arguments], prog_name="truant", **options)


@pytest.mark.parametrize("answers", WAYS)
def test_answers_lead_to_the_assumption(answers):
    found = conclude(answers.split(","))
    assert found.assumption == WAYS[answers]
    assert found.has_mediator == (answers.split(",")[1:2] == ["yes"])


def test_every_way_is_among_them_and_ends_in_a_registered_assumption():
    ways = {",".join(answer.name for answer in path): path[-1].leads_to for path in paths()}
    unknown_first = {way.replace("no,", "unknown,", 1): end for way, end in WAYS.items() if way[:3] == "no,"}
    assert ways == {**WAYS, **unknown_first}
    assert set(ways.values()) == set(assumptions_reached())
    # mar-known is mar with the mediator's distribution given
    assert set(ways.values()) == set(registry.built_in_names("assumption")) - {"mar-known"}


def test_numbers_answer_as_names_do():
    assert conclude(["2", " YES ", "2", "1"]).answers == ("no", "yes", "no", "yes")


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ("no,perhaps", "The answer to question 2 must be yes or no, got 'perhaps'."),
        ("4", "The answer to question 1 must be yes, no or unknown, got '4'."),
        (
            "yes,yes",
            "The answers must end where they lead to an assumption, which is mcar after 1 answer; got 2, ",
        ),
        ("no,no,yes,yes", "which is follow-up after 2 answers; got 4, leave out the others."),
        ("no", "got 1 answer; go on with question 2, 'Did you record a mediator"),
        (
            "",
            "got 0 answers; go on with question 1, 'Are outcomes missing only by accident?': yes, no or unknown.",
        ),
    ],
)
def test_answers_that_do_not_fit_are_refused(answers, sentence):
    result = run("--answers", answers)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    with pytest.raises(InvalidValue):
        conclude([answer for answer in answers.split(",") if answer])
    problem = run("--answers", answers, "--json")
    assert json.loads(problem.stderr)["detail"] == result.stderr.strip()


@pytest.mark.parametrize("answers", RUN)
def test_the_printed_commands_run(answers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["ARM,MEDIATOR,OUTCOME,CALLED"]
    for i in range(400):
        arm, opened = "ab"[i % 2], (i // 2) % 2
        outcome = int((i * 7) % 10 < 3 + 4 * opened)
        called = i % 5 == 0 and i % 3 == 0
        missing = i % 5 == 0 and not called
        rows.append(
            f"{arm},{'' if i % 11 == 0 else opened},{'' if missing else outcome},{'yes' if called else 'no'}"
        )
    Path("DATA.csv").write_text("\n".join(rows) + "\n")
    printed = run("--answers", answers).stdout
    found = conclude(answers.split(","))
    commands = [one.command for one in next_commands(found)]
    assert len(commands) >= 4
    for line in commands:
        assert f"    {line}\n" in printed
        name, *arguments = shlex.split(line)[1:]
        result = CliRunner().invoke(cli, [name, *arguments, *SMALL.get(name, ())])
        assert result.exit_code == 0, f"{line}: {result.output}"
    assert f"truant which --answers {answers}\n" in printed
    assert f"\nAssumption: {found.assumption}\n" in printed


def test_json_has_questions_and_what_the_answers_lead_to():
    found = json.loads(run("--answers", "2,1,2,1", "--json").stdout)
    assert found["schema"] == "truant/which/1"
    assert found["assumption"] == "mar"
    assert found["answers"] == ["no", "yes", "no", "yes"]
    assert found["needs"] == advice_on("mar").needs
    assert [one["command"] for one in found["commands"]] == [
        one.command for one in next_commands(conclude(found["answers"]))
    ]
    empty = json.loads(run("--json").stdout)
    assert list(empty) == list(found)
    assert empty["questions"] == found["questions"]
    assert empty["assumption"] is None
    assert empty["commands"] == []


def test_without_a_terminal_the_questions_are_printed_and_nothing_is_asked():
    result = run(input="yes\n")
    assert result.exit_code == 0
    for question in questions():
        assert f"{question.number}. {question.text}" in result.stdout
    assert "Assumption:" not in result.stdout
    example = re.search(r"truant which --answers (\S+)", result.stdout)
    assert run("--answers", example[1]).exit_code == 0


@pytest.fixture
def person(monkeypatch):
    """Somebody who can be asked."""
    monkeypatch.setattr(command, "_has_person", lambda: True)


@pytest.mark.usefixtures("person")
def test_questions_are_asked_explained_and_asked_again():
    result = run(input="no\n?\nperhaps\n1\n2\nyes\n")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("2. Did you record a mediator") == 3  # once more after ? and after "perhaps"
    assert questions()[1].explanation in result.stdout
    assert "The answer to question 2 must be yes or no, got 'perhaps'." in result.stdout
    assert "\nAssumption: mar\n" in result.stdout
    assert "truant which --answers no,yes,no,yes" in result.stdout


@pytest.mark.usefixtures("person")
def test_the_end_of_the_input_stops_politely():
    result = run(input="no\n")
    assert result.exit_code == 130
    assert "Stopped before the last question; run `truant which` to start again." in result.stderr
    assert "Traceback" not in result.output


# tests may run where Ctrl-C is ignored, as it is in the background of a shell
INTERRUPTIBLE = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("truant", run_name="__main__", alter_sys=True)
"""


def test_in_a_real_terminal_it_asks_and_ctrl_c_stops():
    leader, follower = pty.openpty()
    asked = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "which"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=os.environ | {"COLUMNS": "60"},
        start_new_session=True,  # signals to the group of the tests do not reach it
    )
    os.close(follower)
    shown = _until(leader, b"?): ")
    os.write(leader, b"no\n")
    shown += _until(leader, b"?): ")
    _until_it_waits(asked)
    asked.send_signal(signal.SIGINT)
    shown += _until(leader, b"start again.")
    assert asked.wait(timeout=30) == 130
    os.close(leader)
    text = shown.decode().replace("\r\n", "\n")
    assert "1. Are outcomes missing only by accident?\n" in text
    assert "\n2. Did you record a mediator" in text
    assert max(map(len, text.partition("Stopped")[0].splitlines())) <= 80


def _until_it_waits(process):
    """Until it reads its input: just before, Python notes a signal and then reads all the same."""
    called = Path(f"/proc/{process.pid}/syscall")
    if not called.exists():  # not on Linux
        time.sleep(1)
        return
    while called.read_text().split()[0] not in WAITING:
        time.sleep(0.001)


def _until(leader, end):
    shown = b""
    while end not in shown:
        assert select.select([leader], [], [], 30)[0], shown
        try:
            shown += os.read(leader, 4096)
        except OSError:  # nobody has the terminal open any more
            raise AssertionError(f"The command has ended: {shown.decode()}") from None
    return shown


@pytest.mark.parametrize("question", questions(), ids=lambda question: str(question.number))
def test_the_page_has_the_questions_and_where_each_answer_leads(question):
    start = f"### {question.number}. {question.text} {question.explanation} - "
    assert start in PAGE
    section = PAGE.partition(start)[2].partition("###")[0]
    bullets = ["**" + bullet for bullet in re.split(r"(?:^|- )\*\*", section) if bullet]
    assert len(bullets) == len(question.answers)
    for bullet, answer in zip(bullets, question.answers, strict=True):
        text, _, leads = bullet.partition(" → ")
        assert text == f"**{answer.name}**: {answer.text}"
        ends = targets(question.number, answer.name)
        assert re.findall(r"\(#([a-z-]+)\)|^(question \d)", leads) == [
            ("", end) if end.startswith("question") else (end, "") for end in ends
        ]
        assert answer.note in leads


@pytest.mark.parametrize("name", assumptions_reached())
def test_the_page_says_of_each_assumption_what_the_command_says_and_shows_its_graph(name):
    advice, image = advice_on(name), f"![{drawn(name).alternative}](images/{file_name(name)})"
    section = f"### {name} {advice.says} {image} - Example: {advice.example} - Needs: {advice.needs} "
    section += f"- Check: {advice.check}"
    assert section in PAGE
    assert (ROOT / "docs" / "images" / file_name(name)).read_text(encoding="utf-8") == svg(drawn(name)), (
        "run python -m research.assumption_graphs"
    )


def test_the_page_defines_its_words_and_names_the_command():
    for word, meaning in WORDS.items():
        assert f"- **{word}**: {meaning}." in PAGE
    assert "`truant which`" in PAGE


def test_each_drawing_has_a_legend_for_what_it_shows():
    for name in assumptions_reached():
        forbidden = registry.find("assumption", name).build().forbids
        text = svg(drawn(name))
        assert text.count('class="cross"') == (len(forbidden) + 1 if forbidden else 0)  # one in the legend
        assert ("ruled out by assumption" in text) == bool(forbidden)
        assert "prefers-color-scheme: dark" in text
