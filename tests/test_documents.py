"""The rule for JSON: every document names its schema and truant's version, and fields are only added."""

import json
from importlib.metadata import version

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from tests.live import documents as live
from tests.schemas import FIELDS, paths
from truant.cli import cli
from truant.documents import document, own_fields, parquet_metadata
from truant.errors import InvalidValue

RUN = [
    "simulate",
    "--world",
    "null",
    "--policy",
    "naive-ucb",
    "--policy",
    "mcar-ucb",
    "--horizon=50",
    "--runs=2",
]
VISITS = "mail,opened,spent,country,day\n" + "".join(
    f"{'ab'[i % 2]},{'yes' if i % 3 else 'no'},{'' if i % 5 == 0 else i % 2},{'DE' if i else 'FR'},{i}\n"
    for i in range(120)
)
ANALYZE = [
    "analyze",
    "visits.csv",
    "--arm",
    "mail",
    "--mediator",
    "opened",
    "--outcome",
    "spent",
    "--control",
    "a",
    "--time",
    "day",
    *("--value", "a=0.5,b=0.5"),
]
STUDY = 'runs = 2\nhorizon = 50\npolicies = ["naive-ucb", "mcar-ucb"]\n[[worlds]]\nname = "null"\n'
REHEARSE = [
    "rehearse",
    "--world",
    "mcar",
    "--set",
    "arms=2",
    "--rate",
    "20/d",
    "--days",
    "4",
    "--window",
    "1d",
]
REHEARSE += ["--runs", "1", "--workers", "1"]
PLAN = ["plan", "visits.csv", "--arm", "mail", "--mediator", "opened", "--outcome", "spent"]
COMMANDS = {  # each schema that is printed, and the command that prints it
    "truant/worlds/1": ["worlds"],
    "truant/policies/1": ["policies"],
    "truant/assumptions/1": ["assumptions"],
    "truant/indices/1": ["indices"],
    "truant/simulation/1": RUN,
    "truant/analysis/1": ANALYZE,
    "truant/analysis-by/1": [*ANALYZE, "--by", "country"],
    "truant/plan/1": PLAN,
    "truant/sweep/1": ["sweep", "study.toml"],
    "truant/sweep-size/1": ["sweep", "study.toml", "--check"],
    "truant/rehearsal/1": REHEARSE,
    "truant/reproduction/1": ["reproduce", "--figure", "mcar-gamma", "--quick", "--runs", "1"],
}
FILES = {  # schema, file, and the command that writes it
    "truant/simulation-runs/1": ("runs.parquet", [*RUN, "--out", "runs.parquet"]),
    "truant/analysis-table/1": ("table.parquet", [*ANALYZE, "--out", "table.parquet"]),
    "truant/plan-rows/1": ("list.parquet", [*PLAN, "--budget", "10", "--out", "list.parquet"]),
    "truant/analysis-by-table/1": (
        "table.parquet",
        [*ANALYZE, "--by", "country", "--out", "table.parquet"],
    ),
    "truant/rehearsal-runs/1": ("rehearsed.parquet", [*REHEARSE, "--out", "rehearsed.parquet"]),
    "truant/sweep-runs/1": ("study-results/results.parquet", COMMANDS["truant/sweep/1"]),
    "truant/sweep-part/1": ("study-results/parts/*/*.parquet", COMMANDS["truant/sweep/1"]),
    "truant/reproduction-runs/1": ("reproduction/reproduction.parquet", COMMANDS["truant/reproduction/1"]),
}
SUMMARIES = {
    "truant/sweep/1": "study-results/summary.json",
    "truant/reproduction/1": "reproduction/summary.json",
}


@pytest.fixture(autouse=True)
def _in_a_folder_with_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text(VISITS)
    (tmp_path / "study.toml").write_text(STUDY)


def run(*arguments):
    result = CliRunner().invoke(cli, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def check(found, schema, columns=()):
    assert list(found)[:2] == ["schema", "truant"]
    assert found["schema"] == schema
    assert found["truant"] == version("truant")
    missing = FIELDS[schema] - paths(found) - {f"column {name}" for name in columns}
    assert not missing, f"within {schema} fields are only added; these are gone: {sorted(missing)}"


@pytest.mark.parametrize("schema", COMMANDS)
def test_every_command_prints_a_document(schema, tmp_path):
    printed = run(*COMMANDS[schema])
    check(printed, schema)
    if schema in SUMMARIES:
        check(json.loads((tmp_path / SUMMARIES[schema]).read_text(encoding="utf-8")), schema)


def test_no_command_is_left_out():
    with_json = {
        name
        for name, command in cli.commands.items()
        if any("--json" in option.opts for option in command.params)
    }
    of_live = {arguments[0] for several in live.COMMANDS.values() for arguments in several} - {"arm"}
    assert with_json == {arguments[0] for arguments in COMMANDS.values()} | of_live


@pytest.mark.parametrize("schema", FILES)
def test_every_parquet_file_has_a_document(schema, tmp_path):
    name, command = FILES[schema]
    run(*command)
    written = pq.read_schema(next(tmp_path.glob(name)))
    check(json.loads(written.metadata[b"truant"]), schema, written.names)


def test_every_schema_is_pinned_and_documented(pytestconfig):
    assert set(FIELDS) == {*COMMANDS, *FILES, *live.COMMANDS, *live.FILES}
    page = (pytestconfig.rootpath / "docs" / "lab.md").read_text(encoding="utf-8")
    assert all(f"`{schema}`" in page for schema in FIELDS)


def test_own_fields_are_the_rest():
    made = document("thing", 2, {"size": 3})
    assert made == {"schema": "truant/thing/2", "truant": version("truant"), "size": 3}
    assert json.loads(parquet_metadata("thing", 2, {"size": 3})[b"truant"]) == made
    assert own_fields(made, "thing", 2) == own_fields(made, "thing", 3) == {"size": 3}
    with pytest.raises(
        InvalidValue, match=r"at most truant/thing/1, got 'truant/thing/2' of truant .*; install"
    ):
        own_fields(made, "thing", 1)
    for other in (made, {}, {"schema": "thing"}, {"schema": "truant/other/1/2"}):
        with pytest.raises(InvalidValue, match=r"The schema must be truant/other/1, got "):
            own_fields(other, "other", 1)
