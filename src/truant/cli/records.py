"""What `truant which` and the listings print with --json; docs/schemas is made from these records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

from truant.cli.questions import NextCommand


@dataclass(frozen=True)
class PossibleAnswer:
    """An answer to a question of `truant which`."""

    name: str  # name of the answer, as in `--answers`
    text: str  # the answer in words
    leads_to: list[str]  # what comes next: a question, or the assumptions that are possible then


@dataclass(frozen=True)
class AskedQuestion:
    """A question of `truant which`."""

    number: int  # number of the question, from 1
    text: str  # the question
    explanation: str  # what it means, with an example
    answers: list[PossibleAnswer]  # the possible answers


@dataclass(frozen=True, kw_only=True)
class AssumptionChoice:
    """The questions that lead to an assumption, and what the answers lead to."""

    schema: ClassVar = "truant/which/1"
    questions: list[AskedQuestion]  # the questions, in their order
    # the answers that were given; None if none were. The fields that follow are None then, too
    answers: tuple[str, ...] | None = None
    assumption: str | None = None  # name of the assumption that the answers lead to
    note: str | None = None  # what else to know about these answers; empty if nothing
    says: str | None = None  # what the assumption says
    example: str | None = None  # an example in which it holds
    needs: str | None = None  # what the data must have
    check: str | None = None  # how the assumption can be checked
    commands: list[NextCommand]  # the next commands to try; empty without answers


class ListedWorld(TypedDict):
    """A world in its listing."""

    name: str  # name, as in `truant simulate --world NAME`
    summary: str  # what the world is, in one sentence
    parameters: dict[str, Any]  # default value of each parameter, by its name; None if it is computed
    meanings: dict[str, str]  # what each parameter means, in one sentence, by its name


class Worlds(TypedDict):
    """The worlds that can be simulated, with their parameters."""

    worlds: list[ListedWorld]  # one entry for each world
    warnings: list[str]  # one sentence for each world of another package that cannot be used


class ListedPolicy(TypedDict):
    """A policy in its listing."""

    name: str  # name, as in `truant simulate --policy NAME`
    summary: str  # what the policy does, in one sentence
    # default value of each parameter, by its name; None means that the policy uses a number of its own
    parameters: dict[str, Any]
    meanings: dict[str, str]  # what each parameter means, in one sentence, by its name


class Policies(TypedDict):
    """The policies that can be simulated, with their parameters."""

    policies: list[ListedPolicy]  # one entry for each policy
    # one sentence for each policy, assumption or index of another package that cannot be used
    warnings: list[str]


class ListedAssumption(TypedDict):
    """An assumption in its listing."""

    name: str  # name, as in `truant analyze --assume NAME`
    summary: str  # what the assumption says, in one sentence
    needs: str  # what the data must have for an estimate under this assumption
    parameters: dict[str, Any]  # default value of each parameter, by its name
    meanings: dict[str, str]  # what each parameter means, in one sentence, by its name


class Assumptions(TypedDict):
    """The assumptions about why outcomes are missing."""

    assumptions: list[ListedAssumption]  # one entry for each assumption
    warnings: list[str]  # one sentence for each assumption of another package that cannot be used


class ListedIndex(TypedDict):
    """An index in its listing."""

    name: str  # name; a policy is called ASSUMPTION-INDEX, as in `mar-ucb`
    summary: str  # how the index chooses, in one sentence
    parameters: dict[str, Any]  # default value of each parameter, by its name
    meanings: dict[str, str]  # what each parameter means, in one sentence, by its name


class Indices(TypedDict):
    """The rules by which a policy turns estimates into a choice."""

    indices: list[ListedIndex]  # one entry for each index
    warnings: list[str]  # one sentence for each index of another package that cannot be used
