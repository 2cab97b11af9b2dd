"""What may be changed while an experiment runs; each gives the new configuration, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truant.durations import duration_text
from truant.errors import Conflict, InvalidValue, unknown
from truant.live.checked import configure, decider_of, least_share
from truant.live.configuration import Configuration, names_of
from truant.text import named

CHANGEABLE = (
    *(
        "policy",
        "assume",
        "window",
        "grace",
        "horizon",
        "minimum_share",
        "holdout",
        "split",
        "control",
        "fallback",
    ),
    *("level", "tolerance", "stop_loss", "stop_level"),
)


def changed(before: Configuration, settings: Mapping[str, Any]) -> Configuration:
    """Other settings; what decides how outcomes are counted stays as it is."""
    for name in settings:
        if name not in CHANGEABLE:
            raise unknown("setting that can be changed:", name, CHANGEABLE)
    if not settings:
        raise InvalidValue(f"Say what to change: {', '.join(CHANGEABLE)}.")
    kept: dict[str, Any] = {
        "assume": before.assume,
        "policy": before.policy,
        "window": duration_text(before.window),
        "grace": duration_text(before.grace),
        **{
            name: getattr(before, name)
            for name in CHANGEABLE
            if name not in ("assume", "policy", "window", "grace")
        },
    }
    if "assume" in settings and "policy" not in settings:
        del kept["policy"]  # that of the new assumption
    del kept["split"]  # it stays unless it is given: arms may have been added or retired since it was checked
    outcome: dict[str, Any] = (
        {"levels": before.levels} if before.levels else {"range": (before.low, before.high)}
    )
    wanted = kept | dict(settings)
    least = least_share(wanted.pop("minimum_share"), sum(before.active))  # retired arms need no room
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
