"""What `truant demo --json` prints; docs/schemas is made from these records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truant.demo.parts import Played


@dataclass(frozen=True)
class DemoInterval:
    """A mean of a mail, and its interval."""

    mean: float  # the mean
    low: float  # lower end of the 95% interval
    high: float  # upper end of the 95% interval


@dataclass(frozen=True, kw_only=True)
class DemoMail:
    """A mail in the table."""

    mail: str  # name of the mail
    rows: int  # customers who got it
    observed: int  # customers whose outcome is known
    true_mean: float  # its true mean, known from the simulation
    rows_dropped: DemoInterval  # mean of the rows with an outcome
    set_to_zero: float  # mean if missing outcomes are set to 0
    mar: DemoInterval  # estimate under mar, with the column `opened` as mediator
    follow_up: DemoInterval  # estimate after the follow-ups, without a mediator


@dataclass(frozen=True)
class DemoNames:
    """Which mail each way to treat missing outcomes names."""

    rows_dropped: str  # the mail with the highest mean if rows with a missing outcome are dropped
    set_to_zero: str  # the mail with the highest mean if missing outcomes are set to 0
    mar: str | None  # the mail that is clearly the best under mar; None if there is none
    no_mediator: str | None  # the same without a mediator; None if there is none
    follow_up: str | None  # the same after the follow-ups; None if there is none


@dataclass(frozen=True)
class DemoVerdicts:
    """What the analyses say."""

    mar: str  # with the column `opened` as mediator
    no_mediator: str  # without a mediator
    follow_up: str  # after the follow-ups, without a mediator


@dataclass(frozen=True, kw_only=True)
class DemoTable:
    """The first part of the demo."""

    mails: list[DemoMail]  # the mails
    best: str  # the mail with the highest true mean
    named: DemoNames  # the mail that each way to treat missing outcomes names
    follow_ups: int  # number of follow-ups
    verdicts: DemoVerdicts  # verdicts of the analyses, in words


@dataclass(frozen=True, kw_only=True)
class DemoExperiment:
    """The third part of the demo."""

    experiment: str  # name of the experiment
    store: str  # path of its SQLite file
    decisions: int  # customers who got a mail
    pending: int  # decisions whose window is not over
    observed: int  # outcomes that came in their window
    missing: int  # decisions whose window is over without an outcome
    late: int  # outcomes that came after their window
    shares: dict[str, float]  # probability of each mail for the next customer
    verdict: str  # the verdict in words


@dataclass(frozen=True)
class DemoCommand:
    """A command to try next."""

    purpose: str  # what the command is for
    command: str  # the command


@dataclass(frozen=True, kw_only=True)
class DemoSummary:
    """The main figures of the demo, on simulated mails whose true means are known."""

    schema: ClassVar = "truant/demo/1"
    seed: int  # seed of the table, the simulations and the experiment
    files: list[str]  # paths of the files that were written
    page: str  # path of the page
    table: DemoTable  # part 1: a table with missing outcomes
    policies: list[Played]  # part 2: policies in simulations with the same mails
    live: DemoExperiment  # part 3: a live experiment
    commands: list[DemoCommand]  # the next commands to try
    seconds: float  # time that the three parts took
