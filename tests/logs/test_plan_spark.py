"""A plan on Spark draws its rows there: the same for the same seed, each as often, and only these leave the engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import truant
from tests.logs.places import as_spark
from truant.logs.engines import Engine

COLUMNS = {"arm": "mail", "outcome": "spent", "mediator": "opened", "id": "customer"}


def visits(rows=3000, seed=1):
    """Labels of the second arm with and without a blank: one arm all the same."""
    rng = np.random.default_rng(seed)
    arm, opened = rng.integers(0, 2, (2, rows))
    spent = np.where(rng.random(rows) < 0.4, np.nan, rng.normal(10 + 4 * arm, 3))
    mail = np.where(arm, np.where(rng.random(rows) < 0.1, "b ", "b"), "a")
    customers = [f"c{i:05}" for i in range(rows)]
    return pd.DataFrame({"customer": customers, "mail": mail, "opened": opened, "spent": spent})


@pytest.fixture
def fetched(monkeypatch):
    """The results with ids that came back."""
    tables, fetch = [], Engine.fetch

    def keeping(engine, statement):
        found = fetch(engine, statement)
        tables.extend([found] if "id" in found.column_names else [])
        return found

    monkeypatch.setattr(Engine, "fetch", keeping)
    return tables


def test_only_the_ids_that_may_be_called_leave_spark(sail, tmp_path, fetched):
    table = visits()
    place = as_spark(table, tmp_path, sail)
    plans = [truant.plan(place, **COLUMNS, budget=60, seed=seed) for seed in (1, 1, 2)]
    calls = [plan.rows().to_pydict() for plan in plans]
    assert calls[0] == calls[1] != calls[2]
    assert set(calls[0]["id"]) <= set(table["customer"][table["spent"].isna()])
    assert len(set(calls[0]["id"])) == plans[0].follow_ups == 60
    most = max(cell.follow_ups for cell in plans[0].cells)
    assert max(one.num_rows for one in fetched) <= 6 * most  # combinations of labels: a, "b", "b " by opened
    local = truant.plan(table, **COLUMNS, budget=60, seed=1)
    assert [(c.arm, c.follow_ups) for c in local.cells] == [(c.arm, c.follow_ups) for c in plans[0].cells]


def test_each_missing_row_is_drawn_as_often(sail, tmp_path):
    """Of 40 missing rows of an arm 8 are called, 24 times: chi-square tests with fixed seeds, at one in a thousand."""
    rows = 200
    missing = np.arange(rows) % 100 < 40
    table = pd.DataFrame(
        {
            "customer": np.arange(rows),
            "mail": np.where(np.arange(rows) < 100, "a", np.where(np.arange(rows) % 4, "b", "b ")),
            "opened": 1,
            "spent": np.where(missing, np.nan, np.random.default_rng(1).normal(size=rows)),
        }
    )
    place, times = as_spark(table, tmp_path, sail), np.zeros(rows)
    for seed in range(24):
        plan = truant.plan(place, **COLUMNS, budget=16, seed=seed)
        for name in plan.rows().column("id").to_pylist():
            times[int(name)] += 1
    assert times[~missing].sum() == 0
    for arm in (times[:40], times[100:140]):
        share = arm.sum() / 24 / 40
        statistic = ((arm - 24 * share) ** 2).sum() / (24 * share * (1 - share)) * (39 / 40)
        assert statistic < chi2.isf(0.001, 39)
