"""Runs the demo: three parts one after the other, then the page."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from truant.demo import parts
from truant.demo.records import (
    DemoCommand,
    DemoExperiment,
    DemoInterval,
    DemoMail,
    DemoNames,
    DemoSummary,
    DemoTable,
    DemoVerdicts,
)
from truant.envelope import plain
from truant.files import locked, output_folder
from truant.shown import Shown

if TYPE_CHECKING:
    from truant.lab.result import Simulation
    from truant.live.status import Status

PAGE = "index.html"
FILES = (parts.TABLE, parts.FOLLOWED, parts.STORE, PAGE)


@dataclass(frozen=True, eq=False)
class Demo(Shown):
    """A finished demo."""

    _views: ClassVar = {"document": "truant.demo.document:demo_document"}

    folder: Path
    table: parts.TableResult
    simulation: Simulation
    policies: list[parts.Played]
    status: Status  # of the live experiment
    commands: list[tuple[str, str]]  # what each is for, and the command
    seconds: float  # of the computations, without drawing the page

    @property
    def page(self) -> Path:
        """The page with everything on it."""
        return self.folder / PAGE

    def summary(self) -> dict[str, Any]:
        """The main figures, as plain values for JSON."""
        status, store = self.status, os.fspath(self.folder / parts.STORE)
        figures = DemoSummary(
            seed=parts.SEED,
            files=[os.fspath(self.folder / name) for name in FILES],
            page=os.fspath(self.page),
            table=_table_figures(self.table),
            policies=self.policies,
            live=DemoExperiment(
                experiment=parts.NAME,
                store=store,
                decisions=status.decisions,
                pending=status.pending,
                observed=status.observed,
                missing=status.settled - status.observed,
                late=status.late,
                shares={arm.arm: arm.share for arm in status.arms},
                verdict=status.verdict,
            ),
            commands=[DemoCommand(what.rstrip(":"), command) for what, command in self.commands],
            seconds=round(self.seconds, 1),
        )
        return dict(plain(figures))


def _table_figures(table: parts.TableResult) -> DemoTable:
    """The first part of the demo as its document has it."""
    dropped, zeros, mar, calls = (
        table.ways[name].values for name in ("rows_dropped", "set_to_zero", "mar", "follow_up")
    )
    customers, figures = table.customers, []
    for number, (mail, true) in enumerate(table.true_means.items()):
        own: dict[str, Any] = {
            name: DemoInterval(**values[mail]._asdict())
            for name, values in (("rows_dropped", dropped), ("mar", mar), ("follow_up", calls))
        }
        rows, observed = (customers.mail == number), customers.known[customers.mail == number]
        zero: Any = zeros[mail].mean
        figures.append(
            DemoMail(
                mail=mail,
                rows=int(rows.sum()),
                observed=int(observed.sum()),
                true_mean=true,
                set_to_zero=zero,
                **own,
            )
        )
    named: dict[str, Any] = {name: way.named for name, way in table.ways.items()}
    return DemoTable(
        mails=figures,
        best=table.best,
        named=DemoNames(**named),
        follow_ups=parts.CALLS,
        verdicts=DemoVerdicts(**table.verdicts),
    )


def run_demo(out: str | os.PathLike[str], *, say: Callable[[str], None], program: str = "truant") -> Demo:
    """Run the three parts and write the page.

    Parameters
    ----------
    out : folder for everything; made if it is not there.
    say : is told each line of progress.
    program : how the command is called, in the commands to try next.
    """
    start = time.perf_counter()
    folder = output_folder(out, "demo", FILES)
    with locked(folder, "demo"):
        say("1/3 A table with missing outcomes ...")
        table = parts.analyse_table(folder)
        say(f"2/3 Two policies, {parts.HORIZON:,} customers ...")
        simulation, played = parts.compare_policies()
        say("3/3 A live experiment on SQLite ...")
        status = parts.run_experiment(folder)
        say("Drawing the page ...")
        commands, seconds = next_commands(folder, program), time.perf_counter() - start
        made = Demo(folder, table, simulation, played, status, commands, seconds)
        made.report(made.page)
    return made


def next_commands(folder: Path, program: str) -> list[tuple[str, str]]:
    """Three commands that go on with the files of the demo, each with what it is for."""
    names = (parts.TABLE, "follow-up.csv", "analysis.html", parts.STORE)
    table, calls, report, store = (shlex.quote(os.fspath(folder / name)) for name in names)
    columns = f"{table} --arm mail --mediator opened --outcome spent"
    budget = f"--id customer --budget {parts.CALLS} --out {calls}"
    return [
        ("Analyse the table yourself:", f"{program} analyze {columns} --html {report}"),
        (f"Draw {parts.CALLS} customers to call:", f"{program} plan {columns} {budget}"),
        ("Look at the live experiment:", f"{program} status {parts.NAME} --store {store}"),
    ]
