"""One dirty log is the same counts and the same verdict in every engine, and no engine sends more than groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import truant
from tests.logs.places import (
    ENGINES,
    as_csv,
    as_duckdb,
    as_lazy_polars,
    as_pandas,
    as_parquet,
    as_postgres,
    as_spark,
    as_sqlite,
    assert_same,
    folded,
)
from truant.logs.engines import Engine
from truant.logs.read import read

PLACES = [as_csv, as_parquet, as_pandas, as_lazy_polars, as_duckdb, as_sqlite, as_postgres, as_spark]
# what stands for missing, the numbers as they are written, the labels of each arm
MARKERS = ["#N/A", "", None, "NULL", "n/a"]
WRITINGS = ["${:,.2f}", " ${:,.2f}", "{:.2f}", "$ {:,.2f} ", "{:.1e}"]
LABELS = {"New": ["New", "New ", " NEW", "new\t"], "Old": ["Old", "  Old", "old ", "Old"]}
OPTIONS = {
    "arm": "mail",
    "outcome": "revenue",
    "mediator": "score:3",
    "missing_values": ["#N/A"],
    "where": "day between '2026-10-02' and '2026-10-20' and country != 'US' and age >= 18",
    "time": "day",
    "merge_labels": True,
}


def dirty(rows=2000, seed=5):
    """The log as it is kept, all of it text, and what its values are."""
    rng = np.random.default_rng(seed)
    clean = pd.DataFrame(
        {
            "mail": rng.choice(list(LABELS), rows),
            "score": rng.integers(1, 60, rows) / 2,
            "age": rng.choice([9, 20, 35, 100], rows),
            "country": rng.choice(["DE", "US"], rows, p=[0.8, 0.2]),
            "day": rng.integers(1, 29, rows),
        }
    )
    revenue = np.exp(rng.normal(6 + 0.3 * (clean["mail"] == "New"), 1.0))
    clean["revenue"] = np.round(revenue, 2)
    form = rng.integers(0, len(WRITINGS), rows)
    clean.loc[form == len(WRITINGS) - 1, "revenue"] = 1200.0
    table = pd.DataFrame(
        {
            "mail": [rng.choice(LABELS[arm]) for arm in clean["mail"]],
            "revenue": [WRITINGS[i].format(value) for i, value in zip(form, clean["revenue"], strict=True)],
            "score": [rng.choice([f"{score}", f"{score:.2f} ", f" +{score}"]) for score in clean["score"]],
            "age": clean["age"].astype(str),
            "country": [rng.choice([f"{code}", f" {code}"]) for code in clean["country"]],
            "day": [rng.choice([f"{day:02}.10.2026", f" {day:02}.10.2026 08:30"]) for day in clean["day"]],
        }
    ).astype(object)
    for column, share in (("revenue", 0.2), ("score", 0.1), ("age", 0.05), ("country", 0.05), ("mail", 0.02)):
        holes = rng.random(rows) < share
        table.loc[holes, column] = np.array([*MARKERS, None], object)[
            rng.integers(0, len(MARKERS), holes.sum())
        ]
        clean[column] = clean[column].astype(object).where(~holes, None)
    return table, clean


def check_dirty(place, clean):
    """The counts are those of the clean rows, folded one by one; returns the verdict and the winners."""
    log = read(place, **OPTIONS)
    kept = clean[
        (clean["age"].astype(float) >= 18) & clean["day"].between(2, 20) & (clean["country"] == "DE")
    ]
    assert log.filtered_out == len(clean) - len(kept)
    assert log.arms == ("New", "Old")
    arms = kept["mail"].notna()
    low, high = np.quantile(kept["score"][arms].dropna().astype(float), [1 / 3, 2 / 3], method="inverted_cdf")
    score = kept["score"].astype(float)
    thirds = [None if np.isnan(x) else int(x > low) + int(x > high) for x in score]
    thirds = pd.Series(thirds, kept.index, dtype=object)
    rows = kept.assign(arm=kept["mail"], m=thirds, y=kept["revenue"].astype(float))
    assert_same(log, folded(log, rows, [0, 1, 2]), rows["y"])
    two_days = rows[rows["arm"].notna()].groupby([(rows["day"] - 2) // 2, "arm"])["y"].agg(["size", "count"])
    course = [(p.period, p.arm, p.rows, p.observed) for p in log.over_time.periods]
    assert course == [(*key, *map(int, sizes)) for key, sizes in two_days.iterrows()]
    result = truant.analyze(place, **OPTIONS)
    return result.verdict.kind, result.verdict_sentence, result.winner


@pytest.fixture(scope="module")
def verdict():
    table, clean = dirty()
    return check_dirty(table, clean)


@pytest.mark.parametrize("kind", PLACES)
def test_a_dirty_log_is_the_same_everywhere(kind, put, verdict):
    table, clean = dirty()
    assert check_dirty(put(kind, table), clean) == verdict


@pytest.mark.parametrize("kind", ENGINES)
def test_only_groups_leave_the_engine(kind, put, monkeypatch):
    """Of 20,000 rows with 900 units the most that is fetched is a row for each group."""
    rng = np.random.default_rng(1)
    rows = 20_000
    table = pd.DataFrame(
        {
            "arm": rng.choice(["a", "b"], rows),
            "site": rng.choice(["x", "y"], rows),
            "dose": rng.normal(size=rows),
            "unit": rng.integers(0, 900, rows),
            "day": pd.Timestamp("2026-10-01") + pd.to_timedelta(rng.integers(0, 30, rows), "D").as_unit("us"),
            "p": 0.5,
            "y": np.where(rng.random(rows) < 0.3, np.nan, rng.normal(size=rows)),
        }
    )
    place = put(kind, table)
    fetched = []
    fetch = Engine.fetch

    def counting(engine, statement):
        found = fetch(engine, statement)
        fetched.append(found.num_rows)
        return found

    monkeypatch.setattr(Engine, "fetch", counting)
    columns = {"arm": "arm", "outcome": "y", "mediator": "dose:3", "where": "dose > -3"}
    read(place, **columns, time="day", by="site", probability="p")
    assert 0 < max(fetched) <= 2 * 2 * 3 * 10  # arms, sites, thirds, periods
    fetched.clear()
    read(place, **columns, unit="unit")
    assert 0 < max(fetched) <= 2 * 3 * 500  # arms, thirds, clusters of units
    assert sum(fetched) <= max(fetched) + 100
