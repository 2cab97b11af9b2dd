"""What a section works with: sizes, results that are kept, and a list of the sources that it used."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from research import ROOT, SEED
from research.cache import Cache, Format, Kept
from research.sources import Sources, policy_modules, world_modules
from truant.fingerprint import module_name
from truant.lab.result import Simulation
from truant.lab.simulate import plan_of, simulate
from truant.sweeps.study import fingerprint as instance_fingerprint
from truant.worlds import World

Size = TypeVar("Size")

SIMULATION = Format(".parquet", lambda result, path: result.save(path), Simulation.load)
PEERS = ROOT / "research" / "speed" / ".venv"


@dataclass(frozen=True)
class Workbench:
    """The tools of one section.

    Parameters
    ----------
    docs : folder of the page; its charts are in `images` below.
    cache : where results are kept.
    quick : tiny sizes, to see whether everything runs.
    peers : an environment with other packages, for the section that measures them.
    against : another checkout of truant, for the section that compares speed.
    """

    docs: Path
    cache: Cache
    quick: bool = False
    peers: Path = PEERS
    against: Path | None = None
    sources: Sources = field(default_factory=Sources)
    measured_on: set[str] = field(default_factory=set)  # dates of the measurements

    @classmethod
    def open(cls, quick: bool, only_kept: bool = False, **options: Any) -> Workbench:
        """The workbench of a full or of a quick run, with its folders."""
        out = ROOT / "out" / ("research-quick" if quick else "research")
        bench = cls(out if quick else ROOT / "docs", Cache(out / "kept", only_kept), quick, **options)
        bench.images.mkdir(parents=True, exist_ok=True)
        return bench

    @property
    def images(self) -> Path:
        """The folder of the charts."""
        return self.docs / "images"

    @property
    def folder(self) -> Path:
        """Where a section keeps what is more than one result, such as the folder of a sweep."""
        return self.cache.folder.parent

    @property
    def measurement(self) -> str:
        """When and on what machine the section's figures were measured; empty if none was."""
        return f"Measured {', '.join(sorted(self.measured_on))}; {machine()}." if self.measured_on else ""

    def size(self, full: Size, quick: Size) -> Size:
        """A number of runs, rounds or pulls."""
        return quick if self.quick else full

    def file(self, path: Path) -> Path:
        """A file of data that the section is made from."""
        return self.sources.add_file(path)

    def piece(self, function: Callable[..., Any], parts: Collection[str] = (), /, **parameters: Any) -> Any:
        """What a function of a module's top level returns, as JSON gives it back; kept.

        Parameters
        ----------
        function : is called with the parameters.
        parts : modules of what it finds by name, such as worlds and policies.
        """
        return self._kept(function, parts, parameters).result

    def measured(
        self, function: Callable[..., Any], parts: Collection[str] = (), /, **parameters: Any
    ) -> Any:
        """The same for a measurement: it is made whenever it is asked for, and kept with machine and date."""
        kept = self._kept(function, parts, parameters, machine())
        self.measured_on.add(kept.date)
        return kept.result

    def _kept(
        self,
        function: Callable[..., Any],
        parts: Collection[str],
        parameters: dict[str, Any],
        machine: str | None = None,
    ) -> Kept:
        modules = {module_name(function), *parts}
        self.sources.modules |= modules
        name = f"{function.__module__.removeprefix('research.')}.{function.__name__}"
        decisive = parameters if machine is None else {**parameters, "machine": machine}
        anew = machine is not None
        return self.cache.kept(name, decisive, modules, lambda: function(**parameters), anew=anew)

    def simulated(
        self, world: World | str, policies: Collection[str], horizon: int, runs: int, delay: int = 0
    ) -> Simulation:
        """A simulation, kept; outcomes come `delay` rounds late."""
        modules = {"truant.play.run", *policy_modules(*policies)}
        modules |= world_modules(world) if isinstance(world, str) else {type(world).__module__}
        self.sources.modules |= modules
        plan = plan_of(world, list(policies), horizon, SEED, {}, delay)
        parameters = {
            "world": world if isinstance(world, str) else world.name,
            "instance": instance_fingerprint(plan.instance(0)),
            "policies": list(policies),
            "horizon": horizon,
            "runs": runs,
            "delay": delay,
            "seed": SEED,
        }

        def compute() -> Simulation:
            result = simulate(world, list(policies), horizon=horizon, runs=runs, seed=SEED, delay=delay)
            if result.runs < runs:  # stopped: the finished runs alone are not what was asked for
                raise KeyboardInterrupt
            return result

        result = self.cache.kept("simulation", parameters, modules, compute, SIMULATION).result
        assert isinstance(result, Simulation)
        return result


def machine() -> str:
    """The machine in a few words, for measurements."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
