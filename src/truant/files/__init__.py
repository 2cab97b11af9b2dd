"""Outputs: what may be written where is said before the work begins; files are written whole or not at all."""

from truant.files.paths import (
    CHARTS,
    PAGES,
    TABLES,
    absolute,
    check_outputs,
    kind_of,
    named_files,
    output_path,
    refuse_unwritable,
)
from truant.files.writing import locked, output_folder, remove_unfinished, unfit_folder, written_whole

__all__ = [
    "CHARTS",
    "PAGES",
    "TABLES",
    "absolute",
    "check_outputs",
    "kind_of",
    "locked",
    "named_files",
    "output_folder",
    "output_path",
    "refuse_unwritable",
    "remove_unfinished",
    "unfit_folder",
    "written_whole",
]
