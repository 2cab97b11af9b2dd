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
from truant.lab.study import check
from truant.lab.study_file import study_of
from truant.live.store.opening import open_store

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _beside_the_examples(tmp_path, monkeypatch):
    """Examples run where what they write is thrown away, with the examples folder as in a clone."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


WRITTEN_BY_A_COMMAND = ("validation", "speed", "commands")  # have no examples to run
PAGES = [ROOT / "README.md"]
PAGES += sorted(
    page for page in (ROOT / "docs").glob("*.md") if not page.name.startswith(WRITTEN_BY_A_COMMAND)
)


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


# run at full size they take minutes; their options are read, and tests of their own run them in small
TOO_LONG = {
    "truant sweep study.toml --backend ray",
}


def commands_of(page: Path) -> list[list[str]]:
    """The truant commands of a page, as a shell would read them."""
    lines = "".join(blocks(page, "sh")).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))[:1] == ["truant"]]


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)], ids=lambda page: page.name)
def test_commands(page, monkeypatch, tmp_path):
    """In the order of the page, in one folder and on one store; files that a page names are there."""
    monkeypatch.setenv("TRUANT_STORE", f"sqlite:///{tmp_path / 'commands.db'}")
    (tmp_path / "study.toml").write_text(
        'runs = 2\nhorizon = 100\npolicies = ["mcar-ucb", "naive-ucb"]\n[[worlds]]\nname = "mcar"\n',
        encoding="utf-8",
    )
    collected_by_a_policy(tmp_path / "log.csv")
    for command in commands_of(page):
        if " ".join(command) in TOO_LONG:
            cli.make_context("truant", command[1:]).command.get_command(None, command[1]).make_context(
                command[1], command[2:]
            )
            continue
        result = CliRunner().invoke(cli, command[1:])
        assert result.exit_code == 0, f"{' '.join(command)}: {result.output}"
        assert result.output


def collected_by_a_policy(path: Path) -> None:
    """A log as the page on logs that a policy collected has it."""
    rows = ["arm,opened,spent"]
    for i in range(600):
        arm, opened = ("new" if i % 3 else "old"), i % 2
        rows.append(f"{arm},{opened},{'' if i % 5 == 0 else (i * 7) % 10 / 10 + opened + (arm == 'new')}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


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
