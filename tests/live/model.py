"""Live experiments in plain Python: what each call must do, with no database, no clock of its own and no counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from truant.errors import Conflict, Gone, InvalidValue, UnknownName

SKEW = 300_000_000
UNKNOWN: Any = "not told"  # None is: told to be missing


@dataclass
class Made:
    """A decision, and all that was told of it."""

    id: str
    arm: str
    asked: int
    deadline: int
    due: int
    holdout: bool
    key: str | None
    told: dict[str, Any] = field(default_factory=lambda: {"mediator": UNKNOWN, "outcome": UNKNOWN})
    late: dict[str, Any] = field(default_factory=dict)
    withdrawn: bool = False
    listed: bool = False
    answer: Any = UNKNOWN


@dataclass
class Model:
    """An experiment; `now` is the time that its calls go by, which never goes back."""

    window: int
    grace: int
    on_arrival: bool
    absent: float | None
    mediator_absent: str | None
    arms: list[str]
    retired: set[str] = field(default_factory=set)
    status: str = "running"
    decisions: list[Made] = field(default_factory=list)

    def imported(self, id: str, arm: str, asked: int, mediator: str, outcome: float | None, now: int) -> None:
        """A past decision of a file; one whose window is over is due at once."""
        deadline = asked + self.window
        due = deadline + self.grace
        made = Made(id, arm, asked, deadline, now if due <= now else due, holdout=False, key=None)
        made.told = {"mediator": mediator or UNKNOWN, "outcome": UNKNOWN if outcome is None else outcome}
        self.decisions.append(made)

    def by_key(self, key: str) -> Made | None:
        return next((made for made in self.decisions if made.key == key), None)

    def found(self, place: tuple[str, str]) -> Made:
        kind, name = place
        made = self.by_key(name) if kind == "key" else next(m for m in self.decisions if m.id == name)
        if made is None:
            raise UnknownName("There is no decision")
        return made

    def tell(self, place: tuple[str, str], values: dict[str, Any], at: int | None, now: int) -> str:
        made = self.found(place)
        if made.withdrawn:
            raise Gone("was withdrawn")
        now = max(now, made.asked)  # a clock that jumped back is not before the decision
        at = self._moment(made, at, now)
        if at >= made.deadline or now >= made.due:
            return self._tell_late(made, values)
        accepted = {}
        for name, value in values.items():
            if made.told[name] == UNKNOWN:
                accepted[name] = value
            elif made.told[name] != value:
                raise Conflict("correct to change it")
        made.told |= accepted
        if self.on_arrival and "outcome" in accepted:
            made.due = now
        return "accepted" if accepted else "repeated"

    def _tell_late(self, made: Made, values: dict[str, Any]) -> str:
        """Kept beside; that something is missing is no news after its window."""
        news = {}
        for name, value in values.items():
            known = made.told[name] if made.told[name] not in (UNKNOWN, None) else made.late.get(name)
            if value is None or known == value:
                continue
            if known is not None:
                raise Conflict("correct to change it")
            news[name] = value
        made.late |= news
        return "late" if news else "repeated"

    def answer(self, place: tuple[str, str], outcome: float | None, now: int) -> str:
        made = self.found(place)
        if not made.listed:
            raise Conflict("was not picked for follow-up")
        if made.withdrawn:
            raise Gone("was withdrawn")
        if made.answer not in (UNKNOWN, outcome):
            raise Conflict("has another answer")
        verdict = "accepted" if made.answer == UNKNOWN else "repeated"
        made.answer = outcome
        return verdict

    def correct(self, place: tuple[str, str], values: dict[str, Any], followed_up: bool) -> None:
        made = self.found(place)
        if made.withdrawn:
            raise Conflict("was withdrawn")
        if followed_up:
            if made.answer == UNKNOWN:
                raise Conflict("has no answer yet")
            made.answer = values["outcome"]
            return
        if "outcome" in values and made.listed:
            raise Conflict("was picked for follow-up")
        made.told |= values

    def withdraw(self, place: tuple[str, str]) -> None:
        made = self.found(place)
        made.withdrawn, made.answer = True, UNKNOWN
        made.told["outcome"] = UNKNOWN
        made.late.pop("outcome", None)

    @staticmethod
    def _moment(made: Made, at: int | None, now: int) -> int:
        if at is None:
            return now
        if at > now + SKEW:
            raise InvalidValue("at must not be in the future")
        if at < made.asked - SKEW:
            raise InvalidValue("at must not be before the decision")
        return at

    def settled(self, made: Made) -> tuple[str, str | None, str | None, float | None]:
        """State, reason, mediator and outcome once the window is over."""
        mediator = self.mediator_absent if made.told["mediator"] == UNKNOWN else made.told["mediator"]
        outcome = made.told["outcome"]
        if made.withdrawn:
            return "missing", "withdrawn", mediator, None
        if outcome == UNKNOWN and self.absent is not None:
            return "observed", "absent", mediator, self.absent
        if outcome in (UNKNOWN, None):
            return "missing", "expired" if outcome == UNKNOWN else "reported", mediator, None
        return "observed", None, mediator, outcome

    def add_arm(self, arm: str) -> None:
        self._changeable()
        if arm in self.arms and arm not in self.retired:
            raise Conflict("already")
        if arm in self.retired:
            self.retired.remove(arm)
        else:
            self.arms.append(arm)

    def retire_arm(self, arm: str) -> None:
        self._changeable()
        if arm not in self.arms:
            raise UnknownName("Unknown arm")
        if arm in self.retired:
            raise Conflict("is retired already")
        if len(self.arms) - len(self.retired) == 1:
            raise Conflict("is the last one")
        self.retired.add(arm)

    def change(self, **durations: int) -> None:
        self._changeable()
        for name, value in durations.items():
            setattr(self, name, value)

    def _changeable(self) -> None:
        if self.status == "ended":
            raise Gone("has ended")

    def set_status(self, status: str) -> None:
        if self.status == "ended" != status:
            raise Gone("has ended")
        self.status = status
