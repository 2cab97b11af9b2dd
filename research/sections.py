"""Every section by name: the module whose function `section` makes it, and the page that it is on."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from research.workbench import Workbench

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Section:
    """A section of a page: `section(bench, **arguments)` of a module gives its paragraphs, or none if it cannot run."""

    module: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def confirmed_share(self) -> float:
        """The share of the runs that are made to confirm the figures; 0 if there is nothing to compare."""
        return float(getattr(importlib.import_module(self.module), "CONFIRMED_SHARE", 0.1))

    def make(self, bench: Workbench) -> list[str]:
        """Compute what is not kept yet, and write the paragraphs."""
        paragraphs: list[str] = importlib.import_module(self.module).section(bench, **self.arguments)
        return [*paragraphs, bench.measurement] if paragraphs and bench.measurement else paragraphs


@dataclass(frozen=True)
class Page:
    """A page of docs.

    Parameters
    ----------
    introduction : the file with its heading and first paragraphs.
    closing : a module with a function of that name, which gives the last paragraphs.
    """

    path: str
    introduction: Path
    sections: Mapping[str, Section]
    closing: str = ""

    @property
    def head(self) -> str:
        """The heading and the first paragraphs."""
        return self.introduction.read_text(encoding="utf-8").strip()

    @property
    def title(self) -> str:
        """The heading."""
        return self.head.partition("\n")[0].removeprefix("# ")

    def tail(self, sections: list[str]) -> list[str]:
        """The last paragraphs, made from the texts of the sections."""
        if not self.closing:
            return []
        close: Callable[[list[str]], list[str]] = importlib.import_module(self.closing).closing
        return close(sections)


@dataclass(frozen=True)
class Group:
    """Pages that are made together.

    Parameters
    ----------
    summary : the page that says for each section whether its criterion is met, if there is one.
    """

    pages: tuple[Page, ...]
    summary: Page | None = None

    @property
    def sections(self) -> dict[str, Section]:
        """All of its sections by name."""
        return {name: section for page in self.pages for name, section in page.sections.items()}

    def page_of(self, name: str) -> Page:
        """The page that a section is on."""
        return next(page for page in self.pages if name in page.sections)


def _of(package: str, *names: str) -> dict[str, Section]:
    """Each section in the module of its name."""
    return {name: Section(f"research.{package}.{name.replace('-', '_')}") for name in names}


def _validation(subject: str, *names: str) -> Page:
    introduction = HERE / "validation" / "pages" / f"{subject}.md"
    return Page(f"validation-{subject}.md", introduction, _of("validation", *names))


ABLATIONS = (
    *("z", "first-pulls", "unkind-level", "unkind-first-pulls", "unkind-horizon"),
    *("wrong-assumption", "mediator-quality", "share-missing", "levels"),
)
SPEED = (
    *(
        "floor",
        "policies",
        "decisions",
        "live",
        "live-parts",
        "live-settling",
        "live-postgres",
        "live-peers",
        "sizes",
    ),
    *(
        "memory",
        "own-part",
        "two-cores",
        "logs",
        "replays",
        "sweeps",
        "start",
        "first-use",
        "peers",
        "beside",
    ),
)
GROUPS = {
    "validation": Group(
        (
            _validation("regret", "regret", "zoo", "wrong", "astray", "delay", "slopes", "growth"),
            _validation("paper", "published", "reproduction"),
            _validation("estimates", "errors", "condition", "best"),
            _validation("intervals", "coverage", "unkind-coverage", "units", "semi-synthetic"),
            _validation("adaptive", "adaptive", "adaptive-calibrated", "adaptive-weighted"),
            _validation("tests", "test-sizes", "late-arrivals", "share-test"),
            _validation(
                "follow-ups",
                *("follow-up-regret", "follow-up-coverage", "follow-up-tests", "follow-up-plan"),
                "follow-up-semi-synthetic",
            ),
            _validation("live", "live-rehearsal", "live-default", "live-kills"),
            _validation("robustness", "kills", "outputs", "fuzz", "mutants"),
        ),
        Page("validation.md", HERE / "validation" / "pages" / "introduction.md", {}),
    ),
    "ablations": Group(
        (
            Page(
                "ablations.md",
                HERE / "ablations" / "introduction.md",
                {name: Section("research.ablations.study", {"name": name}) for name in ABLATIONS},
            ),
        )
    ),
    "speed": Group(
        (
            Page(
                "speed.md",
                HERE / "speed" / "introduction.md",
                _of("speed", *SPEED),
                "research.speed.targets",
            ),
        )
    ),
}
SECTIONS = {name: section for group in GROUPS.values() for name, section in group.sections.items()}


def group_of(name: str) -> str:
    """The name of the group that a section is in."""
    return next(group for group, content in GROUPS.items() if name in content.sections)
