"""The folder of the results: one sweep at a time, and nothing of others is overwritten."""

import errno
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truant
from tests.lab.studies import MANY_TASKS, TEXT
from truant.errors import InvalidValue, UnknownName
from truant.files import locked, output_folder
from truant.lab import sweep as lab
from truant.lab.study_file import read_study
from truant.lab.sweep_runs import results_folder

pytestmark = pytest.mark.usefixtures("no_page")


def test_one_sweep_at_a_time_in_a_folder(study):
    with (
        locked(results_folder(read_study(study), None), "sweep"),
        pytest.raises(InvalidValue, match="Another sweep is at work in"),
    ):
        truant.sweep(study)


def test_bad_folders_and_backends(study, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidValue, match="it is a file; choose another"):
        truant.sweep(study, out=tmp_path / "file")
    with pytest.raises(UnknownName, match="did you mean 'threads'"):
        truant.sweep(study, backend="thread")
    with pytest.raises(InvalidValue, match="workers must be a whole number of at least 1, got 0"):
        truant.sweep(study, workers=0)
    with pytest.raises(InvalidValue, match="it has no name; choose another"):
        truant.sweep(study, out="")
    with pytest.raises(InvalidValue, match="File name too long; choose another"):
        truant.sweep(study, out=tmp_path / ("a" * 300))
    with pytest.raises(InvalidValue, match="null byte; choose another"):
        truant.sweep(study, out="a\0b")
    with pytest.raises(InvalidValue, match="A folder is needed, got 3"):
        truant.sweep(study, out=3)
    for name in (".lock", "parts"):
        odd = results_folder(read_study(study), tmp_path / f"with a {name}")
        (odd / name).touch() if name == "parts" else (odd / name).mkdir()
        with pytest.raises(InvalidValue, match=rf"as the folder of results: .*{name}.*; choose another"):
            truant.sweep(study, out=odd)


def test_what_is_there_already_is_not_overwritten(study, counted):
    """A folder that others made is refused, whatever it holds; one that a sweep made is not."""
    with pytest.raises(
        InvalidValue, match=r"it holds 'study\.toml' and no file \.truant with .*; choose another"
    ):
        truant.sweep(study, out=study.parent)
    assert ([path.name for path in study.parent.iterdir()], counted) == (["study.toml"], [])
    result = truant.sweep(study)
    assert (result.folder / ".truant").read_text() == "truant sweep\n"
    kept = result.folder / "study.toml"
    stamp = kept.stat().st_mtime_ns
    truant.sweep(kept, out=result.folder)  # the study itself is an input there, and is left as it is
    assert kept.stat().st_mtime_ns == stamp


def test_a_folder_of_another_kind_is_refused(study, tmp_path):
    folder = output_folder(tmp_path / "figures", "reproduction")
    with pytest.raises(
        InvalidValue, match=r"something else than a sweep \(\.truant says 'truant reproduction'\)"
    ):
        truant.sweep(study, out=folder)
    assert [path.name for path in folder.iterdir()] == [".truant"]


def test_a_folder_whose_results_are_an_input_is_refused(study, tmp_path, counted):
    folder = results_folder(read_study(study), tmp_path / "out")
    data = folder / "results.parquet"
    pq.write_table(pa.table({"arm": ["a", "b"] * 20, "y": range(40)}), data)
    before = data.read_bytes()
    world = {"name": "table", "set": {"arm": "arm", "outcome": "y"}, "vary": {"data": [str(data)]}}
    with pytest.raises(InvalidValue, match=r"its file results\.parquet would be written, and is the input"):
        truant.sweep({"runs": 1, "policies": ["naive-ucb"], "worlds": [world]}, out=folder)
    assert (data.read_bytes(), counted) == (before, [])


def test_a_link_in_place_of_the_study_is_refused_first(study, tmp_path):
    folder = output_folder(tmp_path / "out", "sweep")
    (folder / "study.toml").symlink_to(tmp_path / "mine")
    with pytest.raises(InvalidValue, match=r"study\.toml': it is a symbolic link"):
        truant.sweep(study, out=folder)
    assert sorted(path.name for path in folder.iterdir()) == [".truant", "study.toml"]


def test_a_second_sweep_changes_nothing(study, tmp_path):
    result = truant.sweep(study)
    other = tmp_path / "other.toml"
    other.write_text(MANY_TASKS)
    with locked(result.folder, "sweep"), pytest.raises(InvalidValue, match="Another sweep is at work"):
        truant.sweep(other, out=result.folder)
    assert (result.folder / "study.toml").read_text() == TEXT


def test_half_written_files_are_removed_and_no_others(study):
    result = truant.sweep(study)
    part = next((result.folder / "parts").glob("*/*.parquet"))
    strays = [place / f".truant-{'0a' * 16}.part" for place in (result.folder, part.parent)]
    own = result.folder / ".my.part"
    for path in (*strays, own):
        path.write_text("half")
    truant.sweep(study)
    assert [path.exists() for path in (*strays, own)] == [False, False, True]


def test_a_full_disk_is_said_and_nothing_is_lost(study, monkeypatch):
    real = Path.mkdir

    def full(self, *arguments, **named):
        if self.parent.name == "parts":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(
        InvalidValue, match=r"its parts/\w\w cannot be made \(No space left on device\); choose another\."
    ):
        truant.sweep(study)


def test_odd_things_in_the_folder_are_named(study, tmp_path):
    folder = results_folder(read_study(study), tmp_path / "out")
    (folder / ".lock").symlink_to(tmp_path / "far")
    with pytest.raises(InvalidValue, match=r"its \.lock is a symbolic link; choose another\.$"):
        truant.sweep(study, out=folder)
    (folder / ".lock").unlink()
    (folder / "parts").touch()
    with pytest.raises(
        InvalidValue, match=r"out' as the folder of results: its parts is a file; choose another\.$"
    ):
        truant.sweep(study, out=folder)


def test_parts_that_may_not_be_listed_are_refused(study, tmp_path, monkeypatch):
    def closed(self):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(
        InvalidValue, match=r"its parts cannot be read \(Permission denied\); choose another\.$"
    ):
        truant.sweep(study, out=tmp_path / "out")


def test_a_folder_that_is_removed_during_the_sweep(tmp_path, monkeypatch):
    """It is not made again: without its marker it would be taken for somebody else's."""
    out, work = tmp_path / "out", lab.work

    def removing(*arguments):
        shutil.rmtree(out)
        return work(*arguments)

    monkeypatch.setattr(lab, "work", removing)
    study = {"runs": 1, "horizon": 20, "policies": ["naive-ucb"], "worlds": ["mcar"]}
    with pytest.raises(
        InvalidValue, match=r"out' was removed or renamed while the sweep .*run the sweep again\.$"
    ):
        truant.sweep(study, out=out, workers=1)
    assert not out.exists()


def test_an_out_that_cannot_be_shown(study):
    class Unspeakable:
        def __repr__(self):
            raise RuntimeError("not to be shown")

    with pytest.raises(InvalidValue, match="A folder is needed, got a value of type Unspeakable"):
        truant.sweep(study, out=Unspeakable())
