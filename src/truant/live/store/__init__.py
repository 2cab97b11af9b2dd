"""Where experiments are kept: SQLite or PostgreSQL, and whatever another package offers."""

from truant.live.store.store import Store, Transaction

__all__ = ["Store", "Transaction"]
