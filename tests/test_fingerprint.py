"""The fingerprint of code: what is reached is found, and a change of it, and of nothing else, is noticed."""

import ast
import functools
import importlib
import sys
from pathlib import Path

import pytest

import truant
from truant import fingerprint
from truant.fingerprint import code_fingerprint, modules_reached, source_file

PACKAGE = Path(truant.__file__).parent


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of four modules: top -> middle -> low (by a relative import), and one that nobody imports."""
    folder = tmp_path / "reach_example"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "top.py").write_text(
        "from reach_example import middle\n\ndef work():\n    return middle.half()\n"
    )
    (folder / "middle.py").write_text(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import reach_example.apart\n\n"
        "def half():\n    from .low import (\n        number,  # used\n    )\n    return number / 2\n"
    )
    (folder / "low.py").write_text("number = 3\n")
    (folder / "apart.py").write_text("import reach_example.top\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.startswith("reach_example")]:
        del sys.modules[name]
    forget()


def forget():
    fingerprint._file_of_unloaded.cache_clear()


def test_imports_are_followed_within_the_package(package):
    assert modules_reached("reach_example.top") == [
        "reach_example",
        "reach_example.low",
        "reach_example.middle",
        "reach_example.top",
    ]


@pytest.mark.parametrize(("changed", "noticed"), [("top", True), ("low", True), ("apart", False)])
def test_a_change_is_noticed_where_it_is_reached(package, changed, noticed):
    before = code_fingerprint("reach_example.top")
    path = package / f"{changed}.py"
    path.write_text(path.read_text() + "\nother = 1\n")
    assert (code_fingerprint("reach_example.top") != before) == noticed


def test_roots_may_be_names_modules_or_functions(package):
    module = importlib.import_module("reach_example.top")
    found = {code_fingerprint(root) for root in ("reach_example.top", module, module.work)}
    found.add(code_fingerprint(functools.partial(module.work)))
    assert len(found) == 1


def test_a_module_without_source_is_nothing():
    assert modules_reached("sys") == []
    assert source_file("truant.no_such_module") is None


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_every_import_of_truant_is_found(path):
    """By a parser, which takes twenty times as long."""
    name = ".".join(["truant", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    reached = modules_reached(name)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(inner) for node in ast.walk(tree) if _is_for_types(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("truant"):
            assert node.module in reached
            inner = [f"{node.module}.{each.name}" for each in node.names]
            assert all(each in reached for each in inner if source_file(each))
        if isinstance(node, ast.Import):
            assert all(each.name in reached for each in node.names if each.name.startswith("truant"))


def _is_for_types(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
