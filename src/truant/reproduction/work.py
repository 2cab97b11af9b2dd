"""Plays what figures need, each scene once, and reports progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truant.lab.simulate import simulate
from truant.reproduction.figure import Figure, Scene
from truant.reproduction.results import Results
from truant.terminal.progress import OnProgress

# about how long a round takes beside those of other policies, for the time that is left
SLOW = {"mnar-thompson": 80, "mnar-ucb": 12, "mnar-ucb:level=cautious": 12, "paper-mediator-mnar": 10}
DRAWING = 5e7  # a figure, beside a round of a plain policy


class Work:
    """Plays scenes once each, with all policies that any figure wants there, and tells how far it is."""

    def __init__(
        self, figures: Sequence[Figure], settings: dict[str, Any], results: Results, tell: OnProgress
    ) -> None:
        self.settings, self.results, self.tell, self.done = settings, results, tell, 0.0
        self.policies: dict[Scene, list[str]] = {}
        for figure in figures:
            cases = [case for claim in figure.claims for case in claim.cases]
            for line in [*figure.lines(), *(line for case in cases for line in case.lines)]:
                policies = self.policies.setdefault(line.scene, [])
                if line.policy not in policies:
                    policies.append(line.policy)
        self.total = sum(self.cost(scene) for scene in self.policies) + DRAWING * len(figures)

    def cost(self, scene: Scene) -> float:
        """About how long a scene takes."""
        rounds, runs = self.size(scene)
        return rounds * runs * sum(_slowness(policy) for policy in self.policies[scene])

    def size(self, scene: Scene) -> tuple[int, int]:
        """Rounds and runs of a scene."""
        return scene.size(self.settings["quick"], self.settings["runs"])

    def play(self, figure: Figure) -> None:
        """Simulate what a figure needs and does not have yet."""
        for scene in dict.fromkeys(line.scene for line in figure.lines()):
            if scene in self.results.simulations:
                continue
            rounds, runs = self.size(scene)
            before, cost = self.done, self.cost(scene)
            simulation = simulate(
                scene.spec,
                self.policies[scene],
                horizon=rounds,
                runs=runs,
                seed=self.settings["seed"],
                threads=self.settings["threads"],
                estimates=False,
                progress=lambda share, b=before, c=cost: self.tell((b + share * c) / self.total),  # type: ignore[misc]
            )
            if simulation.runs < runs:  # stopped: half a figure would not be what it says
                raise KeyboardInterrupt
            self.results.simulations[scene] = simulation
            self._add(cost)

    def drawn(self) -> None:
        """One more figure has been drawn."""
        self._add(DRAWING)

    def _add(self, cost: float) -> None:
        self.done += cost
        self.tell(self.done / self.total)


def _slowness(policy: str) -> float:
    return next((slow for name, slow in SLOW.items() if policy.endswith(name)), 1)
