"""The small changes that a mutation run makes: signs, comparisons, constants, positions, names, dropped lines.

Nothing is changed in annotations, messages of errors, decorators, imports and texts.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from research import ROOT

PACKAGE, KEPT = ROOT / "src" / "truant", ROOT / "out" / "research" / "mutants"
Change = tuple[int, int, str]  # bytes from, to, and what takes their place

SIGNS = {ast.Add: (r"\+", "-"), ast.Sub: ("-", "+"), ast.Mult: (r"\*", "/"), ast.Div: ("/", "*")}
SIGNS |= {ast.Mod: ("%", "//"), ast.FloorDiv: ("//", "*"), ast.Pow: (r"\*\*", "*")}
COMPARISONS = {"<": "<=", ">": ">=", "==": "!=", "is": "is not"}
COMPARISONS |= {new: old for old, new in COMPARISONS.items()}
NAMES = {"OBSERVED": "PULLS", "SUM": "SQUARES", "min": "max", "minimum": "maximum", "one": "two", "K": "L"}
NAMES |= {"first": "second", "inner_u": "outer_u", "left": "right", "many_left": "many_right"}
NAMES |= {"rows": "columns"}
NAMES |= {new: old for old, new in NAMES.items()}
ANYWHERE = ("min", "max", "minimum", "maximum", "PULLS", "OBSERVED", "SUM", "SQUARES")


@dataclass(frozen=True)
class Mutant:
    """One change of one file: bytes `start` to `end` become `text`."""

    file: str
    start: int
    end: int
    text: str
    line: int
    before: str
    after: str

    @property
    def id(self) -> str:
        source = (PACKAGE / self.file).read_bytes()
        what = f"{self.file} {self.start} {self.end} {self.text}".encode()
        return hashlib.sha256(source + what).hexdigest()[:16]

    @property
    def kept(self) -> Path:
        return KEPT / f"{self.id}.json"

    def result(self) -> dict[str, object] | None:
        return json.loads(self.kept.read_text()) if self.kept.exists() else None


def source_hash(file: str) -> str:
    """A hash of a file's text; empty if there is no such file any more."""
    path = PACKAGE / file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""


def mutants(file: str) -> list[Mutant]:
    """Every mutant of a file, in order, each once."""
    source = (PACKAGE / file).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: dict[tuple[int, int, str], Mutant] = {}
    nodes = [(scope, node) for scope in ast.parse(source).body for node in _code(scope)]
    for scope, node in nodes:
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        for a, b, text in _changes(node, source, start, end, starts):
            known = text not in NAMES or text in ANYWHERE
            if not known and not re.search(rf"\b{text}\b", ast.unparse(scope)):
                continue  # no such name here: any test would notice
            line = source[:a].count(b"\n")
            first, last = starts[line], source.find(b"\n", b)
            before = source[first : source.find(b"\n", a)].decode().strip()
            after = (source[first:a] + text.encode() + source[b:last]).decode().strip()
            found[a, b, text] = Mutant(file, a, b, text, line + 1, before, after)
    return [found[key] for key in sorted(found)]


def _code(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """The expressions and statements that compute: no annotations, messages, decorators or imports."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        if name == "slice" and ast.unparse(value) in ("0", "-1"):  # changed as a whole
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _changes(node: ast.AST, source: bytes, start: int, end: int, starts: list[int]) -> Iterator[Change]:
    def span(part: ast.expr) -> tuple[int, int]:
        a = starts[part.lineno - 1] + part.col_offset
        return a, starts[(part.end_lineno or 0) - 1] + (part.end_col_offset or 0)

    def text(part: ast.expr) -> str:
        a, b = span(part)
        return source[a:b].decode()

    def between(left: ast.expr, right: ast.expr, pattern: str, new: str) -> Iterator[Change]:
        a, b = span(left)[1], span(right)[0]
        sign = re.search(pattern.encode(), source[a:b])
        if sign:
            yield a + sign.start(), a + sign.end(), new

    def swapped(left: ast.expr, right: ast.expr) -> Iterator[Change]:
        if text(left) != text(right):
            (a, b), (c, d) = span(left), span(right)
            if b <= c:
                yield a, d, text(right) + source[b:c].decode() + text(left)
            else:
                yield c, b, text(left) + source[d:a].decode() + text(right)

    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        yield from between(node.left, node.right, *SIGNS[type(node.op)])
    elif isinstance(node, ast.AugAssign):
        yield start, end, "pass"
        if type(node.op) in SIGNS:
            yield from between(node.target, node.value, *SIGNS[type(node.op)])
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield start, end, "pass"
    elif isinstance(node, ast.Compare):
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            for old, new in COMPARISONS.items():
                yield from between(left, right, rf"(?<![<>=!\w]){old}(?![=\w])(?! not)", new)
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from between(left, right, rf"\b{old}\b", new)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield start, end, text(node.operand)
    elif isinstance(node, ast.IfExp):
        yield from swapped(node.body, node.orelse)
    elif isinstance(node, ast.Subscript | ast.Return):
        inner = node.slice if isinstance(node, ast.Subscript) else node.value
        if isinstance(inner, ast.Tuple) and len(inner.elts) > 1:
            yield from swapped(inner.elts[0], inner.elts[1])
        if isinstance(node, ast.Subscript) and text(node.slice) in ("0", "-1"):
            other = "1" if text(node.value).endswith("shape") else "-1"
            yield *span(node.slice), other if text(node.slice) == "0" else "0"
    elif isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        if name in NAMES and isinstance(node.ctx, ast.Load):
            yield end - len(name), end, NAMES[name]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = node.value
        if isinstance(value, bool):
            new = str(not value)
        else:
            new = {0: "1", 1: "0"}.get(value, repr(value * (10 if 0 < value < 0.1 else 2)))
        yield start, end, new + (".0" if isinstance(value, float) and new in "01" else "")
