"""`table` and `from_table`: your own rows as a world, so that you can ask which policy would have served you."""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from truant.errors import InvalidValue, require
from truant.tables.arrow import KINDS, columns_of
from truant.tables.csv_files import CsvFile, csv_query, explained, look_at
from truant.tables.engine import open_in_memory
from truant.tables.request import Request, understand
from truant.worlds.discrete import DiscreteWorld
from truant.worlds.real import RealWorld
from truant.worlds.replay import ESTIMATED, Chances, Replay, tally

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")

Stamp = tuple[int, int]  # when a file was changed, and its size: a changed file is read again


def from_table(
    data: Any,
    *,
    arm: str,
    outcome: str,
    mediator: str | Sequence[str] | None = (),
    gamma: Chances = ESTIMATED,
    mediator_gamma: Chances = ESTIMATED,
    levels: Sequence[float] | None = None,
    range: tuple[float, float] | None = None,
    minimize: bool = False,
) -> RealWorld | DiscreteWorld:
    """A world that replays the rows of a table: each outcome is one of those observed in its (arm, mediator) cell.

    P(m|a) is that of the rows whose mediator is known; an arm's true mean is the mean of its cells at these
    weights: what `mar` estimates. So the world takes it as true that within a cell the missing outcomes are like the
    observed ones. Arms and levels come in sorted order, as `arm_names` and `mediator_names` of the world say.

    Parameters
    ----------
    data : pandas, polars or Arrow table (anything with the Arrow interface), dict of columns, or path of a CSV or
        Parquet file. Missing is NULL, NaN, blank, - and in any case NA, N/A, #N/A, NaN, null and None; yes and no
        are 1 and 0.
    arm, outcome : columns. Rows without an arm are skipped.
    mediator : column or columns; several combine into one; `NAME:3` cuts a number into thirds over all arms, ties to
        the lower. None: no mediator.
    gamma : P(O=1|m,a), "estimated" (as often as in the table: if nothing is missing there, nothing is here) or
        chosen: one number for all, or a row of K numbers for each arm. Of a discrete outcome also K x L numbers for
        each arm: it may then be missing depending on itself.
    mediator_gamma : P(Q=1|a), "estimated" or chosen: one number, or one for each arm. Where the mediator is missing,
        a real outcome is seen as often as in such rows of its arm, a discrete one as often as in others.
    levels : all values of a discrete outcome, () for a real one; unless given, at most ten distinct values are
        levels, as `analyze` takes them. Assumptions of the mnar kind need a discrete outcome.
    range : lowest and highest outcome that policies are told; those observed unless given.
    minimize : the best arm is the one with the lowest mean: costs, churn, deaths.
    """
    world = replay_of(data, arm=arm, outcome=outcome, mediator=mediator, levels=levels, range=range).world(
        gamma, mediator_gamma, minimize
    )
    if isinstance(data, str | os.PathLike):  # so that results are not written to it
        vars(world)["inputs"] = (os.path.abspath(os.path.expanduser(data)),)
    return world


def table(
    rng: np.random.Generator,
    *,
    data: str = "",
    arm: str = "",
    outcome: str = "",
    mediator: str | Sequence[str] = (),
    gamma: Chances = ESTIMATED,
    mediator_gamma: Chances = ESTIMATED,
    levels: Sequence[float] | None = None,
    range: tuple[float, float] | None = None,
    minimize: bool = False,
) -> RealWorld | DiscreteWorld:
    """Rows of your own CSV or Parquet file, drawn at random: set data, arm, outcome and perhaps mediator.

    The same as `truant.worlds.from_table` in Python. All runs have the same means.

    Parameters
    ----------
    data : CSV or Parquet file with one row for each past decision.
    arm : Column with the arm of each row.
    outcome : Column with the outcome, empty where it is missing.
    mediator : Column known before the outcome, or several; NAME:3 cuts a number into thirds.
    gamma : Probability that an outcome is observed: estimated (as often as in the data), one number for all, or one
        for each arm and mediator level.
    mediator_gamma : Probability that the mediator is observed: estimated (as often as in the data), one number, or
        one for each arm.
    levels : All values of a discrete outcome; unless set, at most ten distinct values are taken as levels.
    range : Lowest and highest possible outcome; unless set, those observed.
    minimize : Whether lower outcomes are better.
    """
    for name, value in (("data", data), ("arm", arm), ("outcome", outcome)):
        if isinstance(value, str) and not value:
            raise InvalidValue(
                f"World 'table' needs a file and its columns, as in data=visits.csv, arm=mail, outcome=spent; "
                f"{name} is not set."
            )
    if not isinstance(data, str | os.PathLike):
        raise InvalidValue(
            f"World 'table' reads a file, got {type(data).__name__} as data; use truant.worlds.from_table."
        )
    return replay_of(data, arm=arm, outcome=outcome, mediator=mediator, levels=levels, range=range).world(
        gamma, mediator_gamma, minimize
    )


def replay_of(
    data: Any,
    *,
    arm: str,
    outcome: str,
    mediator: str | Sequence[str] | None = (),
    levels: Sequence[float] | None = None,
    range: tuple[float, float] | None = None,
) -> Replay:
    """The cells of a table, from which worlds with any missingness can be made; parameters as in `from_table`."""
    wanted = (arm, outcome, mediator, None, levels, range)
    if isinstance(data, str | os.PathLike):
        require("logs", "Worlds made of a file")
        path, stamp = _found(data)
        return _replay_of_file(path, stamp, understand(_columns(path, stamp), *wanted))
    columns = columns_of(data)
    if columns is None:
        raise InvalidValue(
            f"data must be {KINDS}, a dict of columns or the path of a file; got {type(data).__name__}."
        )
    request = understand(columns.names, *wanted)
    places = {role: columns.names.index(name) for role, name in request.names().items()}
    return tally(columns.table(places), request, untyped=False)


def _found(data: str | os.PathLike[str]) -> tuple[str, Stamp]:
    """The file, with what tells whether it has changed since it was read."""
    name = os.fspath(data)
    if re.match(r"\s*\w[\w+.-]+:/", name):  # not quoted: a URL may hold a password
        raise InvalidValue(
            "A world of a table reads one file of this machine, no URL; write the rows to a file first."
        )
    path = Path(name).expanduser().absolute()
    try:
        there = path.is_file()
    except OSError as error:  # a name that is too long, or a folder that may not be entered
        raise InvalidValue(
            f"The file {name[:60]!r} cannot be read: {error.strerror}; check the path."
        ) from None
    if not there:
        if path.exists() or glob.has_magic(name):
            raise InvalidValue(f"A world of a table reads one file, and {name!r} is none; name a file.")
        raise InvalidValue(f"The file {name!r} does not exist; check the path.")
    if not path.name.lower().endswith(CSV + PARQUET):
        raise InvalidValue(f"The file name must end in {', '.join(CSV + PARQUET)}, got {name!r}.")
    status = path.stat()
    if status.st_size == 0:
        raise InvalidValue(f"Cannot read {name!r}: it is empty; a table needs a header and rows.")
    return os.fspath(path), (status.st_mtime_ns, status.st_size)


# every run of a simulation asks for the world anew: what was read once is kept


@functools.lru_cache(maxsize=8)
def _columns(path: str, stamp: Stamp) -> tuple[str, ...]:
    with _plain_errors(path):
        if path.lower().endswith(PARQUET):
            import pyarrow.parquet

            return tuple(pyarrow.parquet.read_schema(path).names)
        return _csv(path).columns


@functools.lru_cache(maxsize=8)
def _replay_of_file(path: str, stamp: Stamp, request: Request) -> Replay:
    names = request.names()
    typed = path.lower().endswith(PARQUET)
    with _plain_errors(path):
        if typed:
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(path, columns=list(names.values()), partitioning=None)
        else:
            file = _csv(path)
            places = [f'"column {file.columns.index(name)}"' for name in names.values()]
            with closing(open_in_memory([path])) as connection:
                query = f"SELECT {', '.join(places)} FROM ({csv_query([file])[0]})"
                table = connection.sql(query).to_arrow_table()
    return tally(table.rename_columns(list(names)), request, untyped=not typed)


def _csv(path: str) -> CsvFile:
    """All as text, read as `analyze` reads it, whatever the separator."""
    return look_at(path, path, "utf-8", "")


@contextmanager
def _plain_errors(path: str) -> Iterator[None]:
    """Whatever a reader raises, as one sentence."""
    import duckdb
    import pyarrow

    try:
        yield
    except (duckdb.Error, pyarrow.ArrowException, OSError) as error:
        known = explained(error, [_csv(path)]) if isinstance(error, duckdb.Error) else None
        if known is not None:
            raise known from error
        said = str(error).strip().partition("\n")[0].rstrip(".:;")
        raise InvalidValue(f"Cannot read {path!r}: {said}; check that it is whole and readable.") from error


parts = {"table": table}
