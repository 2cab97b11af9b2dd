"""Which rows to keep: a small grammar, compiled to Ibis expressions and never to SQL text.

    country = 'DE' and (age between 18 and 65 or age is missing) and not plan in ('trial', 'test')

Three-valued, as in SQL: a missing value is neither equal nor unequal to anything, and a row is kept only where the
filter is true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from truant.errors import InvalidValue, UnknownName
from truant.logs.conditions import Condition, Joined, Literal, Tree
from truant.tables.request import one_column

LONGEST = 4_000  # characters
DEEPEST = 40  # brackets and nots within one another
KEYWORDS = ("and", "or", "not", "in", "between", "is", "missing", "null", "true", "false")
OPERATORS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
    |(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<word>[^\W\d][\w.]*)
    |(?P<sign><=|>=|<>|!=|==|[=<>(),])
    )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A word of the filter, and where it begins (from 1)."""

    kind: str
    text: str
    position: int


def filters_of(given: object) -> tuple[str, ...]:
    """One filter or several, as texts; or raises InvalidValue."""
    listed = (given,) if isinstance(given, str) else given
    if isinstance(listed, Sequence) and all(isinstance(text, str) for text in listed):
        return tuple(listed)
    raise InvalidValue(f"filter must be text, as in \"country = 'DE'\", got {given!r}.")


def column_name(name: str) -> str:
    """A column as a filter writes it: in double quotes, unless it is a plain word."""
    plain = re.fullmatch(r"[^\W\d][\w.]*", name) and name.lower() not in KEYWORDS
    return name if plain else '"{}"'.format(name.replace('"', '""'))


def parse(filters: Sequence[str], columns: Sequence[str]) -> Tree | None:
    """The filters, all of which must be true; None without any; or raises InvalidValue."""
    trees = tuple(_parsed(text, columns) for text in filters)
    return None if not trees else trees[0] if len(trees) == 1 else Joined("and", trees)


def _parsed(text: str, columns: Sequence[str]) -> Tree:
    try:
        return _Parser(text, columns).parse()
    except (InvalidValue, UnknownName) as error:
        odd = [name for name in columns if name in text and column_name(name) != name]
        odd = [name for name in odd if column_name(name) not in text]
        if not odd:
            raise
        raise error.advising(f"Write the name in double quotes: {column_name(max(odd, key=len))}.") from None


class _Parser:
    """Recursive descent over the tokens of one filter."""

    def __init__(self, text: str, columns: Sequence[str]) -> None:
        if len(text) > LONGEST:
            raise InvalidValue(f"A filter may have at most {LONGEST:,} characters, got {len(text):,}.")
        self.text, self.columns = text, columns
        self.tokens = list(_tokens(text))
        self.next = self.depth = 0

    def parse(self) -> Tree:
        tree = self._any()
        if self.tokens[self.next].kind != "end":
            raise self._expected("'and', 'or' or the end")
        return tree

    def _any(self) -> Tree:
        return self._joined("or", self._all)

    def _all(self) -> Tree:
        return self._joined("and", self._one)

    def _joined(self, word: str, part: Callable[[], Tree]) -> Tree:
        parts = [part()]
        while self._take(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _one(self) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InvalidValue(f"A filter may be nested at most {DEEPEST} deep, this one goes deeper.")
        if self._take("not"):
            tree: Tree = Joined("not", (self._one(),))
        elif self._take("("):
            tree = self._any()
            self._need(")")
        else:
            tree = self._condition()
        self.depth -= 1
        return tree

    def _condition(self) -> Tree:
        token = self.tokens[self.next]
        if token.kind not in ("word", "quoted") or _keyword(token):
            raise self._expected("the name of a column")
        self.next += 1
        name = token.text
        one_column(name, self.columns)
        if self._take("is"):
            negated = self._take("not")
            if not (self._take("missing") or self._take("null")):
                raise self._expected("'missing' or 'not missing'")
            return _negated(Condition(name, "missing"), negated)
        sign = OPERATORS.get(self.tokens[self.next].text) if self.tokens[self.next].kind == "sign" else None
        if sign:
            self.next += 1
            return Condition(name, sign, (self._literal(),))
        negated = self._take("not")
        if self._take("between"):
            low = self._literal()
            self._need("and")
            return _negated(Condition(name, "between", (low, self._literal())), negated)
        if self._take("in"):
            self._need("(")
            values = [self._literal()]
            while self._take(","):
                values.append(self._literal())
            self._need(")")
            return _negated(Condition(name, "in", tuple(values)), negated)
        raise self._expected("=, !=, <, <=, >, >=, 'in', 'between' or 'is missing'")

    def _literal(self) -> Literal:
        token = self.tokens[self.next]
        if token.kind == "text":
            self.next += 1
            return token.text
        if token.kind == "number":
            self.next += 1
            return _number(token.text)
        if _keyword(token) in ("true", "false"):
            self.next += 1
            return _keyword(token) == "true"
        hint = token.kind in ("word", "quoted") and not _keyword(token)
        raise self._expected(f"a value (texts stand in single quotes, '{token.text}')" if hint else "a value")

    def _take(self, word: str) -> bool:
        token = self.tokens[self.next]
        found = word in (_keyword(token), token.text if token.kind == "sign" else None)
        self.next += found
        return found

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._expected(repr(word))

    def _expected(self, what: str) -> InvalidValue:
        token = self.tokens[self.next]
        came = "the filter ends there" if token.kind == "end" else f"got {token.text!r}"
        return InvalidValue(
            f"The filter {self.text!r} cannot be read: at position {token.position} expected {what}, {came}."
        )


def _tokens(text: str) -> Iterable[Token]:
    place, end = 0, len(text.rstrip())
    while place < end:
        match = TOKEN.match(text, place)
        start = place + len(text[place:]) - len(text[place:].lstrip())
        if match is None:
            quote = text[start] in "'\"`"
            what = f"no closing {text[start]}" if quote else f"{text[start]!r}"
            raise InvalidValue(
                f"The filter {text!r} cannot be read: at position {start + 1} there is {what}; expected a column, "
                "a value or a comparison."
            )
        kind = str(match.lastgroup)
        found = match[kind]
        if kind in ("text", "quoted"):
            found = found[1:-1].replace(found[0] * 2, found[0])
        yield Token(kind, found, start + 1)
        place = match.end()
    yield Token("end", "", end + 1)


def _keyword(token: Token) -> str | None:
    word = token.text.lower()
    return word if token.kind == "word" and word in KEYWORDS else None


def _number(text: str) -> int | float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise InvalidValue(f"A number in a filter must be finite, got {text}.")
    return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else number


def _negated(condition: Condition, negated: bool) -> Tree:
    return Joined("not", (condition,)) if negated else condition
