"""Entry points: what other packages offer, read without importing them, whatever state they are in."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, distributions, entry_points

_FIT = re.compile(r"[^\W_][\w.-]*")  # no colon, which begins parameters, and nothing that a shell takes apart
FIT_NAME = "letters, digits, '-', '_' and '.', a letter or digit first"


def is_fit(name: str) -> bool:
    """Whether a part can be asked for by this name."""
    return bool(_FIT.fullmatch(name))


def offered_points(group: str) -> tuple[list[EntryPoint], list[str]]:
    """The entry points of a group, and a sentence about each package whose list of them cannot be read."""
    try:
        return list(entry_points(group=group)), []
    except Exception:
        return _one_package_at_a_time(group)


def _one_package_at_a_time(group: str) -> tuple[list[EntryPoint], list[str]]:
    found: dict[tuple[str, str, str], EntryPoint] = {}
    problems = []
    for distribution in distributions():
        try:
            for point in distribution.entry_points.select(group=group):
                found.setdefault((package_of(point), point.name, point.value), point)
        except Exception as error:
            where = getattr(distribution, "_path", "an installed package")
            problems.append(f"The entry points of {where} cannot be read: {said(error)}.")
    return list(found.values()), problems


def package_of(point: EntryPoint) -> str:
    """The name of the package that offers it."""
    try:
        name = point.dist.name if point.dist else None
    except Exception:  # a package without metadata
        name = None
    return name or "another package"


def said(error: BaseException) -> str:
    """What kind of error it is, and the first line of what it says."""
    try:
        text = str(error).strip().partition("\n")[0].rstrip(".:; ")
    except Exception:  # its own text fails
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
