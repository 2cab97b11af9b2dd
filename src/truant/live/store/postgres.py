"""Experiments in a PostgreSQL database, for many processes and machines (extra: truant[postgres])."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from truant.errors import InvalidValue, Unavailable, require
from truant.live.store.deadline import LONG, limits
from truant.live.store.store import Parameters, Retry, Store, Transaction
from truant.live.times import SECOND, passed

SCHEMA = "truant"  # tables are in a schema of their own, beside whatever else is in the database
MIGRATION_LOCK = 7_278_126_116  # "truant" typed on a telephone: any number that nobody else uses
PATIENCE = 10  # seconds for a connection, or for a lock
NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"  # of the server, in microseconds
CONNECTING = {  # options of libpq, unless the URL has them: a machine that is gone is noticed
    "connect_timeout": PATIENCE,
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 1000 * PATIENCE,
}
# of a session: a client that stops in a transaction does not keep its locks, and no statement runs for ever
SESSION = (
    f"SET search_path TO {SCHEMA}; SET lock_timeout TO '{PATIENCE}s'; SET statement_timeout TO '{LONG}s'; "
)
SESSION += "SET idle_in_transaction_session_timeout TO '60s'"
READ_AGAIN = SECOND  # after which the clock of the server is read again
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_INHERITED: list[object] = []  # connections of a parent process: neither used nor closed here


@functools.lru_cache(maxsize=256)
def _native(statement: str) -> str:
    """The statement with the driver's own sign for a parameter."""
    return statement.replace("%", "%%").replace("?", "%s")


NO_ANSWER = "it does not answer; repeat the call later (the same key or the same outcome twice does no harm)"


def _in_time(steps: Generator[Any, Any, Any], give_up: Callable[[], Exception]) -> Generator[Any, Any, Any]:
    """The steps of the driver, which is asked ten times a second whether it still wants to wait."""
    end = monotonic() + limits().left
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if not ready and monotonic() >= end:
                raise give_up()
            wanted = steps.send(ready)
    except StopIteration as done:
        return done.value


@functools.cache
def _connection_class() -> Any:
    """A connection whose calls end when `limits` say so: a server that is stopped would let them wait for ever."""
    import psycopg

    class Connection(psycopg.Connection[Any]):
        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            return super().wait(_in_time(gen, self._give_up), *arguments, **options)

        def _give_up(self) -> Exception:
            self.pgconn.finish()
            return psycopg.OperationalError(NO_ANSWER)

        @classmethod
        def _connect_gen(cls, *arguments: Any, **options: Any) -> Any:
            # the driver's own limit for connecting is at least 2 seconds; without this method that one holds
            steps = super()._connect_gen(*arguments, **options)
            return _in_time(steps, lambda: psycopg.OperationalError(NO_ANSWER))

    return Connection


class PostgresTransaction(Transaction):
    """A transaction on one connection; `clock` is what the server's said, and what has passed since then."""

    def __init__(self, connection: Any, clock: list[int]) -> None:
        self._connection, self._clock = connection, clock

    def now(self) -> int:
        """The time by the clock of the server, which is read once in a second."""
        said, at = self._clock
        since = passed() - at
        if not 0 <= since <= READ_AGAIN:
            said = int(self._connection.execute(NOW).fetchone()[0])
            self._clock[:] = said, passed()
            return said
        return said + since

    def rows(self, statement: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """All rows that a statement gives."""
        found: list[tuple[Any, ...]] = self._connection.execute(_native(statement), parameters).fetchall()
        return found

    def run(self, statement: str, parameters: Parameters = ()) -> int:
        """Run a statement; the number of rows that it changed."""
        changed: int = self._connection.execute(_native(statement), parameters).rowcount
        return changed

    def many(self, statement: str, rows: Sequence[Parameters]) -> None:
        """Run a statement once for each row of parameters."""
        if rows:
            with self._connection.cursor() as cursor:
                cursor.executemany(_native(statement), rows)

    def stream(self, statement: str, parameters: Parameters = ()) -> Iterator[tuple[Any, ...]]:
        """The rows one after the other, from a cursor on the server."""
        with self._connection.cursor(name="truant_stream") as cursor:
            cursor.itersize = 5000
            cursor.execute(_native(statement), parameters)
            yield from cursor


class PostgresStore(Store):
    """PostgreSQL: postgresql://user@host/database, with any option that libpq knows."""

    identity = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
    real, for_update = "DOUBLE PRECISION", " FOR UPDATE"

    def __init__(self, url: str, create: bool = True) -> None:
        require("postgres", "Stores in PostgreSQL")
        import psycopg

        self._driver = psycopg
        try:
            options = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:  # which may quote a part of the password
            options = {"port": "unreadable"}
        if _is_torn(options):
            raise InvalidValue(
                "The URL of the store cannot be read; it is written postgresql://user:password@host/database, with "
                "signs such as @, / and % in a password as %40, %2F and %25."
            )
        self._usual = {name: value for name, value in CONNECTING.items() if name not in options}
        self._secrets = [str(options[name]) for name in ("password", "sslpassword") if options.get(name)]
        super().__init__(url, create)

    def forget_connections(self) -> None:
        """Start with no connections: at first, and in a forked process."""
        _INHERITED.append((getattr(self, "_writer", None), getattr(self, "_readers", None)))
        self._writer: Any = None
        self._readers: list[Any] = []
        self._clock = [0, passed() - 2 * READ_AGAIN]  # not read yet
        self._writing = threading.Lock()
        super().forget_connections()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction that may write; rows that it changes are locked until its end."""
        with self._writing:
            self._writer = self._begin(self._writer, "BEGIN")
            try:
                with self._ended(self._writer):
                    yield PostgresTransaction(self._writer, self._clock)
            except self._driver.errors.DeadlockDetected as error:
                raise Retry from error

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that only reads and sees one state of the database."""
        idle = self._readers.pop() if self._readers else None
        connection = self._begin(idle, BEGIN_READING)
        try:
            with self._ended(connection):
                yield PostgresTransaction(connection, self._clock)
        finally:
            if not connection.closed:
                self._readers.append(connection)

    def _begin(self, connection: Any, statement: str) -> Any:
        """A connection in a transaction; one that was cut while nobody used it is opened again."""
        if connection is not None and not connection.closed:
            try:
                connection.execute(statement)
                return connection
            except self._driver.OperationalError as error:
                connection.close()
                if str(error) == NO_ANSWER:
                    raise
        connection = self._connect()
        connection.execute(statement)
        return connection

    @contextmanager
    def _ended(self, connection: Any) -> Iterator[None]:
        """Keep what was done, or undo it if something is raised; a connection that cannot do that is closed."""
        try:
            yield
            connection.commit()
        except BaseException:
            try:
                connection.rollback()
            except self._driver.Error:
                connection.close()
            raise

    def sentence_of(self, error: Exception) -> Exception | None:
        """What an error of PostgreSQL means; the password in the URL is not shown."""
        if isinstance(error, Retry):
            return Unavailable("Other processes kept changing the same rows; try again.")
        if not isinstance(error, self._driver.Error):
            return None
        said = " ".join(str(error).split()) or type(error).__name__
        for secret in self._secrets:
            said = said.replace(secret, "***")
        return Unavailable(f"Cannot use the store {self.place}: {said.rstrip('.?')}.")

    def tables(self, transaction: Transaction) -> set[str]:
        """The names of the tables that are there."""
        found = transaction.rows("SELECT tablename FROM pg_tables WHERE schemaname = ?", [SCHEMA])
        return {str(name) for (name,) in found}

    def lock_for_migration(self, transaction: Transaction) -> None:
        """Wait until no other process migrates."""
        transaction.rows("SELECT pg_advisory_xact_lock(?)", [MIGRATION_LOCK])

    def after_restore(self, transaction: Transaction) -> None:
        """Let new numbers begin after those that were copied."""
        for table, column in (("experiments", "id"), ("decisions", "number"), ("events", "number")):
            transaction.rows(
                f"SELECT setval(pg_get_serial_sequence('{SCHEMA}.{table}', '{column}'), "
                f"coalesce(max({column}), 0) + 1, false) FROM {table}"
            )

    def problems(self) -> list[str]:
        """None: PostgreSQL checks its pages when it reads them."""
        return []

    def close(self) -> None:
        """Close the connections."""
        for connection in [*self._readers, *([self._writer] if self._writer else [])]:
            with suppress(self._driver.Error):
                connection.close()
        self._readers, self._writer = [], None

    def _connect(self) -> Any:
        connection = _connection_class().connect(self.url, autocommit=True, **self._usual)
        try:
            if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [SCHEMA]).fetchall():
                with suppress(self._driver.errors.UniqueViolation):  # another process was first
                    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(SESSION)
        except BaseException:
            connection.close()
            raise
        return connection


def _is_torn(options: Mapping[str, Any]) -> bool:
    """Whether a sign in the password was taken for the end of it, so that the rest stands elsewhere."""
    ports = str(options.get("port") or "0").split(",")
    elsewhere = f"{options.get('host')}{options.get('dbname')}"
    return "@" in elsewhere or not all(port.isdecimal() or not port for port in ports)


parts = {"postgresql": PostgresStore, "postgres": PostgresStore}
