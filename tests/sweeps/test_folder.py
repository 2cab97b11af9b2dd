"""The folder of the results: one sweep at a time, and nothing of others is overwritten."""

import errno
from pathlib import Path

import pytest

import truant
from tests.sweeps.studies import MANY_TASKS, TEXT
from truant.errors import InvalidValue, UnknownName
from truant.sweeps.folder import locked, results_folder
from truant.sweeps.study_file import read_study


def test_one_sweep_at_a_time_in_a_folder(study):
    with (
        locked(results_folder(read_study(study), None)),
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
    for name in (".lock", "parts"):
        odd = tmp_path / f"with a {name}"
        odd.mkdir()
        (odd / name).touch() if name == "parts" else (odd / name).mkdir()
        with pytest.raises(InvalidValue, match=rf"as the folder of results: .* \({name}\); choose another"):
            truant.sweep(study, out=odd)


def test_what_is_there_already_is_not_overwritten(study, counted):
    """Another's page or study in the folder is refused; the study itself, and what a sweep made, are not."""
    page = study.parent / "index.html"
    page.write_text("mine")
    with pytest.raises(InvalidValue, match=r"it has a file index\.html that no sweep made; choose another"):
        truant.sweep(study, out=study.parent)
    assert (page.read_text(), counted) == ("mine", [])
    assert sorted(path.name for path in study.parent.iterdir()) == ["index.html", "study.toml"]
    page.unlink()
    other = study.parent / "other.toml"
    other.write_text(TEXT)
    with pytest.raises(InvalidValue, match=r"it has a file study\.toml that no sweep made"):
        truant.sweep(other, out=study.parent)
    stamp = study.stat().st_mtime_ns
    truant.sweep(study, out=study.parent)
    truant.sweep(study, out=study.parent)
    assert study.stat().st_mtime_ns == stamp


def test_a_second_sweep_changes_nothing(study, tmp_path):
    result = truant.sweep(study)
    other = tmp_path / "other.toml"
    other.write_text(MANY_TASKS)
    with locked(result.folder), pytest.raises(InvalidValue, match="Another sweep is at work"):
        truant.sweep(other, out=result.folder)
    assert (result.folder / "study.toml").read_text() == TEXT


def test_half_written_files_are_removed_and_no_others(study):
    result = truant.sweep(study)
    part = next((result.folder / "parts").glob("*/*.parquet"))
    strays = [place / f".{'0a' * 16}.part" for place in (result.folder, part.parent)]
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
    with pytest.raises(InvalidValue, match=r"Cannot write '.*\.parquet': No space left on device\."):
        truant.sweep(study)
