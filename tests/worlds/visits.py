"""Tables that become worlds, and what is asked of such a world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from truant.worlds import DiscreteWorld, RealWorld, World

VISITS = Path(__file__).parents[2] / "examples" / "visits.csv"
COLUMNS = {"arm": "mail", "outcome": "spent", "mediator": "opened"}
SMALL = {"arm": "arm", "mediator": "m", "outcome": "y", "levels": ()}
PULLS = 60_000  # per arm

FloatArray = npt.NDArray[np.float64]


def real(world: World) -> RealWorld:
    assert isinstance(world, RealWorld)
    return world


def discrete(world: World) -> DiscreteWorld:
    assert isinstance(world, DiscreteWorld)
    return world


def visits() -> pd.DataFrame:
    return pd.read_csv(VISITS)


def bought() -> pd.DataFrame:
    """The visits with a yes-or-no outcome: more than 5 was spent."""
    table = visits()
    return table.assign(bought=(table["spent"] > 5).astype(float).where(table["spent"].notna()))


def small(**changed: Any) -> pd.DataFrame:
    """Two arms, two levels, every cell with outcomes; level 1 of arm b has one of its three missing."""
    columns: dict[str, list[Any]] = {
        "arm": ["b", "a", "a", "b", "a", "b", "b", "b"],
        "m": [1, 0, 1, 0, 0, 1, 1, 0],
        "y": [1.5, 2.0, 3.0, 4.0, 5.0, None, 7.0, 8.0],
    }
    return pd.DataFrame({**columns, **changed})


def check_share(hits: npt.NDArray[np.bool_], share: float) -> None:
    """Within five standard errors of a share."""
    assert abs(hits.mean() - share) <= 5 * np.sqrt(share * (1 - share) / len(hits)) + 1e-12


def pulled(world: World, arm: int, seed: int = 1) -> tuple[npt.NDArray[np.int64], FloatArray]:
    return world.pulls(np.full(PULLS, arm), seed=seed)
