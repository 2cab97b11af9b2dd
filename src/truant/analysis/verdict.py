"""The verdict: which arm is best, whether that is clear, and if not, why not.

Nothing is merged: each assumption names its own winner with its own probability, and the verdict says whether these
answers, together, decide. Sentences are made in `words`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from truant.envelope import FloatOrNaN, Sometimes
from truant.estimates.ranking import MoreRows

Kind = Literal["clear", "equal", "unsettled", "depends", "no-mediator", "not-identified", "one-arm"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LEANS = 0.75  # probability from which an assumption is said to name an arm, beside another that is clear
FEW_OUTCOMES = 10  # observed, of a leader or a runner-up, below which no winner is clear
LITTLE = 0.01  # share of missing outcomes up to which a mediator is not asked for


@dataclass(frozen=True)
class Answer:
    """What one assumption says."""

    assumption: str  # name of the assumption
    arm: str  # the arm with the best mean under it
    probability: FloatOrNaN  # probability that this arm is the best; NaN if an arm has no interval
    # expected loss of choosing this arm now, in units of the outcome; NaN if an arm has no interval
    expected_loss: FloatOrNaN
    contradicted: bool  # whether a test of the data contradicts the assumption


@dataclass(frozen=True)
class Verdict:
    """What all assumptions say together.

    Parameters
    ----------
    evidence : the answer that rests on follow-ups instead of an assumption, by name; None if there is none.
    doubtful_label : the arm named best may be another one spelt otherwise, or no arm; no winner is then clear.
    unused_follow_ups : why follow-ups that are there could not be used; None if they could, or there are none. No
        winner is then clear, since using them could change the answer.
    """

    # `clear`: every assumption that was tried and is not contradicted names one arm with at least the probability
    # `level`; `equal`: the expected loss of choosing `arm` now is within `tolerance`; `unsettled`: more rows are
    # needed; `depends`: assumptions name different arms; `no-mediator`: outcomes are missing and no column helps to
    # say which; `not-identified`: no assumption remains; `one-arm`: there is nothing to compare
    kind: Kind
    arm: str | None  # the arm that all remaining assumptions name; None if they name several, or none
    answers: tuple[Answer, ...]  # the answer of each assumption that was tried
    not_tried: tuple[str, ...]  # assumptions that cannot be used with these data
    by_bounds: bool  # whether the worst-case bounds alone decide
    # leading arms with few outcomes, or with a mean that one or two outcomes decide; with such an arm no winner is
    # clear
    doubtful_arms: tuple[str, ...]
    # for each remaining assumption, how many more rows would make its leader clear
    more_rows: tuple[MoreRows, ...]
    level: float  # probability of being best from which a winner is clear
    # expected loss up to which arms count as equal, in units of the outcome; None if none was given
    tolerance: float | None
    missing_share: float  # share of all outcomes that are missing
    evidence: str | None = field(default=None, repr=False)
    # whether the estimate from follow-ups alone decides; only present if outcomes were followed up
    by_follow_up: Sometimes[bool] = False
    # follow-ups that would make the leader clear; 0 if it is, None if no number would or it is not known. Only present
    # if outcomes were followed up
    more_follow_ups: Sometimes[int | None] = None
    unused_follow_ups: str | None = field(default=None, repr=False)
    doubtful_label: bool = field(default=False, repr=False)

    @property
    def remaining(self) -> list[Answer]:
        """Of the assumptions that the data do not contradict."""
        return [answer for answer in self.answers if not answer.contradicted]

    @property
    def contradicted(self) -> list[str]:
        """Assumptions that the data contradict."""
        return [answer.assumption for answer in self.answers if answer.contradicted]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a verdict is decided by.

    Parameters
    ----------
    answers : one for each assumption that could be tried; `not_tried` names the others.
    best_by_bounds : the arm that the worst-case bounds alone name.
    doubtful_arms : leaders and runners-up whose interval may not hold.
    doubtful_labels : arms that may be another one spelt otherwise, or no arms.
    losses : expected loss by assumption and arm.
    proof : name of the answer that rests on follow-ups; where it is clear and none of its leading arms is in
        `proof_doubts`, it decides alone.
    """

    answers: Sequence[Answer]
    arms: Sequence[str]
    not_tried: Sequence[str]
    has_mediator: bool
    mediator_informs: bool = True
    missing_share: float
    best_by_bounds: str | None
    doubtful_arms: Sequence[str] = ()
    doubtful_labels: Collection[str] = ()
    more_rows: Mapping[str, MoreRows]
    losses: Mapping[str, Mapping[str, float]]
    level: float
    tolerance: float | None
    proof: str | None = None
    proof_doubts: Sequence[str] = ()
    more_follow_ups: int | None = None
    unused_follow_ups: str | None = None

    @property
    def remaining(self) -> list[Answer]:
        """Of the assumptions that the data do not contradict."""
        return [answer for answer in self.answers if not answer.contradicted]

    @property
    def proving_answer(self) -> Answer | None:
        """The answer that rests on follow-ups."""
        return next((answer for answer in self.answers if answer.assumption == self.proof), None)

    def harmless(self) -> list[str]:
        """The arms whose expected loss is within the tolerance under each remaining assumption."""
        tolerance, remaining = self.tolerance, self.remaining
        if tolerance is None:
            return []
        return [
            arm
            for arm in dict.fromkeys(answer.arm for answer in remaining)
            if all(self.losses[one.assumption][arm] <= tolerance for one in remaining)
        ]

    def has_no_mediator(self, kind: Kind, by_bounds: bool) -> bool:
        """Whether too much is missing without a mediator that could say which.

        A column that is related to nothing is no mediator; in a small table a good one may not show it yet.
        """
        if self.missing_share <= LITTLE or by_bounds or self.proving_answer is not None:
            return False
        if not self.has_mediator:
            return kind not in ("one-arm", "not-identified")
        return kind == "clear" and not self.mediator_informs


def decide(evidence: Evidence) -> Verdict:
    """The verdict on what the assumptions say."""
    remaining, proof = evidence.remaining, evidence.proving_answer
    harmless = evidence.harmless()
    kind = _kind(remaining, len(evidence.arms), harmless, evidence.level)
    named = list(dict.fromkeys(answer.arm for answer in remaining))
    arm = named[0] if len(named) == 1 else harmless[0] if kind == "equal" else None
    doubtful_arms = tuple(evidence.doubtful_arms)
    proven = proof is not None and len(evidence.arms) > 1 and proof.probability >= evidence.level
    proven = proven and not evidence.proof_doubts
    if proof is not None and proven:
        kind, arm, doubtful_arms = "clear", proof.arm, ()
    by_bounds = arm is not None and arm == evidence.best_by_bounds and evidence.missing_share > 0
    # an option that is left out must not make the verdict stronger than the follow-ups would
    unused = evidence.unused_follow_ups is not None and not by_bounds
    if (kind == "clear" and doubtful_arms) or (kind in ("clear", "equal") and unused):
        kind = "unsettled"
    # rows that belong to another arm, or to all: more evidence of the same kind cannot mend that
    doubtful_label = kind in ("clear", "equal") and arm in evidence.doubtful_labels
    if doubtful_label:
        kind, proven = "unsettled", False
    if evidence.has_no_mediator(kind, by_bounds):
        kind = "no-mediator"
    return Verdict(
        kind=kind,
        arm=arm if len(evidence.arms) > 1 else None,
        answers=tuple(evidence.answers),
        not_tried=tuple(evidence.not_tried),
        by_bounds=by_bounds,
        doubtful_arms=doubtful_arms,
        more_rows=tuple(
            evidence.more_rows[one.assumption] for one in remaining if one.assumption in evidence.more_rows
        ),
        level=evidence.level,
        tolerance=evidence.tolerance,
        missing_share=evidence.missing_share,
        evidence=None if proof is None else evidence.proof,
        by_follow_up=proven,
        more_follow_ups=evidence.more_follow_ups,
        unused_follow_ups=evidence.unused_follow_ups,
        doubtful_label=doubtful_label,
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
