"""What is done is kept under a name for all that decides it, and is not done again."""

import errno
import itertools
import json
import os
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import truant
from tests.lab.studies import PAIRS, RUNS, SIZE, TEXT
from truant import registry
from truant.errors import InvalidValue
from truant.fingerprint import modules_reached
from truant.lab import study as task_module
from truant.lab import sweep as lab
from truant.lab.study import Point, Task, chunks
from truant.spec import Spec

pytestmark = pytest.mark.usefixtures("no_page")


def test_chunks_have_a_hundred_runs_or_more():
    assert chunks(1) == [(0, 1)]
    assert chunks(99) == [(0, 99)]
    for runs in (100, 199, 200, 250, 1000, 1099):
        parts = chunks(runs)
        assert [first for first, _ in parts] == [i * 100 for i in range(len(parts))]
        assert sum(size for _, size in parts) == runs
        assert all(size >= 100 for _, size in parts)
        assert all(first + size == after for (first, size), (after, _) in itertools.pairwise(parts))


def test_what_is_done_is_not_done_again(study, whole, counted):
    first = truant.sweep(study)
    assert sum(len(task.policies) * task.runs for task in counted) == RUNS * PAIRS
    counted.clear()
    again = truant.sweep(study)
    assert counted == []
    assert again.rows == first.rows == whole.rows
    assert again.results.read_bytes() == whole.results.read_bytes()


def test_only_what_is_new_is_done(study, counted):
    truant.sweep(study)
    counted.clear()
    more = TEXT.replace('"oracle-ucb"]', '"oracle-ucb", "zero-ucb"]').replace("K = [2, 3]", "K = [2, 3, 4]")
    study.write_text(more)
    truant.sweep(study)
    old = [task for task in counted if task.point.world.parameters.get("K") in (2, 3)]
    assert {task.policies for task in old} == {(Spec("zero-ucb"),)}
    assert len(old) == 4 * 2
    new = [task for task in counted if task.point.world.parameters.get("K") == 4]
    (policies,) = {task.policies for task in new}
    assert [str(policy) for policy in policies] == ["naive-ucb", "mar-ucb", "oracle-ucb", "zero-ucb"]
    assert len(old) + len(new) == len(counted)
    counted.clear()
    study.write_text(more.replace(f"runs = {RUNS}", f"runs = {RUNS + SIZE + 1}"))
    truant.sweep(study)
    assert {(task.first, task.runs) for task in counted} == {(SIZE, SIZE), (2 * SIZE, SIZE + 2)}


def test_a_damaged_part_is_made_again(study, whole, counted):
    result = truant.sweep(study)
    parts = sorted((result.folder / "parts").rglob("*.parquet"))
    parts[0].write_bytes(parts[0].read_bytes()[:-20])
    damaged = bytearray(parts[1].read_bytes())
    for part in (2, 3, 4):  # one alone may hit what nothing reads
        damaged[len(damaged) // part] ^= 0xFF
    parts[1].write_bytes(damaged)
    counted.clear()
    assert truant.sweep(study).results.read_bytes() == whole.results.read_bytes()
    assert 1 <= len(counted) <= 2
    assert sum(len(task.policies) for task in counted) == 2


def test_a_part_with_a_damaged_name_of_a_column_is_made_again(study, whole, counted):
    """Checksums are kept for pages, not for what stands about them."""
    result = truant.sweep(study)
    first, second = sorted((result.folder / "parts").rglob("*.parquet"))[:2]
    first.write_bytes(first.read_bytes().replace(b"regret_first", b"regret_worst"))
    second.write_bytes(second.read_bytes().replace(b"nanoseconds", b"nano\xffeconds"))
    counted.clear()
    assert truant.sweep(study).results.read_bytes() == whole.results.read_bytes()
    assert sum(len(task.policies) for task in counted) == 2


def _rewritten(path, change):
    """Another's numbers in a sound Parquet file, with the metadata as they were."""
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "regret", change(table["regret"])), path, write_page_checksum=True)


def test_a_part_that_was_edited_or_exchanged_is_made_again(study, whole, counted):
    result = truant.sweep(study)
    parts = sorted((result.folder / "parts").rglob("*.parquet"))
    first, second = (path.read_bytes() for path in parts[:2])
    parts[0].write_bytes(second)
    parts[1].write_bytes(first)
    parts[2].write_bytes(parts[3].read_bytes())
    _rewritten(parts[4], lambda regret: pc.multiply(regret, 2.0))
    parts[5].write_bytes(b"")
    pq.write_table(pq.read_table(parts[6]).replace_schema_metadata(None), parts[6])
    said = json.loads(pq.read_schema(parts[7]).metadata[b"truant"])
    assert set(said) == {"schema", "truant", "key", "checksum"}
    assert (said["schema"], said["key"]) == ("truant/sweep-part/1", parts[7].stem)
    counted.clear()
    again = truant.sweep(study)
    assert sum(len(task.policies) for task in counted) == 6
    assert again.results.read_bytes() == whole.results.read_bytes()
    assert again.rows == whole.rows


SMALL = {"runs": 3, "horizon": 20, "policies": ["naive-ucb"], "worlds": ["mcar"]}


@pytest.fixture
def part(tmp_path):
    """The only part of a finished sweep."""
    (path,) = truant.sweep(SMALL, out=tmp_path / "out").folder.glob("parts/*/*.parquet")
    return path


def _resaved(path, table, metadata):
    pq.write_table(table.replace_schema_metadata({b"truant": metadata}), path)


def test_a_part_with_endless_metadata_is_made_again(part, counted):
    regret = pq.read_table(part)["regret"]
    _resaved(part, pq.read_table(part), b"[" * 100_000)
    truant.sweep(SMALL, out=part.parents[2])
    assert len(counted) == 1
    assert pq.read_table(part)["regret"].equals(regret)
    assert json.loads(pq.read_schema(part).metadata[b"truant"])["key"] == part.stem


def test_a_part_with_too_many_rows_is_not_read(part, counted, monkeypatch):
    table = pq.read_table(part)
    _resaved(part, pa.concat_tables([table, table]), table.schema.metadata[b"truant"])
    read, rows = pq.ParquetFile.read, []

    def counting(self, *arguments, **named):
        rows.append(self.metadata.num_rows)
        return read(self, *arguments, **named)

    monkeypatch.setattr(pq.ParquetFile, "read", counting)
    truant.sweep(SMALL, out=part.parents[2])
    assert (len(counted), rows) == (1, [3])


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda at: at.mkdir(), "a folder"),
        (lambda at: os.mkfifo(at), "a named pipe"),
        (lambda at: at.symlink_to("elsewhere"), "a symbolic link"),
    ],
)
def test_what_is_in_place_of_a_part_is_refused_before_the_runs(part, counted, make, kind):
    part.unlink()
    make(part)
    with pytest.raises(InvalidValue, match=rf"out' as the .*: its parts/\w\w/\w+\.parquet is {kind}; choose"):
        truant.sweep(SMALL, out=part.parents[2])
    assert counted == []


@pytest.mark.parametrize("kind", ["a symbolic link", "a file"])
def test_what_is_in_place_of_a_folder_of_parts_is_refused_before_the_runs(part, counted, tmp_path, kind):
    """A link to a folder of somebody else's is not followed: nothing is removed or written there."""
    foreign = tmp_path / "foreign"
    part.parent.rename(foreign)
    leftover = foreign / f".truant-{'0a' * 16}.part"
    leftover.touch()
    before = sorted(foreign.iterdir())
    part.parent.symlink_to(foreign) if kind == "a symbolic link" else part.parent.touch()
    with pytest.raises(
        InvalidValue, match=rf"out' as the folder of results: its parts/\w\w is {kind}; choose"
    ):
        truant.sweep(SMALL, out=part.parents[2])
    assert (sorted(foreign.iterdir()), counted) == (before, [])


def test_a_part_that_may_not_be_read_is_refused_before_the_runs(part, counted, monkeypatch):
    def closed(*arguments, **named):
        raise PermissionError(
            errno.EACCES, "Failed to open local file. Detail: Permission denied"
        )  # as Arrow does

    monkeypatch.setattr(pq, "ParquetFile", closed)
    with pytest.raises(
        InvalidValue, match=r"its parts/\w\w/\w+\.parquet cannot be read \(Permission denied\)"
    ):
        truant.sweep(SMALL, out=part.parents[2])
    assert counted == []


def test_how_runs_are_kept_does_not_decide_their_numbers():
    assert not {"truant.files", "truant.lab.sweep_runs"} & set(modules_reached("truant.lab.study"))


def test_data_that_change_while_a_sweep_is_at_work(tmp_path, monkeypatch):
    """The numbers of the new rows are not kept under the name of the old ones."""
    data = tmp_path / "rows.csv"

    def write(best):
        data.write_text("arm,y\n" + "".join(f"a,{y}\nb,{y + best}\n" for y in range(20)))

    def changing(number, task, stop):
        write(best=5)
        return work(number, task, stop)

    work = lab.work
    monkeypatch.setattr(lab, "work", changing)
    table = {"data": str(data), "arm": "arm", "outcome": "y"}
    study = {
        "runs": 100,
        "horizon": 50,
        "policies": ["naive-ucb"],
        "worlds": [{"name": "table", "set": table}],
    }
    write(best=0.5)
    with pytest.raises(InvalidValue, match=r"table, data=.*no longer what it was.*Run the sweep again\.$"):
        truant.sweep(study, out=tmp_path / "out")
    assert list((tmp_path / "out" / "parts").rglob("*.parquet")) == []
    result = truant.sweep(study, out=tmp_path / "out")
    world = truant.worlds.from_table(data, arm="arm", outcome="y")
    same = truant.simulate(world, ["naive-ucb"], horizon=50, runs=100, seed=0)
    assert result.rows[0]["regret_mean"] == pytest.approx(same.final[0].mean())


def test_runs_are_named_by_all_that_decides_their_numbers():
    naive, mar, point = Spec("naive-ucb"), Spec("mar-ucb"), Point(0, Spec("mar", {"K": 3}), 400)
    task = Task(5, point, "instance", (naive, mar), 0, 100)
    others = [
        replace(task, seed=6),
        replace(task, fingerprint="another"),
        replace(task, first=100),
        replace(task, runs=110),
        replace(task, point=replace(point, horizon=401)),
        replace(task, point=replace(point, delay=1)),
        replace(task, point=replace(point, minimize=True)),
        replace(task, point=replace(point, world=Spec("mar-low", {"K": 3}))),
        replace(task, point=replace(point, world=Spec("mar", {"K": 4}))),
    ]
    policies = [naive, mar, Spec("mar-ucb", {"level": 2}), Spec("mar-ucb", {"level": "2"})]
    keys = [*map(task.key, policies), *(other.key(naive) for other in others)]
    assert len(set(keys)) == 13
    assert replace(task, policies=(naive,)).key(naive) == keys[0]  # whoever else takes part
    assert replace(task, point=replace(point, block=1)).key(naive) == keys[0]  # wherever it is asked for


def test_two_spellings_are_one():
    point = Point(0, Spec("mar", {"K": 3, "sd": 1}), 400)
    task = Task(5, point, "instance", (), 0, 100)
    spelled = [Spec.parse(text) for text in ("mar-ucb:level=1,kappa=2", " mar-ucb: kappa=2.0, level=1.0")]
    assert task.key(spelled[0]) == task.key(spelled[1])
    again = replace(task, point=replace(point, world=Spec("mar", {"sd": 1.0, "K": 3})))
    assert again.key(spelled[0]) == task.key(spelled[0])


@pytest.mark.parametrize(
    ("policy", "factories"),
    [
        ("mar-ucb", [("assumption", "mar"), ("index", "ucb")]),
        ("mediator-mar-thompson", [("assumption", "mediator-mar"), ("index", "thompson")]),
        ("paper-mar", [("policy", "paper-mar")]),
    ],
)
def test_the_code_is_that_of_the_task_the_world_and_the_parts_of_the_policy(monkeypatch, policy, factories):
    asked = []
    monkeypatch.setattr(task_module, "code_fingerprint", lambda *roots: asked.append(roots) or "code")
    task_module._code.__wrapped__("confounded", policy)
    found = [registry.find(kind, name).factory for kind, name in [("world", "confounded"), *factories]]
    assert asked == [("truant.lab.study", *found)]


def test_code_that_is_not_reached_decides_nothing():
    reached = modules_reached("truant.lab.study", "truant.worlds.mar", "truant.assumptions.mar")
    assert {"truant.play.loop", "truant.worlds.mar", "truant.lab.study", "truant.counts"} <= set(reached)
    assert not {"truant.lab.sweep_result", "truant.lab.result", "truant.assumptions.likelihood"} & set(
        reached
    )


def test_other_code_other_parts(study, counted, monkeypatch):
    truant.sweep(study)
    counted.clear()
    monkeypatch.setattr("truant.lab.study._code", lambda *names: "another version")
    truant.sweep(study)
    assert sum(len(task.policies) * task.runs for task in counted) == RUNS * PAIRS
