"""What was stated of how the rows of a log were collected, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from truant.analysis.by_policy import FEWEST_REPLAYS, REPLAYS, ByPolicy
from truant.analysis.collection import ByUnknownPolicy, Collected
from truant.analysis.value import parsed_mix
from truant.analysis.weighted import ByProbability
from truant.errors import InvalidValue, unknown
from truant.logs.log import Log
from truant.policies import Policy, named
from truant.setting import whole_number
from truant.text import quoted

WAYS = ("fixed", "adaptive")


@dataclass(frozen=True)
class Statement:
    """How the rows were collected: by a fixed split, or by a policy of which more or less is known."""

    collected: str = "fixed"
    policy: Policy | None = None
    horizon: int = 0
    replays: int = REPLAYS
    probability: str | None = None
    value: dict[str, float] | None = None

    @classmethod
    def checked(
        cls,
        collected: object,
        collected_by: object,
        horizon: object,
        replays: object,
        probability: str | None,
        value: object,
        *,
        unit: str | None,
        by: str | None,
        cut_outcome: object,
    ) -> Statement:
        """The statement, if its parts fit each other; or raises InvalidValue."""
        if not isinstance(collected, str) or collected not in WAYS:
            raise unknown("way of collecting", collected, WAYS)
        mix = None if value is None else parsed_mix(value)
        stated = cls(collected, *_policy(collected_by, horizon, replays), probability, mix)
        if stated.policy is not None and probability is not None:
            raise InvalidValue(
                "Name either collected_by, to replay the policy, or probability, to weight its choices; got both."
            )
        if stated.adaptive and unit is not None:
            raise InvalidValue(
                "unit cannot be used with rows that a policy chose: it chose row by row, and units are taken as "
                "wholes; leave out unit, or collected, collected_by and probability."
            )
        if stated.policy is not None and by is not None:
            raise InvalidValue(
                "collected_by cannot be used with by: the policy chose among all rows, not within a group; use "
                "collected adaptive."
            )
        named_options = {"collected_by": collected_by, "probability": probability}
        for name in (name for name, given in named_options.items() if given is not None):
            if cut_outcome is not None:
                raise InvalidValue(
                    f"{name} cannot be used with cut_outcome: the policy saw the outcome as it is, and the whole "
                    "outcome is needed; use collected adaptive."
                )
        return stated

    @property
    def adaptive(self) -> bool:
        """Whether a policy chose the rows."""
        return self.collected != "fixed" or self.policy is not None or self.probability is not None

    def of(self, log: Log, level: float, progress: Callable[[float], None]) -> Collected | None:
        """What mends the intervals of the log; None for a fixed split."""
        if self.policy is not None:
            return ByPolicy(self.policy, self.horizon, self.replays, level, progress)
        if log.weighted is not None:
            return ByProbability(log.weighted)
        return ByUnknownPolicy() if self.adaptive else None


def _policy(collected_by: object, horizon: object, replays: object) -> tuple[Policy | None, int, int]:
    count = REPLAYS if replays is None else whole_number("replays", replays, at_least=FEWEST_REPLAYS)
    if collected_by is None:
        for name, value in (("horizon", horizon), ("replays", replays)):
            if value is not None:
                raise InvalidValue(
                    f"{name} describes the policy that collected the rows; name that policy with collected_by."
                )
        return None, 0, count
    if not isinstance(collected_by, str | Policy):
        raise InvalidValue(f"collected_by must be the name of a policy, got {quoted(collected_by)}.")
    if horizon is None:
        raise InvalidValue("collected_by needs the horizon that the policy was told, a number of rows.")
    policy = collected_by if isinstance(collected_by, Policy) else named(collected_by)
    if policy.follow_up is not None:
        raise InvalidValue(
            f"Policy {policy.name!r} follows up missing outcomes, so that it cannot be replayed from a log; say "
            "collected='adaptive' (--collected adaptive) instead."
        )
    return policy, whole_number("horizon", horizon, at_least=1), count
