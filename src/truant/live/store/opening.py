"""Opens a store by its URL: the kind before :// is found by name, migrations that are due are made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from truant import registry
from truant.errors import InvalidValue
from truant.live.store.migrations import migrate
from truant.live.store.store import Store
from truant.text import quoted

VARIABLE = "TRUANT_STORE"  # of the environment: the store unless one is named
USUAL = "sqlite:///truant.db"


def open_store(url: str | os.PathLike[str] | Store | None = None, create: bool = True) -> Store:
    """The store at a URL or in an SQLite file; of the environment variable TRUANT_STORE, or truant.db, unless given.

    Parameters
    ----------
    url : sqlite:///mails.db, postgresql://user@host/database, or the path of an SQLite file; a Store is given back.
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
        if text.endswith(("/", ":")) or text.startswith(("sqlite:", "postgres")):
            raise InvalidValue(
                f"store must be a URL such as sqlite:///mails.db, or the path of a file, got {quoted(text)}."
            )
        text = f"sqlite:///{text}"
    kind = text.partition("://")[0]
    store: Store = registry.find("store", kind).build(text, create=create)
    with closed_on_error(store):
        migrate(store)
    return store


@contextmanager
def closed_on_error(store: Store, given: object = None) -> Iterator[None]:
    """Close the connections of a store if what follows fails, unless the caller gave the store itself."""
    try:
        yield
    except BaseException:
        if store is not given:
            store.close()
        raise
