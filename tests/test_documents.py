"""The rule for JSON: every document names its schema and truant's version, and is as docs/schemas says."""

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import ClassVar

import pytest
from click.testing import CliRunner
from research.reference.catalogue import PROBLEM, schemas
from research.reference.records import file_of

from tests.live import documents as live
from tests.schemas import check, check_against, check_parquet, unseen
from truant.cli import cli
from truant.documents import document, own_fields, parquet_metadata
from truant.envelope import ABSENT, Absent, in_document, in_document_as, plain
from truant.errors import InvalidValue

RUN = ["simulate", "--world", "mcar", "--set", "arms=2", "--policy", "naive-ucb", "--runs=2", "--horizon=20"]
RUN_WITH_FOLLOW_UPS = [*RUN, "--follow-up-cost", "0.1", "--intervals"]
VISITS = "mail,opened,spent,country,day,called,euro,customer\n" + "".join(
    f"{'ab'[i % 2]},{'yes' if i % 3 else 'no'},{'' if i % 5 == 0 else i % 2},{'DE' if i else 'FR'},{i},"
    f"{'yes' if i % 10 == 0 else 'no'},{'' if i % 5 == 0 and i % 20 else 10 + i % 7},c{i}\n"
    for i in range(120)
)
VISIT = ["visits.csv", "--arm", "mail", "--mediator", "opened"]
ANALYZE = [
    "analyze",
    *VISIT,
    "--outcome",
    "spent",
    "--control",
    "a",
    "--time",
    "day",
    "--value",
    "a=0.5,b=0.5",
]
IN_EURO = ["analyze", *VISIT, "--outcome", "euro", "--control", "a"]
FOLLOWED_UP = [*IN_EURO, "--followed-up", "called"]
STUDY = """
runs = 2
horizon = 50
policies = ["naive-ucb", "mcar-ucb"]
[[worlds]]
name = "mcar"
vary = { gamma = [0.5, 1.0] }
"""
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
PLAN = ["plan", *VISIT, "--outcome", "spent"]
LIST = [*PLAN, "--budget", "10", "--out", "list.parquet"]
COMMANDS = {  # each schema that is printed, and commands that print it: together they have every field
    "truant/demo/1": [["demo"]],
    "truant/worlds/1": [["worlds"]],
    "truant/policies/1": [["policies"]],
    "truant/assumptions/1": [["assumptions"]],
    "truant/indices/1": [["indices"]],
    "truant/which/1": [["which"], ["which", "--answers", "no,yes,no,yes"]],
    "truant/simulation/1": [RUN, RUN_WITH_FOLLOW_UPS],
    "truant/analysis/2": [ANALYZE, [*IN_EURO, "--cut-outcome", "2"], FOLLOWED_UP],
    "truant/analysis-by/2": [[*ANALYZE, "--by", "country"]],
    "truant/plan/2": [PLAN],
    "truant/sweep/1": [["sweep", "study.toml"]],
    "truant/sweep-size/1": [["sweep", "study.toml", "--check"]],
    "truant/rehearsal/2": [REHEARSE],
}
SWEEP = COMMANDS["truant/sweep/1"][0]
FILES = {  # schema, file, and commands that write it: together they have every column
    "truant/simulation-runs/1": ("runs.parquet", [[*RUN_WITH_FOLLOW_UPS, "--out", "runs.parquet"]]),
    "truant/analysis-table/1": (
        "table.parquet",
        [[*command, "--out", "table.parquet"] for command in (ANALYZE, FOLLOWED_UP)],
    ),
    "truant/plan-rows/1": ("list.parquet", [LIST, [*LIST, "--id", "customer"]]),
    "truant/analysis-by-table/1": (
        "table.parquet",
        [[*command, "--by", "country", "--out", "table.parquet"] for command in (ANALYZE, FOLLOWED_UP)],
    ),
    "truant/rehearsal-runs/2": ("rehearsed.parquet", [[*REHEARSE, "--out", "rehearsed.parquet"]]),
    "truant/sweep-runs/1": ("study-results/results.parquet", [SWEEP]),
    "truant/sweep-part/1": ("study-results/parts/*/*.parquet", [SWEEP]),
}
SUMMARIES = {"truant/sweep/1": "study-results/summary.json"}


@pytest.fixture(autouse=True)
def _in_a_folder_with_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text(VISITS)
    (tmp_path / "study.toml").write_text(STUDY)


def run(*arguments):
    result = CliRunner().invoke(cli, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("schema", COMMANDS)
def test_every_command_prints_a_document(schema, tmp_path):
    printed = [run(*command) for command in COMMANDS[schema]]
    for one in printed:
        check(one, schema)
    if schema in SUMMARIES:
        check(json.loads((tmp_path / SUMMARIES[schema]).read_text(encoding="utf-8")), schema)
    assert not unseen(file_of(schema), printed), "described, but in no document"


def test_no_command_is_left_out():
    with_json = {
        name
        for name, command in cli.commands.items()
        if any("--json" in option.opts for option in command.params)
    }
    of_live = {arguments[0] for several in live.COMMANDS.values() for arguments in several} - {"arm", "clock"}
    assert with_json == {arguments[0] for several in COMMANDS.values() for arguments in several} | of_live


@pytest.mark.parametrize("schema", FILES)
def test_every_parquet_file_has_a_document(schema, tmp_path):
    name, commands = FILES[schema]
    columns = set()
    for command in commands:
        run(*command)
        columns |= check_parquet(next(tmp_path.glob(name)), schema)
    assert columns == set(schemas()[file_of(schema)]["x-columns"])


def test_every_error_is_a_problem_document():
    for arguments in (
        ["simulate", "--world", "nowhere"],
        ["simulate", "--unknown"],
        ["analyze", "nothing.csv"],
    ):
        result = CliRunner().invoke(cli, [*arguments, "--json"])
        assert result.exit_code == 2
        check_against(json.loads(result.stderr), PROBLEM)


def test_every_schema_has_documents():
    made = {*COMMANDS, *FILES, *live.COMMANDS, *live.FILES, *live.METHODS}
    assert set(schemas()) == {file_of(schema) for schema in made} | {PROBLEM}


def test_a_field_without_a_description_is_refused():
    found = run("indices")
    check(found, "truant/indices/1")
    for changed in (
        {**found, "more": 1},
        {**found, "warnings": None},
        {k: found[k] for k in ("schema", "truant")},
    ):
        with pytest.raises(AssertionError, match="does not describe the document"):
            check(changed, "truant/indices/1")


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


@dataclass(frozen=True)
class Inner:
    when: datetime
    size: float | Absent = ABSENT
    hidden: int = field(default=0, repr=False)


@dataclass(frozen=True)
class Outer:
    schema: ClassVar = "truant/outer/1"
    parts: tuple[Inner, ...]
    numbers: dict[str, float]

    @property
    @in_document
    def count(self):
        return len(self.parts)

    @property
    def unmarked(self):
        return 1


@dataclass(frozen=True)
class Around:
    inner: Inner
    outer: Outer
    left_out: tuple[str, ...] = field(repr=False)

    @property
    def _absent(self):
        return self.left_out

    @property
    @in_document_as("outer")
    def _outer_in_short(self):
        return self.outer.count

    @property
    @in_document_as("*")
    def _beside(self):
        return None if "beside" in self.left_out else self.inner


def test_a_property_stands_for_a_field_or_beside_the_fields():
    inner = Inner(datetime(2026, 3, 2, 9, tzinfo=UTC), 2.0)
    inside = {"when": "2026-03-02T09:00:00Z", "size": 2.0}
    outer = Outer((inner,), {})
    assert plain(Around(inner, outer, ())) == {"inner": inside, "outer": 1, **inside}
    assert plain(Around(inner, outer, ("beside",))) == {"inner": inside, "outer": 1}


def test_a_record_names_fields_that_all_in_it_leave_out():
    inner = Inner(datetime(2026, 3, 2, 9, tzinfo=UTC), 2.0)
    inside = Around(inner, Outer((), {}), ())  # which names none
    found = plain([Around(inner, Outer((), {}), ("size", "beside")), inside])
    assert found[0]["inner"] == {"when": "2026-03-02T09:00:00Z"}
    assert found[1] == plain(inside)
    assert found[1]["size"] == 2.0


def test_records_become_plain_values():
    when = datetime(2026, 3, 2, 9, tzinfo=UTC)
    record = Outer((Inner(when), Inner(when, 2.0)), {"a": math.nan, "b": math.inf, "c": 1.5})
    plainly = {"when": "2026-03-02T09:00:00Z"}
    assert plain(record) == {
        "schema": "truant/outer/1",
        "truant": version("truant"),
        "parts": [plainly, plainly | {"size": 2.0}],
        "numbers": {"a": None, "b": None, "c": 1.5},
        "count": 2,
    }
