"""The commands of live experiments; each module adds its own."""

from truant.cli.live import decisions, manage, show

__all__ = ["decisions", "manage", "show"]
