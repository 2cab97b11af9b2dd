"""Help: whole sentences under headings that say what a person wants to do, and examples that can be typed."""

import re
import shlex

import click
import pytest
from click.testing import CliRunner

from truant.cli import cli
from truant.cli.base import OTHERS, SECTIONS

PLACED = [name for names in SECTIONS.values() for name in names]
COMMANDS = {name: command for name, command in cli.commands.items() if not isinstance(command, click.Group)}
COMMANDS |= {
    f"{name} {part}": command
    for name, group in cli.commands.items()
    if isinstance(group, click.Group)
    for part, command in group.commands.items()
}


def help_of(*words, columns=80):
    result = CliRunner().invoke(
        cli, [*words, "--help"], env={"COLUMNS": str(columns)}, terminal_width=columns
    )
    assert result.exit_code == 0
    return result.stdout


def test_each_command_has_one_section():
    assert len(PLACED) == len(set(PLACED))
    assert set(cli.commands) <= set(PLACED)
    assert f"{OTHERS}:" not in help_of().splitlines()


@pytest.mark.parametrize("columns", [80, 100])
def test_each_command_is_one_line_with_a_whole_sentence(columns):
    lines = help_of(columns=columns).splitlines()
    for name in cli.commands:
        (line,) = [line for line in lines if line.startswith(f"  {name} ")]
        assert re.fullmatch(rf"  {name} +[A-Z].*[^.]\.", line), line
        assert len(line) <= columns


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_explained_in_a_sentence(name):
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            text = re.sub(r"\s+\[default: [^]]*\]$", "", parameter.help or "")
            assert re.fullmatch(r"[A-Z0-9].*[^.]\.", text), f"{parameter.opts[0]}: {parameter.help}"


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_the_terminal(name, columns):
    assert max(map(len, help_of(*name.split(), columns=columns).splitlines())) <= columns


def examples_of(command):
    return [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  truant ")]


@pytest.mark.parametrize("name", ["analyze", "plan", "simulate", "create", "tell"])
def test_examples_can_be_typed(name):
    examples = examples_of(COMMANDS[name])
    assert len(examples) >= 2
    for example in examples:
        program, command, *arguments = shlex.split(example)
        assert (program, command) == ("truant", name)
        COMMANDS[name].make_context(name, arguments)  # raises for what it does not take
        assert f"  {example}\n" in help_of(name)  # in a line of its own


OTHER_OUTPUTS = {"sweep", "backup", "demo"}  # folders, and the file of a store


def option_of(name, option):
    return next((one for one in COMMANDS[name].params if option in one.opts), None)


@pytest.mark.parametrize("name", [name for name in COMMANDS if option_of(name, "--out")])
def test_every_table_has_the_same_endings(name):
    if name not in OTHER_OUTPUTS:
        assert option_of(name, "--out").help.endswith(": .csv or .parquet.")


@pytest.mark.parametrize("name", [name for name in COMMANDS if option_of(name, "--html")])
def test_every_page_has_the_same_ending(name):
    assert option_of(name, "--html").help.endswith(": .html.")


REQUIRED = {
    "simulate": ["--world", "mar"],
    "rehearse": ["--world", "mar"],
    "analyze": ["rows.csv", "--arm", "a", "--outcome", "y"],
    "plan": ["rows.csv", "--arm", "a", "--outcome", "y"],
    "follow-up": ["mails"],
    "status": ["mails"],
}


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize(
    ("option", "file", "endings"),
    [("--out", "rows.xlsx", ".csv or .parquet"), ("--html", "page.pdf", ".html")],
)
def test_every_command_refuses_other_endings_alike(name, option, file, endings):
    if option_of(name, option) is None:
        return
    result = CliRunner().invoke(cli, [name, *REQUIRED[name], option, file])
    assert result.exit_code == 2
    assert result.stderr == f"The file name must end in {endings}, got '{file}'.\n"
