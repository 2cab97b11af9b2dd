"""Sums and counts to the last digit, and whatever hides from the first look at the rows."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs.places import assert_same, folded
from truant.counts import PULLS, SUM, Counts
from truant.logs import query
from truant.logs.read import read

steady = settings(max_examples=10)
TIGHT = Fraction(1, 10**12)


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
    levels = sorted({m for a, m in zip(table["arm"], table["m"], strict=True) if a and m is not None})
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
