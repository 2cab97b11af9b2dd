"""Every command, public name and JSON field is on a page of the reference, which is written from the code."""

import importlib
import inspect
import re
import shlex
from pathlib import Path

import click
import pytest
from jsonschema import Draft202012Validator
from research.reference import python_names
from research.reference.anchors import COMMAND, anchor
from research.reference.catalogue import FOLDER, schemas, written
from research.reference.docstrings import parameters, summary
from research.reference.members import attributes, methods
from research.reference.pages import pages
from research.reference.schemas import fields

import truant
from truant.cli import cli

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("commands.md", "json.md", "python.md")


def public():
    """Every name that users see, with the object: what is exported, what modules have, what results are made of."""
    for name in truant.__all__:
        found = getattr(truant, name)
        yield f"truant.{name}", found
        if inspect.ismodule(found):
            yield from (
                (f"truant.{name}.{one}", getattr(found, one)) for one in python_names.public_names(found)
            )
    yield from python_names.inner_classes()


PUBLIC = dict(public())
CLASSES = {name: found for name, found in PUBLIC.items() if inspect.isclass(found)}
FUNCTIONS = {name: found for name, found in PUBLIC.items() if inspect.isfunction(found)}


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_current(page):
    written = (DOCS / page).read_text(encoding="utf-8")
    assert written == pages()[page], f"docs/{page} is not current: run {COMMAND}"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_headings(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    seen: dict[str, int] = {}
    found = set()
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        name = anchor(heading)
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    assert page == "python.md" or max(seen.values()) == 1, "two headings with one anchor"
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= found
    assert all((DOCS / link).exists() for link in re.findall(r"\]\((?!http|#)([^)]+)\)", text))


def test_every_command_has_its_place():
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    for name, command in cli.commands.items():
        several = [f"{name} {part}" for part in getattr(command, "commands", {})] or [name]
        assert all(f"\n### truant {one}\n" in text for one in several)
        shown = [one for one in command.params if not getattr(one, "hidden", False)]
        assert all(option in text for one in shown for option in one.opts if option.startswith("--"))


EXAMPLES = re.findall(r"^truant .+$", (DOCS / "commands.md").read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_a_command_can_be_read(example):
    words = shlex.split(example.partition(" > ")[0])[1:]
    command = cli
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    assert command.make_context(command.name, words)


def test_every_public_name_has_its_place():
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    assert not python_names.grouped().get("More"), (
        "put the name into a group of research/reference/python_names.py"
    )
    for name in truant.__all__:
        assert f"\n### truant.{name}\n" in text


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_docstring(name):
    assert summary(PUBLIC[name])


@pytest.mark.parametrize("name", CLASSES)
def test_every_attribute_and_method_is_described(name):
    cls = CLASSES[name]
    unsaid = [one.name for one in attributes(cls) if not one.words]
    unsaid += [one.call for one in methods(cls) if not summary(one.function)]
    assert not unsaid


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_parameters_are_described_or_none(name):
    described = parameters(FUNCTIONS[name])
    if described:
        wanted = inspect.signature(FUNCTIONS[name]).parameters
        assert set(wanted) <= set(described)
        assert not set(described) - set(wanted), "described, but no parameter"


@pytest.mark.parametrize("file", schemas())
def test_schemas_are_sound_and_describe_every_field(file):
    schema = schemas()[file]
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == file
    assert schema["title"]
    assert schema["description"].endswith(".")
    assert schema["x-given-by"]
    columns = schema.get("x-columns", {}).items()
    found = {field.path: field.schema for field in fields(schema)} | {
        f"column {name}": one for name, one in columns
    }
    unsaid = [
        path for path, one in found.items() if not re.fullmatch(r"\S.{3,}\.", one.get("description", ""))
    ]
    assert not unsaid, "without a sentence that describes it"
    assert all(
        "type" in one or {"$ref", "const"} & set(one) or path.endswith(".*") for path, one in found.items()
    )


def test_schemas_are_current():
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    made = {file: written(schema) for file, schema in schemas().items()}
    assert kept == made, f"docs/schemas is not current: run {COMMAND}"


def test_every_document_is_made_by_a_command_that_exists():
    known = {f"truant {name}" for name in cli.commands}
    for schema in schemas().values():
        for given in schema["x-given-by"]:
            if command := re.match(r"`(truant [a-z-]+) ", given):
                assert command[1] in known
            for name in re.findall(r"truant\.(\w+)\(", given):
                assert name in truant.__all__


def test_modules_of_inner_classes_are_found():
    for module, names in python_names.INNER.items():
        assert all(hasattr(importlib.import_module(module), name) for name in names)
