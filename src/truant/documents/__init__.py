"""Every result as a document: a list of blocks with all words, made once; terminal, page and notebook render it."""

from truant.envelope import METADATA, document, own_fields, parquet_metadata

__all__ = ["METADATA", "document", "own_fields", "parquet_metadata"]
