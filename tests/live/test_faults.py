"""What goes wrong is said in a sentence, and nothing is promised that is not kept."""

import multiprocessing
import os
import resource
import shutil
import sqlite3
import stat
import sys
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from tests.live.counted import assert_sound, rows
from tests.postgres import GUARDED
from truant.errors import Conflict, Gone, InvalidValue, MissingExtra, TruantError, Unavailable, UnknownName
from truant.live import experiment as experiment_module
from truant.live.experiment import Experiment, experiments
from truant.live.store import deadline
from truant.live.store.opening import MIGRATIONS, open_store, store_at

SETTINGS = {"levels": [0, 1], "assume": "mcar", "window": "7d"}
FORK = multiprocessing.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def said(error):
    """The one sentence (or two) of an error."""
    text = str(error.value if hasattr(error, "value") else error)
    assert text.endswith(".")
    assert "\n" not in text
    assert "Traceback" not in text
    return text


@pytest.fixture
def file(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def experiment(file, clock):
    """An experiment in a file."""
    experiment = Experiment.create("mail", ["a", "b"], store=file, clock=clock, **SETTINGS)
    yield experiment
    experiment.store.close()


def in_child(call, *arguments):
    """What a call says in a process of its own: its result, or its error."""
    here, there = FORK.Pipe()
    child = FORK.Process(target=_answer, args=(there, call, arguments))
    child.start()
    answer = here.recv()
    child.join(20)
    return answer


def _answer(pipe, call, arguments):
    try:
        pipe.send(call(*arguments))
    except TruantError as error:
        pipe.send(f"{type(error).__name__}: {said(error)}")
    except BaseException as error:
        pipe.send(f"not said in a sentence: {error!r}")


# The disk


def test_a_full_disk(experiment):
    asked = [experiment.ask().id]
    pages = experiment.store.read(lambda transaction: transaction.rows("PRAGMA page_count"))[0][0]
    experiment.store._writer.execute(f"PRAGMA max_page_count = {pages + 3}")

    def fill():
        while len(asked) < 10_000:
            asked.extend(decision.id for decision in experiment.ask(20))

    with pytest.raises(Unavailable, match="the disk is full") as error:
        fill()
    assert "Nothing was changed" in said(error)
    assert [row.id for row in rows(experiment)] == asked
    experiment.store._writer.execute("PRAGMA max_page_count = 1000000")
    asked += [experiment.ask().id]
    assert [row.id for row in rows(experiment)] == asked
    assert_sound(experiment)


def _fill(file, limit):
    """Ask until files may not grow any more; the ids of what was asked, and what was said."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    experiment = Experiment.open("mail", store=file)
    asked = []
    try:
        while len(asked) < 10_000:
            asked.append(experiment.ask().id)
    except Unavailable as error:
        return asked, said(error)
    return asked, "never full"


def test_a_file_that_may_not_grow(experiment, file):
    asked, text = in_child(_fill, file, 300_000)
    assert text.startswith("Cannot use the store")
    assert asked
    assert [row.id for row in rows(experiment)] == asked
    experiment.ask()
    assert_sound(experiment)


def _ask_as_nobody(file):
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    experiment = Experiment.open("mail", store=file)
    experiment.lookup("reading works")
    return experiment.ask().id


@pytest.fixture
def open_folder():
    """A folder that every user may write to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("mode", [0o444, 0o000])
def test_a_file_that_may_not_be_written(open_folder, mode):
    file = open_folder / "store.db"
    experiment = Experiment.create("mail", ["a", "b"], store=file, **SETTINGS)
    experiment.store.close()
    file.chmod(mode)
    answer = in_child(_ask_as_nobody, file)
    cause = "it is read-only for this user" if mode else "it cannot be opened"
    assert answer.startswith("Unavailable: Cannot use the store")
    assert cause in answer
    file.chmod(0o600)
    assert rows(experiment) == []
    experiment.store.close()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(Unavailable, match="Cannot make the store") as error:
        Experiment.create("mail", ["a", "b"], store=tmp_path / "nowhere" / "store.db", **SETTINGS)
    assert "No such file or directory" in said(error)
    assert not (tmp_path / "nowhere").exists()


def test_files_are_for_their_owner_only(file):
    before = os.umask(0)
    try:
        experiment = Experiment.create("mail", ["a", "b"], store=file, **SETTINGS)
        experiment.ask()
        found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    finally:
        os.umask(before)
    assert found == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
    experiment.store.close()


def test_keys_are_not_in_the_file(experiment, file):
    experiment.ask(key="anna@example.org")
    experiment.tell(key="anna@example.org", outcome=1)
    experiment.forget("anna@example.org", why="she asked for it")
    experiment.ask(keys=["ben@example.org"])
    content = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert b"example.org" not in content
    assert b"she asked for it" in content  # so this would have found it


# The database


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(deadline, "HOT", 0.2)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_store_that_is_locked(file, begin, clock):
    experiment = Experiment.create("mail", ["a", "b"], store=file, clock=clock, **SETTINGS)
    decision = experiment.ask(key="anna")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(begin)
        for call in (experiment.ask, lambda: experiment.tell(decision.id, outcome=1)):
            with pytest.raises(Unavailable, match=r"another process keeps it locked; try again") as error:
                call()
            said(error)
        assert experiment.lookup("anna").id == decision.id  # readers do not wait
        other.execute("ROLLBACK")
    assert rows(experiment)[0].outcome is None
    assert experiment.tell(decision.id, outcome=1).verdict == "accepted"
    experiment.store.close()


@pytest.mark.usefixtures("impatient")
def test_the_fallback_arm_while_the_store_cannot_be_reached(file, clock):
    settings = SETTINGS | {"fallback": "b", "clock": clock}
    experiment = Experiment.create("mail", ["a", "b"], store=file, **settings)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        decision, *more = [experiment.ask(key="anna"), *experiment.ask(2)]
        other.execute("ROLLBACK")
    assert (decision.arm, decision.id, decision.fallback, decision.probability) == ("b", None, True, None)
    assert [one.fallback for one in more] == [True, True]
    assert rows(experiment) == []
    assert not experiment.ask(key="anna").fallback
    experiment.pause()
    assert experiment.ask().fallback
    assert not experiment.ask(key="anna").fallback  # it has its decision
    experiment.store.close()


def test_a_file_that_is_no_database(file):
    file.write_bytes(b"Dear diary, " * 1000)
    for call in (lambda: open_store(file), lambda: Experiment.open("mail", store=file)):
        with pytest.raises(Unavailable, match="it is not an SQLite file") as error:
            call()
        said(error)
    assert file.read_bytes() == b"Dear diary, " * 1000
    assert [path.name for path in file.parent.iterdir()] == ["store.db"]


def test_a_database_of_something_else_is_not_touched(file):
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    before = file.read_bytes()
    for call in (
        lambda: Experiment.create("mail", ["a", "b"], store=file, **SETTINGS),
        lambda: Experiment.open("mail", store=file),
    ):
        with pytest.raises(InvalidValue, match=r"tables, but not those of truant \(customers\)") as error:
            call()
        said(error)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["store.db"]


def test_another_schema_of_the_same_postgresql_database_is_left_alone(postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE decisions (mine TEXT)")
        connection.execute("INSERT INTO decisions VALUES ('old')")
        experiment = Experiment.create("mail", ["a", "b"], store=postgres_url, **SETTINGS)
        experiment.ask()
        assert connection.execute("SELECT * FROM decisions").fetchall() == [("old",)]
    assert len(rows(experiment)) == 1
    experiment.store.close()


def test_a_newer_store(create, store_url):
    experiment = create()
    version = len(MIGRATIONS) + 1
    experiment.store.write(
        lambda transaction: transaction.run(
            "UPDATE meta SET value = ? WHERE name = 'version'", [str(version)]
        )
    )
    experiment.store.close()
    with pytest.raises(InvalidValue, match=f"The store has version {version}") as error:
        Experiment.open("mail", store=store_url)
    assert "install a newer truant" in said(error)


def test_a_file_that_is_damaged_in_the_middle(experiment, file):
    asked = experiment.ask(3000)
    experiment.store.close()
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4 * 4096] = b"\xa5" * (4 * 4096)
    file.write_bytes(content)

    def tell():
        for decision in asked:
            experiment.tell(decision.id, outcome=1)

    with pytest.raises(Unavailable, match="the file is damaged; restore a backup") as error:
        tell()
    said(error)
    problems = experiment.store.problems()
    assert problems
    assert all(text.startswith(("SQLite says: ", "Cannot use the store")) for text in problems)


def test_a_store_in_memory_belongs_to_its_process(clock):
    experiment = Experiment.create("mail", ["a", "b"], store="sqlite://", clock=clock, **SETTINGS)
    experiment.ask()
    answer = in_child(lambda: experiment.ask().id)
    assert answer.startswith("InvalidValue: A store in memory belongs to the parent process")
    assert len(rows(experiment)) == 1
    with pytest.raises(UnknownName):
        Experiment.open("mail", store="sqlite://")


# PostgreSQL


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(Unavailable, match="Cannot use the store") as error:
        open_store(f"postgresql://me:hidden@/database?host={tmp_path}")
    assert "hidden" not in said(error)


@pytest.fixture
def guarded(postgres_url):
    """The URL of a role that needs a password, with places for name and password."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {GUARDED} LOGIN SUPERUSER PASSWORD 'right-horse'")
        yield postgres_url.replace("postgres:@", GUARDED + ":{}@")
        connection.execute(f"REASSIGN OWNED BY {GUARDED} TO CURRENT_USER")
        connection.execute(f"DROP ROLE {GUARDED}")


def test_a_wrong_password_is_not_shown(guarded):
    for wrong in (guarded.format("wrong-horse"), f"{guarded.replace(':{}', '')}&password=wrong-horse"):
        with pytest.raises(Unavailable, match="password authentication failed") as error:
            open_store(wrong)
        assert "horse" not in said(error)
        assert "***" in said(error)
    experiment = Experiment.create("mail", ["a", "b"], store=guarded.format("right-horse"), **SETTINGS)
    assert experiment.ask().id
    experiment.store.close()


@pytest.mark.parametrize("password", ["wrong/horse", "wrong@/horse", "%wrong-horse"])
def test_a_password_that_breaks_the_url_is_not_shown(password):
    with pytest.raises(InvalidValue, match="The URL of the store cannot be read") as error:
        open_store(f"postgresql://me:{password}@localhost:5432/database")
    assert "horse" not in said(error)
    assert "wrong" not in said(error)


def test_postgresql_without_its_driver(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        MissingExtra, match=r'need the postgres extra: pip install "truant\[postgres\]"'
    ) as error:
        open_store("postgresql://me@localhost/database")
    said(error)


# What is asked for


def test_addresses_that_cannot_be_used(tmp_path, monkeypatch):
    for address, words in {
        "mysql://me@localhost/x": "Unknown store 'mysql'",
        "sqlite://store.db": "An SQLite store is written sqlite:///file.db",
        "sqlite:///store.db?durability=some": "Unknown durability 'some'",
        "sqlite:///store.db?mode=ro": "Unknown option of an SQLite store: 'mode'",
    }.items():
        with pytest.raises((InvalidValue, UnknownName), match=words) as error:
            open_store(address)
        said(error)
    with pytest.raises(InvalidValue, match="There is no store at") as error:
        Experiment.open("mail", store=tmp_path / "none.db")
    said(error)
    monkeypatch.setenv("TRUANT_STORE", f"sqlite:///{tmp_path / 'other.db'}")
    Experiment.create("mail", ["a", "b"], **SETTINGS).store.close()
    assert [one["name"] for one in experiments(tmp_path / "other.db")] == ["mail"]
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {"other.db"}


def test_experiments_that_are_not_there(create, store_url):
    create("mail")
    with pytest.raises(UnknownName, match="Unknown experiment 'mial'; did you mean 'mail'") as error:
        Experiment.open("mial", store=store_url)
    said(error)
    with pytest.raises(Conflict, match="There is an experiment 'mail' already") as error:
        create("mail")
    said(error)


@pytest.mark.parametrize(
    "arguments", [{"name": 5}, {"name": "nobody"}, {"timeout": "soon"}, {"seed": []}, {"name": ""}], ids=str
)
def test_an_open_that_is_refused_leaves_no_store_open(create, store_url, monkeypatch, arguments):
    given = create("mail").store
    opened, closed, close = [], [], type(given).close

    def opening(*place, **options):
        opened.append(store_at(*place, **options))
        return opened[-1]

    def closing(store):
        closed.append(store)
        close(store)

    monkeypatch.setattr(experiment_module, "store_at", opening)
    monkeypatch.setattr(type(given), "close", closing)
    with pytest.raises((TruantError, TypeError)):
        Experiment.open(**({"name": "mail", "store": store_url} | arguments))
    assert closed == opened
    closed.clear()
    with pytest.raises((TruantError, TypeError)):
        Experiment.open(**({"name": "mail", "store": given} | arguments))
    assert closed == []  # a store that the caller gave stays the caller's


def test_tells_that_are_refused(create, clock):
    experiment = create(mediator_levels=["closed", "opened"])
    one, other = experiment.ask(2)
    experiment.tell(one.id, outcome=1, mediator="opened")
    refusals = [
        (Conflict, "has outcome 1 already, got 0. Use experiment.correct", {"id": one.id, "outcome": 0}),
        (Conflict, "has another mediator already", {"id": one.id, "mediator": "closed"}),
        (InvalidValue, "one of the levels 0, 1", {"id": other.id, "outcome": 2}),
        (InvalidValue, "outcome must be a finite number", {"id": other.id, "outcome": float("nan")}),
        (UnknownName, "Unknown mediator level 'open'", {"id": other.id, "mediator": "open"}),
        (UnknownName, "There is no decision with the id", {"id": "7k3", "outcome": 1}),
        (UnknownName, "There is no decision with the id", {"id": one.id[:-1] + "0", "outcome": 1}),
        (UnknownName, "There is no decision with the key", {"key": "nobody", "outcome": 1}),
        (
            InvalidValue,
            "at must not be in the future",
            {"id": other.id, "outcome": 1, "at": "2026-03-02 09:06"},
        ),
        (InvalidValue, "at must not be before", {"id": other.id, "outcome": 1, "at": "2026-03-02 08:54"}),
        (InvalidValue, "with its id, or with the key", {"outcome": 1}),
        (InvalidValue, "give mediator, outcome or both", {"id": other.id}),
        (Conflict, "was not picked for follow-up", {"id": other.id, "outcome": 1, "followed_up": True}),
    ]
    for kind, words, values in refusals:
        with pytest.raises(kind, match=words) as error:
            experiment.tell(**values)
        said(error)
    found = experiment.tell_many([values for _, _, values in refusals])
    assert all(isinstance(one, kind) for one, (kind, _, _) in zip(found, refusals, strict=True))
    assert rows(experiment)[1].outcome_at is None
    clock.advance("7d")
    assert experiment.tell(other.id, outcome=1).verdict == "late"
    experiment.withdraw(one.id)
    with pytest.raises(Gone, match="was withdrawn") as error:
        experiment.tell(one.id, outcome=1)
    said(error)


def test_an_arm_that_was_retired_meanwhile_is_not_drawn(create, reopened):
    experiment, other = create(arms=("a", "b", "c")), reopened()
    experiment.ask(10)
    other.retire_arm("b")
    assert {decision.arm for decision in experiment.ask(100)} == {"a", "c"}
    for call, kind, words in (
        (lambda: experiment.retire_arm("b"), Conflict, "is retired already"),
        (lambda: experiment.retire_arm("x"), UnknownName, "Unknown arm 'x'"),
        (lambda: experiment.add_arm("a"), Conflict, "There is an arm 'a' already"),
    ):
        with pytest.raises(kind, match=words) as error:
            call()
        said(error)


def test_a_clock_that_jumps_back_does_not_open_a_window_again(create, clock):
    experiment = create(window="1h", grace="1h")
    by_id, by_key = experiment.ask(), experiment.ask(key="anna")
    clock.advance("90m")
    experiment.change(grace="2h")  # the clock of the experiment is there now
    clock.advance(-80 * 60 * 10**6)
    assert experiment.tell(by_id.id, outcome=1).verdict == "late"
    assert experiment.tell(key="anna", outcome=1).verdict == "late"
    assert by_key.id == experiment.lookup("anna").id
    assert experiment.ask().asked >= by_id.deadline


@pytest.mark.parametrize("settle", ["at_close", "on_arrival"])
@pytest.mark.parametrize("by", ["id", "key"])
def test_the_deadline_is_sharp(create, clock, settle, by):
    """What happens a microsecond before it counts, what happens at it does not; told within the grace, or never."""
    experiment = create(window="1h", grace="1h", settle=settle)
    decisions = [experiment.ask(key=f"{i}") for i in range(4)]
    names = [{"id": decision.id} if by == "id" else {"key": f"{i}"} for i, decision in enumerate(decisions)]
    deadline, sooner = decisions[0].deadline, decisions[0].deadline - timedelta(microseconds=1)
    clock.advance("1h")
    clock.advance(-1)
    assert experiment.tell(**names[0], outcome=1).verdict == "accepted"
    clock.advance(1)
    assert experiment.tell(**names[1], outcome=1).verdict == "late"
    clock.advance("1h")
    clock.advance(-1)
    assert experiment.tell(**names[2], outcome=1, at=deadline).verdict == "late"
    assert experiment.tell(**names[3], outcome=1, at=sooner).verdict == "accepted"
    clock.advance(1)
    experiment.close_windows()
    assert [row.outcome for row in rows(experiment)] == [1, None, None, 1]


def test_a_tell_at_the_end_of_the_grace_is_late(create, clock):
    experiment = create(window="1h", grace="1h")
    decision = experiment.ask()
    clock.advance("2h")
    assert experiment.tell(decision.id, outcome=1, at=decision.asked).verdict == "late"


def test_a_clock_that_jumps_back_refuses_nobody(create, clock):
    experiment = create()
    decision = experiment.ask()
    clock.advance(-24 * 3600 * 10**6)
    assert experiment.tell(decision.id, outcome=1).verdict == "accepted"
    experiment.correct(decision.id, outcome=0)
    assert rows(experiment)[0].outcome == 0


def test_settings_stay_when_another_one_changes(create):
    experiment = create(arms=("a", "b", "c"), split=[0.5, 0.3, 0.2], holdout=0.5)
    experiment.retire_arm("c")
    experiment.change(window="3d")
    assert experiment.configuration.split == (0.5, 0.3, 0.2)
    assert experiment.configuration.fixed_shares() == pytest.approx([0.625, 0.375, 0])


def test_an_arm_comes_back_only_where_the_least_share_leaves_room(create):
    experiment = create(arms=("a", "b"), minimum_share=0.4)
    experiment.retire_arm("b")
    experiment.add_arm("c")
    with pytest.raises(Conflict, match=r"minimum_share 0\.4 leaves no room for one more arm"):
        experiment.add_arm("b")
    experiment.ask(5)
