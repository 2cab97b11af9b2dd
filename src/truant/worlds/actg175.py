"""A real trial whose outcomes are really missing: AIDS Clinical Trials Group 175."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from truant import datasets
from truant.worlds.discrete import DiscreteWorld
from truant.worlds.real import RealWorld
from truant.worlds.replay import ESTIMATED, Chances, Replay
from truant.worlds.table import replay_of


def actg175(rng: np.random.Generator, *, gamma: Chances = ESTIMATED) -> RealWorld | DiscreteWorld:
    """The HIV trial ACTG 175: CD4 count at 96 weeks, missing for over a third, as in the trial.

    Arms: ZDV, ZDV+ddI, ZDV+ddC, ddI. Mediator: on or off treatment, by third of the CD4 count at 20 weeks (6 levels).
    Outcome: the count of a random patient with that arm and mediator level. The truth is what `mar` estimates from
    the trial; outcomes are missing as often as there, more than twice as often off treatment.

    Parameters
    ----------
    gamma : P(O=1|m,a), "estimated" from the trial; or one number for all, or a row of six for each arm.
    """
    return _replay().world(gamma)


@functools.cache
def _replay() -> Replay:
    table = datasets.actg175()
    names = dict(zip(table["arms"].to_pylist(), table["treatment"].to_pylist(), strict=True))
    found = replay_of(table, arm="arms", outcome="cd496", mediator=("offtrt", "cd420:3"))
    return replace(found, arms=tuple(names[code] for code in found.arms))


parts = {"actg175": actg175}
