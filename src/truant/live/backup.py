"""Backups: a whole store as one SQLite file, whatever kind of store it is; restored into an empty one of any kind."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from truant.errors import Conflict, InvalidValue, Unavailable
from truant.files import output_path, written_whole
from truant.live.store import Store, Transaction, statements
from truant.live.store.opening import open_store
from truant.text import named

Where = str | os.PathLike[str] | Store | None
TABLES = ("meta", "experiments", "revisions", "decisions", "events", "counts", "allocations")
ENDINGS = (".db", ".sqlite", ".backup")
CHUNK = 5000


def backup(store: Where, path: str | os.PathLike[str]) -> Path:
    """Write everything that a store holds at one moment into a new file; asks and tells go on meanwhile."""
    target = output_path(path, ENDINGS)
    if target.exists():
        raise InvalidValue(
            f"Cannot write the backup {named(target)}: the file is there already; choose another name."
        )
    with _opened(store, create=False) as source, written_whole(target) as temporary:
        temporary.unlink(missing_ok=True)
        with _opened(f"sqlite:///{temporary}?durability=process") as copy:
            source.read(lambda transaction: copy.write(lambda into: _copy(transaction, into)))
    return target


def restore(path: str | os.PathLike[str], store: Where = None) -> int:
    """Bring a backup into a store without experiments; gives the number of experiments."""
    if not Path(path).is_file():
        raise InvalidValue(f"There is no backup at {named(path)}.")
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "backup.db"  # a copy: it may be of an older version, and is brought up to date
        shutil.copyfile(path, own)
        source = _backup_in(own, path)
        try:
            with _opened(store) as target:
                return _restored(source, target)
        finally:
            source.close()


def _backup_in(copy: Path, path: str | os.PathLike[str]) -> Store:
    """The copy of a backup, opened; or raises InvalidValue if it is none."""
    try:
        return open_store(copy, create=False)
    except Unavailable:
        raise InvalidValue(f"{named(path)} is not a backup of a store of truant, or it is damaged.") from None


@contextmanager
def _opened(store: Where, create: bool = True) -> Iterator[Store]:
    """A store; one that was opened here is closed again."""
    opened = open_store(store, create)
    try:
        yield opened
    finally:
        if opened is not store:
            opened.close()


def _restored(source: Store, target: Store) -> int:

    def operation(into: Transaction) -> int:
        if statements.heads(into):
            raise Conflict("A backup is restored into a store without experiments; this one has some.")
        source.read(lambda transaction: _copy(transaction, into))
        target.after_restore(into)
        return len(statements.heads(into))

    return target.write(operation)


def _copy(source: Transaction, target: Transaction) -> None:
    """All rows of all tables; the columns of both have the same order, since both were made by the same steps."""
    target.run("DELETE FROM meta")
    for table in TABLES:
        rows = source.stream(f"SELECT * FROM {table}")
        while some := list(islice(rows, CHUNK)):
            target.many(f"INSERT INTO {table} VALUES ({_places(some[0])})", some)


def _places(row: tuple[Any, ...]) -> str:
    return ", ".join("?" * len(row))
