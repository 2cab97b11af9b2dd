"""The stub of `truant.analyze` and `truant.plan`: keywords as editors and type checkers see them."""

from __future__ import annotations

import inspect
from typing import Any

from research import ROOT
from research.reference.signatures import shown
from truant.logs import calls

STUB = ROOT / "src" / "truant" / "logs" / "calls.pyi"
HEAD = """# Written by `python -m research.reference` from the questions of a table; edit truant.logs.question.

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from truant.analysis import Analysis
from truant.analysis.analysis import AnalysisBy
from truant.follow_up.result import Plan
from truant.policies import Policy

QuestionFile = str | os.PathLike[str]
"""


def stub() -> str:
    """The text of the stub as it should be now."""
    return HEAD + "\n" + "".join(map(_function, (calls.analyze, calls.plan)))


def _function(function: Any) -> str:
    found = inspect.signature(function)
    lines = [f"def {function.__name__}("]
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "    *," not in lines:
            lines.append("    *,")
        # what a question's file can say has no need to be said beside it
        needed = one.default is one.empty and one.kind is not one.KEYWORD_ONLY
        default = "..." if one.default is one.empty else shown(one.default).replace("'", '"')
        lines.append(f"    {one.name}: {one.annotation}{'' if needed else f' = {default}'},")
    return "\n".join([*lines, f") -> {found.return_annotation}: ...", ""])
