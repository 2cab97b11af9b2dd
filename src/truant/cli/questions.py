"""The questions that lead to an assumption; docs/assumptions.md shows the same ones, and a test compares them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from truant.errors import InvalidValue

FOLLOW_UP = "follow-up"
WORDS = {
    "arm": "what was chosen for a row: a mail, a treatment",
    "outcome": "what you compare the arms by, and what is missing in some rows: money spent, a test result",
    "mediator": "what happened between the two: the mail was opened, the patient came to the check-up",
}


@dataclass(frozen=True)
class Answer:
    """One answer, and the question or the assumption that it leads to."""

    name: str
    text: str
    leads_to: Question | str
    note: str = ""  # why it leads there, if that needs saying


@dataclass(frozen=True)
class Question:
    """A question with its number on the page, an explanation for those who ask, and its answers."""

    number: int
    text: str
    explanation: str
    answers: tuple[Answer, ...]

    @property
    def names(self) -> str:
        """The answers' names, for an error."""
        names = [answer.name for answer in self.answers]
        return f"{', '.join(names[:-1])} or {names[-1]}"

    def answer(self, given: str) -> Answer:
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


def _unknown(leads_to: Question | str) -> Answer:
    return Answer("unknown", "I do not know.", leads_to)


def _recorded(complete: str, by_accident: str, by_value: str) -> Question:
    """Questions 5 and 6, which lead to these assumptions."""
    reason = Question(
        6,
        "Why is the mediator missing in some rows?",
        "Think of the mediator in the same way as of the outcome. A tracker that fails at random loses mediators by "
        "accident. If customers who did not open the mail block the tracker that would show it, the mediator is "
        "missing depending on its own value.",
        (
            Answer(
                "accident",
                "Every row of an arm is equally likely to lose its mediator.",
                by_accident,
            ),
            Answer(
                "value",
                "It depends on the mediator's own value, and on neither the outcome nor whether the outcome is "
                "missing.",
                by_value,
            ),
            Answer(
                "other",
                "It depends on the outcome, or on whether the outcome is missing.",
                FOLLOW_UP,
                "No other assumption of truant covers this.",
            ),
            _unknown(FOLLOW_UP),
        ),
    )
    return Question(
        5,
        "Is the mediator recorded in every row?",
        "Look at its column: an empty cell is a missing mediator. If an empty cell has a meaning, such as 'did not "
        "open the mail', it is a mediator level and not missing.",
        (
            Answer("yes", "Every row has it.", complete),
            Answer("no", "It is missing in some rows.", reason),
        ),
    )


_UNDER_MAR = _recorded("mar", "mediator-mar", "mediator-mnar")
_UNDER_MNAR = _recorded("mnar", "both-mnar", "both-mnar")
_LEVEL = Question(
    4,
    "Among rows with the same arm and the same outcome, does the mediator change how likely the outcome is to be "
    "missing?",
    "Of two dissatisfied customers, one opened the mail and the other did not. If both answer the survey equally "
    "often, the mediator has no influence of its own on what is missing.",
    (
        Answer(
            "yes",
            "The mediator matters as well.",
            FOLLOW_UP,
            "No other assumption of truant covers outcomes that are missing depending on mediator and outcome "
            "together.",
        ),
        Answer("no", "Only the value of the outcome matters.", _UNDER_MNAR),
        _unknown(FOLLOW_UP),
    ),
)
_OUTCOME = Question(
    3,
    "Among rows with the same arm and the same mediator level, does the value of the outcome change how likely it is "
    "to be missing?",
    "Of two customers who opened the mail, one is satisfied and the other is not. If the dissatisfied one answers "
    "the survey less often, the value of the outcome itself matters.",
    (
        Answer("yes", "The value of the outcome itself matters.", _LEVEL),
        Answer("no", "High and low outcomes are equally likely to be missing.", _UNDER_MAR),
        _unknown(FOLLOW_UP),
    ),
)
_MEDIATOR = Question(
    2,
    "Did you record a mediator: something that happens after the arm is chosen and before the outcome?",
    "Whether the mail was opened, how many pages were visited, whether the patient came to the check-up. It helps "
    "only if it is related to the outcome. It may be missing in some rows.",
    (
        Answer("yes", "It is recorded in all rows or in some.", _OUTCOME),
        Answer(
            "no",
            "Nothing in between was recorded.",
            FOLLOW_UP,
            "Without a mediator, only mcar or follow-ups can be used. Record a mediator next time.",
        ),
    ),
)
FIRST = Question(
    1,
    "Are outcomes missing only by accident?",
    "By accident means: within an arm, every outcome is equally likely to be missing, high or low, whatever happened "
    "before. A server was down for an hour, or only a random sample was measured. One arm may lose more outcomes "
    "than another.",
    (
        Answer("yes", "Within an arm, every outcome is equally likely to be missing.", "mcar"),
        Answer("no", "Some outcomes of an arm are more likely to be missing than others.", _MEDIATOR),
        _unknown(_MEDIATOR),
    ),
)


def questions() -> list[Question]:
    """One question of each number; 5 and 6 as they are asked on the way to `mar`."""
    return [FIRST, _MEDIATOR, _OUTCOME, _LEVEL, _UNDER_MAR, *_asked_after(_UNDER_MAR)]


def _asked_after(question: Question) -> list[Question]:
    return [answer.leads_to for answer in question.answers if isinstance(answer.leads_to, Question)]


def paths(question: Question = FIRST, given: tuple[Answer, ...] = ()) -> Iterator[tuple[Answer, ...]]:
    """All ways through the questions, each as its answers."""
    for answer in question.answers:
        if isinstance(answer.leads_to, Question):
            yield from paths(answer.leads_to, (*given, answer))
        else:
            yield (*given, answer)


def targets(number: int, name: str) -> list[str]:
    """Where an answer to the question of that number can lead: assumptions, or the number of a question."""
    asked = [FIRST, _MEDIATOR, _OUTCOME, _LEVEL, _UNDER_MAR, _UNDER_MNAR]
    asked += [*_asked_after(_UNDER_MAR), *_asked_after(_UNDER_MNAR)]
    found = [question.answer(name).leads_to for question in asked if question.number == number]
    return list(dict.fromkeys(one if isinstance(one, str) else f"question {one.number}" for one in found))


def assumptions_reached() -> list[str]:
    """The assumptions that the questions lead to, `follow-up` last."""
    found = {str(path[-1].leads_to): None for path in paths()}
    return [name for name in found if name != FOLLOW_UP] + [FOLLOW_UP]


def conclude(given: Sequence[str]) -> Conclusion:
    """Where the answers lead; InvalidValue for one that does not fit its question, too few or too many."""
    step: Question | str = FIRST
    taken: list[Answer] = []
    has_mediator = False
    for text in given:
        if isinstance(step, str):
            raise InvalidValue(
                f"The answers must end where they lead to an assumption, which is {step} after {_counted(taken)}; got "
                f"{len(given)}, leave out the others."
            )
        taken.append(step.answer(text))
        has_mediator = has_mediator or (step is _MEDIATOR and taken[-1].name == "yes")
        step = taken[-1].leads_to
    if isinstance(step, Question):
        raise InvalidValue(
            f"The answers must lead to an assumption, got {_counted(taken)}; go on with question {step.number}, "
            f"{step.text!r}: {step.names}."
        )
    return Conclusion(step, tuple(answer.name for answer in taken), taken[-1].note, has_mediator)


def _counted(answers: Sequence[Answer]) -> str:
    return "1 answer" if len(answers) == 1 else f"{len(answers)} answers"
