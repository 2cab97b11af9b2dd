# Written by `python -m research.reference` from the questions of a table; edit truant.logs.question.

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from truant.analysis import Analysis
from truant.analysis.analysis import AnalysisBy
from truant.follow_up.result import Plan
from truant.policies import Policy

QuestionFile = str | os.PathLike[str]

def analyze(
    data: Any,
    *,
    question: QuestionFile | None = None,
    progress: bool | Callable[[float], None] | None = None,
    table: str | None = None,
    arm: str = ...,
    outcome: str = ...,
    mediator: str | Sequence[str] | None = (),
    control: Any = None,
    assume: str | Sequence[str] = (),
    level: float = 0.95,
    tolerance: float | None = None,
    range: tuple[float, float] | None = None,
    levels: Sequence[float] | None = None,
    cut_outcome: int | Sequence[float] | None = None,
    missing_values: Sequence[object] = (),
    only_missing_values: Sequence[object] | None = None,
    decimal: str = ".",
    observed: str | None = None,
    followed_up: str | None = None,
    failed_follow_ups: str | None = None,
    expected_split: Sequence[float] | None = None,
    minimize: bool = False,
    where: str | None = None,
    by: str | None = None,
    time: str | None = None,
    unit: str | None = None,
    collected: str = "fixed",
    collected_by: str | Policy | None = None,
    horizon: int | None = None,
    replays: int | None = None,
    probability: str | None = None,
    value: str | Mapping[str, float] | None = None,
    encoding: str | None = None,
    merge_labels: bool = False,
    partitioned: bool = False,
) -> Analysis | AnalysisBy: ...
def plan(
    data: Any,
    *,
    question: QuestionFile | None = None,
    table: str | None = None,
    arm: str = ...,
    outcome: str = ...,
    mediator: str | Sequence[str] | None = (),
    id: str | None = None,
    budget: int | None = None,
    chance: float = 0.8,
    level: float = 0.95,
    differ: float = 0.5,
    success: float = 1.0,
    seed: int = 0,
    followed_up: str | None = None,
    failed_follow_ups: str | None = None,
    observed: str | None = None,
    range: tuple[float, float] | None = None,
    levels: Sequence[float] | None = None,
    minimize: bool = False,
    missing_values: Sequence[object] = (),
    only_missing_values: Sequence[object] | None = None,
    decimal: str = ".",
    where: str | None = None,
    encoding: str | None = None,
    merge_labels: bool = False,
    partitioned: bool = False,
) -> Plan: ...
