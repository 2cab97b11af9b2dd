"""Contract checks for authors of worlds, assumptions, indices, policies and stores.

Run them on a part of your own in your tests; each raises ContractBroken with one sentence on what is wrong.
"""

from truant.checks.modelling import (
    ContractBroken,
    agreement,
    check_assumption,
    check_curve,
    check_index,
    check_policy,
    check_world,
)
from truant.checks.store import check_store

__all__ = [
    "ContractBroken",
    "agreement",
    "check_assumption",
    "check_curve",
    "check_index",
    "check_policy",
    "check_store",
    "check_world",
]
