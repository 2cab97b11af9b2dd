"""What an experiment counts, and what it should: for tests that compare the two."""

from __future__ import annotations

import math

import numpy as np

from truant.counts import Counts
from truant.live import counting
from truant.live.store import decision_statements, statements


def kept(experiment, kind=counting.SETTLED):
    """The counts that the store holds."""
    cells = experiment.store.read(lambda transaction: statements.day_cells(transaction, experiment.number))
    return counting.total_counts(cells, experiment.configuration, kind)


def folded(experiment, told):
    """Counts of decisions given as (arm, mediator, outcome); None is missing."""
    configuration = experiment.configuration
    setting = configuration.setting()
    arms = [configuration.arms.index(arm) for arm, _, _ in told]
    nowhere = 0 if setting.mediators == 1 else -1
    mediators = [nowhere if m is None else configuration.mediator_levels.index(m) for _, m, _ in told]
    outcomes = [math.nan if outcome is None else outcome for _, _, outcome in told]
    return Counts.fold(setting, arms, mediators, np.array(outcomes, np.float64))


def rows(experiment):
    """All decisions as they are kept."""
    return experiment.store.read(
        lambda transaction: list(decision_statements.all_rows(transaction, experiment.number))
    )


def assert_sound(experiment):
    """Nothing differs from a new count, and no day waits to be counted again."""
    diagnosis = experiment.doctor()
    assert diagnosis.healthy, str(diagnosis)
