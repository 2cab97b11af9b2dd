"""Ablations: what each of truant's choices is worth. A study and its reading are two files: z.toml and z.md."""

from pathlib import Path


def opening() -> list[str]:
    """The first paragraphs of the page."""
    return [Path(__file__).with_name("introduction.md").read_text(encoding="utf-8").strip()]
