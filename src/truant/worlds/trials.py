"""Two real trials: ACTG 175, whose outcomes are really missing, and PBC, where missingness is synthetic."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from truant import datasets
from truant.setting import number
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
    gamma : Probability that an outcome is observed: estimated (as often as in the data), one number for all, or six
        for each arm.
    """
    return _actg175_replay().world(gamma)


@functools.cache
def _actg175_replay() -> Replay:
    table = datasets.actg175()
    names = dict(zip(table["arms"].to_pylist(), table["treatment"].to_pylist(), strict=True))
    found = replay_of(table, arm="arms", outcome="cd496", mediator=("offtrt", "cd420:3"))
    return replace(found, arms=tuple(names[code] for code in found.arms))


DAYS = 4556.0  # the longest follow-up


def pbc(
    rng: np.random.Generator,
    *,
    gamma: Chances = ((0.5, 0.95), (0.95, 0.5)),
    gap: float = 1.0,
) -> RealWorld | DiscreteWorld:
    """The PBC trial's 312 randomised patients: days of follow-up, with death as the mediator.

    Arms: D-penicillamine, placebo. Mediator: dead at the end (level 1) or not (0), as often as in the trial.
    Outcome: days / 4556 of a random patient with that arm and mediator level. Nothing is missing in the data:
    gamma is synthetic, and its default was chosen so that dropping the missing rows prefers the wrong arm.
    Death is settled jointly with follow-up, so it is an auxiliary variable rather than a true mediator, and
    the difference between the arms (.004) is no real effect.

    Parameters
    ----------
    gamma : Probability that an outcome is observed: one number for all, or two (alive, dead) for each arm.
    gap : Factor by which the difference between the two arms is multiplied.
    """
    factor = number("gap", gap, at_least=0)
    trial = _pbc_replay()
    better, worse = trial.outcomes  # D-penicillamine is the better one
    shift = (factor - 1) * (np.concatenate(better).mean() - np.concatenate(worse).mean())
    shifted = tuple(cell + shift for cell in better)
    low, high = min(0.0, shift), max(1.0, 1.0 + shift)
    return replace(trial, outcomes=(shifted, worse), low=low, high=high).world(gamma)


@functools.cache
def _pbc_replay() -> Replay:
    trial = datasets.pbc()
    table = {"trt": trial["trt"], "dead": trial["dead"], "share": trial["time"].to_numpy() / DAYS}
    found = replay_of(table, arm="trt", outcome="share", mediator="dead", range=(0.0, 1.0))
    return replace(found, arms=("D-penicillamine", "placebo"))


parts = {
    "actg175": actg175,
    "pbc": pbc,
}
