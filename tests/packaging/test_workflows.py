"""The workflows run fixed actions and targets that exist."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
FIXED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")  # a tag may be moved, a commit may not


def lines_with(key: str) -> list[str]:
    """What follows the key in every workflow."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    return re.findall(rf"^[ -]*{key}: (.*)$", texts, re.M)


def test_actions_are_pinned_by_commit():
    uses = lines_with("uses")
    assert uses
    assert [line for line in uses if not FIXED.fullmatch(line)] == []


def test_one_version_of_each_action():
    assert len(set(lines_with("uses"))) == len({line.partition("@")[0] for line in lines_with("uses")})


def test_targets_exist():
    targets = re.findall(r"^([\w./-]+):(?!=)", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.M)
    called = [line.split()[1] for line in lines_with("run") if line.startswith("make ")]
    assert called
    assert set(called) <= set(targets)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_have_steps(path):
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}  # what jobs need beyond this, they name
    for job in workflow["jobs"].values():
        assert all("uses" in step or "run" in step for step in job["steps"])
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
