"""The simulations behind figures, looked up by curve."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from truant import theory
from truant.lab.result import Simulation
from truant.lab.simulate import plan_of
from truant.play.regret import second_half_ratio, standard_deviation, summarize_regret
from truant.reproduction.figure import Curve, Figure, Panel, Scene
from truant.setting import FloatArray

if TYPE_CHECKING:
    import pandas as pd

BOUNDS = {"mcar": theory.mcar_lower_bound, "mar": theory.mar_lower_bound}
BOUND_LABELS = {"mcar": "√(nT/γ)", "mar": "√(TnH)"}


@dataclass(eq=False)
class Results:
    """A simulation for each scene that was played."""

    simulations: dict[Scene, Simulation] = field(default_factory=dict)

    def regret(self, curve: Curve) -> FloatArray:
        """Regret of each run at the checkpoints, shape (R, C)."""
        simulation = self.simulations[curve.scene]
        regret: FloatArray = simulation.regret[simulation.policies.index(curve.policy)]
        return regret

    def final(self, curve: Curve) -> FloatArray:
        """Regret of each run at the horizon, shape (R,)."""
        return self.regret(curve)[:, -1]

    def ratio(self, curve: Curve) -> float:
        """Regret of the second half of the rounds over that of the first, means of all runs: 1 if linear."""
        mean = self.regret(curve).mean(axis=0)
        return second_half_ratio(mean[self._half(curve)], mean[-1])

    def _half(self, curve: Curve) -> int:
        """The checkpoint at half of the horizon."""
        simulation = self.simulations[curve.scene]
        return int(np.searchsorted(simulation.rounds, max(1, simulation.horizon // 2)))

    @functools.cache  # noqa: B019 - lives as long as the results
    def bound(self, scene: Scene) -> float | None:
        """The theory's lower-bound rate at the horizon, mean over the instances of the runs."""
        if scene.bound is None:
            return None
        simulation = self.simulations[scene]
        plan = plan_of(scene.spec, "naive-ucb", simulation.horizon, simulation.seed, {})
        of_world = BOUNDS[scene.bound]
        return float(np.mean([of_world(plan.instance(r), plan.horizon) for r in range(simulation.runs)]))

    def table(self, panel: Panel) -> pd.DataFrame:
        """What a chart draws of a panel: mean and mean ± sd of each curve."""
        import pandas as pd

        parts = []
        for curve in panel.curves:
            regret = self.regret(curve)
            mean = regret.mean(axis=0)
            sd = standard_deviation(regret, axis=0)
            mean, low, high = (_rounded(values) for values in (mean, mean - sd, mean + sd))
            rounds = self.simulations[curve.scene].rounds
            columns = {"policy": curve.shown, "round": rounds, "mean": mean, "low": low, "high": high}
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True)

    def reference(self, panel: Panel) -> pd.DataFrame | None:
        """The lower-bound rate over rounds of a panel with one scene; it grows with the root of the rounds."""
        import pandas as pd

        scene = panel.curves[0].scene
        bound = self.bound(scene)
        if bound is None or len({curve.scene for curve in panel.curves}) > 1:
            return None
        simulation = self.simulations[scene]
        label = BOUND_LABELS[scene.bound]  # type: ignore[index]
        mean = bound * np.sqrt(simulation.rounds / simulation.horizon)
        return pd.DataFrame({"policy": label, "round": simulation.rounds, "mean": mean})

    def rows(self, figure: Figure) -> list[dict[str, Any]]:
        """The main figures of every curve of a figure, as plain JSON values."""
        return [
            self._row(figure, version, panel, curve)
            for version, panels in figure.versions.items()
            for panel in panels
            for curve in panel.curves
        ]

    def _row(self, figure: Figure, version: str, panel: Panel, curve: Curve) -> dict[str, Any]:
        simulation, ratio = self.simulations[curve.scene], self.ratio(curve)
        regret = summarize_regret(self.final(curve), self.regret(curve)[:, self._half(curve)])
        return {
            "figure": figure.name,
            "version": version,
            "panel": panel.title,
            "label": curve.shown,
            "world": simulation.world,
            "parameters": simulation.parameters,
            "policy": curve.policy,
            "horizon": simulation.horizon,
            "runs": simulation.runs,
            "regret_mean": float(regret.mean),
            "regret_median": float(regret.median),
            "regret_sd": float(regret.sd) if regret.runs > 1 else None,
            "second_half_ratio": ratio if ratio == ratio else None,
            "lower_bound": self.bound(curve.scene),
        }


def _rounded(values: FloatArray) -> FloatArray:
    """Five figures, as many as a chart shows: pages stay small."""
    return np.array([float(f"{value:.5g}") for value in values])
