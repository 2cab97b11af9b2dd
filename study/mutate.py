"""The mutation run: small changes to the core, one at a time, and whether a test notices each.

    python study/mutate.py --sample 40          try at most so many of each file, chosen by --seed
    python study/mutate.py --again              try the survivors again, after new tests
    python study/mutate.py --report             only write the figures

What was tried is kept in out/mutants, by the file's text and the change: a run that was stopped goes on where it
was. Figures and survivors go to study/mutants.toml; a survivor with a reason in study/mutants_explained.toml counts
as explained.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "out" / "mutants"
TOTALS, EXPLAINED = ROOT / "study" / "mutants.toml", ROOT / "study" / "mutants_explained.toml"
CORE = ("counts.py", "assumptions/*.py", "indices/*.py")
LIMIT = 240  # seconds for each half of the tests; a mutant that hangs is noticed

# the tests that are nearest to a file, by the start of its name; then all the others
LIKELIHOOD = ("tests/assumptions/test_likelihood.py", "tests/policies/test_policy.py")
NEAR = {
    "counts": ("tests/test_counts.py", "tests/assumptions/test_mar.py"),
    "indices": ("tests/indices",),
    "assumptions/linear": (
        "tests/assumptions/test_linear.py",
        "tests/test_refusals.py",
        "tests/policies/test_paper.py",
    ),
    "assumptions/likelihood": LIKELIHOOD,
    "assumptions/profile": LIKELIHOOD,
    "assumptions/exact": LIKELIHOOD,
    "assumptions/by_likelihood": ("tests/policies/test_policy.py", *LIKELIHOOD[:1]),
    "assumptions/both_mnar": ("tests/policies/test_policy.py", *LIKELIHOOD[:1]),
    "assumptions/mediator_mnar": ("tests/policies/test_policy.py", *LIKELIHOOD[:1]),
    "assumptions/mnar": ("tests/policies/test_policy.py", *LIKELIHOOD[:1]),
    "assumptions": ("tests/assumptions/test_mar.py", "tests/test_refusals.py", "tests/policies"),
}
ALL = ("assumptions", "indices", "test_counts.py", "test_refusals.py", "policies", "lab", "test_checks.py")

SWAPS = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.Mod: "//",
    ast.FloorDiv: "*",
    ast.Pow: "*",
}
SIGNS = {
    ast.Add: r"\+",
    ast.Sub: "-",
    ast.Mult: r"\*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.FloorDiv: "//",
    ast.Pow: r"\*\*",
}
COMPARISONS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "is not": "is",
    "is": "is not",
}
NAMES = {"OBSERVED": "PULLS", "SUM": "SQUARES", "min": "max", "minimum": "maximum", "one": "two"}
NAMES |= {
    "first": "second",
    "inner_u": "outer_u",
    "left": "right",
    "many_left": "many_right",
    "K": "L",
    "rows": "columns",
}
NAMES |= {new: old for old, new in NAMES.items()}


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
        source = (ROOT / "src" / "truant" / self.file).read_bytes()
        what = f"{self.file} {self.start} {self.end} {self.text}".encode()
        return hashlib.sha256(source + what).hexdigest()[:16]

    @property
    def kept(self) -> Path:
        return KEPT / f"{self.id}.json"

    def result(self) -> dict[str, object] | None:
        return json.loads(self.kept.read_text()) if self.kept.exists() else None


def mutants(file: str) -> list[Mutant]:
    """Every mutant of a file, in order, each once."""
    source = (ROOT / "src" / "truant" / file).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: dict[tuple[int, int, str], Mutant] = {}
    nodes = [(scope, node) for scope in ast.parse(source).body for node in _code(scope)]
    for scope, node in nodes:
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        for a, b, text in _changes(node, source, start, end, starts):
            known = (
                text not in NAMES
                or text.startswith(("min", "max"))
                or text in ("PULLS", "OBSERVED", "SUM", "SQUARES")
            )
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
        if name in ("annotation", "returns", "decorator_list", "bases", "keywords") and not isinstance(
            node, ast.Call
        ):
            continue
        if name == "slice" and ast.unparse(value) in ("0", "-1"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _changes(
    node: ast.AST, source: bytes, start: int, end: int, starts: list[int]
) -> Iterator[tuple[int, int, str]]:
    def span(part: ast.expr) -> tuple[int, int]:
        a = starts[part.lineno - 1] + part.col_offset
        return a, starts[(part.end_lineno or 0) - 1] + (part.end_col_offset or 0)

    def text(part: ast.expr) -> str:
        a, b = span(part)
        return source[a:b].decode()

    def between(left: ast.expr, right: ast.expr, pattern: str, new: str) -> Iterator[tuple[int, int, str]]:
        a, b = span(left)[1], span(right)[0]
        sign = re.search(pattern.encode(), source[a:b])
        if sign:
            yield a + sign.start(), a + sign.end(), new

    def swapped(left: ast.expr, right: ast.expr) -> Iterator[tuple[int, int, str]]:
        if text(left) != text(right):
            (a, b), (c, d) = span(left), span(right)
            if b <= c:
                yield a, d, text(right) + source[b:c].decode() + text(left)
            else:
                yield c, b, text(left) + source[d:a].decode() + text(right)

    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield from between(node.left, node.right, SIGNS[type(node.op)], SWAPS[type(node.op)])
    elif isinstance(node, ast.AugAssign):
        yield start, end, "pass"
        if type(node.op) in SWAPS:
            yield from between(node.target, node.value, SIGNS[type(node.op)], SWAPS[type(node.op)])
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


def try_out(mutant: Mutant, copies: queue.Queue[Path], cache: Path) -> None:
    """Run the near tests, and if they see nothing all of them, on a copy with the change in it."""
    copy = copies.get()
    path = copy / "src" / "truant" / mutant.file
    source = path.read_bytes()
    begun = time.monotonic()
    try:
        path.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
        near = next(tests for start, tests in NEAR.items() if mutant.file.startswith(start))
        rest, others = [f"tests/{name}" for name in ALL], [f"--ignore={test}" for test in near]
        killed = noticed(copy, near, cache) or noticed(copy, [*rest, *others], cache)
    finally:
        path.write_bytes(source)
        copies.put(copy)
    seconds = round(time.monotonic() - begun)
    kept = {"file": mutant.file, "line": mutant.line, "before": mutant.before, "after": mutant.after}
    mutant.kept.write_text(json.dumps({**kept, "killed": killed, "seconds": seconds}))
    said = killed or "SURVIVED"
    print(f"{seconds:4d} s  {mutant.file}:{mutant.line}  {mutant.after}  [{said}]", flush=True)


def noticed(copy: Path, tests: list[str] | tuple[str, ...], cache: Path) -> str:
    """The first test that fails, or "time" if they do not end; empty if all pass."""
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy}", "TRUANT_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=no", *tests]
    child = subprocess.Popen(
        command,
        cwd=copy,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return "time"
    if child.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    return failed[1] if failed else f"exit {child.returncode}"


def report(files: list[str]) -> None:
    """Figures and survivors of all that was tried."""
    reasons = {}
    if EXPLAINED.exists():
        entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["explained"]
        reasons = {(entry["file"], entry["line"], entry["change"]): entry["reason"] for entry in entries}
    totals, survivors = ["# Written by study/mutate.py."], []
    for file in files:
        possible = mutants(file)
        tried = [(mutant, result) for mutant in possible if (result := mutant.result())]
        left = [mutant for mutant, result in tried if not result["killed"]]
        explained = [mutant for mutant in left if (file, mutant.before, mutant.after) in reasons]
        figures = {"possible": len(possible), "mutants": len(tried), "killed": len(tried) - len(left)}
        figures["explained"] = len(explained)
        if possible:
            totals.append(f'\n[[file]]\nname = "{file}"')
            totals += [f"{key} = {value}" for key, value in figures.items()]
        for mutant in left:
            reason = reasons.get((file, mutant.before, mutant.after), "")
            strings = {"line": mutant.before, "change": mutant.after, "reason": reason}
            survivors += [f'\n[[survivor]]\nfile = "{file}"\nnumber = {mutant.line}']
            survivors += [
                f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in strings.items()
            ]
    TOTALS.write_text("\n".join(totals + survivors) + "\n", encoding="utf-8")
    print(f"Wrote {TOTALS.relative_to(ROOT)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="A mutation run over the core.")
    parser.add_argument(
        "--files", nargs="*", default=[], help="as counts.py or assumptions/mar.py; all unless given"
    )
    parser.add_argument("--sample", type=int, help="at most so many mutants of each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="try survivors again, and nothing else")
    parser.add_argument("--report", action="store_true", help="only write the figures")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    package = ROOT / "src" / "truant"
    files = [str(path.relative_to(package)) for name in CORE for path in sorted(package.glob(name))]
    wanted: list[Mutant] = []
    for file in options.files or files:
        possible = mutants(file)
        chosen = sorted(
            random.Random(options.seed).sample(range(len(possible)), len(possible))[: options.sample]
        )
        wanted += [possible[k] for k in chosen]
    results = {mutant: mutant.result() for mutant in wanted}
    if options.again:
        todo = [mutant for mutant, result in results.items() if result and not result["killed"]]
    else:
        todo = [mutant for mutant, result in results.items() if result is None]
    if not options.report:
        KEPT.mkdir(parents=True, exist_ok=True)
        print(f"{len(todo)} to try, of {len(wanted)}", flush=True)
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            copies: queue.Queue[Path] = queue.Queue()
            for k in range(options.workers):
                copy = Path(folder) / str(k)
                shutil.copytree(
                    ROOT, copy, ignore=shutil.ignore_patterns(".git", "out", ".venv", "__pycache__")
                )
                copies.put(copy)
            cache = Path(os.environ.get("TRUANT_CACHE_DIR") or Path(folder) / "cache")
            with ThreadPoolExecutor(options.workers) as pool:
                list(pool.map(lambda mutant: try_out(mutant, copies, cache), todo))
    report(files)


if __name__ == "__main__":
    main()
