"""Tells the lines of a file in bulk, and keeps a verdict on each."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from truant.cli.live.outcomes_file import Line, OutcomesFile, tell_of
from truant.errors import AlreadyTold, TruantError
from truant.files import written_whole
from truant.terminal.progress import progress_bar

if TYPE_CHECKING:
    from truant.live.experiment import Experiment

CHUNK = 5000  # lines of one transaction
BLANK, REFUSED = "blank", "refused"


class Verdict(NamedTuple):
    """What became of one line: accepted, repeated, late, blank (nothing to tell) or refused."""

    line: int
    id: str | None
    key: str | None
    verdict: str
    refusal: str | None = None


@dataclass
class ToldFile:
    """The verdicts on all lines, in their order."""

    verdicts: list[Verdict] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How many lines have each verdict."""
        found = dict.fromkeys(("accepted", "repeated", "late", BLANK, REFUSED), 0)
        for one in self.verdicts:
            found[one.verdict] += 1
        return found

    def summary(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        lines = [one._asdict() for one in self.verdicts]
        return {"lines": len(lines), "counts": self.counts(), "verdicts": lines}


def tell_file(experiment: Experiment, file: OutcomesFile) -> ToldFile:
    """Tell all lines, some thousand at a time; what was told before an error stays."""
    result, lines = ToldFile(), file.lines()
    with progress_bar("telling", None) as done:
        while some := list(islice(lines, CHUNK)):
            try:
                result.verdicts += _told(experiment, some)
            except TruantError as error:
                raise error.advising(_kept_before(result)) from None
            done(len(result.verdicts) / file.size)
    return result


def _kept_before(result: ToldFile) -> str:
    if not result.verdicts:
        return "No line was told."
    last = result.verdicts[-1].line
    return f"Lines up to {last:,} were told and are kept; tell the same file again for the others."


def _told(experiment: Experiment, lines: list[Line]) -> Iterator[Verdict]:
    read = [_read(experiment, line) for line in lines]
    answers = iter(experiment.tell_many(one for one in read if isinstance(one, dict)))
    for line, one in zip(lines, read, strict=True):
        id, key = line.values.get("id"), line.values.get("key")
        if one is None:
            yield Verdict(line.number, id, key, BLANK)
            continue
        answer = one if isinstance(one, TruantError) else next(answers)
        if isinstance(answer, TruantError):
            if isinstance(answer, AlreadyTold):
                answer = answer.advising_instead("Use `truant correct` to change it.")
            yield Verdict(line.number, id, key, REFUSED, str(answer))
        else:
            yield Verdict(line.number, answer.id, key, answer.verdict)


def _read(experiment: Experiment, line: Line) -> dict[str, Any] | TruantError | None:
    """What a line tells, or why it cannot be read; None if it tells nothing."""
    try:
        return tell_of(experiment, line) if line.says_something else None
    except TruantError as error:
        return error


def write_verdicts(result: ToldFile, path: Path) -> Path:
    """Write a row for each line of the file that was told."""
    with written_whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(Verdict._fields)
        rows.writerows(result.verdicts)
    return path
