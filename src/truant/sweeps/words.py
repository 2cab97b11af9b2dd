"""A sweep in words, for pages and terminals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

NAMED = 3  # policies in the verdict


def verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Which policies win how often, in a sentence."""
    contest = [row for row in rows if row["behind_mean"] is not None]
    wins = Counter(row["policy"] for row in contest if row["best"])
    if not wins:
        return "No policy of this study can be compared with another."
    good = Counter(row["policy"] for row in contest if row["as_good"])
    parts = [
        f"{policy} has the lowest mean regret at {count:,} of {wins.total():,} points"
        f" (at {good[policy]:,} no policy is better by more than two standard errors)"
        for policy, count in wins.most_common(NAMED)
    ]
    return "; ".join(parts) + "."
