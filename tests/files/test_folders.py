"""Folders of results: new, empty, or marked as truant's own."""

import os

import pytest

from truant.errors import InvalidValue
from truant.files import locked, output_folder


def test_a_new_or_empty_folder_is_marked(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / f".truant-{'0' * 32}.part").touch()  # a writer was killed before its first file
    for name in ("new", "deep/er", "empty/"):
        folder = output_folder(tmp_path / name, "sweep")
        assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(".truant", "truant sweep\n")]
        assert output_folder(tmp_path / name, "sweep") == folder


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (
            lambda at: (at.mkdir(), (at / "thesis.tex").touch()),
            "it holds 'thesis.tex' and no file .truant with the line 'truant reproduction'",
        ),
        (lambda at: (at.mkdir(), (at / "parts").mkdir()), "it holds 'parts' and no file .truant"),
        (
            lambda at: (at.with_name("far").mkdir(), at.symlink_to(at.with_name("far"))),
            "it is a symbolic link",
        ),
        (lambda at: at.symlink_to("nowhere"), "it is a symbolic link"),
        (lambda at: os.mkfifo(at), "it is a named pipe"),
        (lambda at: output_folder(at, "sweep"), "something else than a reproduction"),
        (lambda at: (at.mkdir(), (at / ".truant").write_text("")), "something else than a reproduction"),
        (lambda at: (at.mkdir(), (at / ".truant").mkdir()), "its .truant is a folder"),
    ],
)
def test_other_folders_are_refused_and_left_alone(tmp_path, make, reason):
    at = tmp_path / "out"
    make(at)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    for path in (at, f"{at}/"):
        with pytest.raises(InvalidValue) as refused:
            output_folder(path, "reproduction")
        assert reason in str(refused.value)
        assert str(refused.value).endswith("; choose another.")
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_a_file_in_the_folder_that_is_no_ordinary_one_is_refused(tmp_path):
    folder = output_folder(tmp_path / "out", "reproduction")
    (folder / "index.html").symlink_to(tmp_path / "mine.html")
    with pytest.raises(InvalidValue, match=r"index\.html': it is a symbolic link"):
        output_folder(folder, "reproduction", ["index.html"])


def test_a_folder_behind_a_linked_one_is_fine(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to("far")
    assert (output_folder(tmp_path / "near" / "out", "sweep") / ".truant").exists()


def test_one_at_a_time(tmp_path):
    with (
        locked(tmp_path, "reproduction"),
        pytest.raises(InvalidValue, match="Another reproduction is at work"),
        locked(tmp_path, "reproduction"),
    ):
        pass
    with locked(tmp_path, "sweep"):
        pass
