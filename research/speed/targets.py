"""Targets: whether a figure meets its own, and the table of all of them at the end of the page."""

from __future__ import annotations

from pathlib import Path

from research.figures import table

REASONS = Path(__file__).with_name("REASONS.md")


def judged(value: float, target: float, at_least: bool = False) -> str:
    """The target, and whether it is met."""
    met = value >= target if at_least else value <= target
    return f"{'at least' if at_least else 'at most'} {target:g}: {'met' if met else '**missed**'}"


def closing(sections: list[str]) -> list[str]:
    """Every row with a target, gathered in one table, and the reasons for those that were missed."""
    rows = []
    for line in "\n".join(sections).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[-1].startswith(("at most ", "at least ")):
            rows.append([", ".join(cell for cell in cells[:-1] if cell), cells[-1]])
    reasons = REASONS.read_text(encoding="utf-8").strip()
    return ["## Targets", table(("what", "target"), rows), "## Missed targets", reasons]
