"""`python -m research confirm`: whether the recorded figures still hold, by a new run with other random numbers.

Each section is run again at a small share of its runs, and its figures are compared with the recorded ones. What is
computed is kept in out/confirm under the code that it depends on, so a run that was stopped goes on from there.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from research import ROOT
from research.cache import Cache
from research.compared import BAND, LEVEL, Comparison, compare, found_if_moved
from research.figures import SPEED, Change, Figure, figures_of
from research.page import write_pages
from research.record import RECORDS, Code, Confirmation, Record, read_record, write_confirmations
from research.sections import GROUPS, SECTIONS, group_of
from research.workbench import PEERS, Workbench

KEPT = ROOT / "out" / "confirm"


@dataclass
class Rerun:
    """A section that was run again.

    Parameters
    ----------
    record : what is recorded of it; none if it was never made, or cannot be read.
    now : its figures.
    changes : those that are recorded, too.
    missing : names of recorded figures that the new run does not have.
    error : what it failed with.
    """

    section: str
    record: Record | None = None
    now: dict[str, Figure] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    error: str = ""
    seconds: float = 0.0


def confirm(names: Sequence[str], draw: int = 1, as_json: bool = False) -> bool:
    """Run sections again and compare their figures; whether something was compared, and nothing failed or moved.

    Parameters
    ----------
    draw : which random numbers; 0 are those of the recorded figures.
    """
    code = Code.present()
    start = time.monotonic()
    reruns: list[Rerun] = []
    stopped = False
    with _progress_on_stderr(as_json):
        for name in dict.fromkeys(names):
            try:
                reruns.append(rerun(name, draw))
            except KeyboardInterrupt:  # what was run again is worth comparing
                stopped = True
                break
            print(_progress(reruns[-1], len(reruns), len(names)), flush=True)
    comparison = compare([change for one in reruns for change in one.changes])
    _record(reruns, comparison, code, draw)
    found = found_if_moved(comparison.changes)
    answer = Answer(reruns, comparison, *found, code.commit, draw, (time.monotonic() - start) / 60)
    print(json.dumps(answer.document, indent=2, allow_nan=False) if as_json else answer.text)
    if stopped:
        sys.exit("Stopped: other sections were not run again. What was computed is kept.")
    return bool(comparison.changes) and not answer.moved


def rerun(name: str, draw: int) -> Rerun:
    """One section at the size at which its figures are confirmed."""
    result = Rerun(name)
    start = time.monotonic()
    try:
        result.record, section = read_record(name, RECORDS), SECTIONS[name]
        if result.record is None or not result.record.figures or section.confirmed_share == 0:
            return result
        bench = replace(workbench(draw), share=section.confirmed_share, measured_on=set())
        paragraphs = section.make(bench)
        if not paragraphs:  # what it needs is not here
            return result
        made = figures_of(paragraphs)
        result.now = {figure: Figure.of_record(number.record) for figure, number in made.items()}
        if not made:
            result.error = "it has no figures any more"
    except Exception as error:  # the others are worth confirming, too
        traceback.print_exc()
        result.error = f"{type(error).__name__}: {error}"
    for figure, recorded in result.record.figures.items() if result.record else ():
        if figure in result.now:
            result.changes.append(Change(name, figure, recorded, result.now[figure]))
        else:
            result.missing.append(figure)
    result.seconds = time.monotonic() - start
    return result


def workbench(draw: int) -> Workbench:
    """Where figures are made to be compared: apart from the pages and from what is kept of them."""
    bench = Workbench(KEPT / "docs", Cache(KEPT / "kept"), peers=PEERS, draw=draw)
    bench.images.mkdir(parents=True, exist_ok=True)
    return bench


def _record(reruns: Sequence[Rerun], comparison: Comparison, code: Code, draw: int) -> None:
    """Note how each section ended, and say so on the pages."""
    now = datetime.datetime.now().isoformat(timespec="minutes")
    confirmations = {}
    for one in reruns:
        if one.record is not None and (one.changes or one.error):
            confirmations[one.section] = Confirmation(
                now,
                code.commit,
                code.sources,
                one.record.fingerprint,
                draw,
                len(one.changes),
                _of_section(one.section, comparison.moved),
                _of_section(one.section, comparison.moved_columns),
                one.missing,
                one.error,
            )
    write_confirmations(confirmations, RECORDS)
    for group in dict.fromkeys(group_of(one.section) for one in reruns):
        write_pages(ROOT / "docs", GROUPS[group], RECORDS)


def _of_section(section: str, moved: Mapping[str, str]) -> list[str]:
    return [name for name in moved if name.startswith(f"{section}: ")]


@dataclass(frozen=True)
class Answer:
    """What the command says."""

    reruns: Sequence[Rerun]
    comparison: Comparison
    found_if_moved: dict[str, float]
    found_if_column_moved: dict[str, float]
    commit: str
    draw: int
    minutes: float

    @property
    def moved(self) -> dict[str, str]:
        """Figures and columns that have moved, and sections that failed, each with a few words."""
        failed = {f"{one.section}: failed": one.error for one in self.reruns if one.error}
        return self.comparison.moved | self.comparison.moved_columns | failed

    @property
    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "figures": len(self.comparison.changes),
            "moved": list(self.moved),
            "level": LEVEL,
            "found_if_moved": self.found_if_moved,
            "found_if_column_moved": self.found_if_column_moved,
            "values": self.moved,
            "code": self.commit,
            "draw": self.draw,
            "minutes": round(self.minutes, 1),
            "sections": {
                one.section: {
                    "figures": len(one.changes),
                    "missing": one.missing,
                    "seconds": round(one.seconds, 1),
                }
                for one in self.reruns
            },
        }

    @property
    def text(self) -> str:
        """The answer in sentences."""
        compared = len(self.comparison.changes)
        lines = [
            f"{compared} figures compared in {self.minutes:.0f} minutes, {len(self.moved)} moved or failed."
        ]
        lines += [f"  {name}: {words}" for name, words in self.moved.items()]
        for kind, change in self.found_if_moved.items():
            lines.append(_power(kind, change, self.found_if_column_moved.get(kind)))
        lines.append(f"Level {LEVEL:g} for all of them together.")
        if missing := sum(len(one.missing) for one in self.reruns):
            lines.append(
                f"{missing} recorded figures were not compared, since the new run does not have them."
            )
        if not compared:
            lines.append(
                "Nothing was compared: no recorded figures, only absolute times, or what is needed is not here."
            )
        anew: dict[str, list[str]] = {}
        for one in self.reruns:
            if _of_section(one.section, self.comparison.moved | self.comparison.moved_columns):
                anew.setdefault(group_of(one.section), []).append(one.section)
        lines += [f"Make anew: python -m research {group} {' '.join(names)}" for group, names in anew.items()]
        return "\n".join(lines)


def _power(kind: str, change: float, column_change: float | None) -> str:
    if kind == SPEED:
        return f"A {kind} may differ by a factor of {BAND:g}."
    if change == 0:
        return f"An {kind} figure must be the same."
    unit = " of its value" if kind == "mean" else ""
    column = f", {column_change:.2g}{unit} in a whole column" if column_change is not None else ""
    return f"Found with probability .8: a change of a {kind} by {change:.2g}{unit}{column} (medians)."


def _progress(one: Rerun, number: int, of: int) -> str:
    what = one.error or (f"{len(one.changes)} figures" if one.changes else "nothing to compare here")
    return f"[{number}/{of}] {one.section}: {what}, {one.seconds:.0f} s"


@contextlib.contextmanager
def _progress_on_stderr(as_json: bool) -> Iterator[None]:
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        yield
