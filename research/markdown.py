"""Markdown of the sections: charts and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from research.figures import NO, YES


def picture(path: str, words: str) -> str:
    """A chart of the images folder."""
    return f"![{words}](images/{path})"


def yes(agrees: object) -> str:
    """The word in a column `agrees`."""
    return YES if agrees else NO


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
