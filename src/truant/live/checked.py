"""Checks a configuration before the first user sees it: what cannot be learned is refused at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from truant.defaults import HORIZON, LEVEL
from truant.durations import duration
from truant.errors import InvalidValue, NotIdentified, unknown
from truant.live.configuration import (
    SETTLING,
    USUAL_INDEX,
    Configuration,
    class_names,
    list_of,
    names_of,
    plain_number,
    shares_of,
)
from truant.text import quoted

if TYPE_CHECKING:
    from truant.policies.decider import Decider

Duration = str | timedelta


def configure(
    *,
    arms: Sequence[str],
    window: Duration,
    assume: str | None = None,
    policy: str | None = None,
    mediator_levels: Sequence[str] = (),
    mediator_cuts: Sequence[float] = (),
    mediator_absent: str | None = None,
    range: tuple[float, float] | None = None,
    levels: Sequence[float] | None = None,
    absent: float | None = None,
    minimize: bool = False,
    horizon: int = HORIZON,
    grace: Duration = "0s",
    settle: str = SETTLING[0],
    minimum_share: float = 0.0,
    warm_up: Duration = "0s",
    holdout: float = 0.0,
    split: Mapping[str, float] | Sequence[float] | None = None,
    control: str | None = None,
    fallback: str | None = None,
    level: float = LEVEL,
    tolerance: float | None = None,
    stop_loss: float | None = None,
    stop_level: float | None = None,
) -> Configuration:
    """A checked configuration; or raises what is wrong with it. Parameters are those of `Experiment.create`."""
    from truant.setting import switch, whole_number

    names = names_of("arms", arms, least=2)
    outcome = _outcome(range, levels)
    assumption, chosen = _assumption_and_policy(assume, policy)
    found = Configuration(
        arms=names,
        **_mediator(mediator_levels, mediator_cuts),
        **outcome,
        minimize=switch("minimize", minimize),
        assume=assumption,
        policy=chosen,
        horizon=whole_number("horizon", horizon, at_least=1),
        window=_positive("window", window),
        grace=duration("grace", grace),
        settle=_one_of("settle", settle, SETTLING),
        minimum_share=least_share(minimum_share, len(names)),
        warm_up=duration("warm_up", warm_up),
        holdout=_share("holdout", holdout),
        split=None if split is None else shares_of("split", split, names),
        control=control if control is None else names[_place("control", control, names)],
        fallback=fallback if fallback is None else names[_place("fallback", fallback, names)],
        level=_level(level),
        tolerance=_positive_or_none("tolerance", tolerance),
        stop_loss=_positive_or_none("stop_loss", stop_loss),
        stop_level=None if stop_level is None else _level(stop_level, "stop_level"),
    )
    if absent is not None:
        found = found.changed(absent=found.outcome_value(absent))
    if mediator_absent is not None:
        if found.mediator_cuts:
            raise InvalidValue(
                "mediator_absent names a level of mediator_levels; mediator_cuts have none, so leave it out."
            )
        code = found.mediator_code(mediator_absent)
        found = found.changed(mediator_absent=None if code is None else found.mediator_levels[code])
    decider_of(found)
    return found


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


def _positive(name: str, value: object) -> int:
    found = duration(name, value)
    if found <= 0:
        raise InvalidValue(f"{name} must be longer than 0, got {quoted(value)}.")
    return found


def _one_of(name: str, value: object, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise unknown(f"value of {name}:", value, known)
    return str(value)


def _place(name: str, value: object, arms: tuple[str, ...]) -> int:
    if not isinstance(value, str) or value not in arms:
        raise unknown(f"arm as {name}:", value, arms)
    return arms.index(value)


def _share(name: str, value: object) -> float:
    found = plain_number(name, value)
    if not 0 <= found < 1:
        raise InvalidValue(f"{name} must be at least 0 and below 1, got {quoted(value)}.")
    return found


def least_share(value: object, arms: int) -> float:
    """The least probability of an arm, which leaves room for all arms."""
    found = _share("minimum_share", value)
    if found * arms > 1:
        raise InvalidValue(f"minimum_share must be at most 1/{arms} for {arms} arms, got {quoted(value)}.")
    return found


def _level(value: object, name: str = "level") -> float:
    found = plain_number(name, value)
    if not 0.5 <= found < 1:
        raise InvalidValue(f"{name} must be at least 0.5 and below 1, got {quoted(value)}.")
    return found


def _positive_or_none(name: str, value: object) -> float | None:
    if value is None:
        return None
    found = plain_number(name, value)
    if not 0 < found < math.inf:
        raise InvalidValue(f"{name} must be a positive number, got {quoted(value)}.")
    return found
