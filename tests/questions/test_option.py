"""A question is stated once: keywords, their documentation and click options come from its fields."""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY, dataclass

import click
import pytest
from click.testing import CliRunner

from truant.cli.question_options import question_options
from truant.questions import ask, asked, described, keywords, options


@dataclass(frozen=True)
class Tea:
    """What is asked of a kettle."""

    leaf: str = ask(help="Kind of leaf.")
    _: KW_ONLY
    cups: int = ask(1, help="Number of cups; see {milk_first}.", metavar="N")
    milk_first: bool = ask(False, help="Pour milk before {leaf}.")
    plain: bool = ask(True, help="Add sugar.", python="without sugar.", flags=("--sugar",))
    note: str | None = ask(None, python="what nobody types.", flags=())


@asked(Tea)
def brew(tea: Tea) -> Tea:
    """Brew.

    Parameters
    ----------
    {fields}
    """
    return tea


@keywords(Tea, leaving=["leaf"])
def pour(cup: str, **settings: object) -> None:
    """Pour.

    Parameters
    ----------
    cup : where to.
    {fields}
    """


def test_a_function_has_the_keywords_of_its_question():
    assert brew("green", cups=2) == Tea("green", cups=2)
    assert inspect.signature(brew) == inspect.signature(Tea).replace(return_annotation="Tea")
    assert list(inspect.signature(brew).parameters) == list(options(Tea))
    assert list(inspect.signature(pour).parameters) == ["cup", "cups", "milk_first", "plain", "note"]
    with pytest.raises(TypeError, match="spoons"):
        brew("green", spoons=1)


def test_a_function_describes_its_keywords():
    assert "    cups : Number of cups; see `milk_first`.\n    milk_first : Pour milk" in brew.__doc__
    assert "leaf :" not in pour.__doc__
    assert described(Tea).splitlines()[-2:] == ["plain : without sugar.", "note : what nobody types."]


def command(**settings):
    @click.command()
    @question_options(Tea, **settings)
    def run(**given):
        click.echo(given)

    return run


def printed(*words, **settings):
    result = CliRunner().invoke(command(**settings), words)
    return result.output


def test_a_command_has_the_options_of_its_question():
    assert "'cups': 1, 'milk_first': False, 'plain': True" in printed("--leaf", "green")
    assert "'cups': 2, 'milk_first': True, 'plain': False" in printed(
        "--leaf", "green", "--cups", "2", "--milk-first", "--sugar"
    )
    assert "note" not in printed("--leaf", "green")
    assert "Missing option '--leaf'" in printed()
    text = printed("--help")
    assert "--cups N" in text
    assert "Number of cups; see --milk-first." in " ".join(text.split())


def test_a_command_may_have_some_of_them_without_defaults():
    assert printed(only=["cups"], defaults=False).strip() == "{'cups': None}"
