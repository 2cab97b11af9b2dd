"""Which column plays which role, what labels are called, and how many there may be; for worlds and logs alike."""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from truant.errors import InvalidValue, quoted, unknown
from truant.setting import LARGEST_OUTCOME, Setting, as_float, finite, is_list, is_number

MARKERS = ("", "na", "n/a", "#n/a", "nan", "null", "none", "-")  # missing: in any case, with blanks around
YES = ("yes", "true", "y", "t", "on")
NO = ("no", "false", "n", "f", "off")


def mixed(name: str, what: str, first: str, second: str) -> str:
    """The sentence on two ways to write in one column."""
    return f"Column {name!r} mixes {what}, such as {first!r} and {second!r}; write all of it in one way."


MOST_CLASSES = 100
MOST_OUTCOME_CLASSES = 10
DIVIDING = (
    "by",
    "unit",
    "time",
    "probability",
    "followed_up",
    "id",
)  # further columns that a request may name


@dataclass(frozen=True)
class MediatorColumn:
    """One mediator column, and into how many classes it is to be cut (0: taken as it is)."""

    column: str
    classes: int = 0


@dataclass(frozen=True)
class OutcomeCut:
    """Into how many classes a real outcome is to be cut at its quantiles (0: at these points)."""

    classes: int = 0
    points: tuple[float, ...] = ()


@dataclass(frozen=True)
class Request:
    """The columns by their roles, and the outcome's levels or range where they were given."""

    arm: str
    outcome: str
    mediators: tuple[MediatorColumn, ...]
    observed: str | None
    levels: tuple[float, ...] | None  # (): real, whatever the data look like
    range: tuple[float, float] | None
    by: str | None = None  # an analysis for each value of this column
    unit: str | None = None  # rows with the same value are not independent
    time: str | None = None  # when a row was
    cut_outcome: OutcomeCut | None = None
    probability: str | None = None  # with which the row's arm was chosen
    followed_up: str | None = None  # true where the outcome was missing at first and then followed up
    id: str | None = None  # names each row

    @property
    def cut_roles(self) -> list[str]:
        """Mediators that are to be cut, by the names that the queries use."""
        return [f"mediator_{i}" for i, mediator in enumerate(self.mediators) if mediator.classes]

    def names(self) -> dict[str, str]:
        """Each column by the name that the queries use: arm, outcome, mediator_0, ..."""
        names = {"arm": self.arm, "outcome": self.outcome}
        names |= {f"mediator_{i}": mediator.column for i, mediator in enumerate(self.mediators)}
        if self.observed is not None:
            names["observed"] = self.observed
        return names | {role: name for role in DIVIDING if (name := getattr(self, role)) is not None}


def understand(
    columns: Sequence[str],
    arm: str,
    outcome: str,
    mediator: str | Iterable[str] | None,
    observed: str | None,
    levels: Iterable[float] | None,
    range: Sequence[float] | None,
    cut_outcome: object = None,
    **dividing: Any,
) -> Request:
    """The request, if these columns can meet it; or raises InvalidValue."""
    words = named_mediators(mediator)
    for column in (arm, outcome, *([] if observed is None else [observed])):
        one_column(column, columns)
    mediators = tuple(_mediator(word, columns) for word in words)
    roles = [arm, outcome, *(found.column for found in mediators)]
    twice = next((name for name in roles if roles.count(name) > 1), None)
    if twice is not None:
        raise InvalidValue(f"Arm, outcome and mediators must be different columns, got {twice!r} twice.")
    if observed in (arm, outcome):
        raise InvalidValue(f"observed must be a column of its own, got {observed!r}, which is named already.")
    for role, name in dividing.items():
        if name is not None:
            one_column(name, columns)
            if name in (arm, outcome):
                raise InvalidValue(f"{role} must be another column than arm and outcome, got {name!r}.")
    known = known_outcomes(levels, range)
    cut = outcome_cut(cut_outcome, known[0])
    marks = dividing.get("followed_up")
    others = {name for role, name in dividing.items() if role not in ("followed_up", "id")}
    if marks is not None and marks in {observed, *others, *(found.column for found in mediators)}:
        raise InvalidValue(f"followed_up must be a column of its own, got {marks!r}, which is named already.")
    return Request(arm, outcome, mediators, observed, *known, cut_outcome=cut, **dividing)


def named_mediators(mediator: object) -> list[Any]:
    """The mediators that were asked for, whether one, several or None."""
    if mediator is None:
        return []
    return [mediator] if isinstance(mediator, str) or not is_list(mediator) else list(mediator)


def one_column(name: object, columns: Sequence[str]) -> None:
    """Refuse a name that is not that of exactly one column."""
    if not isinstance(name, str):
        raise InvalidValue(f"A column name is needed, got {quoted(name)}.")
    if name not in columns:
        raise unknown("column", name, {column for column in columns if column})
    if columns.count(name) > 1:
        raise InvalidValue(f"Column {name!r} occurs {columns.count(name)} times; rename all but one.")


def _mediator(word: object, columns: Sequence[str]) -> MediatorColumn:
    """A mediator: NAME, or NAME:3 for three classes; a column that is itself called NAME:3 comes first."""
    cut = re.fullmatch(r"(.*):(\d{1,9})", word, re.DOTALL) if isinstance(word, str) else None
    if cut is None or word in columns:
        one_column(word, columns)
        return MediatorColumn(str(word))
    name, classes = cut[1], int(cut[2])
    one_column(name, columns)
    if not 2 <= classes <= MOST_CLASSES:
        raise InvalidValue(f"A mediator is cut into 2 to {MOST_CLASSES} classes, got {word!r}.")
    return MediatorColumn(name, classes)


def known_outcomes(
    levels: Iterable[float] | None, range: Sequence[float] | None
) -> tuple[tuple[float, ...] | None, tuple[float, float] | None]:
    """Levels and range as numbers, if they fit each other; or raises InvalidValue."""
    ends = None
    if range is not None:
        given = finite("range", range)
        if given.shape != (2,) or not given[0] < given[1]:
            raise InvalidValue(f"range must be two numbers, low < high, got {quoted(range)}.")
        _not_too_large("range", given)
        ends = float(given[0]), float(given[1])
    if levels is None:
        return None, ends
    plain = is_list(levels) and not isinstance(levels, str) and not hasattr(levels, "__array__")
    listed: Any = list(levels) if plain else levels
    values = tuple(sorted({float(value) for value in finite("levels", listed).ravel()}))
    if values:
        _not_too_large("levels", values)
        Setting(arms=2, levels=values)  # at least two, and apart
        if ends is not None and ends != (values[0], values[-1]):
            raise InvalidValue(
                f"range must go from the lowest to the highest level, {values[0]:g} to {values[-1]:g}, "
                f"got {ends[0]:g} to {ends[1]:g}; give levels alone."
            )
    return values, ends


def outcome_cut(given: object, levels: tuple[float, ...] | None) -> OutcomeCut | None:
    """How the outcome is cut: a number of classes, or increasing points."""
    if given is None:
        return None
    if levels:
        raise InvalidValue("cut_outcome finds the levels of the outcome; give either cut_outcome or levels.")
    if is_number(given):
        classes = as_float(given)
        if classes not in builtins.range(2, MOST_OUTCOME_CLASSES + 1):
            raise InvalidValue(
                f"An outcome is cut into 2 to {MOST_OUTCOME_CLASSES} classes, got cut_outcome={quoted(given)}; a "
                "single point is cut_outcome=[10] (--cut-outcome 10,)."
            )
        return OutcomeCut(classes=int(classes))
    plain = is_list(given) and not isinstance(given, str) and not hasattr(given, "__array__")
    listed: Any = list(given) if plain and is_list(given) else given
    points = finite("cut_outcome", listed)
    rising = points.ndim == 1 and bool((points[1:] > points[:-1]).all())
    if not rising or not 1 <= points.size < MOST_OUTCOME_CLASSES:
        raise InvalidValue(
            f"cut_outcome must be a number of classes or 1 to {MOST_OUTCOME_CLASSES - 1} increasing points, "
            f"got {quoted(given)}."
        )
    _not_too_large("cut_outcome", points)
    return OutcomeCut(points=tuple(float(point) for point in points))


def _not_too_large(name: str, values: Iterable[float]) -> None:
    """The squares of outcomes must be numbers."""
    for value in values:
        if abs(value) > LARGEST_OUTCOME:
            raise InvalidValue(f"{name} must be within ±{LARGEST_OUTCOME:g}, got {value:g}.")


MISSING_GROUP = "(missing)"
PLAIN_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")  # 007 is a name


def in_order(values: Iterable[Any], untyped: bool) -> dict[Any, Any]:
    """Each value with its label, sorted by label: numbers as numbers, text as text.

    In an untyped source (CSV) values are numbers if all of them are written as different numbers.
    """
    found = list(values)
    if untyped and all(isinstance(value, str) and PLAIN_NUMBER.fullmatch(value) for value in found):
        numbers = {value: _whole_as_integer(float(value)) for value in found}
        labels = numbers if len(set(numbers.values())) == len(found) else {value: value for value in found}
    else:
        labels = {value: _whole_as_integer(value) for value in found}
    try:
        return dict(sorted(labels.items(), key=lambda item: item[1]))
    except TypeError:  # of types that do not compare
        return dict(sorted(labels.items(), key=lambda item: str(item[1])))


def group_labels(values: Iterable[Any], untyped: bool) -> dict[Any, str]:
    """Each value of a column that divides rows with its label, in order; those of missing values come last."""
    found = set(values)
    labels = {value: str(label) for value, label in in_order(found - {None}, untyped).items()}
    if None in found:
        labels[None] = MISSING_GROUP + " " * (MISSING_GROUP in labels.values())  # a text may be spelt so
    return labels


def mediator_levels(
    levels: Iterable[tuple[Any, ...]],
    mediators: Sequence[MediatorColumn],
    cuts: Sequence[tuple[float, ...]],
    untyped: bool,
) -> dict[tuple[Any, ...], str]:
    """Each combination that occurs with its label, in order of the first column, then the second, ..."""
    found = list(levels)
    words: list[dict[Any, str]] = []
    for i, mediator in enumerate(mediators):
        labels = in_order({level[i] for level in found}, untyped and not mediator.classes)
        if mediator.classes:
            words.append({code: interval(mediator.column, cuts[i], code) for code in labels})
        elif len(mediators) == 1:
            words.append({value: str(label) for value, label in labels.items()})
        else:
            words.append({value: f"{mediator.column}={label}" for value, label in labels.items()})
    ranks = [{value: rank for rank, value in enumerate(labels)} for labels in words]
    found.sort(key=lambda level: [ranks[i][value] for i, value in enumerate(level)])
    return {level: ", ".join(words[i][value] for i, value in enumerate(level)) for level in found}


def interval(column: str, points: Sequence[float], code: int) -> str:
    """The class in words, such as `286 < cd420 <= 377`."""
    if not points:
        return column
    shown = [written(point) for point in points]
    if len(set(shown)) < len(shown):
        shown = [repr(point) for point in points]
    if code == len(points):
        return f"{column} > {shown[-1]}"
    below = f"{shown[code - 1]} < " if code else ""
    return f"{below}{column} <= {shown[code]}"


def written(number: float) -> str:
    """A number as a reader would write it."""
    return str(_whole_as_integer(number)) if number == int(number) else f"{number:.6g}"


def _whole_as_integer(value: Any) -> Any:
    """Whole floats as integers: a column of 1, 2 and NaN comes as floats."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 2**53:
        return int(value)
    return value


MOST_ARMS = 1_000
MOST_MEDIATORS = 100
FEW_VALUES = 10  # up to which a column is no identifier, however few the rows
MOST_LEVELS = 10  # distinct values of an outcome that is taken as discrete unless told otherwise


def check_distinct(request: Request, arms: int, *mediators: int) -> None:
    """Not too many arms, nor too many levels of a mediator."""
    if arms > MOST_ARMS:
        raise InvalidValue(
            f"At most {MOST_ARMS:,} arms can be compared, column {request.arm!r} holds more; "
            "name the column that says which treatment a row had."
        )
    if max(mediators, default=0) <= MOST_MEDIATORS:
        return
    uncut = [mediator.column for mediator in request.mediators if not mediator.classes]
    remedy = f"cut numbers into classes, as in '{uncut[-1]}:3'" if uncut else "cut into fewer classes"
    names = " x ".join(repr(mediator.column) for mediator in request.mediators)
    raise InvalidValue(f"A mediator may have at most {MOST_MEDIATORS} levels, {names} has more; {remedy}.")


def check_identifiers(request: Request, distinct: Sequence[int], rows: int) -> None:
    """No column of its own value in nearly every row; `distinct` values of the arm and of each mediator."""
    classes = [0, *(mediator.classes for mediator in request.mediators)]
    names = [request.arm, *(mediator.column for mediator in request.mediators)]
    for i, (name, count) in enumerate(zip(names, distinct, strict=True)):
        if classes[i] or count <= FEW_VALUES or count <= rows / 2:
            continue
        came = f"column {name!r} holds {count:,} different values in {rows:,} rows"
        if i == 0:
            raise InvalidValue(
                f"An arm must have several rows, {came} and looks like an identifier; "
                "name the column that says which treatment a row had."
            )
        raise InvalidValue(
            f"A mediator's level must have several rows, {came}, as identifiers and measurements have; "
            f"cut numbers into classes, as in '{name}:3', or name another column."
        )


def check_arms(request: Request, arms: Sequence[Any], rows: int, at_least: int = 2) -> None:
    """Rows, and as many arms as are needed."""
    if rows == 0:
        raise InvalidValue("The table has no rows; rows of at least two arms are needed.")
    if not arms:
        raise InvalidValue(
            f"None of the {rows} rows has an arm: column {request.arm!r} is missing throughout."
        )
    if len(arms) < at_least:
        raise InvalidValue(
            f"At least two arms are needed to compare, column {request.arm!r} holds only {arms[0]!r}."
        )
