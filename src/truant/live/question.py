"""What is asked of an experiment: each setting stated once, with its option, meaning and check, and what may change."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

from truant.durations import duration, duration_text
from truant.errors import HORIZON, LEVEL, Conflict, InvalidValue, NotIdentified, named, quoted, unknown
from truant.live.configuration import (
    AT_CLOSE,
    SETTLING,
    USUAL_INDEX,
    Configuration,
    class_names,
    list_of,
    names_of,
    plain_number,
    shares_of,
)
from truant.questions import ask, asked, options

if TYPE_CHECKING:
    from truant.policies.decider import Decider

Duration = str | timedelta
Shares = Mapping[str, float] | Sequence[float]
Arms = tuple[str, ...]


class ChangeableSettings(TypedDict, total=False):
    """What a running experiment may change, for editors; a test compares it with `ExperimentQuestion`."""

    assume: str | None
    policy: str | None
    window: Duration | None
    grace: Duration
    horizon: int
    minimum_share: float
    holdout: float
    split: Shares | None
    control: str | None
    fallback: str | None
    level: float
    tolerance: float | None
    stop_loss: float | None
    stop_level: float | None


class ExperimentSettings(ChangeableSettings, total=False):
    """All settings but the arms, likewise."""

    mediator_levels: Sequence[str]
    mediator_cuts: Sequence[float]
    mediator_absent: str | None
    range: tuple[float, float] | None
    levels: Sequence[float] | None
    absent: float | None
    minimize: bool
    warm_up: Duration
    settle: str


# Checks: each takes the name of a setting, its value, and the arms, and gives what the configuration keeps.


def _window(name: str, value: object, arms: Arms) -> int:
    if value is None:
        raise InvalidValue("Say how long to wait for an outcome with window, such as window='7d'.")
    checked = duration(name, value)
    if checked <= 0:
        raise InvalidValue(f"{name} must be longer than 0, got {quoted(value)}.")
    return checked


def _duration(name: str, value: object, arms: Arms) -> int:
    return duration(name, value)


def _switch(name: str, value: object, arms: Arms) -> bool:
    from truant.setting import switch

    return switch(name, value)


def _horizon(name: str, value: object, arms: Arms) -> int:
    from truant.setting import whole_number

    return whole_number(name, value, at_least=1)


def _settling(name: str, value: object, arms: Arms) -> str:
    if not isinstance(value, str) or value not in SETTLING:
        raise unknown(f"value of {name}:", value, SETTLING)
    return value


def _share(name: str, value: object, arms: Arms = ()) -> float:
    share = plain_number(name, value)
    if not 0 <= share < 1:
        raise InvalidValue(f"{name} must be at least 0 and below 1, got {quoted(value)}.")
    return share


def _minimum_share(name: str, value: object, arms: Arms) -> float:
    """The least probability of an arm, which leaves room for all arms."""
    share = _share(name, value)
    if share * len(arms) > 1:
        raise InvalidValue(f"{name} must be at most 1/{len(arms)} for {len(arms)} arms, got {quoted(value)}.")
    return share


def _split(name: str, value: Any, arms: Arms) -> tuple[float, ...] | None:
    return None if value is None else shares_of(name, value, arms)


def _arm(name: str, value: object, arms: Arms) -> str | None:
    if value is not None and (not isinstance(value, str) or value not in arms):
        raise unknown(f"arm as {name}:", value, arms)
    return value


def _level(name: str, value: object, arms: Arms) -> float:
    level = plain_number(name, value)
    if not 0.5 <= level < 1:
        raise InvalidValue(f"{name} must be at least 0.5 and below 1, got {quoted(value)}.")
    return level


def _positive(name: str, value: object, arms: Arms) -> float:
    number = plain_number(name, value)
    if not 0 < number < math.inf:
        raise InvalidValue(f"{name} must be a positive number, got {quoted(value)}.")
    return number


def _unless_none(check: Callable[[str, object, Arms], float]) -> Callable[[str, object, Arms], float | None]:
    return lambda name, value, arms: None if value is None else check(name, value, arms)


@dataclass(frozen=True, kw_only=True)
class ExperimentQuestion:
    """The settings of an experiment: keywords of `Experiment.create`, options of `truant create` and `truant change`.

    Settings without a check are checked together in `configuration`.
    """

    arms: Sequence[str] = ask(metavar="old,new,...", help="Names of the arms.")
    mediator_levels: Sequence[str] = ask(
        (),
        metavar="closed,opened",
        help="Levels of the mediator: something known before the outcome that is related to it.",
        python='what can be seen before the outcome, such as ["closed", "opened", "clicked"].',
    )
    mediator_cuts: Sequence[float] = ask(
        (),
        metavar="10,50",
        help="Points at which a numeric mediator is cut into classes, instead of {mediator_levels}.",
    )
    mediator_absent: str | None = ask(
        None,
        metavar="LEVEL",
        help="Mediator level of a decision for which none was told in its window.",
    )
    range: tuple[float, float] | None = ask(
        None, metavar="LOW,HIGH", help="Lowest and highest possible outcome."
    )
    levels: Sequence[float] | None = ask(None, metavar="0,1,...", help="All values of a discrete outcome.")
    absent: float | None = ask(
        None,
        metavar="VALUE",
        help="Outcome of a decision for which none was told in its window, e.g. 0 for no purchase.",
    )
    minimize: bool = ask(
        False,
        check=_switch,
        help="Lower outcomes are better, as for costs, churn or deaths.",
    )
    assume: str | None = ask(
        None,
        complete="assumption",
        changeable=True,
        help="Assumption about why outcomes are missing, see `truant assumptions`.",
    )
    policy: str | None = ask(
        None,
        complete="policy",
        changeable=True,
        help="How arms are chosen, see `truant policies`.",
        python='how arms are chosen, such as "mar-ucb"; `assume` with ucb unless given.',
        default_words="--assume with ucb",
    )
    window: Duration | None = ask(
        None,
        metavar="7d",
        check=_window,
        changeable=True,
        help="How long to wait for an outcome; after that it is missing.",
        python='how long to wait for an outcome, such as "7d"; after that it is missing.',
    )
    grace: Duration = ask(
        "0s",
        metavar="1d",
        check=_duration,
        changeable=True,
        help="How long after its window a decision still waits for outcomes that happened within it.",
    )
    horizon: int = ask(
        HORIZON,
        metavar="N",
        check=_horizon,
        changeable=True,
        help="Number of decisions that are expected in total.",
        python="number of decisions that are expected in total; when it is passed, it is doubled.",
        default_words=f"{HORIZON} in a new experiment",
    )
    minimum_share: float = ask(
        0.0,
        metavar="SHARE",
        check=_minimum_share,
        changeable=True,
        help="Smallest probability of each arm.",
    )
    holdout: float = ask(
        0.0,
        metavar="SHARE",
        check=_share,
        changeable=True,
        help="Share of decisions whose arm is drawn with the fixed shares of {split}; the policy does not use them.",
    )
    split: Shares | None = ask(
        None,
        kind="numbers",
        metavar=".5,.5",
        check=_split,
        changeable=True,
        help="Fixed shares of the arms, for warm-up and holdout.",
        default_words="equal shares",
    )
    control: str | None = ask(
        None,
        metavar="ARM",
        check=_arm,
        changeable=True,
        help="The arm that the others are compared with.",
    )
    fallback: str | None = ask(
        None,
        metavar="ARM",
        check=_arm,
        changeable=True,
        help="The arm to use if the store cannot be reached, or the experiment is paused or has ended.",
    )
    level: float = ask(
        LEVEL,
        check=_level,
        changeable=True,
        help="Level of intervals and verdicts in reports.",
        python="level of intervals and verdicts in reports.",
        default_words=f"{LEVEL} in a new experiment",
    )
    tolerance: float | None = ask(
        None,
        check=_unless_none(_positive),
        changeable=True,
        help="Largest expected loss, in units of the outcome, at which arms count as equal.",
    )
    stop_loss: float | None = ask(
        None,
        metavar="LOSS",
        check=_unless_none(_positive),
        changeable=True,
        help="Recommend to stop if the expected loss of the best arm is at most this.",
    )
    stop_level: float | None = ask(
        None,
        metavar="PROBABILITY",
        check=_unless_none(_level),
        changeable=True,
        help="Recommend to stop if an arm is the best with at least this probability.",
    )
    warm_up: Duration = ask(
        "0s",
        metavar="14d",
        check=_duration,
        help="How long arms are drawn with the fixed shares of {split} before the policy chooses.",
    )
    settle: str = ask(
        AT_CLOSE,
        metavar="[at_close|on_arrival]",
        check=_settling,
        help="When a decision is counted: at the end of its window, or as soon as its outcome is told. The latter is "
        "biased if the waiting time depends on the outcome.",
        python='"at_close" counts a decision at the end of its window, "on_arrival" as soon as its outcome is told, '
        "which is biased if the waiting time depends on the outcome.",
        default_words=AT_CLOSE,
    )

    def configuration(self) -> Configuration:
        """The checked configuration; or raises what is wrong with it."""
        arms = names_of("arms", self.arms, least=2)
        outcome = _outcome(self.range, self.levels)
        assume, policy = _assumption_and_policy(self.assume, self.policy)
        mediator = _mediator(self.mediator_levels, self.mediator_cuts)
        checked = {
            name: one.check(name, getattr(self, name), arms)
            for name, one in options(self).items()
            if one.check is not None
        }
        found = Configuration(arms=arms, assume=assume, policy=policy, **outcome, **mediator, **checked)
        if self.absent is not None:
            found = found.changed(absent=found.outcome_value(self.absent))
        if self.mediator_absent is not None:
            if found.mediator_cuts:
                raise InvalidValue(
                    "mediator_absent names a level of mediator_levels; mediator_cuts have none, so leave it out."
                )
            code = found.mediator_code(self.mediator_absent)
            found = found.changed(mediator_absent=None if code is None else found.mediator_levels[code])
        decider_of(found)
        return found


CHANGEABLE = tuple(name for name, one in options(ExperimentQuestion).items() if one.changeable)


@asked(ExperimentQuestion)
def configure(question: ExperimentQuestion) -> Configuration:
    """A checked configuration; or raises what is wrong with it."""
    return question.configuration()


def decider_of(configuration: Configuration) -> Decider:
    """What decides from counts; raises NotIdentified if the setting does not allow the assumption or the policy."""
    from truant import registry
    from truant.policies.decider import Decider

    setting = configuration.setting()
    try:
        registry.find("assumption", configuration.assume).build().check(setting)
        decider = Decider(configuration.policy, setting, configuration.horizon)
        decider.check_probabilities()
    except NotIdentified as error:
        raise NotIdentified(
            f"This experiment could never learn: {error.sentence()} Change it before the first decision."
        ) from None
    return decider


def _outcome(range: tuple[float, float] | None, levels: Sequence[float] | None) -> dict[str, Any]:
    from truant.setting import Setting

    if (range is None) == (levels is None):
        raise InvalidValue(
            "Say what outcomes can be: either range=(0, 200), the lowest and the highest, or levels=[0, 1], all of "
            "them."
        )
    if levels is not None:
        setting = Setting(
            arms=1, levels=tuple(plain_number("levels", one) for one in list_of("levels", levels))
        )
    else:
        if not isinstance(range, Sequence) or isinstance(range, str) or len(range) != 2:
            raise InvalidValue(
                f"range must be two numbers, the lowest and the highest outcome, got {quoted(range)}."
            )
        setting = Setting(arms=1, low=plain_number("range", range[0]), high=plain_number("range", range[1]))
    return {"levels": setting.levels, "low": setting.low, "high": setting.high}


def _mediator(levels: Sequence[str], cuts: Sequence[float]) -> dict[str, Any]:
    levels, cuts = list_of("mediator_levels", levels), list_of("mediator_cuts", cuts)
    if levels and cuts:
        raise InvalidValue("Give mediator_levels or mediator_cuts, not both.")
    if cuts:
        points = tuple(plain_number("mediator_cuts", cut) for cut in cuts)
        if any(high <= low for low, high in pairwise(points)):
            raise InvalidValue(f"mediator_cuts must increase, got {quoted(list(cuts))}.")
        return {"mediator_cuts": points, "mediator_levels": class_names(points)}
    return {"mediator_levels": names_of("mediator_levels", levels, least=2) if levels else ()}


def _assumption_and_policy(assume: str | None, policy: str | None) -> tuple[str, str]:
    from truant import registry
    from truant.policies.policy import parts_of
    from truant.spec import Spec

    if assume is None and policy is None:
        raise InvalidValue(
            "Say why outcomes go missing with assume, such as assume='mar'; truant assumptions lists them."
        )
    if policy is not None and (not isinstance(policy, str) or not policy):
        raise InvalidValue(f"policy must be a name such as 'mar-ucb', got {quoted(policy)}.")
    if assume is None:
        parts = parts_of(Spec.parse(str(policy)))
        if len(parts) == 1:
            raise InvalidValue(f"Policy {policy!r} has no assumption in its name; say it with assume.")
        assume = parts[0].name
    if not isinstance(assume, str) or assume not in registry.names("assumption"):
        raise unknown("assumption", assume, registry.names("assumption"))
    return assume, policy or f"{assume}-{USUAL_INDEX}"


# What may be changed while an experiment runs; each gives the new configuration, checked.


def changed(before: Configuration, settings: Mapping[str, Any]) -> Configuration:
    """Other settings; what decides how outcomes are counted stays as it is."""
    for name in settings:
        if name not in CHANGEABLE:
            raise unknown("setting that can be changed:", name, CHANGEABLE)
    if not settings:
        raise InvalidValue(f"Say what to change: {', '.join(CHANGEABLE)}.")
    wanted: dict[str, Any] = {name: getattr(before, name) for name in CHANGEABLE}
    wanted |= {"window": duration_text(before.window), "grace": duration_text(before.grace)}
    if "assume" in settings and "policy" not in settings:
        del wanted["policy"]  # that of the new assumption
    del wanted[
        "split"
    ]  # it stays unless it is given: arms may have been added or retired since it was checked
    outcome: dict[str, Any] = (
        {"levels": before.levels} if before.levels else {"range": (before.low, before.high)}
    )
    wanted |= settings
    active = tuple(arm for arm in before.arms if arm not in before.retired)  # retired arms need no room
    least = _minimum_share("minimum_share", wanted.pop("minimum_share"), active)
    after = configure(arms=before.arms, mediator_levels=before.mediator_levels, **outcome, **wanted)
    for name in ("fallback", "control"):
        if name in settings and settings[name] in before.retired:
            raise Conflict(f"Arm {named(settings[name])} is retired; choose another one as {name}.")
    taken = [name for name in CHANGEABLE if name != "split" or name in settings]
    return before.changed(**{name: getattr(after, name) for name in taken} | {"minimum_share": least})


def with_arm(before: Configuration, arm: str) -> Configuration:
    """One more arm, at the end; one that was retired comes back."""
    if arm in before.retired:
        after = before.changed(retired=tuple(name for name in before.retired if name != arm))
    elif arm in before.arms:
        raise Conflict(f"There is an arm {named(arm)} already.")
    else:
        after = before.changed(arms=names_of("arms", [*before.arms, arm], least=2))
    if after.minimum_share * sum(after.active) > 1:
        raise Conflict(
            f"minimum_share {after.minimum_share:g} leaves no room for one more arm; lower it first."
        )
    decider_of(after)
    return after


def without_arm(before: Configuration, arm: str) -> Configuration:
    """An arm fewer to choose from; it keeps its place."""
    if before.arms[before.arm_number(arm)] in before.retired:
        raise Conflict(f"Arm {named(arm)} is retired already.")
    if sum(before.active) == 1:
        raise Conflict(f"Arm {named(arm)} is the last one; end the experiment instead.")
    if arm == before.fallback:
        raise Conflict(f"Arm {named(arm)} is the fallback; change that first.")
    return before.changed(retired=(*before.retired, arm))
