"""The commands of live experiments; each module adds its own."""

from truant.cli.live import (  # noqa: F401
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
