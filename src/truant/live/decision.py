"""A decision: its id, its states, and what a tell may change. Pure: no clock, no database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from truant.envelope import plain
from truant.errors import AlreadyTold, Conflict, Gone, InvalidValue, UnknownName, quoted
from truant.live.times import as_datetime, shown

TO_CHANGE = "Use experiment.correct to change it."
PENDING, OBSERVED, MISSING = "pending", "observed", "missing"
STATES = (PENDING, OBSERVED, MISSING)
EXPIRED, REPORTED, WITHDRAWN, ABSENT = "expired", "reported", "withdrawn", "absent"
LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: nothing that looks like something else
TAG_LETTERS, TAG_BITS = 13, 64
_HALF = 1 << (TAG_BITS - 1)
_ID = re.compile(f"[{LETTERS}]{{{TAG_LETTERS + 1},{2 * TAG_LETTERS}}}")
_PAIRS = [first + second for first in LETTERS for second in LETTERS]  # two letters at once
_TO_DIGITS = bytes.maketrans(LETTERS.encode(), b"0123456789abcdefghijklmnopqrstuv")  # which int() reads
SKEW = 300_000_000  # microseconds by which the clocks of two machines may differ


class _NotGiven:
    def __repr__(self) -> str:
        return "not given"


NOT_GIVEN: Any = _NotGiven()  # None means: known to be missing


@dataclass(frozen=True)
class Decision:
    """The answer of `ask`: the arm to use, and the id with which to report mediator and outcome."""

    # the id under which to tell the outcome; None if the decision is outside of the experiment (`fallback`)
    id: str | None
    arm: str  # the arm to use
    probability: float | None  # probability with which the arm was drawn; None for a fallback
    asked: datetime | None  # when it was asked for; None for a fallback
    deadline: datetime | None  # outcomes that happen before this moment count; None for a fallback
    # number of the allocation (the shares of the arms) that the arm was drawn from; None for a fallback
    allocation: int | None = None
    holdout: bool = False  # whether it was drawn from the fixed split, and is not learned from
    repeated: bool = False  # whether the key was asked for before, so that this is the earlier decision
    # whether the store could not be reached, so that the decision is outside of the experiment
    fallback: bool = False

    def summary(self) -> dict[str, Any]:
        """The decision as plain values, for JSON."""
        return dict(plain(self))


@dataclass(frozen=True)
class Told:
    """What a tell did."""

    id: str  # id of the decision
    # `accepted`: kept; `repeated`: known already; `late`: kept, but not counted, as its window is over
    verdict: Literal["accepted", "repeated", "late"]

    def summary(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return dict(plain(self))


class Row(NamedTuple):
    """What is kept of a decision; the columns of the table in this order."""

    number: int
    tag: int
    experiment: int
    arm: int
    probability: float | None
    allocation: int | None
    holdout: int
    asked: int
    deadline: int
    due: int
    state: str
    reason: str | None
    mediator: int | None
    mediator_at: int | None
    outcome: float | None
    outcome_at: int | None
    late_mediator: int | None
    late_outcome: float | None
    late_at: int | None
    settled: int | None
    listed_at: int | None
    pick_probability: float | None
    answer: float | None
    answered_at: int | None
    answer_settled: int | None
    origin: str | None  # what identifies a decision that was imported

    @property
    def id(self) -> str:
        """The public id."""
        return encoded(self.number, self.tag)


class Tell(NamedTuple):
    """What was told of a decision: codes and numbers, checked; what is not given is NOT_GIVEN, missing is None."""

    mediator: Any
    outcome: Any
    at: int  # when it happened


def encoded(number: int, tag: int) -> str:
    """The public id: the number, then the tag in 13 letters."""
    rest, pairs = tag + _HALF, _PAIRS  # written out, as every ask makes one
    return (
        f"{_letters(number)}{LETTERS[rest >> 60]}{pairs[rest >> 50 & 1023]}{pairs[rest >> 40 & 1023]}"
        f"{pairs[rest >> 30 & 1023]}{pairs[rest >> 20 & 1023]}{pairs[rest >> 10 & 1023]}{pairs[rest & 1023]}"
    )


def decoded(id: object) -> tuple[int, int]:
    """Number and tag of a public id; or raises UnknownName."""
    text = id.strip().lower() if isinstance(id, str) else ""
    if not _ID.fullmatch(text):
        raise UnknownName(f"There is no decision with the id {quoted(id)}; ids are what ask gave.")
    digits = text.encode().translate(_TO_DIGITS)
    number, tag = int(digits[:-TAG_LETTERS], 32), int(digits[-TAG_LETTERS:], 32)
    if number >= 1 << 63 or tag >= 1 << TAG_BITS:
        raise UnknownName(f"There is no decision with the id {quoted(id)}; ids are what ask gave.")
    return number, tag - _HALF


def _letters(number: int) -> str:
    found = []
    while number > 1023:
        found.append(_PAIRS[number & 1023])
        number >>= 10
    found.append(_PAIRS[number])
    text = "".join(reversed(found))
    return text[1:] if text[0] == "0" and len(text) > 1 else text


def told(row: Row, tell: Tell, now: int, settle_on_arrival: bool = False) -> tuple[dict[str, Any], str]:
    """The fields that a tell changes, and its verdict; or raises Conflict, Gone or InvalidValue.

    Parameters
    ----------
    row : the decision as it is kept.
    tell : what is told.
    now : the time by the experiment's clock, which never goes back.
    settle_on_arrival : an outcome is counted as soon as it is known.
    """
    if row.reason == WITHDRAWN:
        raise Gone(f"Decision {row.id} was withdrawn; it takes no more outcomes.")
    check_moment(row, tell.at, now)
    in_window = row.state == PENDING and tell.at < row.deadline and now < row.due
    if not in_window:
        return _told_late(row, tell)
    changes: dict[str, Any] = {}
    for name, value in (("mediator", tell.mediator), ("outcome", tell.outcome)):
        if value is NOT_GIVEN:
            continue
        if getattr(row, f"{name}_at") is None:
            changes |= {name: value, f"{name}_at": tell.at}
        elif getattr(row, name) != value:
            raise _differs(row, name, getattr(row, name), value)
    if settle_on_arrival and "outcome_at" in changes:
        changes["due"] = min(row.due, now)
    return changes, "accepted" if changes else "repeated"


def turned_back(row: Row, to: int, now: int, settle_on_arrival: bool) -> Row:
    """A decision without what a clock that was ahead did to it.

    Parameters
    ----------
    row : the decision as it is kept.
    to : windows that were closed since, though they ended later than this, are open again.
    now : by a clock that is right; what is noted as later happened now.
    settle_on_arrival : an outcome is counted as soon as it is known.
    """
    ahead = max(row.asked - now, 0)
    after = row._replace(asked=row.asked - ahead, deadline=row.deadline - ahead, due=row.due - ahead)
    stamps = ("mediator_at", "outcome_at", "late_at", "listed_at", "answered_at")
    clipped = {name: min(at, now) for name in stamps if (at := getattr(row, name)) is not None}
    after = after._replace(**clipped)
    if row.settled is not None and row.due > to:
        after = _reopened(after, late_in_time=row.late_at is not None and _was_in_time(row, after, now))
    if settle_on_arrival and after.state == PENDING and after.outcome_at is not None:
        after = after._replace(due=min(after.due, now))
    return after


def _was_in_time(row: Row, after: Row, now: int) -> bool:
    """Whether what came late by the clock that was ahead came in time by the right one."""
    assert row.late_at is not None
    return row.late_at < row.deadline or (row.late_at > now and now < after.deadline)


def _reopened(row: Row, late_in_time: bool) -> Row:
    """A decision that is pending again: what closing filled in is gone, and what came late but in time is told."""
    values: dict[str, Any] = {"state": PENDING, "settled": None, "answer_settled": None}
    values["reason"] = WITHDRAWN if row.reason == WITHDRAWN else None
    if row.outcome_at is None:
        values["outcome"] = None
        if late_in_time and row.late_outcome is not None:
            values |= {"outcome": row.late_outcome, "outcome_at": row.late_at, "late_outcome": None}
        elif row.answer is not None:  # a follow-up of a window that is open
            values |= {"outcome": row.answer, "outcome_at": row.answered_at}
    if row.mediator_at is None:
        values["mediator"] = None
        if late_in_time and row.late_mediator is not None:
            values |= {"mediator": row.late_mediator, "mediator_at": row.late_at, "late_mediator": None}
    values |= dict.fromkeys(("listed_at", "pick_probability", "answer", "answered_at"))
    after = row._replace(**values)
    is_late = after.late_mediator is not None or after.late_outcome is not None
    return after if is_late else after._replace(late_at=None)


def check_moment(row: Row, at: int, now: int) -> None:
    """Refuse an outcome from the future, or from before the decision; clocks may differ a little."""
    if at > now + SKEW:
        raise InvalidValue(
            f"at must not be in the future: decision {row.id} was told {shown(at)}, and it is {shown(now)}."
        )
    if at < row.asked - SKEW:
        raise InvalidValue(
            f"at must not be before the decision: decision {row.id} was made {shown(row.asked)}, got {shown(at)}."
        )


def _told_late(row: Row, tell: Tell) -> tuple[dict[str, Any], str]:
    """A tell after the window: kept beside, unless it only repeats what is known."""
    changes: dict[str, Any] = {}
    for name, value in (("mediator", tell.mediator), ("outcome", tell.outcome)):
        if value is NOT_GIVEN or value is None:  # that it is missing is known by now
            continue
        known, late = getattr(row, name), getattr(row, f"late_{name}")
        if getattr(row, f"{name}_at") is not None and known == value:
            continue
        if getattr(row, f"{name}_at") is not None and known is not None:
            raise _differs(row, name, known, value)
        if late is None:
            changes |= {f"late_{name}": value, "late_at": tell.at}
        elif late != value:
            raise _differs(row, name, late, value)
    return changes, "late" if changes else "repeated"


def _differs(row: Row, name: str, known: object, value: object) -> AlreadyTold:
    if name == "mediator":
        return AlreadyTold(f"Decision {row.id} has another mediator already.").advising(TO_CHANGE)
    shown_known = "is reported as missing" if known is None else f"has outcome {known:g}"
    shown_value = "missing" if value is None else f"{value:g}"
    text = f"Decision {row.id} {shown_known} already, got {shown_value}."
    return AlreadyTold(text).advising(TO_CHANGE)


def answered(row: Row, outcome: float | None, at: int, now: int) -> tuple[dict[str, Any], str]:
    """The fields that the answer to a follow-up changes (None: it failed), and the verdict."""
    if row.listed_at is None:
        raise Conflict(
            f"Decision {row.id} was not picked for follow-up, so its answer is not from a random sample; "
            "tell it without followed_up to keep it as a late outcome."
        )
    if row.reason == WITHDRAWN:
        raise Gone(f"Decision {row.id} was withdrawn; it takes no more outcomes.")
    check_moment(row, at, now)
    if row.answered_at is None:
        return {"answer": outcome, "answered_at": at}, "accepted"
    if row.answer != outcome:
        text = f"The follow-up of decision {row.id} has another answer already."
        raise AlreadyTold(text).advising(TO_CHANGE)
    return {}, "repeated"


def decision_of(row: Row, arms: tuple[str, ...], repeated: bool = False) -> Decision:
    """The public form of a row."""
    return Decision(
        row.id,
        arms[row.arm],
        row.probability,
        as_datetime(row.asked),
        as_datetime(row.deadline),
        row.allocation,
        bool(row.holdout),
        repeated,
    )
