"""The next allocation: one probability per arm, a pure function of counts, pending decisions and configuration."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from truant.counts import Counts
from truant.live import counting
from truant.live.checked import decider_of
from truant.live.configuration import Configuration
from truant.live.settle import configuration_of
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.store.statements import AllocationRow, Head

if TYPE_CHECKING:
    from truant.policies.decider import Decider

LEAST_AHEAD, MOST_AHEAD = 10, 100  # decisions that `ucb` looks ahead

Edit = Callable[[Transaction, Head], None]  # what is written together with an allocation


@functools.cache
def own_version() -> str:
    """The version of truant that runs; read once, as that parses a file."""
    return version("truant")


@functools.lru_cache(maxsize=64)
def decider_for(configuration: Configuration) -> Decider:
    """What decides from counts; kept, as it is needed after every batch."""
    return decider_of(configuration)


def probabilities(
    configuration: Configuration,
    counts: Counts,
    pending: Sequence[float] | None,
    ahead: int,
    warming_up: bool,
) -> list[float]:
    """One probability per arm: the fixed split during the warm-up, then what the policy says.

    Parameters
    ----------
    configuration : arms, policy, horizon and least shares.
    counts : of settled decisions.
    pending : decisions of each arm whose outcome may still come, where the policy counts them.
    ahead : decisions that are expected until the next allocation.
    warming_up : the warm-up is not over.
    """
    if warming_up:
        return configuration.fixed_shares()
    found: list[float] = (
        decider_for(configuration)
        .allocation(
            counts,
            pending=pending,
            ahead=ahead,
            minimum_share=configuration.minimum_share,
            active=configuration.active,
        )
        .tolist()
    )
    return found


def compile_policy(configuration: Configuration) -> None:
    """Compile what the policy needs, so that no later call waits for it: score counts in which every arm was seen."""
    setting = configuration.setting()
    decider = decider_for(configuration)
    low, high = setting.low, setting.high
    pulls = max(decider.first_pulls, 2)
    arms = np.repeat(np.arange(setting.arms), pulls)
    outcomes = np.where(np.arange(len(arms)) % 2 == 0, low, high)
    counts = Counts.fold(setting, arms, np.arange(len(arms)) % setting.mediators, outcomes)
    decider.allocation(counts, pending=np.ones(setting.arms))


class Snapshot:
    """What an allocation is made from, read in one state of the store."""

    def __init__(
        self, transaction: Transaction, experiment: int, known: counting.Cells, known_version: int
    ) -> None:
        self.head = statements.head_of(transaction, experiment)
        self.configuration = configuration_of(transaction, self.head)
        self.allocation = statements.allocation_of(transaction, experiment, self.head.allocation)
        changed = statements.day_cells(transaction, experiment, after=known_version)
        self.cells = {**known, **changed}
        self.pending: list[int] | None = None
        if decider_for(self.configuration).counts_pending:
            self.pending = decision_statements.pending_by_arm(
                transaction, experiment, len(self.configuration.arms)
            )

    @functools.cached_property
    def counts(self) -> Counts:
        """The counts of all days."""
        return counting.total_counts(self.cells, self.configuration)

    def is_due(self, now: int) -> bool:
        """Whether another allocation is needed."""
        last, head = self.allocation, self.head
        if last.counts_version < head.counts_version or last.revision < head.revision:
            return True
        if last.until is not None and now >= last.until:
            return True
        return self.pending is not None and sum(self.pending) - sum(last.pending or ()) >= last.ahead

    def made(self, configuration: Configuration, revision: int, now: int) -> AllocationRow:
        """The next allocation."""
        end = self.head.created + configuration.warm_up
        pending = None if self.pending is None else [float(count) for count in self.pending]
        if pending is not None:
            pending += [0.0] * (len(configuration.arms) - len(pending))
        rate = sum(pending or ()) / configuration.window
        ahead = int(min(max(rate * configuration.interval, LEAST_AHEAD), MOST_AHEAD))
        warming_up = now < end
        same = configuration is self.configuration
        counts = self.counts if same else counting.total_counts(self.cells, configuration)
        return AllocationRow(
            version=self.allocation.version + 1,
            at=now,
            counts_version=self.head.counts_version,
            revision=revision,
            made_by=own_version(),
            until=end if warming_up else None,
            ahead=ahead,
            pending=pending,
            probabilities=probabilities(configuration, counts, pending, ahead, warming_up),
        )


def first_allocation(configuration: Configuration, now: int) -> AllocationRow:
    """The allocation of an experiment that begins."""
    warming_up = configuration.warm_up > 0
    pending = [0.0] * len(configuration.arms) if decider_for(configuration).counts_pending else None
    return AllocationRow(
        version=1,
        at=now,
        counts_version=0,
        revision=1,
        made_by=own_version(),
        until=now + configuration.warm_up if warming_up else None,
        ahead=LEAST_AHEAD,
        pending=pending,
        probabilities=probabilities(
            configuration, Counts.empty(configuration.setting()), pending, LEAST_AHEAD, warming_up
        ),
    )


def write_allocation(store: Store, snapshot: Snapshot, row: AllocationRow, edit: Edit | None = None) -> bool:
    """Keep an allocation, with what belongs to it; False if the experiment has moved on since the snapshot."""

    def operation(transaction: Transaction) -> bool:
        head = statements.head_of(transaction, snapshot.head.id, store.for_update)
        before = snapshot.head
        same = (head.allocation, head.counts_version, head.revision, head.status)
        if same != (before.allocation, before.counts_version, before.revision, before.status):
            return False
        if edit is not None:
            edit(transaction, head)
        statements.insert_allocation(transaction, head.id, row)
        statements.update_experiment(transaction, head.id, clock=max(head.clock, row.at))
        return True

    return store.write(operation)
