"""What a section works with: sizes, seeds, and results that are kept."""

from __future__ import annotations

import math
import os
import platform
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from research import ROOT, SEED
from research.cache import Cache, Format, Kept
from research.sources import policy_modules, world_modules
from truant.fingerprint import module_name
from truant.lab.result import Simulation
from truant.lab.simulate import plan_of, simulate
from truant.lab.study import fingerprint as instance_fingerprint
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
    share : of the runs of a section that are made; less than 1 to confirm its figures.
    draw : 0 for the figures that are recorded; another number draws other random numbers.
    peers : an environment with other packages, for the section that measures them.
    against : another checkout of truant, for the section that compares speed.
    """

    docs: Path
    cache: Cache
    quick: bool = False
    share: float = 1.0
    draw: int = 0
    peers: Path = PEERS
    against: Path | None = None
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

    @property
    def seed(self) -> int:
        """The seed of a simulation or of a random generator."""
        return SEED + self.draw

    @property
    def first(self) -> int:
        """The first of the seeds where each replication has its own."""
        return 1_000_000 * self.draw

    def size(self, full: Size, quick: Size) -> Size:
        """What decides the figures: a number of rounds, rows or arms."""
        return quick if self.quick else full

    def runs(self, full: int, quick: int) -> int:
        """What decides only how exact the figures are: a number of runs, replications or repeats."""
        return quick if self.quick else min(full, max(quick, math.ceil(full * self.share)))

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
        name = f"{function.__module__.removeprefix('research.')}.{function.__name__}"
        decisive = parameters if machine is None else {**parameters, "machine": machine}
        anew = machine is not None
        return self.cache.kept(name, decisive, modules, lambda: function(**parameters), anew=anew)

    def seed_in(self, world: World | str) -> int:
        """The seed of simulations of a world; what is compared with them run by run needs the same."""
        if not self.draw:
            return self.seed
        # so that new figures of different worlds are independent
        return self.seed + zlib.crc32(str(world if isinstance(world, str) else world.name).encode())

    def simulated(
        self, world: World | str, policies: Collection[str], horizon: int, runs: int, delay: int = 0
    ) -> Simulation:
        """A simulation, kept; outcomes come `delay` rounds late."""
        modules = {"truant.play.run", *policy_modules(*policies)}
        modules |= world_modules(world) if isinstance(world, str) else {type(world).__module__}
        seed = self.seed_in(world)
        plan = plan_of(world, list(policies), horizon, seed, {}, delay)
        parameters = {
            "world": world if isinstance(world, str) else world.name,
            "instance": instance_fingerprint(plan.instance(0)),
            "policies": list(policies),
            "horizon": horizon,
            "runs": runs,
            "delay": delay,
            "seed": seed,
        }

        def compute() -> Simulation:
            result = simulate(world, list(policies), horizon=horizon, runs=runs, seed=seed, delay=delay)
            if result.runs < runs:  # stopped: the finished runs alone are not what was asked for
                raise KeyboardInterrupt
            return result

        result = self.cache.kept("simulation", parameters, modules, compute, SIMULATION).result
        assert isinstance(result, Simulation)
        return result


def machine() -> str:
    """The machine in a few words, for measurements."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
