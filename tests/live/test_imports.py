"""Imports have a source: a file that has grown adds its new rows, whatever was interrupted before."""

import pytest

from tests.live.campaign import ARMS, MAIL, run
from tests.live.counted import assert_sound
from truant.errors import Conflict, InvalidValue, UnknownName
from truant.live import imports
from truant.live.experiment import Experiment

SHOP = {"source": "shop", "identified_by": "visit"}


@pytest.fixture
def two(create, clock):
    """An experiment, and another one that imports its exports."""
    first = create("first", ARMS, **MAIL)
    return first, create("second", ARMS, store=first.store, **MAIL)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_growing_export_adds_its_new_rows(two, tmp_path, clock, ending):
    first, second = two
    run(first, clock, days=4)
    before = second.import_rows(first.export(tmp_path / f"1.{ending}"))
    run(first, clock, days=3, seed=2)
    longer = first.export(tmp_path / f"2.{ending}")
    after = second.import_rows(longer)
    again = second.import_rows(longer)
    settled = first.status(calibrate=False).settled
    assert (before.known, after.known, after) == (0, before, settled - before)
    assert (again, again.known, again.differing) == (0, settled, 0)
    assert second.status(calibrate=False).settled == settled
    assert sum(event["body"]["rows"] for event in events(second)) == settled
    assert_sound(second)


def events(experiment):
    return [event for event in experiment.events() if event["kind"] == "imported"]


def test_a_row_that_comes_back_is_known(two, tmp_path, clock):
    """What another experiment imported keeps the identity of its origin."""
    first, second = two
    run(first, clock, days=4)
    run(second, clock, days=4, seed=2)
    own = second.status(calibrate=False).settled
    added = second.import_rows(first.export(tmp_path / "first.csv"))
    back = first.import_rows(second.export(tmp_path / "second.csv"))
    assert (back, back.known) == (own, added)


def test_an_import_that_was_killed_can_be_repeated(two, tmp_path, clock, monkeypatch):
    first, second = two
    run(first, clock, days=4)
    path = first.export(tmp_path / "rows.csv")
    done = []

    def killed(*arguments):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(arguments)
        return insert(*arguments)

    insert = imports.decision_statements.insert_imported
    monkeypatch.setattr(imports, "PIECE", 10)
    with monkeypatch.context() as patch:
        patch.setattr(imports.decision_statements, "insert_imported", killed)
        with pytest.raises(KeyboardInterrupt):
            second.import_rows(path)
    settled = first.status(calibrate=False).settled
    rest = second.import_rows(path)
    assert (rest, rest.known) == (settled - 30, 30)
    assert second.status(calibrate=False).settled == settled
    assert_sound(second)


def test_rows_whose_values_changed_stay_and_are_counted_as_differing(two, tmp_path, clock):
    first, second = two
    run(first, clock, days=4)
    second.import_rows(first.export(tmp_path / "1.csv"))
    counts = second.status(calibrate=False).analysis.counts.table.copy()
    observed = [
        line.split(",")[0] for line in (tmp_path / "1.csv").read_text().splitlines() if "observed" in line
    ]
    for one in observed[:2]:
        first.correct(one, outcome=1.0)
    again = second.import_rows(first.export(tmp_path / "2.csv"))
    assert (again, again.differing) == (0, 2)
    assert "2 of these have other values now than in the store" in again.sentence
    assert (second.status(calibrate=False).analysis.counts.table == counts).all()


@pytest.fixture
def shop(clock):
    settings = {name: value for name, value in MAIL.items() if value is not None}
    return Experiment.create("shop", list(ARMS), store="sqlite://", clock=clock, seed=1, **settings)


def test_rows_of_a_source_are_known_by_their_column(shop, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("visit,arm,asked,key\n1,old,2026-01-02,anna\n2,new,2026-01-02,\n")
    assert shop.import_rows(path, **SHOP) == 2
    shop.forget("anna")  # a forgotten customer does not come back with the next file
    path.write_text("visit,arm,asked,key\n1,old,2026-01-02,anna\n2,new,2026-01-02,\n3,new,2026-01-03,\n")
    again = shop.import_rows(path, **SHOP)
    assert (again, again.known) == (1, 2)
    assert shop.lookup("anna") is None
    assert shop.import_rows(path, source="till", identified_by="visit") == 3  # another source, other rows
    kept = shop.store.read(lambda transaction: transaction.rows("SELECT origin FROM decisions"))
    assert all(len(origin) == imports.LENGTH_OF_HASH for (origin,) in kept)


def test_a_key_has_one_decision_whichever_row_it_is(shop, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("visit,arm,key\n1,old,anna\n")
    shop.import_rows(path, **SHOP)
    path.write_text("visit,arm,key\n1,old,anna\n2,old,anna\n")
    with pytest.raises(Conflict, match="at most one decision"):
        shop.import_rows(path, **SHOP)
    path.write_text("visit,arm,key\n2,old,anna\n")
    with pytest.raises(Conflict, match="at most one decision"):
        shop.import_rows(path, **SHOP)


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("arm\nold\n", {}, "has no ids of truant, so that a second import would count its rows twice"),
        ("id,arm\n17,old\n", {}, "line 2: id must be one that truant gave, got '17'"),
        ("visit,arm\n1,old\n", {"source": "shop"}, "source and identified_by go together"),
        ("visit,arm\n1,old\n", {"source": "shop", "identified_by": "vist"}, "did you mean 'visit'"),
        ("key,arm\n1,old\n", {"source": "shop", "identified_by": "key"}, "key can be forgotten"),
        ("key,arm\n1,old\n", {"source": "shop", "identified_by": "arm"}, "arm is the same for many rows"),
        ("visit,arm\n,old\n", SHOP, "line 2: The column 'visit', which identifies rows, is blank"),
        ("visit,arm\n1,old\n1,new\n", SHOP, "line 3: It has the same visit as line 2"),
        ("visit,arm\n1,old\n", {"source": " ", "identified_by": "visit"}, "source must be texts of 1 to 200"),
        ("visit,arm\n", SHOP, "has no rows"),
    ],
)
def test_rows_that_cannot_be_identified_are_refused(shop, tmp_path, text, options, sentence):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises((InvalidValue, UnknownName), match=sentence):
        shop.import_rows(path, **options)
    assert shop.status(calibrate=False).decisions == 0
