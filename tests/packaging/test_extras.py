"""What is not installed is named with the command that installs it, whichever package of an extra is missing."""

import subprocess
import sys

import pytest

from truant.errors import EXTRAS, MissingExtra, require

HIDING = """
import sys
sys.modules[HIDDEN] = None  # as if it were not installed
sys.argv[1:] = COMMAND
from truant.cli import main
main()
"""
ANALYZE = ["analyze", "visits.csv", "--arm", "mail", "--outcome", "spent"]
CHART = ["simulate", "--world", "mcar", "--horizon", "50", "--runs", "1", "--chart", "regret.svg"]


@pytest.mark.parametrize(
    ("hidden", "command", "extra"),
    [(module, ANALYZE, "logs") for module in EXTRAS["logs"]]
    + [(module, CHART, "charts") for module in EXTRAS["charts"]],
)
def test_each_package_of_an_extra(hidden, command, extra, tmp_path):
    (tmp_path / "visits.csv").write_text("mail,spent\nold,1\nnew,2\n", encoding="utf-8")
    code = HIDING.replace("HIDDEN", repr(hidden)).replace("COMMAND", repr(command))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith(f'need the {extra} extra: pip install "truant[{extra}]".\n'), done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_of_that_name_is_no_package(tmp_path, monkeypatch):
    (tmp_path / "psycopg_of_nobody").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        MissingExtra, match=r'^Stores need the postgres extra: pip install "truant\[postgres\]"\.$'
    ):
        require("postgres", "Stores", "psycopg_of_nobody")
