"""A sweep in the terminal: who wins how often, and where the results are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from truant.terminal.plain import plain


@dataclass(frozen=True)
class SweepDisplay:
    """A heading with the size, the verdict, and the paths of the results and the page."""

    title: str
    points: int
    runs: int
    verdict: str
    results: Path
    page: Path

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        points, runs = ("s" if number > 1 else "" for number in (self.points, self.runs))
        size = f"{self.points:,} point{points}, {self.runs:,} run{runs} of each policy"
        yield Text.assemble(plain(self.title, "bold"), "  ", (size, "dim"))
        yield plain(self.verdict)
        yield plain("")
        yield plain(f"Every run: {self.results}")
        yield plain(f"Page: {self.page}")
