"""What is drawn for each command and function, and what its right answer must be."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

import truant
from research.fuzz import tables
from research.fuzz.ends import Bug, End, run_command, run_function
from research.fuzz.tables import FORMATS, Table, labels

Check = Callable[[DataObject], End]

JUNK = st.one_of(
    st.sampled_from(
        ("", " ", "nan", "inf", "-1", "0", "1e400", "0,1", "1,0", "a=b", "::", "*", "None", "[]", "../x")
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12),
)
NAMES = st.one_of(  # of files, without their folder
    st.sampled_from(
        ("log", "a b", "opened=2024", "x*y", "[1]", "50%", "é", "-x", "a::b", "~", "'q'", "line\nbreak")
    ),
    labels().filter(lambda text: "/" not in text and text not in (".", "..") and len(text.encode()) < 100),
)
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.one_of(st.floats(), st.text(max_size=3), st.none()), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.just(object()),
    st.complex_numbers(),
)


def analyze_plain(data: DataObject) -> End:
    """`truant analyze` of any table in any place: the counts and naive means are those that the cells mean."""
    table = data.draw(tables.tables())
    format = data.draw(st.sampled_from(FORMATS))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = tables.write(table, format, folder / f"{data.draw(NAMES)}.{format}")
        arm, mediator, outcome = table.names[:3]
        options = ["--arm", arm, "--outcome", outcome, "--json"]
        if data.draw(st.booleans()):
            options += ["--mediator", mediator]
        end = run_command(["analyze", *options, "--", source], folder)
        if end.right:
            _check_summary(table, json.loads(end.output))
        return end


def _check_summary(table: Table, summary: dict[str, Any]) -> None:
    if not table.sound:
        return
    found = [(arm["pulls"], arm["observed"], (arm["naive"] or {}).get("mean")) for arm in summary["arms"]]
    found.sort(key=lambda arm: (arm[0], arm[1], arm[2] or 0.0))
    wanted = table.summary()
    size = max((abs(outcome) for outcome in table.outcomes if outcome is not None), default=0.0)
    same = len(found) == len(wanted) and all(
        own[:2] == other[:2]
        and (own[2] is None) == (other[2] is None)
        and abs((own[2] or 0.0) - (other[2] or 0.0)) <= 1e-9 * size
        for own, other in zip(found, wanted, strict=True)
    )
    if not same:
        raise Bug(f"{table} was read as {found} instead of {wanted}")


def analyze_options(data: DataObject) -> End:
    """`truant analyze` with all its options, sound and unsound, in Python as well: the same end, the same sentence."""
    table = data.draw(tables.tables())
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = tables.write(table, "csv", folder / "log.csv")
        given = _drawn_options(data, table)
        flags = [f"--{name}={value}" for name, value in given.items()]
        merging = {"merge_labels": True} if data.draw(st.booleans()) else {}
        flags += ["--merge-labels"] if merging else []
        outputs = _outputs(data, folder)
        end = run_command(["analyze", *flags, *outputs, "--json", "--", source], folder)
        if not outputs:
            _check_python(end, source, given | merging)
        if (folder / "log.csv").read_bytes() != _bytes(table):
            raise Bug(f"analyze {flags} {outputs} changed its input")
        return end


def _drawn_options(data: DataObject, table: Table) -> dict[str, str]:
    """Which column is what, and up to four further options: sound ones, or now and then any."""
    arm, mediator, outcome, when, who = table.names
    wild = data.draw(st.integers(0, 2)) == 0
    junk = st.one_of(st.sampled_from(table.names), JUNK)
    sound: dict[str, SearchStrategy[str]] = {
        "arm": st.just(arm),
        "outcome": st.just(outcome),
        "mediator": st.just(mediator),
        "control": st.sampled_from([row[0] for row in table.rows] or ["old"]),
        "assume": st.sampled_from(("mcar", "mar", "mnar", "both-mnar")),
        "observed": st.just(outcome),
        "where": _conditions(table),
        "by": st.sampled_from((mediator, who)),
        "time": st.just(when),
        "unit": st.just(who),
        "decimal": st.sampled_from((".", ",")),
        "encoding": st.sampled_from(("utf-8", "latin-1")),
    }
    chosen = data.draw(st.lists(st.sampled_from(sorted(sound)), max_size=4, unique=True))
    return {
        name: data.draw(st.one_of(sound[name], junk) if wild else sound[name])
        for name in dict.fromkeys(["arm", "outcome", *chosen])
    }


def _bytes(table: Table) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        tables.write(table, "csv", Path(place) / "log.csv")
        return (Path(place) / "log.csv").read_bytes()


def _check_python(end: End, source: str, given: Mapping[str, object]) -> None:
    if end.sentence.startswith("Invalid value for"):  # of the option itself
        return
    own, _ = run_function(truant.analyze, source, **given)
    if (own.right, own.sentence) != (end.right, end.sentence):
        raise Bug(f"{given}: the command says {end.sentence!r}, Python {own.sentence!r}")


def _conditions(table: Table) -> SearchStrategy[str]:
    quoted = st.sampled_from(table.names).map(lambda name: '"' + name.replace('"', '""') + '"')
    values = st.one_of(
        st.sampled_from(("1", "0.5", "'a'", "'2024-03-01'", "true", "missing", "('a', 'old')")), JUNK
    )
    comparison = st.builds(
        lambda name, sign, value: f"{name} {sign} {value}",
        quoted,
        st.sampled_from(("=", "!=", "<", ">=", "in", "is", "between", "==")),
        values,
    )
    return st.lists(comparison, min_size=1, max_size=3).map(" and ".join)


def _outputs(data: DataObject, folder: Path) -> list[str]:
    """Where to write, now and then: anywhere below the folder, the input among the places."""
    if data.draw(st.integers(0, 3)):
        return []
    kind, names = data.draw(
        st.sampled_from(
            (("--out", ("new.csv", "new.parquet", "log.csv", "./log.csv")), ("--html", ("page.html", ".")))
        )
    )
    return [f"{kind}={folder / data.draw(st.one_of(st.sampled_from(names), NAMES))}"]


def analyze_anything(data: DataObject) -> End:
    """`truant.analyze` with values of any type for its parameters."""
    columns = {"arm": ["a", "b"] * 4, "m": ["x", "x", "y", "y"] * 2, "y": [0.0, 1.0, None, 1.0] * 2}
    given: dict[str, Any] = {"arm": "arm", "outcome": "y", "mediator": "m"}
    names = ("arm", "outcome", "mediator", "control", "assume", "level", "range", "levels", "missing_values")
    names += ("observed", "expected_split", "minimize")
    for name in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)):
        given[name] = data.draw(ANYTHING)
    table = data.draw(st.one_of(st.just(columns), st.just(columns), ANYTHING))
    return run_function(truant.analyze, table, **given)[0]


def simulate(data: DataObject) -> End:
    """`truant simulate` in two worlds with any parameters."""
    number = st.one_of(st.sampled_from(("0.5", "1", "3", "0.1,0.9", "1e3", "nan", "true")), JUNK)
    key = st.one_of(st.sampled_from(("gamma", "arms", "K", "sd", "match", "noise")), JUNK)
    options = ["--world", data.draw(st.sampled_from(("mcar", "mar", "mcar", "mar", "mra", "")))]
    options += ["--policy", data.draw(st.sampled_from(("naive-ucb", "mar-ucb", "mar-ubc")))]
    for _ in range(data.draw(st.integers(0, 2))):
        options += [f"--set={data.draw(key)}={data.draw(number)}"]
    options += ["--horizon", data.draw(st.sampled_from(("1", "50", "1e2", "0", "-1", "x", "1.5")))]
    options += ["--runs", data.draw(st.sampled_from(("1", "2", "2", "0", "y")))]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if data.draw(st.booleans()):
            options += [
                f"--out={folder / data.draw(NAMES)}{data.draw(st.sampled_from(('.parquet', '.csv', '')))}"
            ]
        return run_command(["simulate", *options, *data.draw(st.sampled_from(((), ("--json",))))], folder)


def simulate_anything(data: DataObject) -> End:
    """`truant.simulate` with values of any type for its parameters."""
    given: dict[str, Any] = {"horizon": 20, "runs": 2, "progress": False}
    names = ("horizon", "runs", "seed", "threads", "parameters", "delay", "minimize", "estimates")
    for name in data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True)):
        small = ANYTHING.filter(lambda value: not isinstance(value, int | float) or abs(value) < 100)
        given[name] = data.draw(small)
    world = data.draw(st.one_of(st.just("mcar"), st.just("mar"), ANYTHING))
    policies = data.draw(st.one_of(st.just("naive-ucb"), st.just(["naive-ucb", "mar-ucb"]), ANYTHING))
    return run_function(truant.simulate, world, policies, **given)[0]


def study(data: DataObject) -> End:
    """`truant sweep` of a study file that was damaged in one place, or in none."""
    lines = [
        "runs = 2",
        "horizon = 20",
        "seed = 3",
        'policies = ["naive-ucb"]',
        'worlds = [{ name = "mcar", vary = { gamma = [0.5, 1.0] } }]',
    ]
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(0, len(lines) - 1))
        key = data.draw(
            st.sampled_from(("runs", "horizon", "seed", "policies", "worlds", "title", "delay", "vary", "x"))
        )
        value = data.draw(
            st.sampled_from(("0", "-1", "1.5", "[]", "{}", '""', "[1, 2]", "true", "1e99", "nan", '["mcar"]'))
        )
        lines[place] = data.draw(st.one_of(st.just(f"{key} = {value}"), JUNK))
    with tempfile.TemporaryDirectory() as place_:
        folder = Path(place_)
        path = folder / f"{data.draw(NAMES)}.toml"
        content = "\n".join(lines).encode()
        path.write_bytes(content)
        options = data.draw(
            st.sampled_from((("--check",), ("--check", "--json"), ("--json",), ("--workers", "0")))
        )
        end = run_command(["sweep", *options, "--", str(path)], folder)
        if path.read_bytes() != content:
            raise Bug(f"sweep {options} changed its study")
        return end


CHECKS: tuple[Check, ...] = (
    analyze_plain,
    analyze_options,
    analyze_anything,
    simulate,
    simulate_anything,
    study,
)
