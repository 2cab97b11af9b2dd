"""CSV files as the world damages them, drawn with a fixed seed, and what Python's csv module makes of each."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from dataclasses import dataclass

Row = tuple[str, ...]
NUMBER = 340
SEED = 26
LONG = 90_000  # characters of a long value
PLAIN = (
    "a",
    "b",
    "1",
    "0",
    "2.5",
    "",
    "new arm",
    "caf\u00e9",
    "\u65e5\u672c",
    "NULL",
    "#1",
    "=1+1",
    "\\",
    "a\u2028b",
    "a\x0bb",
)
QUOTED = (
    "x, y",
    "x; y",
    "x\ty",
    "x|y",
    'say "no"',
    '"',
    "",
    "a\nb",
    "a\r\nb",
    "b,0\nb,0\n",
    "a\rb",
    "5",
    " a ",
    '","',
)


@dataclass(frozen=True)
class HostileFile:
    """A file, what was done to it, and its rows: None where no reader should make rows of it."""

    name: str
    data: bytes
    rows: list[Row] | None


def hostile_files(number: int = NUMBER, seed: int = SEED) -> list[HostileFile]:
    """So many files, the same ones each time; a quarter of them are only odd, not damaged."""
    rng = random.Random(seed)
    kinds = list(DAMAGES)
    return [_file(rng, i, kinds[i % len(kinds)] if i % 4 else "") for i in range(number)]


def _file(rng: random.Random, number: int, damage: str) -> HostileFile:
    delimiter, end = rng.choice(",,,;\t|"), rng.choice(("\n", "\n", "\r\n", "\r"))
    width = rng.randint(2, 4)
    quoting = rng.choice((0.0, 0.1, 0.6))
    size = rng.choice((1, 2, 5, 40, 400) if number % 25 else (60_000,))
    header = [f"column {i}" for i in range(width)]
    lines = [delimiter.join(header)]
    for _ in range(size):
        lines.append(delimiter.join(_value(rng, delimiter, quoting) for _ in range(width)))
        if not lines[-1].strip():
            lines[-1] = delimiter.join("x" * width)
    if number % 30 == 7:
        lines[-1] = delimiter.join(["y" * LONG, *["1"] * (width - 1)])
    text = _Text(lines, delimiter, end, rng)
    if damage:
        DAMAGES[damage](text)
    data = text.encoded()
    return HostileFile(
        f"{number}: {damage or 'odd'} {delimiter!r} {end!r}", data, oracle(data, delimiter, width)
    )


def _value(rng: random.Random, delimiter: str, quoting: float) -> str:
    if rng.random() < quoting:
        return '"{}"'.format(rng.choice(QUOTED).replace('"', '""'))
    return rng.choice(PLAIN).replace(delimiter, "")


class _Text:
    """The lines of a file, which damages change."""

    def __init__(self, lines: list[str], delimiter: str, end: str, rng: random.Random) -> None:
        self.lines, self.delimiter, self.end, self.rng = lines, delimiter, end, rng
        self.ends = [end] * len(lines)
        if rng.random() < 0.3:
            self.ends[-1] = ""
        self.encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig"))
        self.after: list[Callable[[bytes], bytes]] = []

    @property
    def place(self) -> int:
        """A line below the header, near the end as often as not."""
        last = len(self.lines) - 1
        return last if self.rng.random() < 0.4 else self.rng.randint(1, last)

    def change(self, how: Callable[[str], str]) -> None:
        """Change one line."""
        place = self.place
        self.lines[place] = how(self.lines[place])

    def encoded(self) -> bytes:
        """The bytes."""
        text = "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))
        data = text.encode(self.encoding)
        for how in self.after:
            data = how(data)
        return data


def oracle(data: bytes, delimiter: str, width: int) -> list[Row] | None:
    """The rows below the header by Python's csv module, strict; None for NUL, rows of other lengths, and no text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\0" in text or not text.strip():
        return None
    limit = csv.field_size_limit(10_000_000)
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
        )
        rows = [tuple(row) for row in reader if row]
    except csv.Error:
        return None
    finally:
        csv.field_size_limit(limit)
    if any(len(row) != width for row in rows):
        return None
    return rows[1:]


def _mixed_end(text: _Text) -> None:
    text.ends[text.place] = text.rng.choice([end for end in ("\n", "\r\n", "\r") if end != text.end])


def _cut_off(text: _Text) -> None:
    share = text.rng.random()
    text.after.append(lambda data: data[: max(int(len(data) * share), 30)])


def _insert(what: bytes) -> Callable[[_Text], None]:
    def damage(text: _Text) -> None:
        share = text.rng.random()
        text.after.append(lambda data: data[: (at := int(40 + share * (len(data) - 40)))] + what + data[at:])

    return damage


def _empty_lines(text: _Text) -> None:
    place = text.place
    text.ends[place] = (text.ends[place] or text.end) * text.rng.randint(2, 4)


DAMAGES: dict[str, Callable[[_Text], None]] = {
    "short row": lambda text: text.change(lambda line: line.rpartition(text.delimiter)[0]),
    "long row": lambda text: text.change(lambda line: f"{line}{text.delimiter}1"),
    "delimiter at the end": lambda text: text.change(lambda line: line + text.delimiter),
    "mixed line ends": _mixed_end,
    "cut off": _cut_off,
    "open quote": lambda text: text.change(lambda line: '"' + line),
    "open quote at the end": lambda text: text.change(lambda line: line + text.delimiter + '"'),
    "open quote in the last value": lambda text: text.change(
        lambda line: line.rpartition(text.delimiter)[0] + text.delimiter + '"1'
    ),
    "text after a quote": lambda text: text.change(lambda line: '"a"b' + line.partition(text.delimiter)[2]),
    "blank before a quote": lambda text: text.change(
        lambda line: line.rpartition(text.delimiter)[0] + text.delimiter + ' "1"'
    ),
    "backslash before a quote": lambda text: text.change(
        lambda line: line.rpartition(text.delimiter)[0] + text.delimiter + '"a\\"b"'
    ),
    "quotes that open nothing": lambda text: text.change(
        lambda line: line.rpartition(text.delimiter)[0] + text.delimiter + '5" pipe'
    ),
    "NUL": _insert(b"\0"),
    "no UTF-8": _insert(b"\xe9"),
    "a return": _insert(b"\r"),
    "a quote": _insert(b'"'),
    "two quotes": lambda text: (_insert(b'"')(text), _insert(b'"')(text))[0],
    "a substitute character": _insert(b"\x1a"),
    "empty lines": _empty_lines,
    "a line of blanks": lambda text: text.lines.insert(1, "   ") or text.ends.insert(1, text.end),  # type: ignore[func-returns-value]
    "UTF-16": lambda text: setattr(text, "encoding", "utf-16"),
    "UTF-16 without a mark": lambda text: setattr(text, "encoding", "utf-16-le"),
    "two million characters": lambda text: text.change(
        lambda line: line.rpartition(text.delimiter)[0] + text.delimiter + "z" * 2_000_001
    ),
    "a comment": lambda text: text.change(lambda line: "# " + line),
    "the header again": lambda text: text.change(lambda line: text.lines[0]),
    "a mark amid the text": _insert("\ufeff".encode()),
}
