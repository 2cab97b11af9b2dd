"""What the doctor finds: damages by the name of the row or table, and nothing in a store that is sound."""

import json

import pytest

from tests.live.campaign import ARMS, MAIL, run
from tests.live.commands import in_a_folder, printed, settled_experiment  # noqa: F401
from truant.errors import Unavailable
from truant.live.doctor import examine_named
from truant.live.experiment import Experiment
from truant.live.store.opening import open_store
from truant.live.times import ManualClock

SETTLED = "(SELECT min(number) FROM decisions WHERE state = 'observed' AND holdout = 0)"
DAMAGES = {  # statement: what the doctor says
    "UPDATE decisions SET outcome = 17.25 WHERE number = {one}": "counts of day",
    "UPDATE decisions SET outcome = 1e6 WHERE number = {one}": "has the outcome 1000000.0",
    "UPDATE decisions SET late_outcome = -5, late_at = asked WHERE number = {one}": "has the late_outcome -5",
    "UPDATE decisions SET asked = asked + 1, deadline = deadline + 1, due = due + 1 WHERE number = {one}": "digest",
    "UPDATE decisions SET tag = tag + 1 WHERE number = {one}": "digest of the decisions of day",
    "UPDATE decisions SET mediator_at = mediator_at + 1 WHERE number = {one}": "digest of the decisions of day",
    "UPDATE decisions SET deadline = deadline + 1000 WHERE number = {one}": "has a deadline that no window gives",
    "UPDATE decisions SET due = due - 1 WHERE number = {one}": "is due at a time that no window and grace give",
    "UPDATE decisions SET arm = 7 WHERE number = {one}": "has arm number 7, which does not exist",
    "UPDATE decisions SET mediator = 9 WHERE number = {one}": "has the mediator number 9",
    "UPDATE decisions SET outcome_at = NULL WHERE number = {one}": "has an outcome that nobody told",
    "UPDATE decisions SET settled = 999999 WHERE number = {one}": "entered version 999999 of the counts",
    "UPDATE decisions SET reason = 'expired' WHERE number = {one}": "which its reason 'expired' contradicts",
    "UPDATE decisions SET probability = 0.125 WHERE number = {one}": "another probability than its allocation",
    "UPDATE decisions SET holdout = 1 WHERE number = {one}": "counts of day",
    "UPDATE decisions SET probability = 0.3 WHERE holdout = 1": "has another probability than the fixed split",
    "UPDATE decisions SET pick_probability = 1.5 WHERE listed_at IS NOT NULL": "probability of being picked",
    "UPDATE decisions SET listed_at = NULL WHERE listed_at IS NOT NULL": "picked for follow-up",
    "UPDATE decisions SET state = 'lost' WHERE number = {one}": "has the unknown state 'lost'",
    "UPDATE decisions SET outcome = 'much' WHERE number = {one}": "has the outcome 'much'",
    "DELETE FROM decisions WHERE number = {one}": "counts of day",
    "UPDATE decisions SET experiment = 99 WHERE number = {one}": "rows of an experiment that does not exist",
    "UPDATE decisions SET key = 'anna@example.org' WHERE number = {one}": "keys that are no keyed hashes",
    "DELETE FROM events WHERE number = (SELECT max(number) FROM events WHERE kind = 'closed')": "has 0 events",
    "DELETE FROM events WHERE kind = 'arm_added'": "changes of the configuration",
    "UPDATE events SET body = 'gone' WHERE kind = 'created'": "The table events cannot be read",
    "UPDATE experiments SET status = 'ended'": "by its events it is running",
    "UPDATE experiments SET clock = 5": "The clock of the experiment is before its creation",
    "UPDATE experiments SET revision = revision + 1": "Revision 3 is missing",
    "UPDATE experiments SET allocation = allocation + 1": "is missing",
    "UPDATE experiments SET counts_version = counts_version + 1": "of the counts has 0 events",
    "DELETE FROM revisions WHERE revision = 1": "Revision 1 is missing",
    "UPDATE revisions SET configuration = replace(configuration, '200', '300') WHERE revision = 1": "changes high",
    "UPDATE revisions SET configuration = '{broken}' WHERE revision = 1": "The table revisions cannot be read",
    "UPDATE revisions SET configuration = '{}'": "The table revisions cannot be read",
    "DELETE FROM allocations WHERE version = 1": "Allocation 1 is missing",
    "UPDATE allocations SET probabilities = '[0.9, 0.9]' WHERE version = 1": "do not add up to 1",
    "UPDATE allocations SET probabilities = 'none' WHERE version = 1": "The table allocations cannot be read",
    "UPDATE allocations SET revision = 77 WHERE version = 1": "of revision 77, which does not exist",
    "UPDATE counts SET cells = 'none' WHERE kind = 'tally'": "The table counts cannot be read",
    "UPDATE counts SET cells = '\"0\"' WHERE kind = 'digest'": "digest of the decisions of day",
    "DELETE FROM counts": "counts of day",
    "UPDATE counts SET kind = 'other' WHERE kind = 'settled'": "The table counts has the unknown kind 'other'",
    "UPDATE meta SET value = '"
    + "0" * 64
    + "' WHERE name = 'secret'": "The secret in the table meta was changed",
    "DELETE FROM meta WHERE name = 'secret'": "The secret in the table meta was changed",
    "DROP TABLE events": "events",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A store with a holdout, an added arm, follow-ups, corrections and an import, which is sound."""
    path = tmp_path_factory.mktemp("sound") / "store.db"
    settings = {name: value for name, value in MAIL.items() if value is not None}
    clock = ManualClock("2026-03-02 09:00")
    experiment = Experiment.create(
        "mails", list(ARMS), store=path, clock=clock, seed=1, holdout=0.2, **settings
    )
    run(experiment, clock, days=6, a_day=20)
    experiment.add_arm("bold")
    for one in experiment.follow_up(6):
        experiment.tell(one.id, outcome=5.0, followed_up=True)
    rows = path.with_name("rows.csv")
    rows.write_text("n,arm,asked\n1,old,2026-01-02\n2,new,2026-03-07\n")
    experiment.import_rows(rows, source="shop", identified_by="n")
    decision = experiment.ask(key="anna")
    experiment.tell(decision.id, outcome=0.1, mediator="opened")
    clock.advance("9d")
    experiment.close_windows()
    experiment.correct(decision.id, outcome=0.7)
    experiment.forget("anna")
    experiment.close_windows()
    assert experiment.doctor(allocations=None).findings == ()
    experiment.store.close()
    return path


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damage_is_found_by_name(kept, tmp_path, damage):
    copy = tmp_path / "store.db"
    copy.write_bytes(kept.read_bytes())
    store = open_store(copy)
    store.write(lambda transaction: transaction.run(damage.replace("{one}", SETTLED)))
    found = examine_named(store, "mails", None)
    assert any(DAMAGES[damage] in one for one in found.findings), found
    store.close()


def test_a_damaged_experiment_is_refused_in_a_sentence(kept, tmp_path):
    copy = tmp_path / "store.db"
    copy.write_bytes(kept.read_bytes())
    store = open_store(copy)
    store.write(lambda transaction: transaction.run("DELETE FROM allocations"))
    with pytest.raises(Unavailable, match=r"its allocation \d+ is missing"):
        Experiment.open("mails", store=store)
    store.close()


def test_what_was_not_recomputed_is_explained(in_a_folder):  # noqa: F811
    settled_experiment()
    printed("status", "mail")
    found = printed("doctor", "--allocations", "1")["experiments"][0]
    assert found["healthy"]
    assert found["unchecked"] > 0
    experiment = Experiment.open("mail", store="sqlite:///truant.db")
    assert "not recomputed, which is no error: older than those asked for" in str(
        experiment.doctor(allocations=0)
    )
    experiment.store.close()


def test_json_of_a_damaged_store_is_a_document(kept, in_a_folder):  # noqa: F811
    (in_a_folder / "truant.db").write_bytes(kept.read_bytes())
    store = open_store("truant.db")
    store.write(lambda transaction: transaction.run("UPDATE revisions SET configuration = 'x'"))
    store.close()
    found = printed("doctor", code=1)
    assert not found["healthy"]
    assert json.dumps(found)
