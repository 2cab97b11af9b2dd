"""How an estimate becomes a choice: which z of at(z) to look at; one file per index."""

from truant.indices.index import Index

__all__ = ["Index"]
