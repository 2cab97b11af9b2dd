"""Every example in README, docs and CONTRIBUTING runs as it stands."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import truant
from truant import checks, registry
from truant.cli import cli
from truant.live.store.opening import open_store
from truant.sweeps.study import check
from truant.sweeps.study_file import study_of

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _beside_the_examples(tmp_path, monkeypatch):
    """Examples run where what they write is thrown away, with the examples folder as in a clone."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


WRITTEN_BY_A_COMMAND = {"validation.md", "speed.md", "commands.md"}  # have no examples to run
PAGES = [ROOT / "README.md"]
PAGES += sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in WRITTEN_BY_A_COMMAND)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples(page, capsys):
    names: dict[str, object] = {"truant": truant}
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", text, flags=re.DOTALL)
    assert found, "a page without an example"
    for code, shown in found:
        exec(compile(code, str(page), "exec"), names)
        printed = capsys.readouterr().out
        assert "Traceback" not in printed
        if shown:  # what the page says that it prints
            assert printed == shown
    assert text.count("```text") == sum(bool(shown) for _, shown in found)


def test_command_line_examples(tmp_path):
    lines = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("truant ")]
    assert len(commands) >= 3
    for command in commands:
        result = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert result.exit_code == 0, result.output
        assert result.output
    assert "<svg" in (tmp_path / "regret.svg").read_text(encoding="utf-8")


def test_commands_of_live_experiments(monkeypatch, tmp_path):
    """In the order of the guide, on one store."""
    monkeypatch.setenv("TRUANT_STORE", f"sqlite:///{tmp_path / 'commands.db'}")
    lines = [line for block in blocks(ROOT / "docs" / "live.md", "sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("truant ")]
    assert len(commands) >= 20
    for command in commands:
        result = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert result.exit_code == 0, f"{command}: {result.output}"
        assert result.output


def test_studies_in_the_docs_are_sound():
    studies = [block for page in PAGES for block in blocks(page, "toml") if "[[worlds]]" in block]
    assert studies
    for study in studies:
        assert check(study_of(tomllib.loads(study)))


def test_parts_of_the_contributors_guide_keep_their_contracts(monkeypatch, tmp_path):
    codes = blocks(ROOT / "CONTRIBUTING.md", "python")
    names: dict[str, dict[str, object]] = {}
    for kind, code in zip(("world", "index", "assumption", "store"), codes, strict=True):
        space: dict[str, object] = {}
        exec(compile(code, "CONTRIBUTING.md", "exec"), space)
        names[kind] = space["parts"]  # type: ignore[assignment]
    found = registry._built_in
    monkeypatch.setattr(registry, "_built_in", lambda kind: {**found(kind), **names.get(kind, {})})
    checks.check_world(truant.world("coin", seed=1))
    checks.check_index(registry.find("index", "second-best").build())
    checks.check_curve(
        registry.find("assumption", "pessimist").build().curve(truant.world("coin").setting),
        truant.Counts.empty(truant.world("coin").setting),
    )
    url = f"timed:///{tmp_path / 'store.db'}"
    checks.check_store(lambda: registry.find("store", "timed").build(url))
    store = open_store(url)
    store.write(lambda transaction: transaction.rows("SELECT 1"))
    assert len(store.seconds) == 1
    store.close()
    result = truant.simulate("coin", ["pessimist-second-best", "pessimist-ucb"], horizon=500, runs=2)
    assert result.best_arm_share[1].mean() > result.best_arm_share[0].mean()


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What a link may have after #: the headings as GitHub names them, the second of equal ones with -1."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.*)$", without_code(page), flags=re.MULTILINE):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w -]", "", shown).lower().replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {f"{name}-{n}" if n else name for name, last in found.items() for n in range(last + 1)}


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]), ids=lambda page: page.name
)
def test_every_local_link_leads_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page)):
        path, _, anchor = link.partition("#")
        if link.startswith(("http://", "https://")):
            continue
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"
