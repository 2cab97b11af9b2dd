"""Bandits and adaptive experiments whose outcomes do not always show up."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truant import checks, datasets, theory, worlds
    from truant.analysis import Analysis
    from truant.analysis.analysis import AnalysisBy
    from truant.counts import Counts
    from truant.errors import TruantError
    from truant.follow_up.result import Plan
    from truant.lab.result import Simulation
    from truant.lab.simulate import simulate
    from truant.lab.sweep import sweep
    from truant.lab.sweep_result import SweepResult
    from truant.live.decision import Decision
    from truant.live.experiment import Experiment, experiments
    from truant.live.status import Status
    from truant.live.times import ManualClock
    from truant.logs.calls import analyze, plan
    from truant.policies import Policy
    from truant.policies import named as policy
    from truant.policies.decider import Decider
    from truant.rehearsal.rehearse import rehearse
    from truant.rehearsal.result import Rehearsal
    from truant.setting import Setting
    from truant.worlds import make as world

__all__ = [
    "Analysis",
    "AnalysisBy",
    "Counts",
    "Decider",
    "Decision",
    "Experiment",
    "ManualClock",
    "Plan",
    "Policy",
    "Rehearsal",
    "Setting",
    "Simulation",
    "Status",
    "SweepResult",
    "TruantError",
    "analyze",
    "checks",
    "datasets",
    "experiments",
    "plan",
    "policy",
    "rehearse",
    "simulate",
    "sweep",
    "theory",
    "world",
    "worlds",
]

# Loaded when first used, so that `import truant` stays quick.
_PLACES = {
    "Analysis": ("truant.analysis", "Analysis"),
    "AnalysisBy": ("truant.analysis.analysis", "AnalysisBy"),
    "Counts": ("truant.counts", "Counts"),
    "Decider": ("truant.policies.decider", "Decider"),
    "Decision": ("truant.live.decision", "Decision"),
    "Experiment": ("truant.live.experiment", "Experiment"),
    "ManualClock": ("truant.live.times", "ManualClock"),
    "Plan": ("truant.follow_up.result", "Plan"),
    "Policy": ("truant.policies", "Policy"),
    "Rehearsal": ("truant.rehearsal.result", "Rehearsal"),
    "Setting": ("truant.setting", "Setting"),
    "Simulation": ("truant.lab.result", "Simulation"),
    "Status": ("truant.live.status", "Status"),
    "SweepResult": ("truant.lab.sweep_result", "SweepResult"),
    "TruantError": ("truant.errors", "TruantError"),
    "analyze": ("truant.logs.calls", "analyze"),
    "checks": ("truant.checks", ""),
    "datasets": ("truant.datasets", ""),
    "experiments": ("truant.live.experiment", "experiments"),
    "plan": ("truant.logs.calls", "plan"),
    "policy": ("truant.policies", "named"),
    "rehearse": ("truant.rehearsal.rehearse", "rehearse"),
    "simulate": ("truant.lab.simulate", "simulate"),
    "sweep": ("truant.lab.sweep", "sweep"),
    "theory": ("truant.theory", ""),
    "world": ("truant.worlds", "make"),
    "worlds": ("truant.worlds", ""),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("truant")
    if name not in _PLACES:
        raise AttributeError(f"module 'truant' has no attribute {name!r}")
    place, attribute = _PLACES[name]
    module = importlib.import_module(place)
    return getattr(module, attribute) if attribute else module


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
