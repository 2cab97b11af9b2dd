"""What is asked of a function and of its command, stated once: the fields of a frozen dataclass are options."""

from truant.questions.option import Option, ask, asked, described, keywords, options

__all__ = ["Option", "ask", "asked", "described", "keywords", "options"]
