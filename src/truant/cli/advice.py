"""The commands to run next under an assumption."""

from __future__ import annotations

from dataclasses import dataclass

from truant import registry
from truant.assumptions import REFERENCE
from truant.assumptions.follow_up import FOLLOW_UP
from truant.cli.questions import Conclusion


@dataclass(frozen=True)
class NextCommand:
    """A command to copy, and what it is for; words in capitals are to be replaced."""

    purpose: str  # what the command is for
    command: str  # the command


def next_commands(found: Conclusion) -> list[NextCommand]:
    """What to run next: on a table, in an experiment, in a simulation."""
    columns = (
        "DATA.csv --arm ARM" + (" --mediator MEDIATOR" if found.has_mediator else "") + " --outcome OUTCOME"
    )
    levels = " --mediator-levels closed,opened" if found.has_mediator else ""
    plan = f"truant plan {columns} --out follow-up.csv"
    create = f"truant create NAME --arms old,new{levels} --levels 0,1 --assume {found.assumption} --window 7d"
    if found.assumption == FOLLOW_UP:
        return [
            NextCommand("Choose the rows to follow up in a table", plan),
            NextCommand(
                "Analyse the table once CALLED marks the rows that were followed up",
                f"truant analyze {columns} --followed-up CALLED --assume follow-up",
            ),
            NextCommand("Run an experiment", create),
            NextCommand(
                "Choose decisions of the experiment to follow up",
                "truant follow-up NAME --n 20 --out follow-up.csv",
            ),
            NextCommand(
                "Try it in a simulation",
                "truant simulate --world mediator-and-outcome --follow-up-cost 0.05 "
                "--policy naive-ucb --policy follow-up-ucb",
            ),
        ]
    world = found.assumption if found.assumption in registry.names("world") else REFERENCE
    return [
        NextCommand("Analyse a table", f"truant analyze {columns} --assume {found.assumption}"),
        NextCommand("Choose rows to follow up, to check the assumption", plan),
        NextCommand("Run an experiment", create),
        NextCommand(
            "Try it in a simulation",
            f"truant simulate --world {world} --policy naive-ucb --policy {found.assumption}-ucb",
        ),
    ]
