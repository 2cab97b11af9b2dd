"""Part 1 of the demo: a table with missing outcomes, analysed in five ways beside the true means."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from truant.demo.mails import HIGH, LOW, MAILS, OPENED, Customers, customers_of, mail_world
from truant.files import written_whole

if TYPE_CHECKING:
    from truant.logs.log_analysis import LogAnalysis
    from truant.logs.log_plan import LogPlan

TABLE, FOLLOWED = "mails.csv", "mails-followed.csv"
ROWS, SEED, CALLS = 3000, 1, 60
COLUMNS: dict[str, Any] = {"arm": "mail", "outcome": "spent"}


@dataclass(frozen=True, eq=False)
class TableResult:
    """The table and what each way to treat its missing outcomes says."""

    customers: Customers
    true_means: dict[str, float]
    with_zeros: dict[str, float]  # means if missing outcomes are set to 0
    by_mediator: LogAnalysis  # with the column `opened`
    harmless: LogAnalysis  # the two mails for which dropping rows does no harm
    no_mediator: LogAnalysis  # without the column `opened`
    plan: LogPlan  # of the follow-ups, without the column `opened`
    followed: LogAnalysis  # after these follow-ups, without it

    @property
    def best(self) -> str:
        """The mail with the highest true mean."""
        return max(self.true_means, key=self.true_means.__getitem__)

    @property
    def dropping_names(self) -> str:
        """The mail with the highest mean among the rows with an outcome."""
        return self.by_mediator.winner["naive"]

    @property
    def zeros_name(self) -> str:
        """The mail with the highest mean if missing outcomes are set to 0."""
        return max(self.with_zeros, key=self.with_zeros.__getitem__)


def analyse_table(folder: Path, seed: int = SEED) -> TableResult:
    """Draw the table, write it, analyse it, follow up the rows of a plan, and analyse again."""
    from truant.logs.plan import plan as plan_follow_ups

    world = mail_world()
    rng = np.random.default_rng(seed)
    customers = customers_of(world, rng.integers(0, len(MAILS), ROWS), rng)
    path = _write(folder / TABLE, customers)
    plan = plan_follow_ups(path, **COLUMNS, id="customer", budget=CALLS, seed=seed)
    called = np.isin(customers.ids, plan.rows()["id"].to_pylist())
    answered = _write(folder / FOLLOWED, customers, called)
    others = f"mail != '{_misleading(customers)}'"
    return TableResult(
        customers=customers,
        true_means=dict(zip(MAILS, world.means.tolist(), strict=True)),
        with_zeros={mail: _mean_with_zeros(customers, number) for number, mail in enumerate(MAILS)},
        by_mediator=_analysed(path, mediator="opened"),
        harmless=_analysed(path, mediator="opened", filter=others),
        no_mediator=_analysed(path, range=(LOW, HIGH)),
        plan=plan,
        followed=_analysed(answered, followed_up="called"),
    )


def _analysed(path: Path, **options: Any) -> LogAnalysis:
    from truant.logs.analyze import analyze
    from truant.logs.log_analysis import LogAnalysis

    found = analyze(path, **COLUMNS, **options)
    assert isinstance(found, LogAnalysis)  # not in groups, since `by` is not used
    return found


def _misleading(customers: Customers) -> str:
    """The mail with the highest mean among the rows with an outcome."""
    means = [
        customers.spent[(customers.mail == number) & customers.known].mean() for number in range(len(MAILS))
    ]
    return MAILS[int(np.argmax(means))]


def _mean_with_zeros(customers: Customers, number: int) -> float:
    spent = np.where(customers.known, customers.spent, 0.0)
    return float(spent[customers.mail == number].mean())


def _write(path: Path, customers: Customers, called: npt.NDArray[np.bool_] | None = None) -> Path:
    """Write the table; outcomes are empty where they are neither known nor were asked for in a call."""
    header = ["customer", "mail", "opened", "spent"]
    with written_whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header if called is None else [*header, "called"])
        for row, name in enumerate(customers.ids):
            asked = called is not None and bool(called[row])
            spent = f"{customers.spent[row]:.2f}" if customers.known[row] or asked else ""
            cells = [name, MAILS[customers.mail[row]], OPENED[customers.opened[row]], spent]
            writer.writerow(cells if called is None else [*cells, "yes" if asked else "no"])
    return path
