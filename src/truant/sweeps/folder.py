"""The folder of a sweep's results: fit to be written to, and prepared with the study that they are of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from truant.files import named_files, output_folder, remove_unfinished, unfit_folder, written_whole
from truant.sweeps.kept_runs import KeptRuns
from truant.sweeps.study import Study

PARTS = "parts"
STUDY = "study.toml"
FILES = (STUDY, "results.parquet", "summary.json", "index.html")  # beside the parts


def results_folder(study: Study, out: str | os.PathLike[str] | None) -> Path:
    """Where the results go: as asked, else beside the study's file; what no sweep made is not overwritten."""
    file = Path(study.file)
    path = file.with_name(f"{file.stem}-results") if out is None else out
    folder = output_folder(path, "sweep", FILES, tuple(_inputs(study, path)))
    parts = folder / PARTS
    KeptRuns(parts).check_folder(parts)
    return folder


def prepared(folder: Path, study: Study) -> KeptRuns:
    """The folder as a sweep begins or goes on, with the study that these are the results of."""
    kept = KeptRuns(folder / PARTS)
    try:
        kept.folder.mkdir(exist_ok=True)
    except OSError as error:
        raise unfit_folder(folder, f"its {PARTS} cannot be made ({error.strerror})") from None
    try:
        places = sorted(kept.folder.iterdir())
    except OSError as error:
        raise unfit_folder(folder, f"its {PARTS} cannot be read ({error.strerror})") from None
    if not os.access(kept.folder, os.W_OK | os.X_OK):
        raise unfit_folder(folder, f"its {PARTS} is not writable")
    for place in places:
        if not place.is_symlink():
            remove_unfinished(place)
    target = folder / STUDY
    if study.source and not _same(target, study.file):
        with written_whole(target) as temporary:
            temporary.write_text(study.source, encoding="utf-8")
    return kept


def _inputs(study: Study, folder: str | os.PathLike[str]) -> Iterator[str]:
    """The study's file, unless it is the one in the folder, which is left as it is; files that worlds are read from."""
    if not (isinstance(folder, str | os.PathLike) and _same(os.path.join(folder, STUDY), study.file)):
        yield from named_files([study.file])
    for block in study.blocks:
        yield from named_files(block.fixed.values())
        for axis in block.axes:
            yield from named_files(axis.values)


def _same(path: str | os.PathLike[str], file: str) -> bool:
    return os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file)
