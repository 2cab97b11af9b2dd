"""Each arm under each assumption, side by side; what cannot be estimated is listed with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truant import registry
from truant.analysis.labels import Labels
from truant.assumptions import Assumption, Estimate
from truant.assumptions.by_likelihood import ByLikelihood
from truant.assumptions.exact import LikelihoodFit
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import Setting

# without a missing mediator, the assumptions about missing mediators say what simpler ones say
SIMPLER = {"mediator-mar": "mar", "mediator-mnar": "mar", "both-mnar": "mnar"}
NEEDS_MORE = ("mar-known",)  # than counts: only when asked for by name
USUAL_ORDER = ("mcar", "mar", "mediator-mar", "mnar", "mediator-mnar", "both-mnar")  # from mild to grave


@dataclass(frozen=True)
class Belief:
    """What one assumption makes of all arms."""

    name: str
    assumption: Assumption
    estimates: tuple[Estimate, ...]
    fits: tuple[LikelihoodFit, ...] = ()  # of the likelihood assumptions

    @property
    def means(self) -> list[float]:
        """The best guess for each arm."""
        return [estimate.mean for estimate in self.estimates]

    @property
    def winner(self) -> int:
        """The arm with the highest best guess."""
        return int(np.argmax(self.means))


@dataclass(frozen=True)
class Infeasible:
    """An assumption that these counts cannot be read under."""

    assumption: str
    reason: str


def beliefs(
    counts: Counts, setting: Setting, labels: Labels, names: Sequence[str] = ()
) -> tuple[list[Belief], list[Infeasible]]:
    """Every assumption that was asked for (all of them if none was)."""
    others = [name for name in registry.names("assumption") if name not in (*USUAL_ORDER, *NEEDS_MORE)]
    wanted = list(dict.fromkeys(names)) or [*USUAL_ORDER, *others]
    found, impossible = [], []
    for spec in wanted:
        name, parameters = registry.parse(spec)
        assumption = registry.find("assumption", name).build(**parameters)
        try:
            if not names:
                _refuse_repetition(name, counts)
            found.append(_belief(spec, assumption, counts, setting))
        except NotIdentified as error:
            impossible.append(Infeasible(spec, labels.spelled_out(str(error))))
    return found, impossible


def _belief(name: str, assumption: Assumption, counts: Counts, setting: Setting) -> Belief:
    assumption.check(setting)
    arms = range(setting.arms)
    if isinstance(assumption, ByLikelihood):
        fits = tuple(assumption.fit(counts, arm) for arm in arms)
        return Belief(name, assumption, tuple(Estimate(fit.mean, fit.at) for fit in fits), fits)
    estimates = tuple(assumption.estimate(counts, arm, setting) for arm in arms)
    for arm, estimate in zip(arms, estimates, strict=True):
        if not np.isfinite(estimate.standard_error):
            raise NotIdentified(f"{name}: arm {arm} has too few observed outcomes to say how sure it is.")
    return Belief(name, assumption, estimates)


def _refuse_repetition(name: str, counts: Counts) -> None:
    if name in SIMPLER and counts.table[:, -1].sum() == 0:
        raise NotIdentified(f"No mediator is missing, so that {name} says the same as {SIMPLER[name]}.")
