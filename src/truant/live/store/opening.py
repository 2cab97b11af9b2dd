"""Opens a store by its URL: the kind before :// is found by name, and its tables are brought up to date."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from urllib.parse import quote, urlencode

from truant import registry
from truant.errors import InvalidValue, quoted, require
from truant.live.store.store import Store, Transaction

# Times are whole microseconds since 1970 (UTC), flags are 0 or 1, arms and mediators are numbers from 0.
FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE experiments (
    id {identity},
    name TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,                -- running, paused or ended
    revision BIGINT NOT NULL,            -- of the configuration that holds now
    created BIGINT NOT NULL,
    clock BIGINT NOT NULL,               -- the latest time that any process has seen; windows never open again
    counts_version BIGINT NOT NULL,      -- raised whenever counts change
    allocation BIGINT NOT NULL           -- version of the allocation that decisions are drawn from
);

-- every configuration that an experiment has had, whole
CREATE TABLE revisions (
    experiment BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT,
    why TEXT,
    configuration TEXT NOT NULL,
    PRIMARY KEY (experiment, revision)
);

-- one row for each decision; what ask wrote is never changed, tell and the settler fill in the rest
CREATE TABLE decisions (
    number {identity},
    tag BIGINT NOT NULL,                 -- random: an id cannot be guessed from its number
    experiment BIGINT NOT NULL,
    arm BIGINT NOT NULL,
    probability {real},                  -- with which the arm was drawn; NULL if it was imported without one
    allocation BIGINT,                   -- version that it was drawn from; NULL if it was imported
    holdout BIGINT NOT NULL,             -- drawn from the fixed split, and not learned from
    key TEXT,                            -- keyed hash (HMAC-SHA256) of the caller's key
    asked BIGINT NOT NULL,
    deadline BIGINT NOT NULL,            -- outcomes that happened before it count
    due BIGINT NOT NULL,                 -- when the decision is counted: deadline and grace
    state TEXT NOT NULL,                 -- pending, observed or missing
    reason TEXT,                         -- expired, reported, withdrawn or absent
    mediator BIGINT,                     -- told with NULL: reported missing
    mediator_at BIGINT,
    outcome {real},
    outcome_at BIGINT,
    late_mediator BIGINT,                -- told after the window; kept, and not counted
    late_outcome {real},
    late_at BIGINT,
    settled BIGINT,                      -- version of the counts that it entered
    listed_at BIGINT,                    -- picked for follow-up
    pick_probability {real},
    answer {real},                       -- to a follow-up; told with NULL: it failed
    answered_at BIGINT,
    answer_settled BIGINT,
    guards TEXT,                         -- outcomes of guard metrics (JSON)
    UNIQUE (experiment, key)
);
CREATE INDEX decisions_pending ON decisions (experiment, due, arm, holdout) WHERE state = 'pending';
CREATE INDEX decisions_late ON decisions (experiment) WHERE late_at IS NOT NULL;
CREATE INDEX decisions_missing ON decisions (experiment, arm) WHERE state = 'missing' AND listed_at IS NULL;
CREATE INDEX decisions_listed ON decisions (experiment) WHERE listed_at IS NOT NULL;
CREATE INDEX decisions_answered ON decisions (experiment)
    WHERE answered_at IS NOT NULL AND answer_settled IS NULL;

CREATE TABLE events (
    number {identity},
    at BIGINT NOT NULL,
    experiment BIGINT NOT NULL,
    kind TEXT NOT NULL,
    decision BIGINT,
    actor TEXT,
    why TEXT,
    body TEXT NOT NULL
);
CREATE INDEX events_of ON events (experiment, number);

-- sufficient statistics by day of asking, as JSON whose numbers are exact; kind: settled, holdout, follow_up, tally
CREATE TABLE counts (
    experiment BIGINT NOT NULL,
    kind TEXT NOT NULL,
    day BIGINT NOT NULL,
    version BIGINT NOT NULL,             -- of the counts, when these cells last changed
    stale BIGINT NOT NULL DEFAULT 0,     -- a decision of the day was corrected: to be counted again
    cells TEXT NOT NULL,
    PRIMARY KEY (experiment, kind, day)
);

CREATE TABLE allocations (
    experiment BIGINT NOT NULL,
    version BIGINT NOT NULL,
    at BIGINT NOT NULL,
    counts_version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    made_by TEXT NOT NULL,               -- version of truant
    until BIGINT,                        -- when another one is needed whatever happens: the end of the warm-up
    ahead BIGINT NOT NULL,
    pending TEXT,                        -- decisions of each arm that count as pending (JSON); NULL if none do
    probabilities TEXT NOT NULL,
    PRIMARY KEY (experiment, version)
);
"""


def _first(store: Store, transaction: Transaction) -> None:
    text = FIRST.format(identity=store.identity, real=store.real)
    plain = "\n".join(line.partition("--")[0] for line in text.splitlines())
    for statement in plain.split(";"):
        if statement.strip():
            transaction.run(statement)
    transaction.run("INSERT INTO meta VALUES ('secret', ?)", [secrets.token_hex(32)])
    transaction.run("INSERT INTO meta VALUES ('made_by', ?)", [version("truant")])
    transaction.run("INSERT INTO meta VALUES ('version', '0')")


def _identify_imports(store: Store, transaction: Transaction) -> None:
    """Decisions that are imported keep what identifies them: the id that truant gave, or a keyed hash."""
    transaction.run("ALTER TABLE decisions ADD COLUMN origin TEXT")
    transaction.run(
        "CREATE UNIQUE INDEX decisions_origin ON decisions (experiment, origin) WHERE origin IS NOT NULL"
    )


def _count_exactly(store: Store, transaction: Transaction) -> None:
    """Sums were rounded in the order in which decisions were counted; now they are exact: count all days again."""
    transaction.run("UPDATE counts SET stale = 1")


def _digest_days(store: Store, transaction: Transaction) -> None:
    """Days get digests of their decisions, which counting again makes; the secret a hash that shows damage to it."""
    transaction.run("UPDATE counts SET stale = 1")
    secret = transaction.rows("SELECT value FROM meta WHERE name = 'secret'")[0][0]
    digest = hashlib.sha256(str(secret).encode()).hexdigest()
    transaction.run("INSERT INTO meta VALUES ('secret_digest', ?)", [digest])


MIGRATIONS: list[Callable[[Store, Transaction], None]] = [
    _first,
    _identify_imports,
    _count_exactly,
    _digest_days,
]


def migrate(store: Store) -> None:
    """Bring the store up to date, each step in a transaction; a newer store, or one of something else, is refused."""
    newest = len(MIGRATIONS)
    if store.read(lambda transaction: _version(store, transaction)) == newest:
        return

    def step(transaction: Transaction) -> int:
        store.lock_for_migration(transaction)
        found = _version(store, transaction)
        if found < newest:
            MIGRATIONS[found](store, transaction)
            transaction.run("UPDATE meta SET value = ? WHERE name = 'version'", [str(found + 1)])
        return min(found + 1, newest)

    while store.write(step) < newest:
        pass


def check_own(tables: set[str]) -> None:
    """Refuse a database that holds the tables of something else."""
    if tables and not {"meta", "decisions"} <= tables:
        raise InvalidValue(
            f"The database has tables, but not those of truant ({', '.join(sorted(tables)[:5])}); "
            "give the store a file or database of its own."
        )


def _version(store: Store, transaction: Transaction) -> int:
    """The version of the tables; 0 if there are none yet."""
    tables = store.tables(transaction)
    if not tables:
        return 0
    check_own(tables)
    found = int(transaction.rows("SELECT value FROM meta WHERE name = 'version'")[0][0])
    if found > len(MIGRATIONS):
        raise InvalidValue(
            f"The store has version {found}, and this truant knows versions up to {len(MIGRATIONS)}; "
            "install a newer truant."
        )
    return found


VARIABLE = "TRUANT_STORE"  # of the environment: the store unless one is named
USUAL = "sqlite:///truant.db"


def open_store(url: str | os.PathLike[str] | Store | None = None, create: bool = True) -> Store:
    """The store, its tables brought up to date; as for `store_at`."""
    store = store_at(url, create)
    if store is not url:
        with closed_on_error(store):
            migrate(store)
    return store


def store_at(url: str | os.PathLike[str] | Store | None = None, create: bool = True) -> Store:
    """The store at a URL or in an SQLite file; of the environment variable TRUANT_STORE, or truant.db, unless given.

    Parameters
    ----------
    url : sqlite:///mails.db, postgresql://user@host/database (or "host=... dbname=..."), or the path of an SQLite file;
        a Store is given back.
    create : make what is not there yet.
    """
    if isinstance(url, Store):
        return url
    text = (os.environ.get(VARIABLE) or USUAL) if url is None else url
    if isinstance(text, os.PathLike):
        text = f"sqlite:///{os.fspath(text)}"
    if not isinstance(text, str) or not text:
        raise InvalidValue(f"store must be a URL such as sqlite:///mails.db, got {quoted(url)}.")
    if "://" not in text:
        if KEYWORDS.match(text):
            return open_store(_url_of(text), create)
        if text.endswith(("/", ":")) or text.startswith(("sqlite:", "postgres")):
            raise InvalidValue(
                f"store must be a URL such as sqlite:///mails.db, or the path of a file, got {quoted(text)}."
            )
        text = f"sqlite:///{text}"
    kind = text.partition("://")[0]
    store: Store = registry.find("store", kind).build(text, create=create)
    return store


KEYWORDS = re.compile(r"\s*(host|hostaddr|port|dbname|user|password|passfile|service|options|sslmode)\s*=")


def _url_of(keywords: str) -> str:
    """The URL for a connection that is written with the keywords of PostgreSQL: host=... dbname=..."""
    require("postgres", "Stores in PostgreSQL")
    from psycopg import Error, conninfo

    try:
        values = conninfo.conninfo_to_dict(keywords)
    except Error:  # which may quote a part of the password
        raise InvalidValue(
            "The keywords of the store cannot be read; they are written host=... dbname=... user=..., values with "
            "spaces in quotes: password='a b'."
        ) from None
    return f"postgresql://?{urlencode({name: str(value) for name, value in values.items()}, quote_via=quote)}"


@contextmanager
def closed_on_error(store: Store, given: object = None) -> Iterator[None]:
    """Close the connections of a store if what follows fails, unless the caller gave the store itself."""
    try:
        yield
    except BaseException:
        if store is not given:
            store.close()
        raise
