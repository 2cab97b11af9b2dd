"""Bandits and adaptive experiments whose outcomes do not always show up."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truant import checks, datasets, theory, worlds
    from truant.counts import Counts
    from truant.errors import TruantError
    from truant.lab.result import Simulation
    from truant.lab.simulate import simulate
    from truant.live.decision import Decision
    from truant.live.experiment import Experiment, experiments
    from truant.live.rehearsal_result import Rehearsal
    from truant.live.rehearse import rehearse
    from truant.live.status import Status
    from truant.live.times import ManualClock
    from truant.logs.analysis_by import AnalysisBy
    from truant.logs.analyze import analyze
    from truant.logs.log_analysis import LogAnalysis
    from truant.logs.log_plan import LogPlan
    from truant.logs.plan import plan
    from truant.policies import Policy
    from truant.policies import named as policy
    from truant.policies.decider import Decider
    from truant.reproduction import reproduce
    from truant.reproduction.run import Reproduction
    from truant.setting import Setting
    from truant.sweeps.result import SweepResult
    from truant.sweeps.sweep import sweep
    from truant.worlds import make as world

__all__ = [
    "AnalysisBy",
    "Counts",
    "Decider",
    "Decision",
    "Experiment",
    "LogAnalysis",
    "LogPlan",
    "ManualClock",
    "Policy",
    "Rehearsal",
    "Reproduction",
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
    "reproduce",
    "simulate",
    "sweep",
    "theory",
    "world",
    "worlds",
]

# Loaded when first used, so that `import truant` stays quick.
_PLACES = {
    "AnalysisBy": ("truant.logs.analysis_by", "AnalysisBy"),
    "Counts": ("truant.counts", "Counts"),
    "Decider": ("truant.policies.decider", "Decider"),
    "Decision": ("truant.live.decision", "Decision"),
    "Experiment": ("truant.live.experiment", "Experiment"),
    "LogAnalysis": ("truant.logs.log_analysis", "LogAnalysis"),
    "LogPlan": ("truant.logs.log_plan", "LogPlan"),
    "ManualClock": ("truant.live.times", "ManualClock"),
    "Policy": ("truant.policies", "Policy"),
    "Rehearsal": ("truant.live.rehearsal_result", "Rehearsal"),
    "Reproduction": ("truant.reproduction.run", "Reproduction"),
    "Setting": ("truant.setting", "Setting"),
    "Simulation": ("truant.lab.result", "Simulation"),
    "Status": ("truant.live.status", "Status"),
    "SweepResult": ("truant.sweeps.result", "SweepResult"),
    "TruantError": ("truant.errors", "TruantError"),
    "analyze": ("truant.logs.analyze", "analyze"),
    "checks": ("truant.checks", ""),
    "datasets": ("truant.datasets", ""),
    "experiments": ("truant.live.experiment", "experiments"),
    "plan": ("truant.logs.plan", "plan"),
    "policy": ("truant.policies", "named"),
    "rehearse": ("truant.live.rehearse", "rehearse"),
    "reproduce": ("truant.reproduction", "reproduce"),
    "simulate": ("truant.lab.simulate", "simulate"),
    "sweep": ("truant.sweeps.sweep", "sweep"),
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
