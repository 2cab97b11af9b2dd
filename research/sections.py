"""Every section by name: the module whose function `section` makes it, and the page that it is on."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from research.workbench import Workbench


@dataclass(frozen=True)
class Section:
    """A section of a page: `section(bench, **arguments)` of a module gives its paragraphs, or none if it cannot run."""

    module: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def make(self, bench: Workbench) -> list[str]:
        """Compute what is not kept yet, and write the paragraphs."""
        bench.sources.modules.add(self.module)
        paragraphs: list[str] = importlib.import_module(self.module).section(bench, **self.arguments)
        return [*paragraphs, bench.measurement] if paragraphs and bench.measurement else paragraphs


@dataclass(frozen=True)
class Group:
    """The sections of one page, in its order.

    Parameters
    ----------
    opening, closing : modules with a function of that name, which gives the first and last paragraphs of the page.
    """

    page: str
    sections: Mapping[str, Section]
    opening: str
    closing: str = ""

    def head(self) -> list[str]:
        """The first paragraphs of the page."""
        paragraphs: list[str] = importlib.import_module(self.opening).opening()
        return paragraphs

    def tail(self, sections: list[str]) -> list[str]:
        """The last paragraphs of the page, given the texts of its sections."""
        if not self.closing:
            return []
        close: Callable[[list[str]], list[str]] = importlib.import_module(self.closing).closing
        return close(sections)


def _of(package: str, *names: str) -> dict[str, Section]:
    """Each section in the module of its name."""
    return {name: Section(f"research.{package}.{name.replace('-', '_')}") for name in names}


VALIDATION = (
    *(
        "regret",
        "wrong",
        "zoo",
        "astray",
        "delay",
        "live-rehearsal",
        "live-default",
        "coverage",
        "unkind-coverage",
        "test-sizes",
        "late-arrivals",
        "share-test",
        "follow-up-regret",
        "follow-up-coverage",
        "follow-up-tests",
        "follow-up-plan",
        "follow-up-semi-synthetic",
        "best",
        "units",
        "adaptive",
        "adaptive-calibrated",
        "adaptive-weighted",
    ),
    *("semi-synthetic", "errors", "condition", "slopes", "growth", "published", "reproduction"),
    *("kills", "live-kills", "outputs", "fuzz", "mutants"),
)
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
        "live-postgres",
        "live-peers",
        "sizes",
        "memory",
        "own-part",
        "two-cores",
        "logs",
        "replays",
        "sweeps",
    ),
    *("start", "first-use", "peers", "beside"),
)
GROUPS = {
    "validation": Group("validation.md", _of("validation", *VALIDATION), "research.validation.opening"),
    "ablations": Group(
        "ablations.md",
        {name: Section("research.ablations.study", {"name": name}) for name in ABLATIONS},
        "research.ablations.opening",
    ),
    "speed": Group("speed.md", _of("speed", *SPEED), "research.speed.opening", "research.speed.targets"),
}
