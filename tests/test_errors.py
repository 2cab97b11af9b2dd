"""Errors carry what they are about; their sentence is made from it, and they survive a journey between processes."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

from truant.analysis import Labels
from truant.checks import ContractBroken
from truant.errors import (
    InvalidValue,
    MissingExtra,
    NotIdentified,
    NotSatisfied,
    TruantError,
    UnknownName,
    problem,
    unknown,
)

EMPTY = NotIdentified(
    "{arm} has 3 pulls with {mediator} and no outcome.", arm=1, mediator=0, assumption="mar"
)
ALL = [
    EMPTY,
    EMPTY.at("worlds[2]"),
    EMPTY.at("mar").at("study").advising("Leave it out."),
    NotSatisfied("the mean of {arm} does not follow.", arm=2),
    NotIdentified("nothing is known."),
    InvalidValue("level must be between 0 and 1, got 95."),
    UnknownName("Unknown arm '{arm}'."),
    MissingExtra("Install truant[logs]."),
    ContractBroken("means must be finite."),
]


def test_sentences_are_made_from_fields():
    assert str(EMPTY) == "mar: arm 1 has 3 pulls with mediator level 0 and no outcome."
    assert EMPTY.reason() == "arm 1 has 3 pulls with mediator level 0 and no outcome."
    assert EMPTY.args == (str(EMPTY),)
    needs = NotIdentified("{assumption} needs a discrete outcome.", assumption="mnar")
    assert str(needs) == needs.reason() == "mnar needs a discrete outcome."
    assert str(NotIdentified("the mean of {arm} is not known.")) == "the mean of the arm is not known."


def test_labels_put_names_in_their_place_and_nowhere_else():
    labels = Labels.of(["old", "arm 0"], ["{arm}", "phone"])
    assert labels.sentence(EMPTY) == "mar: arm 'arm 0' has 3 pulls with mediator = {arm} and no outcome."
    assert labels.reason(EMPTY) == "arm 'arm 0' has 3 pulls with mediator = {arm} and no outcome."
    last = NotIdentified("{arm} has no pulls with {mediator}.", arm=0, mediator=2)
    assert labels.sentence(last) == "arm 'old' has no pulls with mediator missing."
    about_numbers = NotIdentified("arm 1 of 2 arms, at mediator level 0, is meant literally.")
    assert labels.sentence(about_numbers) == str(about_numbers)


def test_a_place_and_advice_keep_the_fields():
    placed = EMPTY.at("mar").at("study").advising("Leave it out.")
    assert str(placed) == f"study: mar: {EMPTY} Leave it out."
    assert type(placed) is NotIdentified
    assert (placed.arm, placed.mediator, placed.assumption) == (1, 0, "mar")
    assert str(EMPTY).startswith("mar: arm 1")  # the first is left as it was


def test_what_is_not_said_yet_can_be_added():
    error = NotIdentified("{arm} has no pulls.", arm=3)
    assert str(error.about(arm=5, assumption="mine")) == "mine: arm 3 has no pulls."
    assert str(NotIdentified("{arm} has no pulls.").about(arm=5)) == "arm 5 has no pulls."


@pytest.mark.parametrize("error", ALL, ids=str)
def test_errors_survive_pickling_and_copying(error):
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.args == error.args
        assert vars(again) == vars(error)
        assert problem(again) == problem(error)


def refuse():
    raise EMPTY.at("worker")


def test_errors_come_back_from_a_process():
    with ProcessPoolExecutor(1) as workers, pytest.raises(NotIdentified) as caught:
        workers.submit(refuse).result()
    assert str(caught.value) == f"worker: {EMPTY}"
    assert (caught.value.arm, caught.value.mediator, caught.value.assumption) == (1, 0, "mar")


@pytest.mark.parametrize(
    ("error", "title", "status"),
    [
        (unknown("arm", "x", ["y"]), "Unknown name", 404),
        (EMPTY, "Not identified", 422),
        (NotSatisfied("no."), "Not identified", 422),
        (MissingExtra("Install it."), "Missing extra", 501),
        (InvalidValue("no."), "Invalid value", 400),
        (ContractBroken("no."), "Error", 400),
    ],
)
def test_problem_documents(error, title, status):
    kind = "urn:truant:error:" + title.lower().replace(" ", "-")
    assert problem(error) == {"type": kind, "title": title, "status": status, "detail": str(error)}


def test_one_family_that_standard_handlers_know():
    assert all(isinstance(error, TruantError) for error in ALL)
    assert isinstance(EMPTY, ValueError)
    assert isinstance(unknown("arm", "x", []), LookupError)
    assert isinstance(MissingExtra("Install it."), ImportError)
