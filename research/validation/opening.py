"""The first paragraphs of the page; apart from the package, whose own code every section reaches."""

from research import SEED


def opening() -> list[str]:
    """The first paragraphs of the page."""
    return [
        "# Validation",
        f"Written by `python -m research validation` (part of `make study`), seed {SEED}. A comment before each "
        "section says when it was made, and from what code.",
    ]
