"""Which optional dependencies the demo needs; asked before anything else is imported or printed."""

from __future__ import annotations

from truant.errors import MissingExtra
from truant.extras import is_installed

EXTRAS = ("logs", "charts")


def require_extras() -> None:
    """Raise MissingExtra, with the command that installs them, unless all are installed."""
    if not all(map(is_installed, EXTRAS)):
        listed = ",".join(EXTRAS)
        raise MissingExtra(
            f'The demo needs the extras {" and ".join(EXTRAS)}: pip install "truant[{listed}]".'
        )
