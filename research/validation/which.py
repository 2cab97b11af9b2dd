"""Which policy to start with: a table of docs/lab.md, written from the runs of the section on delays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from research import ROOT
from research.figures import table
from research.markdown import standard_error
from research.validation.measures import regret
from truant.files import written_whole

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.lab.result import Simulation

BEGIN, END = "<!-- which: written by python -m research validation delay -->", "<!-- end of which -->"
# kind of outcome: the world that stands for it
KINDS = {
    "nearly normal": "mar",
    "skewed or mostly zero, with a mediator": "conversion",
    "skewed, without a mediator": "lognormal",
    "yes or no, mostly no": "rates",
    "one arm far noisier than the others": "noisy-arm",
    "discrete, and missingness depends on it": "mnar",
}
COLUMNS = (
    "outcome",
    "measured in",
    "known at once: start with",
    "ucb / thompson",
    "known late: start with",
    "ucb / thompson",
)
CLEAR = 2.0  # standard errors of the paired difference


def write(bench: Workbench, results: dict[str, list[Simulation]]) -> Path:
    """Put the table between its marks in docs/lab.md; a study that is not for the pages has a page of its own."""
    text = block(results)
    if bench.docs != ROOT / "docs":
        path = bench.docs / "which.md"
        page = text
    else:
        path = ROOT / "docs" / "lab.md"
        page = replaced(path.read_text(encoding="utf-8"), text)
    with written_whole(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def replaced(page: str, text: str) -> str:
    """The page with this block in place of the one that it has."""
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    if not re.search(pattern, page, flags=re.DOTALL):
        raise ValueError("docs/lab.md has lost the marks of its table of policies.")
    return re.sub(pattern, lambda _: text, page, flags=re.DOTALL)


def block(results: dict[str, list[Simulation]]) -> str:
    """The table, between its marks; the first simulation of a world has no delay, the last the longest."""
    rows = []
    for kind, world in KINDS.items():
        at_once, late = results[world][0], results[world][-1]
        cells = [cell for result in (at_once, late) for cell in (start_with(result), figures(result))]
        rows.append([kind, f"`{world}`", *cells])
    return f"{BEGIN}\n{table(COLUMNS, rows)}\n{END}"


def start_with(result: Simulation) -> str:
    """The policy with the lower mean regret, or either if the paired difference is not clear."""
    first, second = result.policies
    difference = regret(result, first) - regret(result, second)
    if abs(difference.mean()) <= CLEAR * standard_error(difference):
        return f"either; `{first}` is repeatable"
    return f"`{first if difference.mean() < 0 else second}`"


def figures(result: Simulation) -> str:
    return " / ".join(f"{regret(result, policy).mean():,.0f}" for policy in result.policies)
