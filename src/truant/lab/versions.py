"""What numbers were made with."""

from __future__ import annotations

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """Of truant, Python and the packages that compute."""
    names = ("truant", "numpy", "numba", "pyarrow")
    return {"python": platform.python_version()} | {name: version(name) for name in names}
