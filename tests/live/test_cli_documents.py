"""JSON of the commands of live experiments: every document names its schema, and its fields are only added."""

import json

import click
import pyarrow.parquet as pq
import pytest

from tests.live.commands import in_a_folder, printed, run, settled_experiment  # noqa: F401
from tests.live.documents import COMMANDS, FILES
from tests.schemas import FIELDS, paths
from truant.cli import cli
from truant.cli.sections import SECTIONS

EVERY = [(schema, command) for schema, commands in COMMANDS.items() for command in commands]


@pytest.fixture
def id(in_a_folder):  # noqa: F811
    """The id of a decision with the key k and an outcome; its experiment has decisions that are counted, too."""
    settled_experiment()
    run("close-windows", "mail")
    asked = printed("ask", "mail", "--key", "k")["decisions"][0]["id"]
    run("tell", "mail", asked, "--outcome", "1")
    (in_a_folder / "past.csv").write_text("arm,outcome\nold,1\n")
    (in_a_folder / "outcomes.csv").write_text(f"id,outcome\n{asked},1\n")
    run("backup", "--out", "copy.db")
    return asked


def check(found, schema, columns=()):
    assert list(found)[:2] == ["schema", "truant"]
    assert found["schema"] == schema
    missing = FIELDS[schema] - paths(found) - {f"column {name}" for name in columns}
    assert not missing, f"within {schema} fields are only added; these are gone: {sorted(missing)}"


@pytest.mark.parametrize(("schema", "command"), EVERY, ids=[" ".join(command[:2]) for _, command in EVERY])
def test_every_command_prints_a_document(id, schema, command):
    check(printed(*(id if part == "ID" else part for part in command)), schema)


LIVE = {name for heading, names in SECTIONS.items() if "experiment" in heading for name in names}


@pytest.mark.parametrize("schema", FILES)
def test_every_parquet_file_has_a_document(id, schema):
    name, command = FILES[schema]
    run(*command)
    written = pq.read_schema(name)
    check(json.loads(written.metadata[b"truant"]), schema, written.names)


def test_no_command_is_left_out():
    found = set()
    for name, command in cli.commands.items():
        if name in LIVE:
            several = command.commands if isinstance(command, click.Group) else {}
            found |= {f"{name} {part}" for part in several} or {name}
    tested = {" ".join(command[: 2 if command[0] == "arm" else 1]) for _, command in EVERY}
    assert found == tested


def test_every_live_command_takes_a_store_and_json():
    for name, command in cli.commands.items():
        if name in LIVE:
            several = command.commands.values() if isinstance(command, click.Group) else [command]
            for one in several:
                options = {option for parameter in one.params for option in parameter.opts}
                assert {"--store", "--json"} <= options, name
