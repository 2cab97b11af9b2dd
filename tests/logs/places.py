"""Tables with missing values in every place that logs are read from, and the counts that they must give."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from truant.counts import OBSERVED, SQUARES, SUM, Counts
from truant.logs.read import Log, read


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
    return in_arrow(table)


def as_dict(table: pd.DataFrame, folder: Path) -> Any:
    return {name: table[name].tolist() for name in table}


def as_relation(table: pd.DataFrame, folder: Path) -> Any:
    return duckdb.connect().from_arrow(in_arrow(table))


def as_sqlite(table: pd.DataFrame, folder: Path) -> Any:
    import sqlite3

    with sqlite3.connect(folder / "log.db") as connection:
        table.to_sql("visits", connection, index=False)
    connection.close()
    return f"sqlite:///{folder / 'log.db'}::visits"


def as_duckdb(table: pd.DataFrame, folder: Path) -> Any:
    with duckdb.connect(folder / "log.duckdb") as connection:
        connection.register("frame", table)
        connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.visits AS FROM frame")
    return f"duckdb:///{folder / 'log.duckdb'}::clinic.visits"


def as_postgres(table: pd.DataFrame, folder: Path, uri: str) -> Any:
    return in_postgres(uri, table, "visits")


def as_spark(table: pd.DataFrame, folder: Path, session: Any) -> Any:
    pq.write_table(in_arrow(table), folder / "spark.parquet")
    return session.read.parquet(str(folder / "spark.parquet"))


SERVED: dict[Any, str] = {
    as_postgres: "postgres",
    as_spark: "sail",
}  # kinds that need a server, and its fixture
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
    as_relation,
    as_sqlite,
    as_duckdb,
    as_postgres,
    as_spark,
]
ENGINES = [as_parquet, as_sqlite, as_postgres, as_spark]  # one of each dialect


def check_everything(place: Any, table: pd.DataFrame, /, **options: Any) -> None:
    """One read with all there is (two mediators, one of them cut), and the fold of the same rows."""
    log = read(place, arm="arm", outcome="y", mediator=["site", "dose:3"], **options)
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
    assert log.setting.range_known is (log.setting.levels is not None)
    assert_same(log, folded(log, table.assign(m=pairs), levels), table["y"])


def in_arrow(table: pd.DataFrame) -> pa.Table:
    """NaN stays NaN, None and NaT become null."""
    return pa.table(
        {name: pa.array(table[name], from_pandas=table[name].dtype != float) for name in table.columns}
    )


POSTGRES_TYPES = (
    (pd.api.types.is_bool_dtype, "boolean"),
    (pd.api.types.is_integer_dtype, "bigint"),
    (pd.api.types.is_float_dtype, "double precision"),
    (lambda dtype: isinstance(dtype, pd.DatetimeTZDtype), "timestamptz"),
    (pd.api.types.is_datetime64_dtype, "timestamp"),
    (lambda dtype: True, "text"),
)


def in_postgres(uri: str, table: pd.DataFrame, name: str) -> str:
    """NaN stays NaN, None and NaT become NULL."""
    import psycopg

    types = [next(kind for test, kind in POSTGRES_TYPES if test(table[column].dtype)) for column in table]
    columns = ", ".join(f'"{column}" {kind}' for column, kind in zip(table, types, strict=True))
    with psycopg.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns})")  # type: ignore[arg-type]
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:  # type: ignore[arg-type]
            for row in in_arrow(table).to_pylist():
                copy.write_row(tuple(row.values()))
    return f"{uri}::{name}"
