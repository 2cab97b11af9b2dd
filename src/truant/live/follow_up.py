"""Picks missing decisions for follow-up: at random within arm and mediator level, with probabilities that are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truant.analysis import Labels
from truant.envelope import Time, plain
from truant.errors import InvalidValue, counted, named
from truant.files import TABLES, output_path
from truant.follow_up.plan import FollowUpPicks, pick_follow_ups
from truant.live import counting
from truant.live.exchange import mediator_name
from truant.live.settle import configuration_of
from truant.live.store import Transaction, decision_statements, statements
from truant.live.times import shown
from truant.setting import whole_number

if TYPE_CHECKING:
    import pyarrow as pa

    from truant.live.configuration import Configuration, Note
    from truant.live.experiment import Experiment


@dataclass(frozen=True)
class FollowUp:
    """A missing decision to follow up; tell the answer with `tell(id, outcome=..., followed_up=True)`."""

    id: str  # id of the decision
    arm: str  # its arm
    mediator: str | None  # its mediator level; None if it is missing or there is no mediator
    asked: Time  # when the decision was made
    pick_probability: float  # probability with which it was picked among those of its arm and mediator level
    late_outcome: float | None  # an outcome that came late by itself; None if none did


@dataclass(frozen=True)
class FollowUpList:
    """The decisions that were picked to be followed up."""

    schema: ClassVar = "truant/follow-ups/1"
    experiment: str  # name of the experiment
    follow_ups: tuple[FollowUp, ...]  # one entry for each decision that was picked
    available: int  # missing outcomes that could have been picked
    notes: tuple[str, ...]  # what else to know, one sentence each

    def __repr__(self) -> str:
        drawn = counted(len(self), "missing outcome")
        return f"<FollowUpList of {named(self.experiment)}: {drawn} to follow up, of {self.available:,}>"

    def __len__(self) -> int:
        return len(self.follow_ups)

    def __iter__(self) -> Iterator[FollowUp]:
        return iter(self.follow_ups)

    def summary(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return dict(plain(self))

    def table(self) -> pa.Table:
        """One row for each decision."""
        from truant.tables.arrow import make_table

        return make_table(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        """The columns of `table`, which are written as .csv without Arrow."""
        names = list(FollowUp.__dataclass_fields__)
        return {name: [getattr(one, name) for one in self.follow_ups] for name in names}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the list as .csv or .parquet."""
        from truant.tables.write import write_table

        return write_table(self._columns(), output_path(path, TABLES), "follow-up-rows")


def pick(experiment: Experiment, n: int | None, budget: int | None, note: Note) -> FollowUpList:
    """Pick decisions that closed as missing and were never picked, where an answer is worth most."""
    if n is None and budget is None:
        raise InvalidValue("Say how many to pick with n, or how many in all with budget.")
    wanted = None if n is None else whole_number("n", n, at_least=1)
    most = None if budget is None else whole_number("budget", budget, at_least=1)

    def operation(transaction: Transaction) -> FollowUpList:
        return _picked(experiment, transaction, wanted, most, note)

    return experiment.store.write(operation)


def _picked(
    experiment: Experiment, transaction: Transaction, n: int | None, budget: int | None, note: Note
) -> FollowUpList:
    store = experiment.store
    head = statements.head_of(transaction, experiment.number, store.for_update)
    configuration = configuration_of(transaction, head)
    left = _left(n, budget, decision_statements.follow_up_numbers(transaction, head.id)["picked"])
    available = np.zeros((len(configuration.arms), configuration.mediators + 1), np.int64)
    for arm, mediator, count in decision_statements.missing_by_cell(transaction, head.id):
        level = configuration.mediators if mediator is None else mediator
        available[arm, level if configuration.mediator_levels else 0] += count
    counts = counting.total_counts(statements.day_cells(transaction, head.id), configuration)
    # a decision whose correction is not counted yet may be missing here and not there
    available = np.minimum(
        available, (counts.missing_by_cell() - counts.follow_ups_by_cell()).astype(np.int64)
    )
    labels = Labels.of(configuration.arms, configuration.mediator_levels or ("all",))
    picks = pick_follow_ups(counts, configuration.setting(), labels, available, left)
    now = max(experiment.now_in(transaction), head.clock)
    rows = _chosen(experiment, transaction, head.id, picks, configuration, now)
    if rows:
        body = {"decisions": len(rows), "available": int(available.sum())}
        statements.insert_event(transaction, head.id, "listed", now, note=note, body=body)
    notes = [] if picks.remark is None else [picks.remark]
    if left == 0:
        notes.append("The budget is used up.")
    elif not rows:
        notes.append("There is no missing outcome that was not picked before.")
    return FollowUpList(head.name, tuple(rows), int(available.sum()), tuple(notes))


def _left(n: int | None, budget: int | None, picked: int) -> int:
    if budget is None:
        assert n is not None
        return n
    left = max(budget - picked, 0)
    return left if n is None else min(n, left)


def _chosen(
    experiment: Experiment,
    transaction: Transaction,
    number: int,
    picks: FollowUpPicks,
    configuration: Configuration,
    now: int,
) -> list[FollowUp]:
    """Draw within each cell, and note each draw with its probability."""
    found: list[FollowUp] = []
    for arm, level in np.argwhere(picks.numbers > 0):
        known = bool(configuration.mediator_levels)
        code = None if known and level == configuration.mediators else int(level)
        rows = decision_statements.missing_rows(transaction, number, int(arm), code, known)
        wanted = int(picks.numbers[arm, level])
        probability = wanted / len(rows)
        for row in experiment.rng.sample(rows, wanted):
            changes = {"listed_at": now, "pick_probability": probability}
            decision_statements.update_decision(transaction, row.number, changes)
            found.append(
                FollowUp(
                    id=row.id,
                    arm=configuration.arms[row.arm],
                    mediator=mediator_name(row.mediator, configuration),
                    asked=shown(row.asked),
                    pick_probability=probability,
                    late_outcome=row.late_outcome,
                )
            )
    return found
