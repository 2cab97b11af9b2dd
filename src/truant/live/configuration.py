"""What an experiment is: its arms, mediator, outcome, window and policy; checked, and kept as JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from truant.durations import SECOND, duration_text
from truant.envelope import Duration, plain
from truant.errors import HORIZON, LEVEL, InvalidValue, named, quoted, unknown

if TYPE_CHECKING:
    from truant.setting import Setting

AT_CLOSE: Final = "at_close"
ON_ARRIVAL: Final = "on_arrival"
SETTLING = (AT_CLOSE, ON_ARRIVAL)
USUAL_INDEX = "ucb"  # its shares cost least while outcomes are late: docs/validation-live.md
LONGEST_NAME = 200
LONGEST_NOTE = 2000
PARTS = 10_000  # of a window: how often allocations are made at most


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """All that decides what an experiment does; a change makes a new revision of it.

    Durations are in microseconds. `retired` arms keep their place, so that arms have the same number for ever.
    """

    arms: tuple[str, ...]  # names of the arms, also of retired ones
    retired: tuple[str, ...] = ()  # arms that are no longer chosen
    mediator_levels: tuple[str, ...] = ()  # levels of the mediator; empty if there is none
    # points at which a numeric mediator is cut into levels; empty if it is not
    mediator_cuts: tuple[float, ...] = ()
    # level of a decision whose mediator was never told; None means that it is missing
    mediator_absent: str | None = None
    # values of a discrete outcome; None if any number of the range is possible
    levels: tuple[float, ...] | None = None
    low: float = 0.0  # lowest possible outcome
    high: float = 1.0  # highest possible outcome
    # outcome of a decision whose outcome was never told; None means that it is missing
    absent: float | None = None
    minimize: bool = False  # whether the best arm is the one with the lowest mean
    assume: str  # the assumption about why outcomes are missing
    policy: str  # the policy that sets the shares of the arms
    horizon: int = HORIZON  # number of decisions that are expected in all
    window: Duration  # how long after a decision its outcome counts, such as `7d`
    grace: Duration = 0  # how long after the window an outcome that happened in it can still be told
    # when an outcome is counted: when the window is over, or as soon as it is told
    settle: Literal["at_close", "on_arrival"] = AT_CLOSE
    minimum_share: float = 0.0  # smallest probability of each arm
    warm_up: Duration = 0  # how long arms are drawn from the fixed split at the start
    # share of decisions that are always drawn from the fixed split, and not learned from
    holdout: float = 0.0
    # the fixed split of warm-up and holdout, one share for each arm; None means equal shares
    split: tuple[float, ...] | None = None
    control: str | None = None  # the arm that others are compared with; None if none was named
    # the arm to use when the store cannot be reached; None means that `ask` raises an error
    fallback: str | None = None
    level: float = LEVEL  # level of intervals, and probability from which a winner is clear
    # expected loss up to which arms count as equal, in units of the outcome; None if none was given
    tolerance: float | None = None
    # stop rule: stop when the expected loss is at most this; None if there is no such rule
    stop_loss: float | None = None
    # stop rule: stop when the probability of being best is at least this; None if there is no such rule
    stop_level: float | None = None

    @property
    def mediators(self) -> int:
        """Number K of mediator levels."""
        return max(len(self.mediator_levels), 1)

    @property
    def interval(self) -> int:
        """How long an allocation holds at least: from 1 second, for short windows, to 60."""
        return min(max(self.window // PARTS, SECOND), 60 * SECOND)

    @property
    def active(self) -> list[bool]:
        """Whether each arm may be chosen."""
        return [arm not in self.retired for arm in self.arms]

    def setting(self) -> Setting:
        """What a policy may know."""
        from truant.setting import Setting

        return Setting(
            arms=len(self.arms),
            mediators=self.mediators,
            levels=self.levels,
            low=self.low,
            high=self.high,
            minimize=self.minimize,
        )

    def fixed_shares(self) -> list[float]:
        """The fixed split over the arms that are not retired."""
        shares = self.split or (1.0,) * len(self.arms)
        shares = (*shares, *[sum(shares) / len(shares)] * (len(self.arms) - len(shares)))  # arms added later
        kept = [share if active else 0.0 for share, active in zip(shares, self.active, strict=True)]
        total = sum(kept) or 1.0
        return [share / total for share in kept]

    def arm_number(self, name: object) -> int:
        """The number of an arm; or raises UnknownName."""
        if name not in self.arms:
            raise unknown("arm", name, self.arms)
        return self.arms.index(str(name))

    def mediator_code(self, value: object) -> int | None:
        """The number of a mediator level as it was told; None if it was reported missing."""
        if value is None:
            return None
        if not self.mediator_levels:
            raise InvalidValue("This experiment has no mediator; tell the outcome alone.")
        if self.mediator_cuts:
            return bisect_left(self.mediator_cuts, plain_number("mediator", value))
        text = value if isinstance(value, str) else str(value)
        if text not in self.mediator_levels:
            raise unknown("mediator level", text, self.mediator_levels)
        return self.mediator_levels.index(text)

    def outcome_value(self, value: object) -> float | None:
        """An outcome as it was told; None if it was reported missing; or raises InvalidValue."""
        if value is None:
            return None
        number = plain_number("outcome", value)
        if self.levels is not None:
            if number not in self.levels:
                known = ", ".join(f"{level:g}" for level in self.levels)
                raise InvalidValue(f"outcome must be one of the levels {known}, got {quoted(value)}.")
        elif not self.low <= number <= self.high:
            raise InvalidValue(
                f"outcome must be within the range from {self.low:g} to {self.high:g}, got {quoted(value)}."
            )
        return number + 0.0  # no negative zero, which not every store keeps

    def summary(self) -> dict[str, Any]:
        """The configuration as plain values, durations as text, for people and JSON."""
        found: dict[str, Any] = plain(self)
        for name in ("window", "grace", "warm_up"):
            found[name] = duration_text(found[name])
        return found

    def as_json(self) -> str:
        """The text that `from_json` reads."""
        return json.dumps(plain(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Configuration:
        """A configuration as it was kept; fields that this version does not know are left out."""
        known = {field.name for field in dataclasses.fields(cls)}
        found: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in json.loads(text).items()
            if name in known
        }
        return cls(**found)

    def changed(self, **fields: Any) -> Configuration:
        """The same with other fields."""
        return replace(self, **fields)


def plain_number(name: str, value: object) -> float:
    """A finite number, also one of numpy; or raises InvalidValue."""
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        hint = " (None says that it is missing)" if name == "outcome" else ""
        raise InvalidValue(f"{name} must be a finite number{hint}, got {quoted(value)}.")
    return number


def names_of(what: str, values: object, least: int) -> tuple[str, ...]:
    """Different names, as texts; or raises InvalidValue."""
    found = tuple(name_of(what, value) for value in list_of(what, values))
    if len(found) < least:
        raise InvalidValue(f"{what} must be at least {least} names, got {quoted(list(found))}.")
    twice = [name for i, name in enumerate(found) if name in found[:i]]
    if twice:
        raise InvalidValue(f"{what} must differ from each other, got {named(twice[0])} twice.")
    return found


def name_of(what: str, value: object) -> str:
    """A text of 1 to 200 characters without spaces around it, or a whole number as one; or raises InvalidValue."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= LONGEST_NAME
        or value != value.strip()
        or not is_storable(value)
    ):
        raise InvalidValue(
            f"{what} must be texts of 1 to {LONGEST_NAME} characters without spaces around them, got {quoted(value)}."
        )
    return value


def is_storable(text: str) -> bool:
    """Whether every store can keep the text: no NUL, no half of a character."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def list_of(what: str, values: object) -> list[Any]:
    """Several values, of a list, tuple, array or other series; a single one, or a text, is refused."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidValue(f"{what} must be a list, got {quoted(values)}.")
    return list(values)


class Note(NamedTuple):
    """Who did something, and why."""

    actor: str | None = None
    why: str | None = None

    @classmethod
    def of(cls, actor: object, why: object = None) -> Note:
        """What was said, if both are texts or None; or raises InvalidValue."""
        for name, value in (("actor", actor), ("why", why)):
            text = isinstance(value, str) and len(value) <= LONGEST_NOTE and is_storable(value)
            if value is not None and not text:
                raise InvalidValue(
                    f"{name} must be a text of at most {LONGEST_NOTE:,} characters, got {quoted(value)}."
                )
        return cls(actor, why)  # type: ignore[arg-type]


NO_NOTE = Note()


def class_names(cuts: Sequence[float]) -> tuple[str, ...]:
    """What the classes between cut points are called; a value equal to a point belongs below it."""
    inner = [f"above {low:g} to {high:g}" for low, high in pairwise(cuts)]
    return (f"up to {cuts[0]:g}", *inner, f"above {cuts[-1]:g}")


def shares_of(
    what: str, values: Mapping[str, float] | Sequence[float], arms: Sequence[str]
) -> tuple[float, ...]:
    """One share for each arm, above 0 and adding up to 1."""
    if isinstance(values, Mapping):
        for name in values:
            if name not in arms:
                raise unknown("arm", name, arms)
        for arm in arms:
            if arm not in values:
                raise InvalidValue(f"{what} must have a share for each arm, and has none for {named(arm)}.")
        values = [values[arm] for arm in arms]
    found = tuple(plain_number(what, value) for value in list_of(what, values))
    if len(found) != len(arms) or min(found) <= 0 or abs(sum(found) - 1) > 1e-9:
        raise InvalidValue(
            f"{what} must be {len(arms)} shares above 0 that add up to 1, one for each arm, got {quoted(values)}."
        )
    return found
