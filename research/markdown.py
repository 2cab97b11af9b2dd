"""Markdown of the sections: tables, charts and verdicts from computed figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in escaped)


def picture(path: str, words: str) -> str:
    """A chart of the images folder."""
    return f"![{words}](images/{path})"


def yes(agrees: object) -> str:
    """The word in a column `agrees`."""
    return "yes" if agrees else "**no**"


def verdict(answers: Sequence[str], of: str) -> str:
    """How many rows agree, in a sentence."""
    wrong = sum("no" in answer for answer in answers)
    if not wrong:
        return f"All {len(answers)} {of} meet the criterion."
    return f"**{wrong} of {len(answers)} {of} do not meet the criterion**; the last column says which."


def standard_error(values: npt.ArrayLike) -> float:
    """Of the mean of independent values."""
    array = np.asarray(values, np.float64)
    return float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else float("nan")


def plus_minus(value: float, error: float, decimals: int = 2) -> str:
    """A figure and its standard error."""
    return f"{value:,.{decimals}f} ± {error:,.{decimals}f}"
