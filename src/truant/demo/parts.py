"""The three parts of the demo: a table of simulated mails, two policies, and a live experiment of four weeks."""

from __future__ import annotations

import csv
import heapq
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from truant.files import written_whole
from truant.setting import FloatArray, IntArray
from truant.worlds import RealWorld

if TYPE_CHECKING:
    from truant.analysis import Analysis
    from truant.follow_up.result import Plan
    from truant.lab.result import Simulation
    from truant.live.status import Status

SEED = 1
MAILS = ("classic", "short", "story")
OPENED = ("no", "yes")
LOW, HIGH = 0.0, 80.0  # possible spending
TOP = 42.0  # end of the axis of spending in charts
TABLE, FOLLOWED = "mails.csv", "mails-followed.csv"
ROWS, CALLS = 3000, 60
DROPS, LEARNS = "naive-ucb", "mar-ucb"
HORIZON, RUNS = 20_000, 10
STORE, NAME = "mails.db", "mails"
LEVELS = ("closed", "opened")
DAYS, EACH_DAY = 28, 25
TO_OPEN = 0.3  # mean days until a mail is opened or known to be closed
TO_SPEND = 2.5  # mean days from then until spending is known


def mail_world() -> RealWorld:
    """The mails as a world, whose true means are known.

    Of `classic`, what customers spend who did not open it is seldom known: the mean of its known outcomes is too high.
    Of each other mail, all customers have the same chance that their outcome is known.
    """
    return RealWorld(
        mediator_probabilities=[[0.7, 0.3], [0.6, 0.4], [0.5, 0.5]],  # not opened, opened
        outcome_means=[[14.0, 40.0], [18.0, 30.0], [21.0, 37.0]],  # mean spent: not opened, opened
        observation=[[0.15, 0.9], [0.85, 0.85], [0.6, 0.6]],  # probability that it becomes known
        outcome_sd=3.5,
        low=LOW,
        high=HIGH,
        name="mails",
    )


@dataclass(frozen=True, eq=False)
class Customers:
    """A row for each customer: mail, whether it was opened, what was spent and whether that became known."""

    mail: IntArray
    opened: IntArray
    spent: FloatArray  # of all, also where it did not become known
    known: npt.NDArray[np.bool_]

    @property
    def ids(self) -> list[str]:
        """C0001, C0002, ..."""
        return [f"C{number:04}" for number in range(1, len(self.mail) + 1)]

    def write(self, path: Path, called: npt.NDArray[np.bool_] | None = None) -> Path:
        """Write the table; outcomes are empty where they are neither known nor were asked for in a call."""
        asked = np.zeros(len(self.mail), bool) if called is None else called
        with written_whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["customer", "mail", "opened", "spent", *([] if called is None else ["called"])])
            for row, name in enumerate(self.ids):
                spent = f"{self.spent[row]:.2f}" if self.known[row] or asked[row] else ""
                calls = [] if called is None else ["yes" if asked[row] else "no"]
                writer.writerow([name, MAILS[self.mail[row]], OPENED[self.opened[row]], spent, *calls])
        return path


def customers_of(world: RealWorld, mail: IntArray, rng: np.random.Generator) -> Customers:
    """Draw what happens to customers who get these mails."""
    count = len(mail)
    opened = (rng.random(count) < world.mediator_probabilities[mail, 1]).astype(np.int64)
    noise = rng.standard_normal(count) * world.outcome_sd[mail, opened]
    spent = np.round(np.clip(world.outcome_means[mail, opened] + noise, LOW, HIGH), 2)
    known = rng.random(count) < world.observation[mail, opened]
    return Customers(mail, opened, spent, known)


class MeanOrBounds(NamedTuple):
    """A mean and its 95% interval, or bounds; None for what there is not."""

    mean: float | None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, found: Any) -> MeanOrBounds:
        """That of an estimate, an interval or bounds."""
        return cls(getattr(found, "mean", None), found.low, found.high)


@dataclass(frozen=True)
class Way:
    """A way to treat missing outcomes: what it says of each mail, and the mail that it names."""

    heading: str
    sentence: str
    values: dict[str, MeanOrBounds]
    named: str | None
    top: float = TOP


@dataclass(frozen=True, eq=False)
class TableResult:
    """The table, what each way to treat its missing outcomes says, and the plan of the follow-ups."""

    customers: Customers
    true_means: dict[str, float]
    ways: dict[str, Way]
    verdicts: dict[str, str]
    harmless: Analysis  # the two mails for which dropping rows does no harm
    plan: Plan  # without the column `opened`

    @property
    def best(self) -> str:
        """The mail with the highest true mean."""
        return max(self.true_means, key=self.true_means.__getitem__)


def named_by(analysis: Analysis) -> str | None:
    """The mail that the verdict of an analysis is clear about; None if it is not."""
    return analysis.verdict.arm if analysis.verdict.kind == "clear" else None


def analyse_table(folder: Path, seed: int = SEED) -> TableResult:
    """Draw the table, write it, analyse it, follow up the rows of a plan, and analyse again."""
    from truant.logs.calls import analyze
    from truant.logs.calls import plan as plan_follow_ups

    columns: dict[str, Any] = {"arm": "mail", "outcome": "spent"}
    world, rng = mail_world(), np.random.default_rng(seed)
    customers = customers_of(world, rng.integers(0, len(MAILS), ROWS), rng)
    path = customers.write(folder / TABLE)
    plan = plan_follow_ups(path, **columns, id="customer", budget=CALLS, seed=seed)
    called = np.isin(customers.ids, plan.rows()["id"].to_pylist())
    # not in groups, since `by` is not used
    mar: Any = analyze(path, **columns, mediator="opened")
    alone: Any = analyze(path, **columns, range=(LOW, HIGH))
    followed: Any = analyze(customers.write(folder / FOLLOWED, called), **columns, followed_up="called")
    dropping = mar.winner["naive"]
    harmless: Any = analyze(path, **columns, mediator="opened", where=f"mail != '{dropping}'")
    spent = np.where(customers.known, customers.spent, 0.0)
    zeros = {mail: MeanOrBounds(float(spent[customers.mail == i].mean())) for i, mail in enumerate(MAILS)}
    ways = {
        "rows_dropped": Way(
            "Rows dropped",
            "Means of the rows with an outcome, with 95% intervals. Nothing in them shows that one is far too high.",
            {arm.arm: MeanOrBounds.of(arm.naive) for arm in mar.arms},
            dropping,
        ),
        "set_to_zero": Way(
            "Missing outcomes set to 0",
            "Means with 0 for each missing outcome: the lower, the more outcomes of a mail are missing.",
            zeros,
            max(zeros, key=zeros.__getitem__),
        ),
        "mar": Way(
            "truant, with the column 'opened'",
            "Estimates under mar with 95% intervals: among customers of one mail who all opened it, or all did not, "
            "outcomes are missing by chance. The data cannot test this.",
            {arm.arm: MeanOrBounds.of(arm.estimates["mar"]) for arm in mar.arms},
            named_by(mar),
        ),
        "no_mediator": Way(
            "truant, without the column 'opened'",
            f"From the mean if all missing outcomes were 0 to the mean if all were {HIGH:.0f}: without a mediator, "
            "the table alone does not tell more.",
            {arm.arm: MeanOrBounds.of(arm.bounds) for arm in alone.arms},
            named_by(alone),
            HIGH,
        ),
        "follow_up": Way(
            f"truant, after {CALLS} follow-ups",
            f"Estimates after {CALLS} follow-ups with 95% intervals: they hold whatever the reason for missingness.",
            {arm.arm: MeanOrBounds.of(arm.estimates["follow-up"]) for arm in followed.arms},
            named_by(followed),
            HIGH,
        ),
    }
    analyses = {"mar": mar, "no_mediator": alone, "follow_up": followed}
    verdicts = {name: analysis.verdict_sentence for name, analysis in analyses.items()}
    true_means = dict(zip(MAILS, world.means.tolist(), strict=True))
    return TableResult(customers, true_means, ways, verdicts, harmless, plan)


@dataclass(frozen=True)
class Played:
    """What a policy lost and sent."""

    policy: str  # name of the policy
    horizon: int  # customers in each run
    runs: int  # number of runs
    regret_mean: float  # spending lost against the best mail for all customers; mean of the runs
    second_half_share: float  # share of it that was lost in the second half of the customers
    shares: dict[str, float]  # share of the customers who got each mail


def compare_policies(seed: int = SEED) -> tuple[Simulation, list[Played]]:
    """Simulate a policy that drops missing outcomes beside one that uses the mediator, with the same mails."""
    from truant.lab.simulate import simulate

    policies = [DROPS, LEARNS]
    simulation = simulate(mail_world(), policies, horizon=HORIZON, runs=RUNS, seed=seed, progress=False)
    played = []
    for row, pulls in zip(simulation.table().to_pylist(), simulation.pulls, strict=True):
        sent = pulls.sum(axis=0)
        shares = dict(zip(MAILS, (sent / sent.sum()).tolist(), strict=True))
        late = 1 - row["regret_first_half_mean"] / row["regret_mean"]
        played.append(Played(row["policy"], HORIZON, RUNS, row["regret_mean"], late, shares))
    return simulation, played


def run_experiment(folder: Path, seed: int = SEED) -> Status:
    """Create an experiment, ask for each customer, tell what becomes known, each at its own time, and take stock."""
    from truant.live.experiment import Experiment
    from truant.live.times import DAY, ManualClock

    store = folder / STORE
    for old in (store, *(store.with_name(STORE + end) for end in ("-wal", "-shm"))):
        old.unlink(missing_ok=True)
    # it ends today, so that `truant status` finds most windows of the last week still open
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    clock = ManualClock(today - timedelta(days=DAYS))
    made = Experiment.create(
        NAME,
        MAILS,
        mediator_levels=LEVELS,
        range=(LOW, HIGH),
        assume="mar",
        window="7d",
        horizon=DAYS * EACH_DAY,
        store=store,
        clock=clock,
    )
    world, rng, start = mail_world(), np.random.default_rng(seed), clock()
    waiting: list[tuple[int, int, str, dict[str, Any]]] = []  # when, number, decision, what is told
    with closing(made.store) as place:
        # windows are closed once a day, as a nightly job would
        experiment = Experiment.open(NAME, store=place, clock=clock, seed=seed, settles=False)
        for number in range(DAYS * EACH_DAY + 1):
            now = start + number * DAY // EACH_DAY
            while waiting and waiting[0][0] <= now:
                when, _, decision_id, news = heapq.heappop(waiting)
                clock.advance(when - clock())
                experiment.tell(decision_id, **news)
            clock.advance(now - clock())
            if number == DAYS * EACH_DAY:
                break
            if number % EACH_DAY == 0:
                experiment.close_windows()
            decision = experiment.ask(key=f"C{number + 1:04}")
            customer = customers_of(world, np.array([MAILS.index(decision.arm)]), rng)
            opening = now + int(rng.exponential(TO_OPEN) * DAY)
            spending = opening + int(rng.exponential(TO_SPEND) * DAY)
            opened = {"mediator": LEVELS[customer.opened[0]]}
            heapq.heappush(waiting, (opening, 2 * number, decision.id, opened))
            if customer.known[0]:
                spent = {"outcome": float(customer.spent[0])}
                heapq.heappush(waiting, (spending, 2 * number + 1, decision.id, spent))
        return experiment.status(calibrate=True, progress=False)
