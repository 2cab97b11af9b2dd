"""Whether a claim survives, from the numbers of the runs: survives, does not survive, or depends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import stats

from research.reproduction.figure import Claim, Growth, Reading, Rising
from research.reproduction.results import Results
from truant.charts.style import short
from truant.setting import FloatArray

Word = Literal["survives", "does not survive", "depends"]
LEVEL = 0.95  # of the interval of a paired difference, which must exclude zero
# second half over first half: a line has 1, the square root .41, the logarithm less
STRAIGHT, BENT = 0.7, 0.5


@dataclass(frozen=True)
class Verdict:
    """What became of a claim, with the numbers that decide it."""

    claim: str
    word: Word
    sentence: str
    ours: bool = False
    reading: Reading = "text"  # what was played


def judgements(claim: Claim, results: Results) -> list[Verdict]:
    """A verdict in what the text describes, and one in what was published, as far as they were played."""
    verdicts = [judge(claim, results)] if claim.cases else []
    if claim.published:
        verdict = judge(replace(claim, cases=claim.published), results)
        verdicts.append(replace(verdict, reading="published"))
    return verdicts


def judge(claim: Claim, results: Results) -> Verdict:
    """The verdict over all cases of a claim: mixed ones depend."""
    found = [
        _rising(case, results) if isinstance(case, Rising) else _growth(case, results) for case in claim.cases
    ]
    words = {word for word, _ in found}
    word = words.pop() if len(words) == 1 else "depends"
    return Verdict(claim.text, word, " ".join(sentence for _, sentence in found), claim.ours)


def order(lower: FloatArray, higher: FloatArray) -> Word:
    """Whether the first has lower final regret than the second, run by run.

    It is clear if the 95% interval of the mean difference (Student) excludes zero; else it depends.
    """
    difference = np.asarray(higher) - np.asarray(lower)
    if len(difference) < 2:
        return "depends"
    width = stats.t.ppf((1 + LEVEL) / 2, len(difference) - 1)
    error = width * difference.std(ddof=1) / np.sqrt(len(difference))
    mean = difference.mean()
    return "survives" if mean > error else "does not survive" if mean < -error else "depends"


def shape(ratio: float, linear: bool) -> Word:
    """Whether regret grows as claimed, from second-half over first-half regret."""
    if BENT <= ratio <= STRAIGHT or ratio != ratio:
        return "depends"
    return "survives" if (ratio > STRAIGHT) == linear else "does not survive"


def _rising(case: Rising, results: Results) -> tuple[Word, str]:
    finals = [results.final(line) for line in case.lines]
    words = [_name(case, i) for i in range(len(case.lines))]
    figures = _listed([f"{short(f.mean())} for {word}" for word, f in zip(words, finals, strict=True)])
    as_claimed = int(np.sum(finals[-1] > finals[0]))
    runs = len(finals[0])
    verdict = order(finals[0], finals[-1])
    count = f"{words[-1]} had more than {words[0]} in {as_claimed} of {runs} {'run' if runs == 1 else 'runs'}"
    if verdict == "depends":
        count += ", and the 95% interval of the mean difference contains zero"
    return verdict, f"{_where(case)}mean regret was {figures}; {count}."


def _name(case: Rising, number: int) -> str:
    """What tells the lines of a comparison apart: their policies, or else their labels."""
    policies = [line.policy for line in case.lines]
    return policies[number] if len(set(policies)) == len(policies) else case.lines[number].name


def _where(case: Rising) -> str:
    """What the lines of a comparison have in common."""
    worlds, policies = ({line.scene.world for line in case.lines}, {line.policy for line in case.lines})
    return (
        f"In {worlds.pop()}, "
        if len(worlds) == 1
        else f"With {policies.pop()}, "
        if len(policies) == 1
        else ""
    )


def _growth(case: Growth, results: Results) -> tuple[Word, str]:
    ratio, line = results.ratio(case.line), case.line
    verdict = shape(ratio, case.linear)
    figures = f"In {line.scene.world}, mean regret of {line.policy} was {short(results.final(line).mean())}"
    return (
        verdict,
        f"{figures}; in the second half of the rounds it grew by {ratio:.2f} times as much as in the first.",
    )


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
