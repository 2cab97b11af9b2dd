"""What is recorded of each section, beside its text on a page: its figures, and when they were last confirmed.

A record is a file of research/recorded: the figures as they were made at full size, with the state of the code that
made them; confirmed.json says of each section when these figures were last compared with a new run, and how that ended.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from research import ROOT
from research.figures import Figure, Table, figures_of
from truant.files import written_whole

RECORDS = ROOT / "research" / "recorded"
CONFIRMED = "confirmed.json"


@dataclass(frozen=True)
class Code:
    """A state of the code: the commit that was checked out, and a hash of the sources of the package."""

    commit: str
    sources: str

    @classmethod
    def present(cls) -> Code:
        """As it is now; a commit whose sources were changed has a + behind its name."""
        sources = sources_hash()
        try:
            commit = _git("rev-parse", "--short=7", "HEAD")
            commit += "+" if _git("status", "--porcelain", "--", "src") else ""
        except (OSError, subprocess.CalledProcessError):  # not a checkout
            commit = sources[:7]
        return cls(commit, sources)


def sources_hash() -> str:
    """A hash of all Python files of the package."""
    digest = hashlib.sha256()
    package = ROOT / "src" / "truant"
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@dataclass(frozen=True)
class Record:
    """The figures of a section, and how many of its rows are judged by a criterion and do not meet it."""

    date: str
    commit: str
    figures: Mapping[str, Figure]
    judged: int = 0
    failing: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A hash of the figures: a confirmation is one of these and of no others."""
        figures = {name: figure.record for name, figure in self.figures.items()}
        return hashlib.sha256(json.dumps(figures, sort_keys=True).encode()).hexdigest()[:12]

    @classmethod
    def now(cls, paragraphs: Iterable[str]) -> Record:
        """Of a section that was made just now."""
        tables = [paragraph for paragraph in paragraphs if isinstance(paragraph, Table)]
        return cls(
            str(datetime.date.today()),
            Code.present().commit,
            figures_of(tables),
            sum(table.judged for table in tables),
            tuple(name for table in tables for name in table.failing),
        )


def write_record(name: str, record: Record, folder: Path = RECORDS) -> None:
    """Keep what was made of a section."""
    content = {
        "date": record.date,
        "commit": record.commit,
        "judged": record.judged,
        "failing": list(record.failing),
        "figures": {figure: number.record for figure, number in record.figures.items()},
    }
    _write(folder / f"{name}.json", content)


def read_record(name: str, folder: Path = RECORDS) -> Record | None:
    """What is recorded of a section, if it was made."""
    content = _read(folder / f"{name}.json")
    if content is None:
        return None
    figures = {figure: Figure.of_record(number) for figure, number in content["figures"].items()}
    return Record(content["date"], content["commit"], figures, content["judged"], tuple(content["failing"]))


@dataclass(frozen=True)
class Confirmation:
    """How the figures of a section were last compared with a new run.

    Parameters
    ----------
    at : date and time.
    commit, sources : the code of the new run.
    record : fingerprint of the recorded figures.
    draw : which random numbers the new run had.
    figures : how many were compared.
    moved, moved_columns : names of those that have moved, and of columns that have moved as a whole.
    missing : names of recorded figures that the new run did not have.
    error : what the new run failed with.
    """

    at: str
    commit: str
    sources: str
    record: str
    draw: int
    figures: int
    moved: list[str] = field(default_factory=list)
    moved_columns: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    error: str = ""


def write_confirmations(confirmations: Mapping[str, Confirmation], folder: Path = RECORDS) -> None:
    """Keep confirmations; those of other sections stay."""
    whole = _read_confirmations(folder) | confirmations
    _write(folder / CONFIRMED, {name: asdict(whole[name]) for name in sorted(whole)})


def read_confirmations(folder: Path = RECORDS) -> dict[str, Confirmation]:
    """The last confirmation of each section whose recorded figures are still those that were compared."""
    confirmations = _read_confirmations(folder)
    records = {name: read_record(name, folder) for name in confirmations}
    return {
        name: confirmation
        for name, confirmation in confirmations.items()
        if (record := records[name]) is not None and record.fingerprint == confirmation.record
    }


def _read_confirmations(folder: Path) -> dict[str, Confirmation]:
    return {name: Confirmation(**content) for name, content in (_read(folder / CONFIRMED) or {}).items()}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary:
        temporary.write_text(_lines(content), encoding="utf-8")


def _lines(content: Mapping[str, Any]) -> str:
    """JSON with a line per figure, so that a change is easy to read."""
    outer = []
    for key, value in content.items():
        text = json.dumps(value, ensure_ascii=False)
        if key == "figures" and isinstance(value, dict) and value:
            inner = [f"    {json.dumps(k, ensure_ascii=False)}: {json.dumps(v)}" for k, v in value.items()]
            text = "{\n" + ",\n".join(inner) + "\n  }"
        outer.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(outer) + "\n}\n"


def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
