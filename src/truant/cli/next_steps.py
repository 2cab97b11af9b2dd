"""What to do next, as commands with the user's own file and columns."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from truant.logs.databases import is_url
from truant.logs.servers import without_password

MARK = "followed_up"  # a column that the user adds
# options of `plan` and `analyze` that say how the table is read, by their parameter
READING = {
    "observed": "--observed",
    "range_": "--range",
    "levels": "--levels",
    "missing_values": "--missing-values",
    "only_missing_values": "--only-missing-values",
    "encoding": "--encoding",
}
FLAGS = ("minimize", "partitioned")


def table_command(command: str, given: Mapping[str, Any], *more: str) -> str:
    """`truant COMMAND DATA --arm ...` with what another command was given about the same table, quoted for a shell."""
    data = str(given["data"])
    data = without_password(data) if is_url(data) else data
    words = ["truant", command, data, *_option("--arm", given["arm"])]
    for name in given["mediator"]:
        words += _option("--mediator", name)
    words += [*_option("--outcome", given["outcome"]), *more]
    for name, option in READING.items():
        if given.get(name) is not None:
            words += _option(option, _text(given[name]))
    for condition in given["filter"]:
        words += _option("--filter", condition)
    if given["decimal"] != ".":
        words += ["--decimal", given["decimal"]]
    words += [f"--{name}" for name in FLAGS if given[name]]
    return shlex.join(words)


def follow_up_command(given: Mapping[str, Any]) -> str:
    """`truant plan` for a table that was analyzed."""
    return table_command("plan", given)


def calls_steps(given: Mapping[str, Any], listed: str) -> list[str]:
    """What to do with the list of a plan, up to the analysis."""
    earlier, outcome = given["followed_up"], given["outcome"]
    mark = earlier or MARK
    column = f"yes into column {mark!r}" if earlier else f"yes into a new column {mark!r}"
    failures = _given(given, "failed_follow_ups", "--failed-follow-ups")
    command = table_command("analyze", given, *_option("--followed-up", mark), *failures)
    bounded = given["range_"] is not None or failures
    needs_range = (
        "" if bounded else " (if a call fails, add --range LOW,HIGH: the lowest and highest possible outcome)"
    )
    return [
        f"Call the rows of {listed} in this order.",
        f"In your table, write each answer into column {outcome!r}, and {column} for every row that you called. If "
        "nobody answered, write yes as well and leave the outcome empty.",
        f"Then: {command}{needs_range}",
    ]


def _given(given: Mapping[str, Any], name: str, option: str) -> list[str]:
    return [] if given[name] is None else _option(option, given[name])


def _option(option: str, value: str) -> list[str]:
    """An option and its value; one that begins with a hyphen must not be read as another option."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def _text(value: str | Sequence[float]) -> str:
    return value if isinstance(value, str) else ",".join(f"{number:.15g}" for number in value)
