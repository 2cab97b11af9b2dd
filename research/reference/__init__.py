"""Pages that are written from the code itself: docs/commands.md, docs/python.md and docs/json.md.

`python -m research.reference` writes them; a test fails if one is not current.
"""
