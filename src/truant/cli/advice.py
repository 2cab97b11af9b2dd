"""What to know of an assumption before using it, and the commands that use it."""

from __future__ import annotations

from dataclasses import dataclass

from truant.cli.questions import FOLLOW_UP, Conclusion


@dataclass(frozen=True)
class Advice:
    """What an assumption says, an everyday example, what the data must have, and how it can be checked."""

    says: str
    example: str
    needs: str
    check: str


@dataclass(frozen=True)
class NextCommand:
    """A command to copy, and what it is for; words in capitals are to be replaced."""

    purpose: str
    command: str


BY_FOLLOW_UPS = "Follow up some missing outcomes: the follow-ups test it."

ADVICE = {
    "mcar": Advice(
        "Within an arm, outcomes are missing by accident: whether one is observed depends on neither the mediator "
        "nor the outcome.",
        "The server that records purchases was down for two hours. A laboratory lost a box of blood samples.",
        "An observed outcome in each arm.",
        "If you have a mediator, give it to `truant analyze` with `--mediator`: the data can then contradict mcar. "
        "Or follow up some missing outcomes.",
    ),
    "mar": Advice(
        "Whether an outcome is observed may depend on the arm and the mediator. Given these, it does not depend on "
        "the outcome itself.",
        "Customers who did not open the mail seldom answer the survey. Among those who opened it, satisfied and "
        "dissatisfied customers answer equally often. A patient who missed the check-up often has no final "
        "measurement, whether ill or well.",
        "An observed outcome at each mediator level that occurs in an arm.",
        "No test of the same table can contradict mar. " + BY_FOLLOW_UPS,
    ),
    "mnar": Advice(
        "Whether an outcome is observed may depend on the arm and the outcome itself. Given these, it does not "
        "depend on the mediator.",
        "Dissatisfied customers seldom answer the survey, whether or not they opened the mail. Patients who feel ill "
        "do not come to the final measurement, whether or not they took the drug regularly.",
        "A discrete outcome (for example 0 and 1; `--cut-outcome` makes classes of a real one), at least as many "
        "mediator levels as outcome levels, and a mediator that is closely related to the outcome.",
        "With more mediator levels than outcome levels, the data can contradict mnar. " + BY_FOLLOW_UPS,
    ),
    "mediator-mar": Advice(
        "The outcome is missing as under mar, and the mediator is missing by accident.",
        "The report of who opened the mail is lost for a random part of the customers. One of the clinics does not "
        "write down who came to the check-up, and its patients are like all others.",
        "Rows with a recorded mediator, and among them an observed outcome at each mediator level that occurs in an "
        "arm.",
        "The data can contradict that the mediator is missing by accident. They cannot contradict mar. "
        + BY_FOLLOW_UPS,
    ),
    "mediator-mnar": Advice(
        "Whether the mediator is observed may depend on the mediator itself, and so may whether the outcome is "
        "observed. Neither depends on the outcome, nor on whether the other one is missing.",
        "Patients who stopped taking the drug seldom report it, and seldom come to the final measurement. Among "
        "them, ill and well patients come equally often.",
        "A discrete outcome (for example 0 and 1), at least as many outcome levels as mediator levels, and an "
        "outcome that is closely related to the mediator.",
        "The data can contradict mediator-mnar. " + BY_FOLLOW_UPS,
    ),
    "both-mnar": Advice(
        "Whether the outcome is observed may depend on the outcome itself, and whether the mediator is observed may "
        "depend on the mediator itself. Neither depends on the other one, nor on whether the other one is missing.",
        "Customers who do not open mails block the tracker that would show it, and dissatisfied customers seldom "
        "answer the survey.",
        "A discrete outcome (for example 0 and 1) with as many levels as the mediator, and a mediator and an outcome "
        "that are closely related.",
        "The data can contradict both-mnar. " + BY_FOLLOW_UPS,
    ),
    FOLLOW_UP: Advice(
        "You obtain a random part of the missing outcomes afterwards. The estimates are then valid whatever the "
        "reason for missingness, if all who are drawn answer; where some do not, intervals allow for the worst case.",
        "Call sixty of the customers who did not answer, drawn at random. Look up in a register some of the patients "
        "who did not come.",
        "Follow-ups in each arm that has missing outcomes, drawn at random: `truant plan` says how many and draws "
        "them.",
        "Draw at random, call everyone who is drawn, and count how many do not answer. With the follow-ups, `truant "
        "analyze` also tests the other assumptions.",
    ),
}


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
    return [
        NextCommand("Analyse a table", f"truant analyze {columns} --assume {found.assumption}"),
        NextCommand("Choose rows to follow up, to check the assumption", plan),
        NextCommand("Run an experiment", create),
        NextCommand(
            "Try it in a simulation",
            f"truant simulate --world {found.assumption} --policy naive-ucb --policy {found.assumption}-ucb",
        ),
    ]
