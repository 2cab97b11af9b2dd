"""The folder of a sweep's results: fit to be written to, prepared, and for one sweep at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from truant.errors import InvalidValue
from truant.files import output_folder, remove_unfinished, unfit_folder, written_whole
from truant.sweeps.study import Study
from truant.sweeps.task import KeptRuns

FILES = ("study.toml", "results.parquet", "summary.json", "index.html")  # beside the parts


def results_folder(study: Study, out: str | os.PathLike[str] | None) -> Path:
    """Where the results go: as asked, else beside the study's file; what no sweep made is not overwritten."""
    file = Path(study.file)
    path = output_folder(file.with_name(f"{file.stem}-results") if out is None else out)
    taken = [name for name in FILES if (path / name).exists() and not _same(path / name, study.file)]
    if taken and not (path / "parts").is_dir():
        raise unfit_folder(path, f"it has a file {taken[0]} that no sweep made")
    return path


def _same(path: Path, file: str) -> bool:
    return os.path.exists(file) and os.path.samefile(path, file)


def prepared(folder: Path, study: Study) -> KeptRuns:
    """The folder as a sweep begins or goes on, with the study that these are the results of."""
    kept = KeptRuns(folder / "parts")
    try:
        kept.folder.mkdir(exist_ok=True)
    except OSError as error:
        raise unfit_folder(folder, f"{error.strerror} ({kept.folder.name})") from None
    for place in (folder, *kept.folder.iterdir()):
        remove_unfinished(place)
    target = folder / "study.toml"
    if study.source and not (target.exists() and _same(target, study.file)):
        with written_whole(target) as temporary:
            temporary.write_text(study.source, encoding="utf-8")
    return kept


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """One sweep at a time in a folder; the system lets go of the lock if the process is killed."""
    try:
        import fcntl
    except ImportError:  # not on this system: two sweeps in one folder only do some work twice
        yield folder
        return
    try:
        file = open(folder / ".lock", "w")  # noqa: SIM115 - closed below
    except OSError as error:
        raise unfit_folder(folder, f"{error.strerror} (.lock)") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidValue(
                f"Another sweep is at work in {os.fspath(folder)!r}; wait for it, or choose another folder."
            ) from None
        yield folder
