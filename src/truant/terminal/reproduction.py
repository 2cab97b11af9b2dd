"""A reproduction in the terminal: the claims of each figure and the verdicts on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text

from truant.terminal.plain import plain

TONES = {"survives": "bold green", "does not survive": "bold red", "depends": "bold yellow"}


@dataclass(frozen=True)
class ReproductionDisplay:
    """The paper, and for each figure its heading with the verdicts, or what it shows where there is no claim."""

    summary: Mapping[str, Any]  # as in summary.json
    paper: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield plain(f"The paper: {self.paper}.", "dim")
        yield plain("")
        for figure in self.summary["figures"]:
            yield Text.assemble((figure["name"], "bold"), "  ", (figure["title"], "dim"))
            for claim in figure["claims"]:
                text = Text.assemble((claim["verdict"], TONES[claim["verdict"]]), f": {claim['claim']}")
                yield Padding(text, (0, 0, 0, 2), expand=False)
                yield Padding(Text(claim["figures"], "dim"), (0, 0, 0, 4), expand=False)
            if not figure["claims"]:
                for finding in figure["findings"]:
                    yield Padding(Text(finding), (0, 0, 0, 2), expand=False)
            yield Text("")
        if any(figure["claims"] for figure in self.summary["figures"]):
            yield plain(
                "survives: the runs confirm the claim; does not survive: they show the opposite; depends: neither, or "
                "the cases of the claim disagree.",
                "dim",
            )
        for name, why in self.summary["left_out"].items():
            yield plain(f"{name} is left out: {why}", "yellow")
