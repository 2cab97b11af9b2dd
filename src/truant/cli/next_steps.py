"""What to do next, as commands with the user's own file and columns."""

from __future__ import annotations

import shlex
from typing import Any

from truant.cli.table_questions import shown_data
from truant.logs.question import PlanQuestion, Question
from truant.questions import options

MARK = "followed_up"  # a column that the user adds
FIRST = ("arm", "mediator", "outcome")
OWN = {"level", "followed_up", "failed_follow_ups"}  # of one command, though both have such an option


def table_command(command: str, data: str, question: Question | PlanQuestion, *more: str) -> str:
    """`truant COMMAND DATA --arm ...` with what another command was given about the same table, quoted for a shell."""
    known = {name: one for name, one in options(Question).items() if name in options(PlanQuestion)}
    # flags last
    shared = sorted(known, key=lambda name: known[name].kind == "flag")
    given = question.given()
    words = ["truant", command, shown_data(data)]
    for name in FIRST:
        words += _option(name, given[name]) if name in given else []
    words += more
    for name in shared:
        if name in given and name not in (*FIRST, *OWN):
            words += _option(name, given[name])
    return shlex.join(words)


def calls_steps(data: str, question: PlanQuestion, listed: str) -> list[str]:
    """What to do with the list of a plan, up to the analysis."""
    earlier, outcome = question.followed_up, question.outcome
    mark = earlier or MARK
    column = f"yes into column {mark!r}" if earlier else f"yes into a new column {mark!r}"
    failures = question.failed_follow_ups
    more = [] if failures is None else _option("failed_follow_ups", failures)
    command = table_command("analyze", data, question, *_option("followed_up", mark), *more)
    needs_range = (
        ""
        if question.range is not None or failures is not None
        else " (if a call fails, add --range LOW,HIGH: the lowest and highest possible outcome)"
    )
    return [
        f"Call the rows of {listed} in this order.",
        f"In your table, write each answer into column {outcome!r}, and {column} for every row that you called. If "
        "nobody answered, write yes as well and leave the outcome empty.",
        f"Then: {command}{needs_range}",
    ]


def _option(name: str, value: Any) -> list[str]:
    """An option and its value; one that begins with a hyphen must not be read as another option."""
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option]
    if options(Question)[name].several:
        return [
            word for one in ([value] if isinstance(value, str) else value) for word in _typed(option, one)
        ]
    if isinstance(value, str):
        return _typed(option, value)
    values = value if isinstance(value, list | tuple) else [value]
    text = ",".join(one if isinstance(one, str) else f"{one:.15g}" for one in values)
    return _typed(option, text)


def _typed(option: str, text: str) -> list[str]:
    return [f"{option}={text}"] if text.startswith("-") else [option, text]
