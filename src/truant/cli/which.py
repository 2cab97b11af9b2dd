"""`truant which`: questions that lead to an assumption, and the next commands."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from truant.cli.base import as_json, cli, examples, exit_stopped, is_terminal, print_document, say
from truant.envelope import plain
from truant.errors import InvalidValue

if TYPE_CHECKING:  # it takes compiled code to know the assumptions
    from truant.cli.questions import Conclusion, NextCommand, WhichQuestion
    from truant.cli.records import AssumptionChoice

WIDEST = 100  # columns of a paragraph in a terminal
HOW = "For example: truant which --answers no,yes,no,yes"


@cli.command(epilog=examples("truant which", "truant which --answers no,yes,no,yes"))
@click.option(
    "--answers",
    metavar="no,yes,...",
    help="The answers in the order of the questions, by name or number, instead of being asked.",
)
@as_json
def which(answers: str | None, as_json: bool) -> None:
    """Find the assumption that fits your data by a few questions.

    At most six questions are asked; then the next commands are printed. Without a terminal and without --answers the
    questions are printed. With --json nothing is asked.
    """
    from truant.cli.questions import conclude, next_commands

    given = None if answers is None else [answer for answer in answers.split(",") if answer.strip()]
    if given is None and not as_json and _has_person():
        _introduce("A number or a word answers a question, ? explains it, Ctrl-C stops.")
        given = _asked()
    found = None if given is None else conclude(given)
    if as_json:
        print_document(plain(_choice(found)))
    elif found is None:
        _list_questions()
    else:
        _show(found, next_commands(found))


def _has_person() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and is_terminal()


def _asked() -> list[str]:
    """Ask one question after the other, until there is an assumption."""
    from truant.cli.questions import WhichQuestion, first_question

    step: WhichQuestion | str = first_question()
    given: list[str] = []
    while isinstance(step, WhichQuestion):
        _show_question(step, number=len(given) + 1)
        try:
            text = click.prompt(f"Answer (1 to {len(step.answers)}, ?)", prompt_suffix=": ").strip()
        except click.Abort:  # Ctrl-C, or the end of the input
            click.echo()
            exit_stopped("Stopped before the last question; run `truant which` to start again.")
        if text == "?":
            _paragraph(step.explanation, "   ")
            continue
        try:
            answer = step.answer(text)
        except InvalidValue as error:
            say(str(error))
            continue
        given.append(answer.name)
        step = answer.leads_to
    return given


def _introduce(how: str) -> None:
    from truant.cli.questions import WORDS

    click.echo("Why are outcomes missing? These questions lead to an assumption.")
    click.echo(how)
    for word, meaning in WORDS.items():
        _paragraph(f"{word}: {meaning}", "  ")


def _list_questions() -> None:
    from truant.cli.questions import first_question, questions, targets

    _introduce("In a terminal, `truant which` asks them one by one; --answers gives the answers at once.")
    first = first_question()
    for question in questions(first):
        leads = [" or ".join(targets(question.number, answer.name, first)) for answer in question.answers]
        _show_question(question, leads)
    click.echo(
        "\nQuestions 5 and 6 lead to the first of two if you answered no to question 3, else to the second."
    )
    click.echo(f"\n{HOW}")


def _show_question(question: WhichQuestion, leads: Sequence[str] = (), number: int | None = None) -> None:
    """The question and its answers, with where each leads if that is to be said; numbered as asked, or in the list."""
    click.echo()
    _paragraph(f"{number or question.number}. {question.text}", "", "   ")
    width = max(len(answer.name) for answer in question.answers)
    for i, answer in enumerate(question.answers):
        lead = f"  -> {leads[i]}" if leads else ""
        _paragraph(f"{i + 1}  {answer.name:<{width}}  {answer.text}{lead}", "   ", " " * (8 + width))


def _show(found: Conclusion, commands: list[NextCommand]) -> None:
    from truant.cli.questions import advice_on

    advice = advice_on(found.assumption)
    click.echo(f"\nAssumption: {found.assumption}")
    for heading, text in (
        ("Why", " ".join(filter(None, (found.note, advice.says)))),
        ("Example", advice.example),
        ("Needs", advice.needs),
        ("Check", advice.check),
    ):
        if text:
            _paragraph(f"{heading}: {text}", "", "  ")
    click.echo("\nNext commands (replace the words in capitals and the names of arms and levels):")
    for one in commands:  # not wrapped: they are copied
        click.echo(f"  {one.purpose}:\n    {one.command}")
    click.echo(f"\nYour answers again: truant which --answers {','.join(found.answers)}")


def _paragraph(text: str, first: str = "", others: str | None = None) -> None:
    """Print a text, wrapped where a person reads it and in one line elsewhere."""
    if not is_terminal():
        click.echo(first + text)
        return
    width = min(shutil.get_terminal_size().columns, WIDEST)
    rest = first if others is None else others
    # names of options and commands have hyphens, and are not broken there
    click.echo(
        textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    )


def _choice(found: Conclusion | None) -> AssumptionChoice:
    """The questions, and what the answers lead to (None where there are none)."""
    from truant.cli.questions import advice_on, first_question, next_commands, questions, targets
    from truant.cli.records import AskedQuestion, AssumptionChoice, PossibleAnswer

    first = first_question()
    asked = []
    for question in questions(first):
        answers = [
            PossibleAnswer(answer.name, answer.text, targets(question.number, answer.name, first))
            for answer in question.answers
        ]
        asked.append(AskedQuestion(question.number, question.text, question.explanation, answers))
    if found is None:
        return AssumptionChoice(questions=asked, commands=[])
    return AssumptionChoice(
        questions=asked,
        answers=found.answers,
        assumption=found.assumption,
        note=found.note,
        **vars(advice_on(found.assumption)),
        commands=next_commands(found),
    )
