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
    from truant.live.experiment import Experiment
    from truant.live.rehearse import rehearse
    from truant.live.times import ManualClock
    from truant.logs.analyze import analyze
    from truant.logs.plan import plan
    from truant.policies import Policy
    from truant.policies import named as policy
    from truant.policies.decider import Decider
    from truant.reproduction import reproduce
    from truant.setting import Setting
    from truant.sweeps.result import SweepResult
    from truant.sweeps.sweep import sweep
    from truant.worlds import make as world

__all__ = [
    "Counts",
    "Decider",
    "Experiment",
    "ManualClock",
    "Policy",
    "Setting",
    "Simulation",
    "SweepResult",
    "TruantError",
    "analyze",
    "checks",
    "datasets",
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
    "Counts": ("truant.counts", "Counts"),
    "Decider": ("truant.policies.decider", "Decider"),
    "Experiment": ("truant.live.experiment", "Experiment"),
    "ManualClock": ("truant.live.times", "ManualClock"),
    "Policy": ("truant.policies", "Policy"),
    "Setting": ("truant.setting", "Setting"),
    "Simulation": ("truant.lab.result", "Simulation"),
    "SweepResult": ("truant.sweeps.result", "SweepResult"),
    "TruantError": ("truant.errors", "TruantError"),
    "analyze": ("truant.logs.analyze", "analyze"),
    "checks": ("truant.checks", ""),
    "datasets": ("truant.datasets", ""),
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
