"""JSON of the commands of live experiments: every document is as its schema in docs/schemas says."""

import click
import pytest
from research.reference.catalogue import schemas
from research.reference.records import file_of

from tests.live.campaign import ARMS, MAIL
from tests.live.campaign import run as run_campaign
from tests.live.commands import in_a_folder, printed, run, settled_experiment  # noqa: F401
from tests.live.documents import COMMANDS, FILES
from tests.schemas import check, check_parquet, unseen
from truant.cli import cli
from truant.cli.base import SECTIONS
from truant.live.experiment import Experiment

EVERY = [(schema, command) for schema, commands in COMMANDS.items() for command in commands]


@pytest.fixture
def id(in_a_folder):  # noqa: F811
    """The id of a decision with the key k and an outcome; its experiment has decisions that are counted, too."""
    settled_experiment()
    run("close-windows", "mail")
    asked = printed("ask", "mail", "--key", "k")["decisions"][0]["id"]
    run("tell", "mail", asked, "--outcome", "1")
    (in_a_folder / "past.csv").write_text("n,arm,outcome\n1,old,1\n")
    (in_a_folder / "outcomes.csv").write_text(f"id,outcome\n{asked},1\n")
    run("backup", "--out", "copy.db")
    return asked


def test_every_field_of_a_status_is_described(clock):
    """With a holdout, a stop rule and late outcomes, which a status has something to say about."""
    mails = Experiment.create(
        "mails",
        list(ARMS),
        store="sqlite://",
        clock=clock,
        seed=1,
        holdout=0.2,
        stop_level=0.9,
        **{name: value for name, value in MAIL.items() if value is not None},
    )
    run_campaign(mails, clock)
    found = mails.status(calibrate=False).summary()
    check(found, "truant/status/1")
    assert not unseen("status-1.json", [found])


def test_a_diagnosis_is_described(id, in_a_folder):  # noqa: F811
    found = Experiment.open("mail", store=f"sqlite:///{in_a_folder / 'truant.db'}").doctor().summary()
    check(found, "truant/diagnosis/1")
    assert not unseen("diagnosis-1.json", [found])


@pytest.mark.parametrize(("schema", "command"), EVERY, ids=[" ".join(command[:2]) for _, command in EVERY])
def test_every_command_prints_a_document(id, schema, command):
    found = printed(*(id if part == "ID" else part for part in command))
    check(found, schema)
    if schema != "truant/status/1":  # whose fields depend on the experiment
        assert not unseen(file_of(schema), [found])


LIVE = {name for heading, names in SECTIONS.items() if "experiment" in heading for name in names}


@pytest.mark.parametrize("schema", FILES)
def test_every_parquet_file_has_a_document(id, schema):
    name, command = FILES[schema]
    run(*command)
    assert check_parquet(name, schema) == set(schemas()[file_of(schema)]["x-columns"])


def test_no_command_is_left_out():
    found = set()
    for name, command in cli.commands.items():
        if name in LIVE:
            several = command.commands if isinstance(command, click.Group) else {}
            found |= {f"{name} {part}" for part in several} or {name}
    tested = {" ".join(command[: 2 if command[0] in ("arm", "clock") else 1]) for _, command in EVERY}
    assert found == tested


def test_every_live_command_takes_a_store_and_json():
    for name, command in cli.commands.items():
        if name in LIVE:
            several = command.commands.values() if isinstance(command, click.Group) else [command]
            for one in several:
                options = {option for parameter in one.params for option in parameter.opts}
                assert {"--store", "--json"} <= options, name
