"""Wrong values at the door of live experiments: one sentence of truant, and nothing changed."""

import numpy as np
import pytest

from truant.errors import Conflict, TruantError
from truant.live.experiment import Experiment
from truant.live.store.opening import open_store

USUAL = {"levels": [0, 1], "assume": "mcar", "window": "7d", "store": "sqlite://"}


@pytest.fixture
def mail(clock):
    return Experiment.create("mail", ["a", "b"], clock=clock, seed=1, **USUAL)


@pytest.mark.parametrize(
    "settings",
    [
        {"arms": ["a", None]},
        {"arms": ["a", "b "]},
        {"arms": ["a", "b\0"]},
        {"arms": ["a", "\ud800"]},
        {"arms": "ab"},
        {"levels": 5},
        {"levels": [object()]},
        {"mediator_levels": 5},
        {"mediator_cuts": b"x"},
        {"split": 5},
        {"split": {"a": 0.5}},
        {"policy": ""},
        {"control": np.array(["a", "b"])},
        {"fallback": 5},
        {"settle": np.array(["at_close"])},
        {"window": "0s"},
        {"minimum_share": 0.6},
        {"holdout": 1.0},
        {"actor": b"me"},
        {"why": 5},
    ],
    ids=lambda settings: "-".join(settings),  # values may print differently in each process
)
def test_create_refuses_in_a_sentence(settings, clock):
    wanted = {"arms": ["a", "b"], **USUAL} | settings
    with pytest.raises(TruantError, match=r"\.$"):
        Experiment.create("mail", clock=clock, **wanted)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.ask(0),
        lambda e: e.ask(True),
        lambda e: e.ask(1.5),
        lambda e: e.ask(10**9),
        lambda e: e.ask(key=""),
        lambda e: e.ask(keys="ab"),
        lambda e: e.ask(keys=5),
        lambda e: e.tell_many(None),
        lambda e: e.tell_many(5),
        lambda e: e.tell("nothing", outcome=1),
        lambda e: e.tell(outcome=1),
        lambda e: e.import_rows(None),
        lambda e: e.pause(actor=b"\xff"),
        lambda e: e.pause(actor="\ud800"),
        lambda e: e.end(why=[1]),
        lambda e: e.add_arm("c", actor=10**30),
        lambda e: e.add_arm(None),
        lambda e: e.forget("k", why=5),
        lambda e: e.withdraw(key="k", actor=5),
        lambda e: e.correct(key="k", outcome=1, actor=5),
        lambda e: e.follow_up(1, actor=5),
        lambda e: e.change(window="x"),
        lambda e: e.change(nothing=1),
        lambda e: e.doctor(allocations="x"),
        lambda e: e.events(after="x"),
    ],
)
def test_calls_refuse_in_a_sentence_and_change_nothing(call, mail):
    before = mail.events()
    with pytest.raises(TruantError, match=r"\.$"):
        call(mail)
    assert mail.events() == before


def test_numbers_and_lists_of_other_libraries_are_taken(mail):
    assert len(mail.ask(np.int64(3))) == 3
    assert len(mail.ask(keys=np.array(["x", "y"]))) == 2
    assert len(mail.ask(keys={"x": 1, "y": 2}.keys())) == 2


@pytest.mark.parametrize("url", ["sqlite:x.db", "sqlite:///folder/", ":", "folder/", "http://x/y", 5])
def test_addresses_that_name_no_store(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TruantError, match=r"\.$"):
        open_store(url)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_variable_means_the_usual_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUANT_STORE", "")
    store = open_store()
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["truant.db"]


def test_retired_arms_need_no_room_and_are_no_fallback(clock):
    mail = Experiment.create("mail", ["a", "b"], clock=clock, minimum_share=0.5, **USUAL)
    mail.retire_arm("b")
    mail.add_arm("c")
    mail.change(window="3d")
    assert mail.configuration.minimum_share == 0.5
    with pytest.raises(Conflict, match="is retired"):
        mail.change(fallback="b")


def test_a_withdrawn_outcome_is_nowhere(mail):
    decision = mail.ask()
    mail.tell(decision.id, outcome=1)
    mail.correct(decision.id, outcome=0)
    mail.withdraw(decision.id)
    bodies = [one["body"] for one in mail.events() if one["kind"] == "corrected"]
    assert bodies == [{}]


def test_names_cannot_give_orders_to_a_terminal(clock):
    mail = Experiment.create("mail\x1b[31m", ["a\nb", "c"], clock=clock, **USUAL)
    assert repr(mail).isprintable()
