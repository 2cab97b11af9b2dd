"""What simulations and sweeps print with --json and keep in files; docs/schemas is made from these records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypedDict

from truant.envelope import ABSENT, Absent, Others
from truant.policies.follow_up_rules import FollowUps


@dataclass(frozen=True)
class MeanFigure:
    """A figure over the runs."""

    mean: float  # mean over the runs


@dataclass(frozen=True)
class RunsFigure(MeanFigure):
    """A figure over the runs, and how it varies."""

    sd: float  # standard deviation over the runs; 0 with a single run
    median: float  # median over the runs
    p90: float  # 90th percentile over the runs


@dataclass(frozen=True, kw_only=True)
class PolicyFigures:
    """A policy in a simulation."""

    name: str  # name of the policy
    regret: RunsFigure  # cumulative pseudo-regret at the horizon, in units of the outcome, over the runs
    follow_ups: MeanFigure | Absent = ABSENT  # number of follow-ups of a run; only present with `follow_up`
    # total cost of the follow-ups of a run, in units of the outcome; only present with `follow_up`
    follow_up_cost: RunsFigure | Absent = ABSENT
    # regret plus the cost of follow-ups; only present with `follow_up`
    total_cost: RunsFigure | Absent = ABSENT
    regret_first_half: MeanFigure  # cumulative pseudo-regret after half of the rounds
    best_arm_share: float  # share of the rounds in which a best arm was chosen, mean over the runs
    nanoseconds_per_round: float  # CPU time of the compiled loop per round, in nanoseconds
    # share of the 95% intervals that contain the true mean; only present with intervals, None if the policy has none
    interval_coverage: float | Absent | None = ABSENT


@dataclass(frozen=True, kw_only=True)
class SimulationTerms:
    """What was simulated."""

    world: str  # name of the world
    parameters: dict[str, Any]  # the parameters of the world that were set, by name
    horizon: int  # number of rounds T of each run
    delay: int  # number of rounds after which an outcome enters the counts; 0 means before the next choice
    minimize: bool  # whether the best arm is the one with the lowest mean
    seed: int  # seed of the whole simulation


@dataclass(frozen=True, kw_only=True)
class SimulationSummary(SimulationTerms):
    """The regret of some policies in one world."""

    schema: ClassVar = "truant/simulation/1"
    # cost and success of follow-ups; only present if missing outcomes could be followed up
    follow_up: FollowUps | Absent = ABSENT
    runs: int  # number of finished runs
    policies: list[PolicyFigures]  # one entry for each policy, in the order in which they were given


@dataclass(frozen=True, kw_only=True)
class SavedSimulation(SimulationTerms):
    """What the runs of a saved simulation share."""

    policies: list[str]  # names of the policies
    rounds: list[int]  # the rounds at which regret is kept (checkpoints), increasing up to the horizon
    # cost and success of follow-ups; None if missing outcomes could not be followed up
    follow_up: FollowUps | None


class SavedRun(TypedDict):
    """A row of a saved simulation."""

    policy: str  # name of the policy
    run: int  # number of the run, from 0
    nanoseconds: float  # CPU time of the compiled loop, in nanoseconds
    regret: list[float]  # cumulative pseudo-regret at each checkpoint
    pulls: list[int]  # number of rounds in which each arm was chosen
    estimates: list[float]  # final estimate of each arm's mean; NaN if there is none
    means: list[float]  # true mean of each arm
    low: list[float] | Absent  # lower end of the 95% interval of each arm's mean; only with intervals
    high: list[float] | Absent  # upper end of the 95% interval of each arm's mean; only with intervals
    # number of follow-ups up to each checkpoint; only if missing outcomes could be followed up
    follow_ups: list[float] | Absent


class SweptRow(TypedDict):
    """A policy at a point of a study."""

    block: int  # number of the entry `[[worlds]]` in the study, from 1
    world: str  # name of the world
    # each parameter that is set or varied has a field of its own: its value, None where it is not set
    parameters: Others
    horizon: int  # number of rounds T of each run
    delay: int  # number of rounds after which an outcome enters the counts
    policy: str  # name of the policy, with its parameters
    family: str  # name of the policy without its parameters
    runs: int  # number of runs
    regret_mean: float  # mean regret at the horizon, over the runs
    regret_sd: float  # standard deviation of the regret over the runs; 0 with a single run
    regret_se: float | None  # standard error of the mean regret; None with a single run
    regret_median: float  # median regret over the runs
    regret_p90: float  # 90th percentile of the regret over the runs
    share_above_10x_median: float  # share of runs whose regret is more than ten times the median
    regret_first_half_mean: float  # mean regret after half of the rounds
    best_arm_share: float  # share of the rounds in which a best arm was chosen
    best: bool  # whether the policy has the lowest mean regret at this point, oracles excluded
    as_good: bool  # whether its regret cannot be told apart from the lowest
    behind_mean: float | None  # mean regret minus that of the best policy, run by run; None for oracles
    behind_se: float | None  # standard error of this difference; None for oracles, and with a single run


@dataclass(frozen=True, kw_only=True)
class SweepSummary:
    """The figures of each point and policy of a study."""

    schema: ClassVar = "truant/sweep/1"
    title: str  # title of the study
    runs: int  # number of runs of each point
    seed: int  # seed of the study
    minimize: bool  # whether the best arm is the one with the lowest mean
    results: str  # path of results.parquet
    page: str  # path of the page
    seconds: float  # wall time of this call, in seconds
    # time of all runs in the compiled loop, in seconds, including runs of earlier calls
    kernel_seconds: float
    versions: dict[str, str]  # versions of Python, truant and the packages that it uses, by name
    rows: Annotated[list[dict[str, Any]], list[SweptRow]]  # one entry for each point and policy


@dataclass(frozen=True, kw_only=True)
class SweepSize:
    """How large a study is, without running it."""

    schema: ClassVar = "truant/sweep-size/1"
    points: int  # number of points: worlds with their parameters
    policies: int  # largest number of policies at a point
    runs: int  # number of runs of each point
    tasks: int  # number of tasks that the work is divided into
    rounds: int  # number of rounds in all


class SweptRun(TypedDict):
    """A row of the results of a sweep."""

    block: int  # number of the entry `[[worlds]]` in the study, from 1
    world: str  # name of the world
    # each parameter that is set or varied has a column of its own; None where it is not set
    parameters: Others
    horizon: int  # number of rounds T of each run
    delay: int  # number of rounds after which an outcome enters the counts
    policy: str  # name of the policy, with its parameters
    seed: int  # seed of the study
    run: int  # number of the run, from 0
    regret: float  # regret at the horizon
    regret_first_half: float  # regret after half of the rounds
    best_arm_share: float  # share of the rounds in which a best arm was chosen


class SweepPart(TypedDict):
    """What a file of runs of a sweep says of itself."""

    key: str  # fingerprint of the task, the policy and the code
    checksum: str  # SHA-256 of the key and the columns


class PartRun(TypedDict):
    """A row of such a file."""

    regret: float  # regret at the horizon
    regret_first_half: float  # regret after half of the rounds
    best_arm_share: float  # share of the rounds in which a best arm was chosen
    nanoseconds: float  # CPU time of the compiled loop, in nanoseconds
