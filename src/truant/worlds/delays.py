"""How long outcomes take to arrive, for rehearsals of live experiments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from truant.durations import LONGEST, duration, duration_text
from truant.errors import InvalidValue, quoted
from truant.setting import (
    FloatArray,
    IntArray,
    Setting,
    code_column,
    needed_setting,
    outcome_column,
    positive_number,
)

Kind = Literal["none", "constant", "exponential", "lognormal"]
DependsOn = Literal["arm", "mediator", "outcome"]
SIGMA = (
    1.0  # of the logarithm of a lognormal delay: its median is .61 means, one in twenty is above 3.1 means
)
MOST_FACTOR = 1e6


@dataclass(frozen=True)
class Delay:
    """The distribution of the time from a decision to its outcome.

    Parameters
    ----------
    kind : "none" (outcomes come at once), "constant", "exponential" or "lognormal" (with a standard deviation of the
        logarithm of 1).
    mean : in microseconds.
    depends_on : "arm", "mediator" or "outcome": the mean then grows with it, geometrically, from mean/sqrt(factor) at
        the first arm, the first mediator level or the lowest outcome to mean sqrt(factor) at the last or highest one.
        Levels of an outcome count by their rank, real outcomes by their place in the setting's range. A missing
        mediator has the mean in the middle.
    factor : how many times longer the delay is at the highest than at the lowest; below 1, the lowest come last.

    Examples
    --------
    >>> import numpy as np
    >>> import truant
    >>> from truant.worlds.delays import Delay
    >>> late = Delay.parse("constant:2d", depends_on="outcome")
    >>> late.draw(np.random.default_rng(1), truant.Setting(arms=1), [0, 0], [0, 0], [0.0, 1.0]) // 86_400_000_000
    array([1, 4])
    """

    kind: Kind = "none"
    mean: int = 0
    depends_on: DependsOn | None = None
    factor: float = 4.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise InvalidValue(
                f"The kind of a delay must be one of {_listed(Kind)}, got {quoted(self.kind)}."
            )
        if self.depends_on is not None and self.depends_on not in get_args(DependsOn):
            raise InvalidValue(
                f"A delay depends on one of {_listed(DependsOn)}, or on none of them, got {quoted(self.depends_on)}."
            )
        object.__setattr__(self, "factor", positive_number("The factor of a delay", self.factor))
        if not 1 / MOST_FACTOR <= self.factor <= MOST_FACTOR:
            raise InvalidValue(
                f"The factor of a delay must be from {1 / MOST_FACTOR:g} to {MOST_FACTOR:,.0f}, got {self.factor:g}."
            )
        self._check_mean()

    def _check_mean(self) -> None:
        if not isinstance(self.mean, int) or isinstance(self.mean, bool):
            raise InvalidValue(
                f"The mean of a delay must be a whole number of microseconds, got {quoted(self.mean)}."
            )
        if self.kind == "none":
            if self.mean or self.depends_on is not None:
                raise InvalidValue(
                    "A delay of none has no mean and depends on nothing; name another kind of delay."
                )
        elif not 0 < self.mean <= LONGEST:
            raise InvalidValue(
                f"The mean of a delay must be above 0 and at most {duration_text(LONGEST)}, got {self.mean} "
                "microseconds; without a delay, write none."
            )

    @classmethod
    def parse(cls, text: str, depends_on: DependsOn | None = None, factor: float = 4.0) -> Delay:
        """The delay that a text says: `none`, `constant:12h`, `exponential:2d` or `lognormal:2d`, with its mean."""
        if not isinstance(text, str):
            raise InvalidValue(f"A delay is a text such as 'exponential:2d', got {quoted(text)}.")
        kind, colon, mean = (part.strip() for part in text.partition(":"))
        if kind not in get_args(Kind) or bool(colon) != (kind != "none"):
            raise InvalidValue(
                f"A delay is none, constant:12h, exponential:2d or lognormal:2d, with any mean, got {quoted(text)}."
            )
        known: Any = kind
        return cls(known, duration("The mean of a delay", mean) if colon else 0, depends_on, factor)

    def __str__(self) -> str:
        """The text that parses to the same kind and mean."""
        return self.kind if self.kind == "none" else f"{self.kind}:{duration_text(self.mean)}"

    def draw(
        self,
        rng: np.random.Generator,
        setting: Setting,
        arms: npt.ArrayLike,
        mediators: npt.ArrayLike,
        outcomes: npt.ArrayLike,
    ) -> IntArray:
        """The delay of each pull in microseconds.

        Parameters
        ----------
        rng : is used once per pull, unless the delay is none or constant.
        setting : says how many arms and mediator levels there are, and which outcomes.
        arms, mediators, outcomes : one of each per pull, as `Counts.fold` takes them. A missing outcome has the delay
            of one in the middle, though it never arrives.
        """
        needed_setting(setting)
        a = code_column("arm", arms, 0, setting.arms)
        m = code_column("mediator", mediators, -1, setting.mediators)
        y = outcome_column(outcomes)
        if a.ndim != 1 or not a.shape == m.shape == y.shape:
            raise InvalidValue(f"Columns must have one length, got {a.size}, {m.size} and {y.size}.")
        means = self.mean * self.factor ** (self._places(setting, a, m, y) - 0.5)
        times = np.rint(means * self._relative(rng, len(a)))
        return np.minimum(times, LONGEST).astype(np.int64)

    def _places(
        self, setting: Setting, arms: IntArray, mediators: IntArray, outcomes: FloatArray
    ) -> FloatArray:
        """From 0 (lowest) to 1 (highest) of what the delay depends on; one half where there is nothing to tell."""
        if self.depends_on == "arm":
            return _ranked(arms, setting.arms)
        if self.depends_on == "mediator":
            return np.where(mediators < 0, 0.5, _ranked(mediators, setting.mediators))
        if self.depends_on is None:
            return np.full(len(arms), 0.5)
        known = np.where(np.isnan(outcomes), setting.low, outcomes)
        if setting.levels is None:
            places = np.clip((known - setting.low) / (setting.high - setting.low), 0.0, 1.0)
        else:
            # halfway between neighbours, so that rounding of an outcome does not change its level
            borders = (np.array(setting.levels[1:]) + np.array(setting.levels[:-1])) / 2
            places = _ranked(np.searchsorted(borders, known), setting.outcomes)
        return np.where(np.isnan(outcomes), 0.5, places)

    def _relative(self, rng: np.random.Generator, pulls: int) -> FloatArray:
        """Delays with a mean of 1."""
        if self.kind == "exponential":
            return rng.standard_exponential(pulls)
        if self.kind == "lognormal":
            return rng.lognormal(-(SIGMA**2) / 2, SIGMA, pulls)
        return np.ones(pulls)


def _ranked(codes: npt.NDArray[Any], number: int) -> FloatArray:
    """Codes from 0 on as places from 0 to 1."""
    return codes / (number - 1) if number > 1 else np.full(len(codes), 0.5)


def _listed(kinds: Any) -> str:
    return ", ".join(get_args(kinds))
