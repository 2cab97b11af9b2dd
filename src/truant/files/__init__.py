"""Outputs: what may be written where is said before the work begins; files are written whole or not at all."""

from truant.files.folders import locked, output_folder, unfit_folder
from truant.files.inputs import absolute, named_files
from truant.files.outputs import CHARTS, PAGES, TABLES, check_outputs, kind_of, output_path, refuse_unwritable
from truant.files.writing import remove_unfinished, written_whole

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
