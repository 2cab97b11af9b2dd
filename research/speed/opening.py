"""The first paragraphs of the page; apart from the package, whose own code every section reaches."""


def opening() -> list[str]:
    """The first paragraphs of the page."""
    return [
        "# Speed",
        "Written by `python -m research speed` (or `make bench`). n = 10, K = L = 5 unless said; one core. A comment "
        "before each section says when it was made, and from what code.",
    ]
