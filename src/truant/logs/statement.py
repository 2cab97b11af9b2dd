"""Statements that any engine runs: typed columns, rows as one step of a SELECT after another, and a few functions.

They are sqlglot expressions, written once and rendered for the engine that holds the table. What engines disagree on
without a word is left out on purpose (TRY_CAST, TRIM without a list of characters, sums of true and false), or made
alike when a statement is rendered. So what is here means the same everywhere.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import sqlglot
from sqlglot import exp

BLANKS = " \t\n\r\v\f"  # around texts they do not count
FENCE = "fence"  # in `meta` of a SELECT: the engine must not compute its columns again for each use
JAVA = ("spark", "mysql")  # dialects in which `$` also stands before a last line break
MATCHES = "truant_matches"  # the function that SQLite is given
# dialects that would: the LIMIT that keeps them apart
FENCED = {"sqlite": exp.Literal.number(-1), "postgres": None}

Sql = exp.Expr


class Kind(enum.Enum):
    """What a column holds."""

    TEXT = "text"
    WHOLE = "whole numbers"
    NUMBER = "numbers"
    SINGLE = "numbers of single precision"
    DECIMAL = "decimal numbers"
    BOOLEAN = "true or false"
    DAY = "dates"
    MOMENT = "times"  # without a zone
    INSTANT = "times with a zone"
    SPAN = "durations"
    NESTED = "nested values"
    BINARY = "binary values"
    NOTHING = "nothing"  # a column without any value

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self in (Kind.WHOLE, Kind.NUMBER, Kind.SINGLE, Kind.DECIMAL)

    @property
    def is_time(self) -> bool:
        """Whether its values are days or moments."""
        return self in (Kind.DAY, Kind.MOMENT, Kind.INSTANT)

    @property
    def can_be_nan(self) -> bool:
        """Whether NaN is one of its values; decimals of PostgreSQL can."""
        return self in (Kind.NUMBER, Kind.SINGLE, Kind.DECIMAL)


@dataclass(frozen=True)
class Column:
    """A column of a step, and what it holds; `type` is what the engine calls that."""

    sql: Sql
    kind: Kind
    type: str = ""

    def with_sql(self, sql: Sql) -> Column:
        """The same kind of values, computed otherwise."""
        return replace(self, sql=sql)


@dataclass(frozen=True)
class Rows:
    """A step of a statement: where its rows come from, and its columns."""

    select: exp.Select
    columns: Mapping[str, Column]

    @classmethod
    def of_table(cls, table: Sql, columns: Mapping[str, Column]) -> Rows:
        """All rows of a table, with these columns of it under new names."""
        select = exp.select(*_named({name: column.sql for name, column in columns.items()})).from_(table)
        return cls(select, _renamed(columns))

    def __getitem__(self, name: str) -> Sql:
        return self.columns[name].sql

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __iter__(self) -> Any:
        return iter(self.columns)

    def taking(self, columns: Mapping[str, Column | Sql], fenced: bool = False) -> Rows:
        """The same rows with other columns; `fenced` where these are costly and used more than once."""
        typed = {name: one if isinstance(one, Column) else number(one) for name, one in columns.items()}
        select = exp.select(*_named({name: column.sql for name, column in typed.items()})).from_(self._inner)
        if fenced:
            select.meta[FENCE] = True
        return Rows(select, _renamed(typed))

    def adding(self, columns: Mapping[str, Column | Sql], fenced: bool = False) -> Rows:
        """The same rows with further columns."""
        return self.taking({**self.columns, **columns}, fenced)

    def where(self, *conditions: Sql) -> Rows:
        """The rows for which all of these are true."""
        names = {name: column.sql for name, column in self.columns.items()}
        select = exp.select(*_named(names)).from_(self._inner).where(exp.and_(*conditions))
        return replace(self, select=select)

    def first(self, number: int) -> Rows:
        """So many of the rows."""
        names = {name: column.sql for name, column in self.columns.items()}
        return replace(self, select=exp.select(*_named(names)).from_(self._inner).limit(number))

    def grouped(self, keys: Mapping[str, Sql], values: Mapping[str, Sql]) -> exp.Select:
        """The statement that gives a row for each combination of the keys; one row without any."""
        select = exp.select(*_named({**keys, **values})).from_(self._inner)
        return select.group_by(*(key.copy() for key in keys.values())) if keys else select

    def regrouped(self, keys: tuple[str, ...], values: Mapping[str, Sql]) -> Rows:
        """The combinations of some columns as rows, each with what is computed of its own rows."""
        columns = {name: self.columns[name] for name in keys} | {
            name: number(v) for name, v in values.items()
        }
        return Rows(self.grouped(self.by(*keys), values), _renamed(columns))

    def distinct(self) -> Rows:
        """The rows without repetitions."""
        return replace(self, select=self.select.copy().distinct())

    def joined(self, other: Rows, name: str, other_name: str, *columns: str) -> Rows:
        """The rows with columns of another step, NULL where it has no row whose value is the same."""
        mine = {key: exp.column(key, "r", quoted=True) for key in self.columns}
        theirs = {key: exp.column(key, "o", quoted=True) for key in columns}
        same = exp.EQ(this=mine[name], expression=exp.column(other_name, "o", quoted=True))
        select = exp.select(*_named({**mine, **theirs})).from_(self._inner)
        select = select.join(other.select.subquery("o"), on=same, join_type="left")
        return Rows(select, {**self.columns, **{key: other.columns[key] for key in columns}})

    def by(self, *names: str) -> dict[str, Sql]:
        """These columns as keys."""
        return {name: self[name] for name in names}

    @property
    def _inner(self) -> Sql:
        return self.select.subquery("r", copy=False)


def render(statement: exp.Select, dialect: str, pretty: bool = False) -> str:
    """The text of a statement."""
    rendered: Sql = _in_steps(statement.copy()) if dialect == "sqlite" else statement.copy()
    if dialect in ADAPTED:
        rendered = rendered.transform(ADAPTED[dialect], copy=False)
    for like in rendered.find_all(exp.RegexpLike):
        pattern = like.expression.name
        if dialect in JAVA and pattern.endswith("$"):
            like.set("expression", text(pattern[:-1] + r"\z"))
        if dialect == "sqlite":  # which has no regular expressions
            like.replace(exp.Anonymous(this=MATCHES, expressions=[like.this, like.expression]))
    if dialect in FENCED:
        limit = FENCED[dialect]
        for select in rendered.find_all(exp.Select):
            if select.meta.get(FENCE):
                if limit is not None:
                    select.limit(limit.copy(), copy=False)
                select.offset(0, copy=False)
    return rendered.sql(dialect=dialect, unsupported_level=sqlglot.ErrorLevel.RAISE, pretty=pretty)


def _in_steps(select: exp.Select) -> exp.Select:
    """The statement with its subqueries named in front of it: nested, they overflow SQLite's parser of 100 symbols."""
    steps = list(select.find_all(exp.Subquery, bfs=False))
    for place, subquery in enumerate(reversed(steps)):  # the inner ones first
        name = f"step_{place}"
        select.with_(name, as_=subquery.this, copy=False)
        subquery.replace(exp.alias_(exp.table_(name), subquery.alias, table=True))
    return select


def _for_mysql(node: Sql) -> Sql:
    """Its TRIM takes several characters as one text, patterns ignore case, and there is no NaN: the cast would be 0."""
    if isinstance(node, exp.RegexpLike):
        node.set("flag", text("c"))
    if isinstance(node, exp.Trim) and node.expression is not None:
        blanks = f"[{node.expression.name}]+"
        pattern = text(f"^{blanks}|{blanks}$")
        return exp.Anonymous(this="REGEXP_REPLACE", expressions=[node.this, pattern, text("")])
    return exp.false() if _is_nan_test(node) else node


def _for_bigquery(node: Sql) -> Sql:
    """Where NaN is not equal to itself."""
    return exp.IsNan(this=node.this) if _is_nan_test(node) else node


def _is_nan_test(node: Sql) -> bool:
    return isinstance(node, exp.EQ) and node.expression == nan()


ADAPTED = {"mysql": _for_mysql, "bigquery": _for_bigquery}  # what these mean otherwise, without a word


def column(name: str) -> exp.Column:
    """A column by its name."""
    return exp.column(name, quoted=True)


def number(sql: Sql) -> Column:
    """What is computed as a number."""
    return Column(sql, Kind.NUMBER)


def text(value: str) -> Sql:
    """A text as a value."""
    return exp.Literal.string(value)


def whole(value: int) -> Sql:
    """A whole number as a value."""
    return exp.Literal.number(value)


def real(value: float) -> Sql:
    """A number as a value: without a cast, some engines take 0.1 for a decimal."""
    return double(exp.Literal.string(repr(float(value))))


def double(sql: Sql) -> Sql:
    """Numbers, or texts that are numbers of a plain form, in double precision."""
    return exp.cast(sql, "double")


def as_text(sql: Sql) -> Sql:
    """Values as an engine writes them."""
    return exp.cast(sql, "text")


def trimmed(sql: Sql) -> Sql:
    """Texts without blanks around them."""
    return exp.Trim(this=sql, expression=text(BLANKS))


def replaced(sql: Sql, replacements: Iterable[tuple[str, str]]) -> Sql:
    """Texts in which each of some texts has given way to another."""
    for old, new in replacements:
        sql = exp.func("REPLACE", sql, text(old), text(new))
    return sql


def matches(sql: Sql, pattern: str) -> Sql:
    """Whether a text matches a regular expression of ASCII characters without a backslash."""
    return exp.RegexpLike(this=sql, expression=text(pattern))


def like(sql: Sql, pattern: str, dialect: str) -> Sql:
    """Whether a whole text fits a pattern in which % stands for any letters and _ for one.

    As a regular expression, since LIKE of DuckDB takes a time that grows with the text to the power of the number of %.
    SQLite has none, and its LIKE ignores case; GLOB does not.
    """
    pattern = re.sub("[%_]*%[%_]*", lambda run: "_" * run[0].count("_") + "%", pattern)
    if dialect == "sqlite":
        globbed = {"%": "*", "_": "?"} | {sign: f"[{sign}]" for sign in "*?["}
        return exp.Glob(this=sql, expression=text("".join(globbed.get(sign, sign) for sign in pattern)))
    letter = "(.|[\n\r])" if dialect == "snowflake" else "."  # elsewhere (?s) makes line breaks letters
    signs = {"%": f"{letter}*", "_": letter}
    fitting = "".join(signs.get(sign, re.escape(sign)) for sign in pattern)
    return matches(sql, f"{'' if dialect == 'snowflake' else '(?s)'}^{fitting}$")


def nan() -> Sql:
    """NaN, which in all engines that have it is equal to itself."""
    return double(text("NaN"))


def is_nan(sql: Sql) -> Sql:
    """Whether it is NaN."""
    return exp.EQ(this=sql, expression=nan())


def is_null(sql: Sql) -> Sql:
    """Whether there is no value."""
    return exp.Is(this=_enclosed(sql), expression=exp.null())


def known(sql: Sql) -> Sql:
    """Whether there is a value."""
    return exp.not_(is_null(sql))


def is_in(sql: Sql, values: Iterable[str | float]) -> Sql:
    """Whether it is one of these."""
    return is_one_of(sql, [text(value) if isinstance(value, str) else real(value) for value in values])


def is_one_of(sql: Sql, values: Sequence[Sql]) -> Sql:
    """Whether it is one of these values as they are rendered."""
    return exp.In(this=_enclosed(sql), expressions=list(values))


def if_else(condition: Sql, value: Sql | None, otherwise: Sql | None = None) -> Sql:
    """One value where the condition is true, else the other; None is NULL."""
    case = exp.case().when(condition, exp.null() if value is None else value)
    return case if otherwise is None else case.else_(otherwise)


def flag(condition: Sql) -> Sql:
    """1 where the condition is true, else 0."""
    return if_else(condition, whole(1), whole(0))


def cases(*branches: tuple[Sql, Sql], otherwise: Sql | None = None) -> Sql:
    """The value of the first branch whose condition is true."""
    case = reduce(lambda found, branch: found.when(*branch), branches, exp.case())
    return case if otherwise is None else case.else_(otherwise)


def null_where(conditions: Iterable[Sql], value: Sql) -> Sql:
    """The value, but NULL where one of the conditions is true."""
    listed = list(conditions)
    return if_else(exp.or_(*listed), None, value) if listed else value


def minus(left: Sql, right: Sql) -> Sql:
    """The difference."""
    return exp.paren(exp.Sub(this=_enclosed(left), expression=_enclosed(right)))


def times(*factors: Sql) -> Sql:
    """The product."""
    return reduce(lambda a, b: exp.Mul(this=_enclosed(a), expression=_enclosed(b)), factors)


def over(left: Sql, right: Sql) -> Sql:
    """The quotient of two numbers in double precision."""
    return exp.Div(this=_enclosed(double(left)), expression=_enclosed(right), typed=True)


def floor(sql: Sql) -> Sql:
    """The largest whole number below."""
    return exp.cast(exp.Floor(this=sql), "bigint")


def count(sql: Sql | None = None) -> Sql:
    """How many rows, or how many values."""
    return exp.Count(this=exp.Star() if sql is None else sql)


def count_where(condition: Sql) -> Sql:
    """How many rows for which it is true."""
    return exp.Count(this=if_else(condition, whole(1)))


def distinct(sql: Sql) -> Sql:
    """How many different values."""
    return exp.Count(this=exp.Distinct(expressions=[sql]))


def row_number(*order: Sql) -> Sql:
    """The number of a row in this order, from 1 on; in the order of the table without one."""
    ordered = exp.Order(expressions=[exp.Ordered(this=one) for one in order]) if order else None
    return exp.Window(this=exp.RowNumber(), order=ordered)


def _named(columns: Mapping[str, Sql]) -> list[Sql]:
    return [exp.alias_(sql.copy(), name, quoted=True) for name, sql in columns.items()]


def _renamed(columns: Mapping[str, Column]) -> dict[str, Column]:
    """The columns as the next step finds them."""
    return {name: one.with_sql(column(name)) for name, one in columns.items()}


def _enclosed(sql: Sql) -> Sql:
    """In brackets, if it is made of parts."""
    return exp.paren(sql) if isinstance(sql, exp.Binary | exp.Unary | exp.In | exp.Between) else sql
