"""`truant.analyze` and `truant.plan`: their keywords are the fields of a question; calls.pyi types them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from truant.analysis import Analysis
from truant.analysis.analysis import AnalysisBy
from truant.errors import require
from truant.follow_up.result import Plan
from truant.logs.question import PlanQuestion, Question
from truant.questions import keywords

QuestionFile = str | os.PathLike[str]


@keywords(Question)
def analyze(
    data: Any,
    *,
    question: QuestionFile | None = None,
    progress: bool | Callable[[float], None] | None = None,
    **asked: Any,
) -> Analysis | AnalysisBy:
    """Compare the arms of a table with missing outcomes, under each assumption about why they are missing.

    Parameters
    ----------
    data : a CSV or Parquet file (or glob), a pandas, polars or Arrow table, a Spark DataFrame, the URL of a database
        table, or a connection (DB-API, ADBC, SQLAlchemy) with `table`.
    question : a TOML file with any of the keywords below, as `truant analyze --save-question` writes it; keywords
        that are given beside it win.
    progress : show a progress bar while a policy is replayed, or very many levels are fitted; by default if standard
        error is a terminal. Or a function, which is told the share of replays that is done.
    {fields}
    """
    stated = Question.of(_together(question, Question, asked), what="truant.analyze")
    require("logs", "Tables of data")
    from truant.logs.analyze import analyze_table

    return analyze_table(data, stated, progress)


@keywords(PlanQuestion)
def plan(data: Any, *, question: QuestionFile | None = None, **asked: Any) -> Plan:
    """Compute how many missing outcomes to follow up until the best arm is clear, and draw the rows at random.

    Parameters
    ----------
    data : as in `truant.analyze`.
    question : a TOML file with any of the keywords below, as `truant plan --save-question` writes it; keywords that
        are given beside it win.
    {fields}
    """
    stated = PlanQuestion.of(_together(question, PlanQuestion, asked), what="truant.plan")
    require("logs", "Tables of data")
    from truant.logs.plan import plan_table

    return plan_table(data, stated)


def _together(
    file: QuestionFile | None, kind: type[Question] | type[PlanQuestion], asked: dict[str, Any]
) -> dict[str, Any]:
    """What a file asks, if there is one, and what is asked beside it, which wins."""
    if file is None:
        return asked
    from truant.logs.question_file import DATA, read_question

    of_file = {name: value for name, value in read_question(file, kind).items() if name != DATA}
    return of_file | asked
