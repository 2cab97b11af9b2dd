"""The commands of live experiments; each module adds its own."""

from truant.cli.live import (
    ask,
    correct,
    create,
    files,
    follow_up,
    list_experiments,
    manage,
    show,
    tell,
    watch,
)

__all__ = [
    "ask",
    "correct",
    "create",
    "files",
    "follow_up",
    "list_experiments",
    "manage",
    "show",
    "tell",
    "watch",
]
