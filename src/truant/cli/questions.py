"""The questions that lead to an assumption, and the commands to run next; docs/assumptions.md shows the same questions.

Each assumption says which answers lead to it (`Assumption.inquiry`). Where they lead to none of truant's own, those of
other packages are asked about, each by its own question; then `follow-up` is left, which assumes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from truant import registry
from truant.assumptions import REFERENCE, Advice, Assumption, Inquiry
from truant.assumptions.follow_up import FOLLOW_UP
from truant.errors import InvalidValue

MEDIATOR, LAST = (
    2,
    6,
)  # numbers of the question whether there is a mediator, and of the last built-in question
DO_NOT_KNOW = "I do not know."
WORDS = {
    "arm": "what was chosen for a row: a mail, a treatment",
    "outcome": "what you compare the arms by, and what is missing in some rows: money spent, a test result",
    "mediator": "what happened between the two: the mail was opened, the patient came to the check-up",
}


@dataclass(frozen=True)
class WhichAnswer:
    """One answer, and the question or the assumption that it leads to."""

    name: str
    text: str
    leads_to: WhichQuestion | str
    note: str = ""  # why it leads there, if that needs saying


@dataclass(frozen=True)
class WhichQuestion:
    """A question with its number on the page, an explanation for those who ask, and its answers."""

    number: int
    text: str
    explanation: str
    answers: tuple[WhichAnswer, ...]

    @property
    def names(self) -> str:
        """The answers' names, for an error."""
        names = [answer.name for answer in self.answers]
        return f"{', '.join(names[:-1])} or {names[-1]}"

    def answer(self, given: str) -> WhichAnswer:
        """The answer of that name, or with that number, counted from 1."""
        wanted = given.strip().lower()
        for i, answer in enumerate(self.answers, 1):
            if wanted in (answer.name, str(i)):
                return answer
        raise InvalidValue(f"The answer to question {self.number} must be {self.names}, got {given!r}.")


@dataclass(frozen=True)
class Conclusion:
    """The assumption that answers lead to."""

    assumption: str
    answers: tuple[str, ...]
    note: str
    has_mediator: bool


@dataclass(frozen=True)
class _Leads:
    """Where answers lead that end the questions."""

    by_way: Mapping[str, str]  # assumptions by the answers that lead to them
    asked_about: Sequence[tuple[str, Inquiry]]  # assumptions with a question of their own

    @classmethod
    def of_registered(cls) -> _Leads:
        """To the assumptions that can be used, truant's own first."""
        inquiries, _ = registry.described("assumption", lambda part: (part.name, part.build().inquiry))
        by_way: dict[str, str] = {}
        for name, inquiry in inquiries:
            for way in inquiry.ways:
                by_way.setdefault(way, name)
        return cls(by_way, [(name, inquiry) for name, inquiry in inquiries if inquiry.question])

    def answer(self, way: str, text: str, note: str = "") -> WhichAnswer:
        """The last of these answers; `note` says why it leads to none but `follow-up`."""
        name = way.rpartition(",")[2]
        if way in self.by_way:
            return WhichAnswer(name, text, self.by_way[way])
        step: WhichQuestion | str = FOLLOW_UP
        for number, (assumption, inquiry) in reversed([*enumerate(self.asked_about, LAST + 1)]):
            answers = (
                WhichAnswer("yes", f"{assumption} fits.", assumption),
                WhichAnswer("no", "It does not fit, or I do not know.", step, note),
            )
            step = WhichQuestion(number, inquiry.question, inquiry.explanation, answers)
        return WhichAnswer(name, text, step, note)

    def unknown(self, way: str) -> WhichAnswer:
        """Nobody knows the answer to the question that follows these answers."""
        return self.answer(f"{way},unknown", DO_NOT_KNOW)


def first_question() -> WhichQuestion:
    """The first question; its answers lead to the others, and these to the assumptions that can be used."""
    leads = _Leads.of_registered()
    level = WhichQuestion(
        4,
        "Among rows with the same arm and the same outcome, does the mediator change how likely the outcome is to be "
        "missing?",
        "Of two dissatisfied customers, one opened the mail and the other did not. If both answer the survey equally "
        "often, the mediator has no influence of its own on what is missing.",
        (
            leads.answer(
                "no,yes,yes,yes",
                "The mediator matters as well.",
                "No other assumption of truant covers outcomes that are missing depending on mediator and outcome "
                "together.",
            ),
            WhichAnswer("no", "Only the value of the outcome matters.", _recorded(leads, "no,yes,yes,no")),
            leads.unknown("no,yes,yes"),
        ),
    )
    outcome = WhichQuestion(
        3,
        "Among rows with the same arm and the same mediator level, does the value of the outcome change how likely it "
        "is to be missing?",
        "Of two customers who opened the mail, one is satisfied and the other is not. If the dissatisfied one answers "
        "the survey less often, the value of the outcome itself matters.",
        (
            WhichAnswer("yes", "The value of the outcome itself matters.", level),
            WhichAnswer(
                "no", "High and low outcomes are equally likely to be missing.", _recorded(leads, "no,yes,no")
            ),
            leads.unknown("no,yes"),
        ),
    )
    mediator = WhichQuestion(
        MEDIATOR,
        "Did you record a mediator: something that happens after the arm is chosen and before the outcome?",
        "Whether the mail was opened, how many pages were visited, whether the patient came to the check-up. It helps "
        "only if it is related to the outcome. It may be missing in some rows.",
        (
            WhichAnswer("yes", "It is recorded in all rows or in some.", outcome),
            leads.answer(
                "no,no",
                "Nothing in between was recorded.",
                "Without a mediator, only mcar or follow-ups can be used. Record a mediator next time.",
            ),
        ),
    )
    return WhichQuestion(
        1,
        "Are outcomes missing only by accident?",
        "By accident means: within an arm, every outcome is equally likely to be missing, high or low, whatever "
        "happened before. A server was down for an hour, or only a random sample was measured. One arm may lose more "
        "outcomes than another.",
        (
            leads.answer("yes", "Within an arm, every outcome is equally likely to be missing."),
            WhichAnswer("no", "Some outcomes of an arm are more likely to be missing than others.", mediator),
            WhichAnswer("unknown", DO_NOT_KNOW, mediator),
        ),
    )


def _recorded(leads: _Leads, way: str) -> WhichQuestion:
    """Questions 5 and 6, asked after these answers."""
    reason = WhichQuestion(
        LAST,
        "Why is the mediator missing in some rows?",
        "Think of the mediator in the same way as of the outcome. A tracker that fails at random loses mediators by "
        "accident. If customers who did not open the mail block the tracker that would show it, the mediator is "
        "missing depending on its own value.",
        (
            leads.answer(f"{way},no,accident", "Every row of an arm is equally likely to lose its mediator."),
            leads.answer(
                f"{way},no,value",
                "It depends on the mediator's own value, and on neither the outcome nor whether the outcome is "
                "missing.",
            ),
            leads.answer(
                f"{way},no,other",
                "It depends on the outcome, or on whether the outcome is missing.",
                "No other assumption of truant covers this.",
            ),
            leads.unknown(f"{way},no"),
        ),
    )
    return WhichQuestion(
        5,
        "Is the mediator recorded in every row?",
        "Look at its column: an empty cell is a missing mediator. If an empty cell has a meaning, such as 'did not "
        "open the mail', it is a mediator level and not missing.",
        (
            leads.answer(f"{way},yes", "Every row has it."),
            WhichAnswer("no", "It is missing in some rows.", reason),
        ),
    )


def questions(first: WhichQuestion | None = None) -> list[WhichQuestion]:
    """One question of each number; 5 and 6 as they are asked on the way to `mar`."""
    numbered: dict[int, WhichQuestion] = {}
    for question in _walk(first or first_question()):
        numbered.setdefault(question.number, question)
    return [numbered[number] for number in sorted(numbered)]


def _walk(question: WhichQuestion) -> Iterator[WhichQuestion]:
    """The question and all that may follow; what follows its last answer first."""
    yield question
    for answer in reversed(question.answers):
        if isinstance(answer.leads_to, WhichQuestion):
            yield from _walk(answer.leads_to)


def paths(
    question: WhichQuestion | None = None, given: tuple[WhichAnswer, ...] = ()
) -> Iterator[tuple[WhichAnswer, ...]]:
    """All ways through the questions, each as its answers."""
    for answer in (question or first_question()).answers:
        if isinstance(answer.leads_to, WhichQuestion):
            yield from paths(answer.leads_to, (*given, answer))
        else:
            yield (*given, answer)


def targets(number: int, name: str, first: WhichQuestion | None = None) -> list[str]:
    """Where an answer to the question of that number can lead: assumptions, or the number of a question."""
    asked = _walk(first or first_question())
    found = [question.answer(name).leads_to for question in asked if question.number == number]
    return list(dict.fromkeys(one if isinstance(one, str) else f"question {one.number}" for one in found))


def assumptions_reached() -> list[str]:
    """The assumptions that the questions lead to, `follow-up` last."""
    found = {str(path[-1].leads_to): None for path in paths()}
    return [name for name in found if name != FOLLOW_UP] + [FOLLOW_UP]


def advice_on(assumption: str) -> Advice:
    """What is said of an assumption; where it has no advice of its own, its summary and needs."""
    part = registry.find("assumption", assumption)
    built: Assumption = part.build()
    return built.advice or Advice(part.summary, "", f"{built.needs[:1].upper()}{built.needs[1:]}.", "")


def conclude(given: Sequence[str]) -> Conclusion:
    """Where the answers lead; InvalidValue for one that does not fit its question, too few or too many."""
    step: WhichQuestion | str = first_question()
    taken: list[WhichAnswer] = []
    has_mediator = False
    for text in given:
        if isinstance(step, str):
            raise InvalidValue(
                f"The answers must end where they lead to an assumption, which is {step} after {_counted(taken)}; got "
                f"{len(given)}, leave out the others."
            )
        taken.append(step.answer(text))
        has_mediator = has_mediator or (step.number == MEDIATOR and taken[-1].name == "yes")
        step = taken[-1].leads_to
    if isinstance(step, WhichQuestion):
        raise InvalidValue(
            f"The answers must lead to an assumption, got {_counted(taken)}; go on with question {step.number}, "
            f"{step.text!r}: {step.names}."
        )
    return Conclusion(step, tuple(answer.name for answer in taken), taken[-1].note, has_mediator)


def _counted(answers: Sequence[WhichAnswer]) -> str:
    return "1 answer" if len(answers) == 1 else f"{len(answers)} answers"


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
