"""Both stores keep the contract, and stores that do not are found out."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from truant.checks import ContractBroken, check_store
from truant.errors import TruantError
from truant.live.store.sqlite import SQLiteStore, SQLiteTransaction


def test_both_stores_keep_their_contract(store_url):
    from truant import registry

    kind = store_url.partition("://")[0]
    check_store(lambda: registry.find("store", kind).build(store_url))


class _Altered(SQLiteStore):
    """A store whose transactions can be broken."""

    kind = SQLiteTransaction

    @contextmanager
    def transaction(self):
        with super().transaction() as inner:
            yield self.kind(inner._connection)


class KeepsWhatFailed(SQLiteStore):
    @contextmanager
    def transaction(self):
        connection = self._connect()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield SQLiteTransaction(connection)
        finally:
            connection.execute("COMMIT")
            connection.close()


class ForgetsAtTheEnd(SQLiteStore):
    """A store that copies its file, and so is not the same one for others."""

    def __init__(self, url, create=True):
        path = Path(url.removeprefix("sqlite:///"))
        super().__init__(f"sqlite:///{path}-{id(self)}", create)


class ReadsWithoutTransaction(SQLiteStore):
    @contextmanager
    def reading(self):
        connection = self._connect()
        try:
            yield SQLiteTransaction(connection)
        finally:
            connection.close()


class CountsNothing(_Altered):
    class kind(SQLiteTransaction):
        def run(self, statement, parameters=()):
            super().run(statement, parameters)
            return 1


class Rounds(_Altered):
    class kind(SQLiteTransaction):
        def many(self, statement, rows):
            rows = [[float(f"{v:.6g}") if isinstance(v, float) else v for v in row] for row in rows]
            super().many(statement, rows)


class LosesWrites(SQLiteStore):
    """Does not lock what it reads before it writes."""

    @contextmanager
    def transaction(self):
        connection = self._connect()
        statements = []

        class Later(SQLiteTransaction):
            def run(self, statement, parameters=()):
                if not statement.startswith("UPDATE contract_check SET whole = ? WHERE name = 'sum'"):
                    return super().run(statement, parameters)
                statements.append((statement, parameters))
                return 1

        try:
            connection.execute("BEGIN IMMEDIATE")
            yield Later(connection)
            connection.execute("COMMIT")
            for statement, parameters in statements:
                connection.execute(statement, parameters)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        finally:
            connection.close()


class SaysNothing(SQLiteStore):
    def sentence_of(self, error):
        return None


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (KeepsWhatFailed, "a transaction that raises must be undone"),
        (ForgetsAtTheEnd, "transactions that begin later|must see one state|no such table"),
        (ReadsWithoutTransaction, "a reader must see one state"),
        (CountsNothing, "run must give the number of changed rows"),
        (Rounds, "a value must come back as it was written"),
        (LosesWrites, "no write may be lost"),
        (SaysNothing, "sentence_of must make an error of truant"),
    ],
)
def test_a_broken_store_is_found_out(broken, words, sqlite_url):
    with pytest.raises(TruantError, match=words):
        check_store(lambda: broken(sqlite_url.partition("?")[0]))


def test_what_is_no_store_or_not_empty_is_refused(sqlite_url):
    with pytest.raises(ContractBroken, match="A store must be a Store, got int"):
        check_store(lambda: 1)
    check_store(lambda: SQLiteStore(sqlite_url))
    with pytest.raises(ContractBroken, match="needs an empty database"):
        check_store(lambda: SQLiteStore(sqlite_url))
