"""What a figure is made of: scenes, lines, panels, and claims about them. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from truant.spec import Spec

QUICK_ROUNDS = 10_000  # a quick run has a tenth of the rounds, but no fewer than this where there are as many


@dataclass(frozen=True)
class Scene:
    """A world, its horizon and the number of runs; simulated once for all lines that need it."""

    world: str  # with parameters, as in "mcar:gamma=0.5"
    horizon: int = 100_000
    runs: int = 10
    bound: Literal["mcar", "mar"] | None = None  # whose lower bound is drawn

    @property
    def spec(self) -> Spec:
        """The world's name and parameters."""
        return Spec.parse(self.world)

    def size(self, quick: bool, runs: int | None) -> tuple[int, int]:
        """Rounds and runs that are really played."""
        rounds = max(self.horizon // 10, min(self.horizon, QUICK_ROUNDS)) if quick else self.horizon
        return rounds, runs or (max(2, self.runs // 2) if quick else self.runs)


@dataclass(frozen=True)
class Line:
    """One policy in one scene, and its name in a chart."""

    scene: Scene
    policy: str
    label: str = ""

    @property
    def name(self) -> str:
        """Its label in a chart."""
        return self.label or self.policy


@dataclass(frozen=True)
class Panel:
    """Lines in one coordinate system."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Rising:
    """A case of a claim: regret rises from the first of these lines to the last."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Growth:
    """A case of a claim: regret grows in a straight line, or it does not."""

    line: Line
    linear: bool

    @property
    def lines(self) -> tuple[Line, ...]:
        """The one line."""
        return (self.line,)


@dataclass(frozen=True)
class Claim:
    """What is claimed, in our words, and the cases that it is held against."""

    text: str
    cases: tuple[Rising | Growth, ...]
    ours: bool = False  # not the paper's: the same in a world that we add


@dataclass(frozen=True)
class Figure:
    """A figure in two versions: with the paper's policies, and with truant's beside naive and oracle ones."""

    name: str
    title: str
    shows: str
    paper: tuple[Panel, ...]
    truant: tuple[Panel, ...]
    choices: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    log: tuple[str, ...] = ()  # versions with a logarithmic regret axis
    note: str = ""  # what else should be known

    @property
    def versions(self) -> dict[str, tuple[Panel, ...]]:
        """Panels of each version."""
        return {"paper": self.paper, "truant": self.truant}

    def lines(self) -> list[Line]:
        """Everything that is drawn, once."""
        panels = (panel for version in self.versions.values() for panel in version)
        return list(dict.fromkeys(line for panel in panels for line in panel.lines))

    def claimed(self) -> list[Line]:
        """The lines that the claims are about."""
        return [line for claim in self.claims for case in claim.cases for line in case.lines]


def panel(title: str, scene: Scene, *policies: str) -> Panel:
    """Policies in one scene."""
    return Panel(title, tuple(Line(scene, policy) for policy in policies))
