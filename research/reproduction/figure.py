"""What a figure is made of: scenes, lines, panels, and claims about them. Data only."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Literal

from research.reproduction import notebooks
from truant.policies import Policy
from truant.spec import Spec
from truant.worlds import World

Reading = Literal["text", "published"]
READINGS: tuple[Reading, ...] = ("text", "published")
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

    @property
    def is_published(self) -> bool:
        """Whether it is the one instance that a notebook drew, the same in every run."""
        return self.world in notebooks.WORLDS

    @functools.cached_property
    def source(self) -> World | Spec:
        """The notebook's instance, or the world of which each run draws one."""
        return notebooks.world(self.world) if self.is_published else self.spec

    def policy(self, name: str, rounds: int) -> Policy | str:
        """The policy of that name; a notebook's rule is made for its instance and its number of rounds."""
        spec = Spec.parse(name)
        if spec.name not in notebooks.RULES:
            return name
        assert isinstance(self.source, World)
        return notebooks.policy(name, self.source, rounds)

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
    published: tuple[Rising | Growth, ...] = ()  # the cases in what the notebooks ran


@dataclass(frozen=True)
class Stored:
    """The end of a line in the notebook's stored plot, read by eye (± 5%)."""

    line: Line
    mean: float
    sd: float
    note: str = ""  # where the numbers are from, if not from a plot


@dataclass(frozen=True)
class Figure:
    """A figure in versions: the paper's policies, truant's beside naive and oracle ones, and what the notebooks ran."""

    name: str
    title: str
    shows: str
    paper: tuple[Panel, ...]
    truant: tuple[Panel, ...]
    choices: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    log: tuple[str, ...] = ()  # versions with a logarithmic regret axis
    note: str = ""  # what else should be known
    published: tuple[Panel, ...] = ()
    ran: tuple[str, ...] = ()  # what the notebook ran where the text says something else, or nothing
    stored: tuple[Stored, ...] = ()

    @property
    def versions(self) -> dict[str, tuple[Panel, ...]]:
        """Panels of each version that is made."""
        versions = {"paper": self.paper, "truant": self.truant, "published": self.published}
        return {name: panels for name, panels in versions.items() if panels}

    def shown_as(self, reading: Reading) -> Figure:
        """The figure as the text describes it, or as it was published, only."""
        if reading == "text":
            claims = tuple(replace(claim, published=()) for claim in self.claims)
            return replace(self, published=(), ran=(), stored=(), claims=claims)
        claims = tuple(replace(claim, cases=()) for claim in self.claims if claim.published)
        return replace(self, paper=(), truant=(), choices=(), claims=claims)

    def changed(self, horizon: int | None, alpha: float | None) -> Figure:
        """With another number of rounds everywhere, or another alpha for each policy that takes one."""
        if horizon is None and alpha is None:
            return self

        def scene(old: Scene) -> Scene:
            return old if horizon is None else replace(old, horizon=horizon)

        def line(old: Line) -> Line:
            spec = Spec.parse(old.policy)
            takes = spec.name.startswith("paper-") or spec.name == "naive-ucb" or spec.name in notebooks.RULES
            if alpha is None or not takes or spec.name == "notebook-mnar":  # whose width has no alpha
                return replace(old, scene=scene(old.scene))
            policy = str(Spec(spec.name, {**spec.parameters, "alpha": alpha}))
            return replace(old, scene=scene(old.scene), policy=policy)

        def panels(old: tuple[Panel, ...]) -> tuple[Panel, ...]:
            return tuple(replace(each, lines=tuple(map(line, each.lines))) for each in old)

        def case(old: Rising | Growth) -> Rising | Growth:
            if isinstance(old, Growth):
                return replace(old, line=line(old.line))
            return replace(old, lines=tuple(map(line, old.lines)))

        return replace(
            self,
            paper=panels(self.paper),
            truant=panels(self.truant),
            published=panels(self.published),
            claims=tuple(
                replace(
                    claim, cases=tuple(map(case, claim.cases)), published=tuple(map(case, claim.published))
                )
                for claim in self.claims
            ),
            stored=(),  # the plots are of the notebooks' own settings
        )

    def lines(self) -> list[Line]:
        """Everything that is drawn, once."""
        panels = (panel for version in self.versions.values() for panel in version)
        return list(dict.fromkeys(line for panel in panels for line in panel.lines))

    def claimed(self) -> list[Line]:
        """The lines that the claims are about."""
        return [
            line for claim in self.claims for case in (*claim.cases, *claim.published) for line in case.lines
        ]


def panel(title: str, scene: Scene, *policies: str) -> Panel:
    """Policies in one scene."""
    return Panel(title, tuple(Line(scene, policy) for policy in policies))
