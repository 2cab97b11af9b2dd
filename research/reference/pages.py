"""The text of every page, by file name."""

from __future__ import annotations

from research.reference import commands, json_documents, python_names


def pages() -> dict[str, str]:
    """The pages as they should be now."""
    return {
        "commands.md": commands.page(),
        "json.md": json_documents.page(),
        "python.md": python_names.page(),
    }
