"""Keeps calibrated roots in the user's cache folder, beside compiled code: safe to delete, made again if damaged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from truant.analysis.calibration import TARGETS, Roots
from truant.compile.store import cache_folder, read, write
from truant.counts import Counts
from truant.fingerprint import code_fingerprint
from truant.policies import Policy
from truant.setting import Setting


def key_of(
    counts: Counts,
    setting: Setting,
    policy: Policy,
    horizon: int,
    delay: int,
    replays: int,
    level: float,
    targets: Sequence[Any],
    kind: type[Any],
) -> str:
    """A name for what decides the result: the counts, what the policy was told, how it is replayed, and the code."""
    digest = hashlib.sha256()
    modules = {type(target.assumption).__module__ for target in targets}
    modules |= {type(policy.index).__module__, policy.curve.__module__, "truant.analysis.replay", __name__}
    modules |= {kind.__module__}
    modules |= {type(policy.assumption).__module__} if policy.assumption is not None else set()
    names = [(target.name, repr(target.assumption)) for target in targets]
    for part in (
        counts.levels,
        counts.centre,
        policy.name,
        horizon,
        delay,
        replays,
        level,
        names,
        kind.__name__,
    ):
        digest.update(f"{part!r}\n".encode())
    for own in fields(setting):
        value = getattr(setting, own.name)
        digest.update(value.tobytes() if isinstance(value, np.ndarray) else f"{value!r}\n".encode())
    digest.update(np.ascontiguousarray(counts.table).tobytes())
    digest.update(code_fingerprint(*sorted(modules)).encode())
    return digest.hexdigest()[:32]


def keep(key: str, results: Mapping[str, Any]) -> None:
    """Write the results, if there is a folder for them."""
    folder = cache_folder()
    if folder is not None:
        plain = {name: asdict(one) for name, one in results.items()}
        write(folder / f"replay-{key}.bin", json.dumps(plain).encode())


def kept(key: str, kind: type[Any], names: Sequence[str], arms: int) -> dict[str, Any] | None:
    """What was kept under the key; None if there is nothing, or not all of it."""
    folder = cache_folder()
    content = None if folder is None else read(folder / f"replay-{key}.bin")
    if content is None:
        return None
    try:
        found = {name: _restored(kind, one) for name, one in json.loads(content).items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    whole = set(found) == set(names) and all(len(one.roots) == arms for one in found.values())
    return found if whole else None


def _restored(kind: type[Any], plain: dict[str, Any]) -> Any:
    roots = tuple(None if one is None else _roots(one) for one in plain["roots"])
    return kind(**plain | {"roots": roots})


def _roots(plain: dict[str, Any]) -> Roots:
    sides = [tuple(float(root) for root in plain[side]) for side in ("below", "above")]
    if any(len(side) != len(TARGETS) for side in sides):
        raise ValueError("a side of another length")
    return Roots(*sides)
