"""The first paragraphs of the page; apart from the package, whose own code every section reaches."""

from pathlib import Path


def opening() -> list[str]:
    """The first paragraphs of the page."""
    return [Path(__file__).with_name("introduction.md").read_text(encoding="utf-8").strip()]
