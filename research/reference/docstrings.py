"""Reads docstrings: paragraphs, and the parameters of a section in the manner of numpydoc."""

from __future__ import annotations

import ast
import inspect
import io
import re
import textwrap
import tokenize
from typing import Any

_HEADING = re.compile(r"^([A-Z][\w ]+)\n-{3,}$", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)$")


def sections(documented: Any) -> dict[str, str]:
    """The text of a docstring by heading; what comes before the first heading under ""."""
    parts = _HEADING.split(_docstring(documented))
    return {"": parts[0].strip()} | {
        name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def _docstring(documented: Any) -> str:
    """Its own docstring: one that is inherited says nothing about it."""
    return inspect.cleandoc(getattr(documented, "__doc__", None) or "")


def summary(documented: Any) -> str:
    """The first paragraph of a docstring, in one line; empty if there is none."""
    return _line(sections(documented)[""].partition("\n\n")[0])


def paragraphs(documented: Any) -> list[str]:
    """The paragraphs before the first heading, a line each."""
    return [_line(part) for part in sections(documented)[""].split("\n\n") if part]


def entries(documented: Any) -> list[tuple[list[str], str]]:
    """The parameters of a docstring: names that share a description, and the description."""
    found: list[tuple[list[str], str]] = []
    text = sections(documented)
    for line in "\n".join(text.get(name, "") for name in ("Parameters", "Other Parameters")).splitlines():
        if entry := _ENTRY.match(line):
            found.append(([name.lstrip("*") for name in entry[1].split(", ")], entry[2]))
        elif line.startswith(" ") and found:  # goes on
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return [(names, sentence(words)) for names, words in found]


def parameters(documented: Any) -> dict[str, str]:
    """What a docstring says of each parameter."""
    return {name: words for names, words in entries(documented) for name in names}


def sentence(words: str) -> str:
    """A description or a comment as a sentence."""
    if words[:1].isalpha() and words[1:2] != "-":  # unlike p-value
        words = f"{words[0].upper()}{words[1:]}"
    return words if not words or words.endswith(".") else f"{words}."


def field_comments(cls: type) -> dict[str, str]:
    """The comment behind each field of a class, or above it where there is none behind."""
    text = textwrap.dedent(inspect.getsource(cls))
    comments = {
        token.start[0]: token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    alone = {number for number, token in comments.items() if token.line.strip() == token.string}
    found = {}
    for node in ast.parse(text).body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            first = last = node.end_lineno or 0
            if last not in comments:
                first, last = node.lineno, node.lineno - 1
                while first - 1 in alone:
                    first -= 1
            words = [comments[line].string.removeprefix("#").strip() for line in range(first, last + 1)]
            found |= {node.target.id: sentence(" ".join(words))} if words else {}
    return found


def _line(text: str) -> str:
    return " ".join(text.split())
