"""Part 2 of the demo: a policy that drops missing outcomes beside one that uses the mediator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from truant.demo.mails import MAILS, mail_world

if TYPE_CHECKING:
    from truant.lab.result import Simulation

DROPS, LEARNS = "naive-ucb", "mar-ucb"
HORIZON, RUNS, SEED = 20_000, 10, 1


@dataclass(frozen=True, eq=False)
class LearningResult:
    """Results of both policies."""

    simulation: Simulation

    def lost(self, policy: str) -> float:
        """Mean regret at the end: spending lost against the best mail for everyone."""
        return float(self.simulation.final[self._place(policy)].mean())

    def late_share(self, policy: str) -> float:
        """Share of the regret that falls into the second half: 50% if nothing is learned."""
        row = self.simulation.table().to_pylist()[self._place(policy)]
        return 1 - float(row["regret_first_half_mean"]) / float(row["regret_mean"])

    def shares(self, policy: str) -> dict[str, float]:
        """Share of the customers who got each mail."""
        sent = self.simulation.pulls[self._place(policy)].sum(axis=0)
        return dict(zip(MAILS, (sent / sent.sum()).tolist(), strict=True))

    def _place(self, policy: str) -> int:
        return self.simulation.policies.index(policy)


def compare_policies(seed: int = SEED) -> LearningResult:
    """Simulate both policies with the same mails."""
    from truant.lab.simulate import simulate

    policies = [DROPS, LEARNS]
    return LearningResult(
        simulate(mail_world(), policies, horizon=HORIZON, runs=RUNS, seed=seed, progress=False)
    )
