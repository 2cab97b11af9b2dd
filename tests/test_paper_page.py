"""The page from the paper to the code: every command runs, and every check is a test that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (.+?) \| .+? \| `(.+?)` \| \[(\w+)\]\(\.\./(tests/[\w/]+\.py)\) \| .+ \|$", PAGE, re.MULTILINE
)


@pytest.fixture(scope="module")
def names():
    """What the page's own example defines."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    namespace = {}
    exec(compile(code, "docs/paper.md", "exec"), namespace)
    return namespace


def test_every_row_has_a_command_and_a_check():
    tables = PAGE.split("## Every statement")[1]
    rows = [line for line in tables.splitlines() if line.startswith("| ") and "in the paper" not in line]
    assert len(rows) == len(ROWS) == 44


@pytest.mark.parametrize(
    ("statement", "command"), [(row[0], row[1]) for row in ROWS], ids=lambda text: text[:40]
)
def test_the_command_of_a_row_runs(statement, command, names):
    found = eval(command, dict(names))
    assert found is not None
    assert found is not False, statement


@pytest.mark.parametrize(("check", "file"), sorted({(row[2], row[3]) for row in ROWS}))
def test_the_check_of_a_row_is_a_test(check, file):
    assert re.search(rf"^def {check}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_symbol_is_a_name():
    """Names behind `world.`, `setting.`, `theory.` and `counts.` in the table of symbols exist."""
    import truant
    from truant import theory

    real, discrete = truant.world("mar", seed=1), truant.world("mnar", seed=1)
    counts = truant.Counts.empty(real.setting)
    symbols = PAGE.split("## Symbols")[1].split("## Every statement")[0]
    holders = {
        "world": (real, discrete),
        "setting": (real.setting,),
        "theory": (theory,),
        "counts": (counts,),
    }
    found = re.findall(r"`(world|setting|theory|counts)\.(\w+)", symbols)
    assert len(found) >= 20
    for holder, name in found:
        assert any(hasattr(each, name) for each in holders[holder]), (holder, name)
