"""What commands of live experiments print with --json; docs/schemas is made from these records and their comments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from truant.envelope import Time
from truant.live.decision import Decision, Told

if TYPE_CHECKING:
    from truant.live.configuration import Configuration
    from truant.live.doctor import Diagnosis  # which imports numpy
    from truant.live.store.statements import ExperimentStatus

Action = Literal["corrected", "withdrawn", "forgotten", "unknown"]


@dataclass(frozen=True)
class AskedDecisions:
    """Which arm to use."""

    schema: ClassVar = "truant/asked/1"
    experiment: str  # name of the experiment
    decisions: list[Decision]  # one entry for each decision


@dataclass(frozen=True)
class ToldOutcome(Told):
    """What telling an outcome did."""

    schema: ClassVar = "truant/told/1"
    experiment: str  # name of the experiment


@dataclass(frozen=True)
class DecisionChange:
    """What was changed."""

    schema: ClassVar = "truant/decision-change/1"
    experiment: str  # name of the experiment
    # what was done; `unknown`: no decision has the key that was to be forgotten
    action: Action
    id: str | None  # id of the decision; None after `forget`, or if a key was given in its place


@dataclass(frozen=True)
class Event:
    """Something that happened to an experiment."""

    number: int  # number of the event, from 1
    at: Time  # when it happened
    kind: str  # what happened: `created`, `changed`, `closed`, `corrected` and so on
    decision: str | None  # id of the decision that it is about; None if it is about the whole experiment
    actor: str | None  # who did it; None if it is not known
    why: str | None  # why; None if it was not said
    # details, which depend on the kind: for `created`, the configuration, with durations in microseconds
    body: dict[str, Any]


@dataclass(frozen=True)
class Events:
    """What happened to an experiment, oldest first."""

    schema: ClassVar = "truant/events/1"
    experiment: str  # name of the experiment
    events: list[Event]  # one entry for each event


@dataclass(frozen=True)
class StoreDiagnosis:
    """Whether the counts of all experiments agree with their decisions."""

    schema: ClassVar = "truant/doctor/1"
    healthy: bool  # whether all agrees
    experiments: list[Diagnosis]  # the diagnosis of each experiment


@dataclass(frozen=True)
class ListedExperiment:
    """An experiment in a list."""

    name: str  # name of the experiment
    status: ExperimentStatus  # whether it makes new decisions
    revision: int  # number of its configuration; each change adds one
    created: Time  # when it was created


@dataclass(frozen=True)
class ListedExperiments:
    """The experiments of a store."""

    schema: ClassVar = "truant/experiments/1"
    experiments: list[ListedExperiment]  # one entry for each experiment


@dataclass(frozen=True)
class ExperimentState:
    """An experiment and its configuration."""

    schema: ClassVar = "truant/experiment/1"
    name: str  # name of the experiment
    status: ExperimentStatus  # whether it makes new decisions
    revision: int  # number of its configuration; each change adds one
    learning_starts: Time  # when the first window can be over
    learning: str  # when learning starts, in a sentence
    configuration: Annotated[dict[str, Any], Configuration]  # the settings of the experiment


@dataclass(frozen=True)
class ClosedWindows:
    """How many decisions were counted."""

    schema: ClassVar = "truant/closed-windows/1"
    experiment: str  # name of the experiment
    decisions: int  # decisions that were counted now


@dataclass(frozen=True)
class SettledExperiment:
    """An experiment whose windows were closed."""

    name: str  # name of the experiment
    decisions: int  # decisions that were counted


@dataclass(frozen=True)
class SettledExperiments:
    """How many decisions `truant settle` counted in each experiment."""

    schema: ClassVar = "truant/settled/1"
    experiments: list[SettledExperiment]  # one entry for each experiment that was looked at


@dataclass(frozen=True)
class ClockChange:
    """What was done about the clock of an experiment."""

    schema: ClassVar = "truant/clock/1"
    experiment: str  # name of the experiment
    time: Time  # the time that was accepted, or that the clock was turned back to
    reopened: int  # windows that were opened again; 0 for `accept`


@dataclass(frozen=True)
class Transfer:
    """What was written or read."""

    schema: ClassVar = "truant/transfer/1"
    action: Literal["exported", "imported", "backed-up", "restored"]  # what was done
    file: str  # the file
    experiment: str | None = None  # name of the experiment; None for the whole store
    decisions: int | None = None  # decisions that were imported; None for other actions
    experiments: int | None = None  # experiments that were restored; None for other actions
    known: int | None = None  # rows that were imported before and are not added again; None for other actions
    # of these: rows with other values than the store has now, where they stay; None for other actions
    differing: int | None = None
