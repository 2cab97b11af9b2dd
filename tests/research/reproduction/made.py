"""Small reproductions, and what they must leave."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from research.reproduction.command import main

from research import reproduction
from truant.lab.result import Simulation

FOLDER = Path(reproduction.__file__).parent


class Ended(NamedTuple):
    """What a command left."""

    status: int
    out: str
    err: str


def invoke(capsys, *arguments):
    """Call the command `python -m research reproduce`."""
    status = 0
    try:
        main(arguments)
    except SystemExit as ended:
        status = ended.code
    return Ended(status, *capsys.readouterr())


def written(names, versions=()):
    """Names of the files; a quick reproduction has no pictures."""
    charts = {f"{name}-{version}.{kind}" for name in names for version in versions for kind in ("png", "svg")}
    return charts | {"reproduction.parquet", "summary.json", "index.html", ".truant", ".lock"}


def simulation(world, horizon=100, **regret):
    """Final regrets by policy; each curve is linear, or flat from half of the rounds on if its name says so."""
    rounds = np.array([horizon // 2, horizon])
    finals = np.array(list(regret.values()), float)
    halves = np.array([1.0 if "flat" in name else 0.5 for name in regret])[:, None] * finals
    arms = np.zeros((*finals.shape, 2))
    return Simulation(
        world=world,
        parameters={},
        horizon=horizon,
        seed=0,
        policies=list(regret),
        rounds=rounds,
        regret=np.stack([halves, finals], axis=2),
        pulls=arms.astype(int),
        estimates=arms,
        means=np.zeros((finals.shape[1], 2)),
        nanoseconds=np.zeros(finals.shape),
    )
