"""Runs the demo: three parts one after the other, then the page and the picture."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from truant.demo.extras import require_extras
from truant.demo.learning import DROPS, LEARNS, LearningResult, compare_policies
from truant.demo.live import NAME, STORE, LiveResult, run_experiment
from truant.demo.table import CALLS, FOLLOWED, SEED, TABLE, TableResult, analyse_table
from truant.demo.words import PARTS, learning_sentences, live_sentences, named_by, table_sentences
from truant.documents import document
from truant.files import locked, output_folder

PAGE, PICTURE = "index.html", "picture.png"
FILES = (TABLE, FOLLOWED, STORE, PAGE, PICTURE)

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Demo:
    """A finished demo."""

    folder: Path
    table: TableResult
    learning: LearningResult
    live: LiveResult
    commands: tuple[tuple[str, str], ...]  # what each is for, and the command
    seconds: float  # of the computations, without drawing the page

    @property
    def page(self) -> Path:
        """The page with everything on it."""
        return self.folder / PAGE

    def summary(self) -> dict[str, Any]:
        """The main figures, as plain values for JSON."""
        return document(
            "demo",
            1,
            {
                "seed": SEED,
                "files": [os.fspath(self.folder / name) for name in FILES],
                "page": os.fspath(self.page),
                "table": _table_summary(self.table),
                "policies": [_policy_summary(self.learning, policy) for policy in (DROPS, LEARNS)],
                "live": _live_summary(self.live),
                "commands": [
                    {"purpose": purpose.rstrip(":"), "command": command} for purpose, command in self.commands
                ],
                "seconds": round(self.seconds, 1),
            },
        )


def run_demo(out: str | os.PathLike[str], *, say: Say, program: str = "truant") -> Demo:
    """Run the three parts and write page and picture.

    Parameters
    ----------
    out : folder for everything; made if it is not there.
    say : is told each line of progress.
    program : how the command is called, in the commands to try next.
    """
    start = time.perf_counter()
    require_extras()
    folder = output_folder(out, "demo", FILES)
    with locked(folder, "demo"):
        table = _part(1, say, lambda: analyse_table(folder), table_sentences)
        learning = _part(2, say, compare_policies, learning_sentences)
        live = _part(3, say, lambda: run_experiment(folder), live_sentences)
        say("Drawing the page ...")
        commands = next_commands(folder, program)
        made = Demo(folder, table, learning, live, commands, time.perf_counter() - start)
        _draw(made)
    return made


def next_commands(folder: Path, program: str) -> tuple[tuple[str, str], ...]:
    """Three commands that go on with the files of the demo."""
    table, calls, report, store = (
        shlex.quote(os.fspath(folder / name)) for name in (TABLE, "follow-up.csv", "analysis.html", STORE)
    )
    columns = "--arm mail --mediator opened --outcome spent"
    return (
        ("Analyse the table yourself:", f"{program} analyze {table} {columns} --html {report}"),
        (
            f"Draw {CALLS} customers to call:",
            f"{program} plan {table} {columns} --id customer --budget {CALLS} --out {calls}",
        ),
        ("Look at the live experiment:", f"{program} status {NAME} --store {store}"),
    )


def _part(number: int, say: Say, run: Callable[[], Any], sentences: Callable[[Any], list[str]]) -> Any:
    say(f"{number}/{len(PARTS)} {PARTS[number - 1]} ...")
    result = run()
    for sentence in sentences(result):
        say(f"    {sentence}")
    return result


def _draw(made: Demo) -> None:
    from truant.demo.page import demo_page
    from truant.demo.picture import save_picture
    from truant.report.document import write_page

    about = f"Computed on this machine in {made.seconds:.0f} s, without drawing this page, with fixed seeds."
    write_page(demo_page(made.table, made.learning, made.live, made.commands, about), made.page)
    save_picture(made.table, made.learning, made.folder / PICTURE)


def _table_summary(result: TableResult) -> dict[str, Any]:
    mails = [
        {
            "mail": arm.arm,
            "rows": arm.pulls,
            "observed": arm.observed,
            "true_mean": result.true_means[arm.arm],
            "rows_dropped": None if arm.naive is None else asdict(arm.naive),
            "set_to_zero": result.with_zeros[arm.arm],
            "mar": _interval(arm.estimates["mar"]),
            "follow_up": _interval(followed.estimates["follow-up"]),
        }
        for arm, followed in zip(result.by_mediator.arms, result.followed.arms, strict=True)
    ]
    return {
        "mails": mails,
        "best": result.best,
        "named": {
            "rows_dropped": result.dropping_names,
            "set_to_zero": result.zeros_name,
            "mar": named_by(result.by_mediator),
            "no_mediator": named_by(result.no_mediator),
            "follow_up": named_by(result.followed),
        },
        "follow_ups": CALLS,
        "verdicts": {
            "mar": result.by_mediator.verdict_sentence,
            "no_mediator": result.no_mediator.verdict_sentence,
            "follow_up": result.followed.verdict_sentence,
        },
    }


def _interval(estimate: Any) -> dict[str, float]:
    return {name: getattr(estimate, name) for name in ("mean", "low", "high")}


def _policy_summary(result: LearningResult, policy: str) -> dict[str, Any]:
    return {
        "policy": policy,
        "horizon": result.simulation.horizon,
        "runs": result.simulation.runs,
        "regret_mean": result.lost(policy),
        "second_half_share": result.late_share(policy),
        "shares": result.shares(policy),
    }


def _live_summary(result: LiveResult) -> dict[str, Any]:
    status = result.status
    return {
        "experiment": NAME,
        "store": os.fspath(result.store),
        "decisions": status.decisions,
        "pending": status.pending,
        "observed": status.observed,
        "missing": status.settled - status.observed,
        "late": status.late,
        "shares": {arm.arm: arm.share for arm in status.arms},
        "verdict": status.verdict,
    }
