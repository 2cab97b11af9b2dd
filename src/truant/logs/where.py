"""The conditions of `where`, and the expression that they are, by the types of the columns.

Which rows to keep: a condition in SQL words, read behind a white list and never run as it was written.

    country = 'DE' and (age between 18 and 65 or age is null) and not plan in ('trial', 'test')

sqlglot reads the words; what is not on the list is refused by its name. The conditions are then applied to cleaned
columns: on a text column the text itself would compare '9' and 'NA' with 18 by their letters, and SQLite say nothing.
Three-valued, as in SQL: a missing value is neither equal nor unequal to anything, and a row is kept only where the
condition is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType  # type: ignore[attr-defined]  # it is handed on

from truant.errors import InvalidValue, UnknownName
from truant.logs import statement as sql
from truant.logs.forms import NUMBER, PLAIN, Form
from truant.logs.moments import OTHER_DATE, is_iso, sides
from truant.logs.statement import BLANKS, Column, Kind, Sql
from truant.logs.values import Rules, single_precision
from truant.tables.request import one_column

Literal = str | int | float | bool
NO_FORMS: Mapping[str, Form] = {}
NO_DATES: Mapping[str, Column] = {}


@dataclass(frozen=True)
class Condition:
    """What is asked of one column: an operator (or "in", "between", "like", "missing") with its values."""

    column: str
    operator: str
    values: tuple[Literal, ...] = ()


@dataclass(frozen=True)
class Joined:
    """Conditions joined by "and" or "or", or one condition with "not"."""

    operator: str
    parts: tuple[Condition | Joined, ...]


Tree = Condition | Joined


def joined(operator: str, trees: Iterable[Tree]) -> Joined:
    """Trees joined by "and" or "or"; those that are so themselves give their parts."""
    parts: list[Tree] = []
    for tree in trees:
        parts += tree.parts if isinstance(tree, Joined) and tree.operator == operator else (tree,)
    return Joined(operator, tuple(parts))


def negated(tree: Tree) -> Tree:
    """The opposite, with "not" in front of conditions alone: unknown stays unknown."""
    if isinstance(tree, Condition):
        return Joined("not", (tree,))
    if tree.operator == "not":
        return tree.parts[0]
    return joined("or" if tree.operator == "and" else "and", map(negated, tree.parts))


def depth_of(tree: Tree) -> int:
    """How many joins are within one another."""
    return 0 if isinstance(tree, Condition) else 1 + max(map(depth_of, tree.parts))


def conditions_in(tree: Tree) -> list[Condition]:
    """The conditions that it is made of."""
    return [tree] if isinstance(tree, Condition) else [c for part in tree.parts for c in conditions_in(part)]


def expression(
    tree: Tree,
    columns: Mapping[str, Column],
    rules: Rules,
    forms: Mapping[str, Form] = NO_FORMS,
    dates: Mapping[str, Column] = NO_DATES,
) -> Sql:
    """The condition on these columns; `forms` says how numbers in texts are written, `dates` holds texts as ISO."""
    if isinstance(tree, Condition):
        column = columns[tree.column]
        if tree.operator == "missing":
            return sql.is_null(rules.known(column).sql)
        name = tree.column
        return _condition(tree, column, rules, forms.get(name, PLAIN), dates.get(name, column))
    parts = [expression(part, columns, rules, forms, dates) for part in tree.parts]
    if tree.operator == "not":
        return exp.not_(parts[0])
    return exp.and_(*parts) if tree.operator == "and" else exp.or_(*parts)


def needs_numbers(column: Column, condition: Condition) -> bool:
    """Whether a text column is read as numbers in this condition."""
    return column.kind is Kind.TEXT and any(not isinstance(value, str) for value in condition.values)


def needs_times(column: Column, condition: Condition) -> bool:
    """Whether a text column is read as dates and times in this condition."""
    return (
        column.kind is Kind.TEXT
        and condition.operator != "like"
        and bool(condition.values)
        and all(map(is_iso, condition.values))
    )


def _condition(condition: Condition, column: Column, rules: Rules, form: Form, dates: Column) -> Sql:
    """What is asked of the column, unknown where it is missing; or raises InvalidValue on a clash of types."""
    sign, values = condition.operator, condition.values
    if sign == "like":
        return _like(condition, column, rules)
    iso = needs_times(column, condition)
    if not iso and sign not in ("=", "!=", "in"):
        _check_order(condition, column)
    pairs = [
        sides(dates, str(value), rules.dialect)
        if iso
        else _sides(condition.column, column, value, rules, form)
        for value in values
    ]
    if sign == "in":
        listed: dict[Sql, list[Sql]] = {}  # by what is compared: days and moments, texts and numbers
        for left, right in pairs:
            listed.setdefault(left, []).append(right)
        return exp.or_(*(sql.is_one_of(left, rights) for left, rights in listed.items()))
    signs = (">=", "<=") if sign == "between" else (sign,)
    return exp.and_(
        *(
            COMPARISONS[one](this=left, expression=right)
            for one, (left, right) in zip(signs, pairs, strict=True)
        )
    )


def _like(condition: Condition, column: Column, rules: Rules) -> Sql:
    """Whether the whole text fits a pattern in which % stands for any letters and _ for one."""
    if column.kind is not Kind.TEXT:
        raise InvalidValue(
            f"'like' is for texts, and column {condition.column!r} holds {column.kind.value}; compare it with a value."
        )
    return sql.like(rules.known(column).sql, str(condition.values[0]), rules.dialect)


def _check_order(condition: Condition, column: Column) -> None:
    """A number to compare with has no quotes, and a date has one form, whatever those of the column."""
    for value in condition.values:
        if column.kind is not Kind.TEXT or not isinstance(value, str):
            continue
        # 0300 is a code, whose leading zeros keep codes of one length in order
        if re.fullmatch(NUMBER, value.strip()) and not re.match(r"0\d", value.strip()):
            raise InvalidValue(
                f"where compares column {condition.column!r} with the text {value!r}, letter by letter, as '9' comes "
                f"after '18'; write the number without quotes: {value.strip()}."
            )
        if OTHER_DATE.fullmatch(value.strip()):
            raise InvalidValue(
                f"where compares column {condition.column!r} with {value!r}; write a date as '2024-03-01'."
            )


def _sides(name: str, column: Column, value: Literal, rules: Rules, form: Form) -> tuple[Sql, Sql]:
    kind = column.kind
    if kind.is_time:
        return _moments(name, column, value, rules)
    if kind is Kind.TEXT and isinstance(value, str):
        return rules.known(column).sql, sql.text(value.strip(BLANKS))
    if not (kind in (Kind.TEXT, Kind.BOOLEAN, Kind.NOTHING) or kind.is_number):
        raise InvalidValue(
            f"Column {name!r} of type {column.type} cannot be compared in where, only 'is null'."
        )
    if isinstance(value, str):
        what = "true or false" if kind is Kind.BOOLEAN else "numbers"
        raise InvalidValue(
            f"Column {name!r} holds {what}, where compares it with the text {value!r}; "
            "write the value without quotes."
        )
    if kind is Kind.WHOLE and isinstance(value, int) and not isinstance(value, bool):
        return rules.known(column).sql, sql.whole(
            value
        )  # as numbers with a point, large ones would lose digits
    number = float(value)
    return rules.number(column, form=form), sql.real(
        single_precision(number) if kind is Kind.SINGLE else number
    )


def _moments(name: str, column: Column, value: Literal, rules: Rules) -> tuple[Sql, Sql]:
    """Days with days, moments with moments: '2024-03-01' is the whole day, so that <= includes it."""
    try:
        if isinstance(value, str):
            return sides(rules.known(column), value, rules.dialect)
    except ValueError:
        pass
    raise InvalidValue(
        f"Column {name!r} holds dates, where compares it with {value!r}; write a date in single quotes, "
        "as in '2024-03-01' or '2024-03-01 18:30'."
    )


LONGEST = 4_000  # characters
DEEPEST = 20  # brackets and nots within one another: the stack of SQLite's parser holds 100 symbols
COMPARISONS = {"=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}
SIGNS: dict[type[exp.Expr], str] = {kind: sign for sign, kind in COMPARISONS.items()}
ARGUMENTS: dict[type[exp.Expr], tuple[str, ...]] = {
    **dict.fromkeys((*SIGNS, exp.And, exp.Or, exp.Is), ("this", "expression")),
    **dict.fromkeys((exp.Paren, exp.Not), ("this",)),
    exp.Between: ("this", "low", "high"),
    exp.In: ("this", "expressions"),
    exp.Like: ("this", "expression", "negate"),
}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}  # 18 <= age is age >= 18
KEYWORDS = ("and", "or", "not", "in", "between", "like", "is", "null", "true", "false")
PLAIN_TOKENS = (TokenType.VAR, TokenType.STRING, TokenType.IDENTIFIER, TokenType.NUMBER)  # no words of SQL
ALLOWED = "columns, values, comparisons, and, or, not, in, between, like and is null"


class Words(Dialect):
    """SQL with names in double quotes or backticks."""

    class Tokenizer(tokens.Tokenizer):
        """Its quotes."""

        IDENTIFIERS = ['"', "`"]  # noqa: RUF012 -- sqlglot reads it of the class


def condition_of(given: object) -> str | None:
    """The condition as it was written; or raises InvalidValue."""
    if given is None or isinstance(given, str):
        return given
    raise InvalidValue(f"where must be text, as in \"country = 'DE'\", got {given!r}.")


def column_name(name: str, plain: bool = True) -> str:
    """A column as a condition writes it: in double quotes, unless it may be plain and is a word."""
    if plain and re.fullmatch(r"[^\W\d]\w*", name) and name.lower() not in KEYWORDS:
        return name
    return '"{}"'.format(name.replace('"', '""'))


def parse(where: str | None, columns: Sequence[str]) -> Tree | None:
    """The condition on these columns; None without one; or raises InvalidValue or UnknownName."""
    if where is None:
        return None
    try:
        return _Reader(where, columns).tree()
    except RecursionError:  # of the parser, or where a refusal shows what it found
        raise _too_deep() from None
    except (InvalidValue, UnknownName) as error:
        odd = [name for name in columns if name in where and column_name(name) != name]
        odd = [name for name in odd if column_name(name) not in where]
        if not odd:
            raise
        raise error.advising(f"Write the name in double quotes: {column_name(max(odd, key=len))}.") from None


class _Reader:
    """Makes conditions of what sqlglot has read."""

    def __init__(self, where: str, columns: Sequence[str]) -> None:
        self.where, self.columns = where, columns

    def tree(self) -> Tree:
        if len(self.where) > LONGEST:
            raise InvalidValue(f"where may have at most {LONGEST:,} characters, got {len(self.where):,}.")
        if not self.where.strip():
            raise InvalidValue("where must hold a condition, as in \"country = 'DE'\"; it is empty.")
        if "\0" in self.where or re.search("[\ud800-\udfff]", self.where):  # no database takes them
            raise InvalidValue(f"where may hold no NUL and no half of a character, got {self.where!r}.")
        self._check_depth()
        try:
            statements = sqlglot.parse(self._with_quoted_names(), dialect=Words)
        except SqlglotError as error:
            raise self._unreadable(error) from None
        if len(statements) != 1 or statements[0] is None:
            raise InvalidValue(f"where must be one condition, {self.where!r} holds a semicolon.")
        tree = self._read(statements[0])
        if depth_of(tree) > DEEPEST:
            raise _too_deep()
        return tree

    def _with_quoted_names(self) -> str:
        """The words in which columns with the name of a word of SQL, such as `when` or `order`, are in quotes."""
        text, end = "", 0
        try:
            words = Words().tokenize(self.where)
        except SqlglotError as error:
            raise self._unreadable(error) from None
        for token in words:
            if (
                token.token_type in PLAIN_TOKENS
                or token.text.lower() in KEYWORDS
                or token.text not in self.columns
            ):
                continue
            text += self.where[end : token.start] + column_name(token.text, plain=False)
            end = token.end + 1
        return text + self.where[end:]

    def _check_depth(self) -> None:
        """Before it is parsed, which descends into each bracket."""
        depth = deepest = 0
        bare = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "", self.where)
        for word in re.findall(r"[()]|\bnot\b|\b\w+\b", bare, re.IGNORECASE):
            depth += {"(": 1, ")": -1}.get(word, 0)
            deepest = max(deepest, depth)
        nots = max(
            (len(run.split()) for run in re.findall(r"(?:\bnot[\s(]*)+", bare, re.IGNORECASE)), default=0
        )
        if max(deepest, nots) > DEEPEST:
            raise _too_deep()

    def _unreadable(self, error: Exception) -> InvalidValue:
        known = getattr(error, "errors", None)
        found = known[0] if known else {}
        near = f" near {found['highlight']!r}" if found.get("highlight") else ""
        return InvalidValue(
            f"where={self.where!r} cannot be read{near}; it may hold {ALLOWED}, with texts in single quotes."
        )

    def _read(self, node: exp.Expr) -> Tree:
        kind = type(node)
        # an argument that is not known here may turn the meaning round, as `negate` does
        if any(value for name, value in node.args.items() if name not in ARGUMENTS.get(kind, ())):
            raise self._refused(node)
        tree = self._read_plain(node)
        return negated(tree) if node.args.get("negate") else tree

    def _read_plain(self, node: exp.Expr) -> Tree:
        if isinstance(node, exp.Paren):
            return self._read(node.this)
        if isinstance(node, exp.Not):
            return negated(self._read(node.this))
        if isinstance(node, exp.And | exp.Or):
            parts = [self._read(part) for part in node.flatten(unnest=False)]
            return joined("and" if isinstance(node, exp.And) else "or", parts)
        if isinstance(node, exp.Between):
            values = (self._literal(node.args["low"]), self._literal(node.args["high"]))
            return Condition(self._column(node.this), "between", values)
        if isinstance(node, exp.In) and node.expressions:
            return Condition(self._column(node.this), "in", tuple(map(self._literal, node.expressions)))
        if isinstance(node, exp.Like):
            pattern = self._literal(node.expression)
            if isinstance(pattern, str):
                return Condition(self._column(node.this), "like", (pattern,))
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return Condition(self._column(node.this), "missing")
        if type(node) in SIGNS:
            return self._comparison(node, SIGNS[type(node)])
        raise self._refused(node)

    def _comparison(self, node: exp.Expr, sign: str) -> Tree:
        left, right = node.this, node.expression
        if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
            left, right, sign = right, left, TURNED.get(sign, sign)
        return Condition(self._column(left), sign, (self._literal(right),))

    def _column(self, node: exp.Expr) -> str:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise self._refused(node)
        name = ".".join(part.name for part in node.parts)  # a name may hold dots
        one_column(name, self.columns)
        return name

    def _literal(self, node: exp.Expr) -> Literal:
        if isinstance(node, exp.Literal) and node.is_string:
            return str(node.this)
        if isinstance(node, exp.Boolean):
            return bool(node.this)
        sign = -1 if isinstance(node, exp.Neg) else 1
        value = node.this if isinstance(node, exp.Neg) else node
        if isinstance(value, exp.Literal) and not value.is_string:
            return sign * _number(str(value.this))
        if isinstance(node, exp.Column):
            raise InvalidValue(
                f"where compares columns with values, and {node.name!r} in {self.where!r} is no value; texts stand in "
                f"single quotes: '{node.name}'."
            )
        if isinstance(node, exp.Null):
            raise InvalidValue(
                f"Nothing is equal to NULL; ask for missing values with 'is null', got {self.where!r}."
            )
        raise self._refused(node)

    def _refused(self, node: exp.Expr) -> InvalidValue:
        shown = node.sql()
        name = re.sub(r"(?<!^)(?=[A-Z])", " ", type(node).__name__).lower()
        return InvalidValue(f"where may hold {ALLOWED}; {self.where!r} holds {shown[:60]!r} ({name}).")


def _too_deep() -> InvalidValue:
    return InvalidValue(f"where may be nested at most {DEEPEST} deep, this goes deeper.")


def _number(text: str) -> int | float:
    number = float(text)
    if number == float("inf"):
        raise InvalidValue(f"A number in where must be finite, got {text}.")
    return int(text) if re.fullmatch(r"\d{1,18}", text) else number
