"""Export, import, backup and restore; what the doctor finds."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.live.campaign import ARMS, MAIL, run
from truant.errors import Conflict, InvalidValue
from truant.live.exchange import backup, restore
from truant.live.experiment import Experiment


@pytest.fixture
def mails(create, clock):
    experiment = create("mails", ARMS, **MAIL)
    run(experiment, clock, days=6)
    return experiment


@pytest.fixture
def in_memory(clock):
    wanted = {name: value for name, value in MAIL.items() if value is not None}
    experiment = Experiment.create("mails", list(ARMS), store="sqlite://", clock=clock, seed=1, **wanted)
    run(experiment, clock, days=6)
    return experiment


def test_export_has_a_row_for_each_settled_decision(mails, tmp_path):
    status = mails.status(calibrate=False)
    settled = pq.read_table(mails.export(tmp_path / "rows.parquet"))
    everyone = pq.read_table(mails.export(tmp_path / "all.parquet", all=True))
    assert (settled.num_rows, everyone.num_rows) == (status.settled, status.decisions)
    rows = settled.to_pylist()
    assert {row["state"] for row in rows} == {"observed", "missing"}
    assert sum(row["outcome"] is not None for row in rows) == status.observed
    assert sum(row["late_outcome"] is not None for row in rows) == status.late
    assert all(0 < row["probability"] <= 1 for row in rows)
    with pytest.raises(InvalidValue, match="must end in"):
        mails.export(tmp_path / "rows.xlsx")


def test_import_adds_past_decisions_once(mails, tmp_path, clock):
    before = mails.status(calibrate=False)
    path = tmp_path / "past.csv"
    path.write_text(
        "visit,arm,asked,mediator,outcome,probability,key\n"
        "1,old,2026-01-02 10:00,opened,12.5,0.5,anna\n"
        "2,new,2026-01-02 11:00,,,,\n"
        "3,new,2026-03-07 08:00,closed,,0.5,otto\n"  # its window is open
    )
    shop = {"source": "shop", "identified_by": "visit"}
    assert mails.import_rows(path, actor="ada", **shop) == 3
    after = mails.status(calibrate=False)
    assert (after.settled, after.observed) == (before.settled + 2, before.observed + 1)
    assert after.pending == before.pending + 1
    assert mails.lookup("anna").arm == "old"
    assert mails.tell(key="otto", outcome=3.0).verdict == "accepted"
    assert mails.doctor(allocations=None).healthy
    again = mails.import_rows(path, **shop)
    assert (again, again.known) == (0, 3)
    assert mails.status(calibrate=False).settled == after.settled


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("olt,,,,,", "line 2: Unknown arm 'olt'; did you mean 'old'?"),
        ("old,2999-01-01,,,,", "line 2: asked must be between"),
        ("old,2027-01-01,,,,", "line 2: asked must not be in the future"),
        ("old,,opened,900,,", "line 2: outcome must be within the range from 0 to 200"),
        ("old,,ajar,,,", "line 2: Unknown mediator level 'ajar'"),
        ("old,,,,1.5,", "line 2: probability must be above 0 and at most 1"),
        ("old,,,much,,", "line 2: outcome must be a number"),
    ],
)
def test_import_refuses_a_line_and_adds_none(in_memory, tmp_path, line, sentence):
    path = tmp_path / "past.csv"
    path.write_text(f"n,arm,asked,mediator,outcome,probability,key\n1,{line}\n2,old,,,,,\n")
    before = in_memory.status(calibrate=False).decisions
    with pytest.raises((InvalidValue, LookupError), match=sentence.replace("?", r"\?")):
        in_memory.import_rows(path, source="shop", identified_by="n")
    assert in_memory.status(calibrate=False).decisions == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_backup_is_restored_into_either_kind_of_store(mails, tmp_path, clock, request, kind):
    mails.ask(key="anna")
    mails.correct(mails.lookup("anna").id, outcome=1.0)
    for one in mails.follow_up(n=10):
        mails.tell(one.id, outcome=5.0, followed_up=True)
    mails.close_windows()
    file = backup(mails.store, tmp_path / "copy.db")
    target = f"sqlite:///{tmp_path / 'other.db'}"
    if kind == "postgresql":
        target = request.getfixturevalue("other_postgres_url")
    assert restore(file, target) == 1
    again = Experiment.open("mails", store=target, clock=clock)
    assert again.doctor(allocations=None).healthy
    assert again.ask(key="anna").id == mails.ask(key="anna").id
    first, second = (one.status(calibrate=False).summary() for one in (mails, again))
    assert first == second
    fresh = again.ask()  # numbers go on
    assert again.tell(fresh.id, outcome=2.0).verdict == "accepted"
    with pytest.raises(Conflict, match="without experiments"):
        restore(file, target)
    with pytest.raises(InvalidValue, match="there already"):
        backup(mails.store, file)
    again.store.close()


def test_restore_refuses_what_is_no_backup(tmp_path):
    (tmp_path / "x.db").write_text("no database")
    for name in ("x.db", "none.db"):
        with pytest.raises(Exception, match=r"no backup|is not a backup"):
            restore(tmp_path / name, f"sqlite:///{tmp_path / 'new.db'}")


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("UPDATE decisions SET outcome = outcome + 1 WHERE state = 'observed'", "counts of day"),
        ("UPDATE decisions SET state = 'missing' WHERE state = 'observed'", "which its outcome contradicts"),
        ("UPDATE decisions SET settled = NULL WHERE state = 'missing'", "is missing, but it is not counted"),
        ("UPDATE decisions SET probability = 0.123", "another probability than its allocation"),
        ("UPDATE allocations SET probabilities = '[0.25, 0.75]'", "differs from one that is recomputed"),
        ("UPDATE counts SET cells = '{}' WHERE kind = 'tally'", "tally counts of day"),
    ],
)
def test_doctor_finds_what_differs(in_memory, damage, finding):
    assert in_memory.doctor(allocations=None).healthy
    in_memory.store.write(lambda transaction: transaction.run(damage))
    found = in_memory.doctor(allocations=None)
    assert not found.healthy
    assert any(finding in one for one in found.findings), found
    assert not found.summary()["healthy"]


def test_an_export_is_imported_as_it_was(in_memory, tmp_path, clock):
    """Follow-ups stay follow-ups, the holdout stays apart, late outcomes stay late."""
    settings = {name: value for name, value in MAIL.items() if value is not None}
    first = Experiment.create(
        "first", list(ARMS), store="sqlite://", clock=clock, seed=3, holdout=0.3, **settings
    )
    run(first, clock, days=6)
    for one in first.follow_up(n=20):
        first.tell(one.id, outcome=4.0, followed_up=True)
    first.close_windows()
    for ending in ("csv", "parquet"):
        path = first.export(tmp_path / f"rows.{ending}")
        second = Experiment.create(
            f"second-{ending}", list(ARMS), store="sqlite://", clock=clock, seed=3, **settings
        )
        second.import_rows(path)
        before, after = (one.status(calibrate=False) for one in (first, second))
        assert after.settled == before.settled
        assert after.late == before.late
        assert after.holdout.decisions == before.holdout.decisions
        assert after.follow_ups == before.follow_ups
        assert np.allclose(after.analysis.counts.table, before.analysis.counts.table)
        assert np.allclose(after.analysis.counts.followed_up, before.analysis.counts.followed_up)
        assert second.doctor(allocations=None).healthy
        own = first.import_rows(path)
        assert (own, own.known, own.differing) == (0, before.settled, 0)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("arm,outcom", "Unknown column of 'past.csv': 'outcom'; did you mean 'outcome'"),
        ("arm,arm", "column 'arm' twice"),
    ],
)
def test_import_refuses_columns_that_it_does_not_know(in_memory, tmp_path, header, sentence):
    path = tmp_path / "past.csv"
    path.write_text(f"n,{header}\n1,old,1\n")
    with pytest.raises((InvalidValue, LookupError), match=sentence):
        in_memory.import_rows(path, source="shop", identified_by="n")


def test_import_names_the_line_of_the_file(in_memory, tmp_path):
    path, shop = tmp_path / "past.csv", {"source": "shop", "identified_by": "n"}
    path.write_text('n,arm,key\n\n\n1,old,"a\nb"\n\n2,nobody,c\n')
    with pytest.raises(LookupError, match=r"^line 7: Unknown arm 'nobody'"):
        in_memory.import_rows(path, **shop)
    path.write_text("n,arm,key\n\n1,old\n")
    with pytest.raises(InvalidValue, match="the header has 3 fields, line 3 has 2"):
        in_memory.import_rows(path, **shop)
    path.write_text("n,arm,key\n1,,c\n")
    with pytest.raises(InvalidValue, match=r"^line 2: The arm is blank\.$"):
        in_memory.import_rows(path, **shop)


def test_names_like_formulas_come_back_from_an_export(tmp_path, clock):
    arms, levels = ["=1+1", "-x"], ["@closed", "opened"]
    settings = {"mediator_levels": levels, "levels": [0, 1], "window": "1d", "assume": "mar"}
    first, second = (
        Experiment.create(name, arms, store="sqlite://", clock=clock, seed=2, **settings)
        for name in ("first", "second")
    )
    for number in range(8):
        first.tell(first.ask().id, mediator=levels[number % 2], outcome=1)
    clock.advance("2d")
    first.close_windows()
    path = first.export(tmp_path / "rows.csv")
    assert "'=1+1" in path.read_text(encoding="utf-8")
    assert second.import_rows(path) == 8
    tables = [one.status(calibrate=False).analysis.counts.table for one in (first, second)]
    assert np.array_equal(*tables)
