"""The verdict: which arm is best, whether that is clear, and if not, why not.

Nothing is merged: each assumption names its own winner with its own probability, and the verdict says whether these
answers, together, decide. Sentences are made in `words`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from truant.analysis.bounds import Bounds
from truant.analysis.more_rows import MoreRows

Kind = Literal["clear", "equal", "unsettled", "depends", "no-mediator", "not-identified", "one-arm"]
KINDS: tuple[Kind, ...] = (
    "clear",
    "equal",
    "unsettled",
    "depends",
    "no-mediator",
    "not-identified",
    "one-arm",
)
LEANS = 0.75  # probability from which an assumption is said to name an arm, beside another that is clear
LITTLE = 0.01  # share of missing outcomes up to which a mediator is not asked for


@dataclass(frozen=True)
class Answer:
    """What one assumption says."""

    assumption: str
    arm: str  # with the best value
    probability: float  # that it is the best; nan where an arm has no interval
    expected_loss: float  # of choosing it now; nan likewise
    contradicted: bool  # by a test of the data


@dataclass(frozen=True)
class Verdict:
    """What all assumptions say together.

    Parameters
    ----------
    kind : `clear`: every assumption that could be tried and is not contradicted names one arm with at least the
        probability `level`; `equal`: the expected loss of choosing one arm now is within the tolerance under each
        of them; `unsettled`: more rows are needed; `depends`: assumptions name different arms; `no-mediator`:
        outcomes are missing and nothing says which; `not-identified`: no assumption is left; `one-arm`: there is
        nothing to compare.
    arm : the arm that all remaining assumptions name; None where they name several, or none.
    answers : one for each assumption that could be tried.
    not_tried : assumptions that these data cannot be read under.
    by_bounds : the worst-case bounds alone decide.
    doubtful_arms : leaders or runners-up with few outcomes, or with a mean that one or two outcomes decide; with
        such an arm no winner is clear.
    more_rows : for each remaining assumption, how many more rows would make its leader clear.
    level, tolerance : what `clear` and `equal` were judged by.
    missing_share : of all outcomes.
    evidence : the answer that rests on follow-ups instead of an assumption, by name; None if there is none.
    by_follow_up : that answer alone decides, whatever the assumptions say.
    more_follow_ups : how many would make its leader clear; 0 if it is, None if no number would, or nobody can say.
    unused_follow_ups : why follow-ups that are there could not be used; None if they could, or there are none. No
        winner is then clear, since using them could change the answer.
    """

    kind: Kind
    arm: str | None
    answers: tuple[Answer, ...]
    not_tried: tuple[str, ...]
    by_bounds: bool
    doubtful_arms: tuple[str, ...]
    more_rows: tuple[MoreRows, ...]
    level: float
    tolerance: float | None
    missing_share: float
    evidence: str | None = field(default=None, repr=False)
    by_follow_up: bool = field(default=False, repr=False)
    more_follow_ups: int | None = field(default=None, repr=False)
    unused_follow_ups: str | None = field(default=None, repr=False)

    @property
    def remaining(self) -> list[Answer]:
        """Of the assumptions that the data do not contradict."""
        return [answer for answer in self.answers if not answer.contradicted]

    @property
    def contradicted(self) -> list[str]:
        """Assumptions that the data contradict."""
        return [answer.assumption for answer in self.answers if answer.contradicted]


def decide(
    answers: Sequence[Answer],
    *,
    arms: Sequence[str],
    not_tried: Sequence[str],
    has_mediator: bool,
    mediator_informs: bool = True,
    missing_share: float,
    best_by_bounds: str | None,
    doubtful_arms: Sequence[str] = (),
    more_rows: Mapping[str, MoreRows],
    losses: Mapping[str, Mapping[str, float]],
    level: float,
    tolerance: float | None,
    evidence: str | None = None,
    evidence_doubts: Sequence[str] = (),
    more_follow_ups: int | None = None,
    unused_follow_ups: str | None = None,
) -> Verdict:
    """The verdict on what the assumptions say; `losses` has the expected loss by assumption and arm.

    Where the answer named `evidence` is clear, and none of its leading arms is doubtful, it decides alone.
    """
    proof = next((answer for answer in answers if answer.assumption == evidence), None)
    proven = proof is not None and len(arms) > 1 and proof.probability >= level and not evidence_doubts
    remaining = [answer for answer in answers if not answer.contradicted]
    named = list(dict.fromkeys(answer.arm for answer in remaining))
    harmless = [
        arm
        for arm in named
        if tolerance is not None and all(losses[one.assumption][arm] <= tolerance for one in remaining)
    ]
    kind = _kind(remaining, len(arms), harmless, level)
    arm = named[0] if len(named) == 1 else harmless[0] if kind == "equal" else None
    if proof is not None and proven:
        kind, arm, doubtful_arms = "clear", proof.arm, ()
    by_bounds = best_by_bounds is not None and arm == best_by_bounds and missing_share > 0
    if kind == "clear" and doubtful_arms:
        kind = "unsettled"
    # an option that is left out must not make the verdict stronger than the follow-ups would
    if kind in ("clear", "equal") and unused_follow_ups is not None and not by_bounds:
        kind = "unsettled"
    if kind not in ("one-arm", "not-identified") and not (
        has_mediator or missing_share <= LITTLE or by_bounds or proof is not None
    ):
        kind = "no-mediator"
    # a column that is related to nothing is no mediator; in a small table a good one may not show it yet
    informed = mediator_informs or by_bounds or proof is not None
    if kind == "clear" and not informed and missing_share > LITTLE:
        kind = "no-mediator"
    return Verdict(
        kind=kind,
        arm=arm if len(arms) > 1 else None,
        answers=tuple(answers),
        not_tried=tuple(not_tried),
        by_bounds=by_bounds,
        doubtful_arms=tuple(doubtful_arms),
        more_rows=tuple(more_rows[one.assumption] for one in remaining if one.assumption in more_rows),
        level=level,
        tolerance=tolerance,
        missing_share=missing_share,
        evidence=None if proof is None else evidence,
        by_follow_up=proven,
        more_follow_ups=more_follow_ups,
        unused_follow_ups=unused_follow_ups,
    )


def _kind(remaining: Sequence[Answer], arms: int, harmless: Sequence[str], level: float) -> Kind:
    if arms == 1:
        return "one-arm"
    if not remaining:
        return "not-identified"
    one_arm = len({answer.arm for answer in remaining}) == 1
    if one_arm and all(answer.probability >= level for answer in remaining):
        return "clear"
    if harmless:
        return "equal"
    # where no assumption is clear by itself, or the others hardly name an arm, different leaders may be chance
    leaning = {answer.arm for answer in remaining if answer.probability >= LEANS}
    if len(leaning) > 1 and any(answer.probability >= level for answer in remaining):
        return "depends"
    return "unsettled"


def best_by_bounds(arms: Sequence[str], bounds: Sequence[Bounds | None], minimize: bool) -> str | None:
    """The arm whose worst case, with sampling error, beats the best case of every other; None if there is none."""
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(arms) or len(arms) < 2:
        return None
    worst = [-bound.high_limit if minimize else bound.low_limit for bound in known]
    best = [-bound.low_limit if minimize else bound.high_limit for bound in known]
    for a, name in enumerate(arms):
        if worst[a] > max((value for b, value in enumerate(best) if b != a), default=math.inf):
            return name
    return None
