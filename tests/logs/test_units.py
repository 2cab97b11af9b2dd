"""Errors by unit: as independent methods find them, in every place, and with coverage where rows are alike."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from research.validation.unit_intervals import SETTINGS, draw, unit_samples
from scipy.stats import norm, t

import truant
from tests.logs.places import ENGINES, KINDS, as_csv, frame
from truant.cli import cli
from truant.errors import InvalidValue, TruantError
from truant.logs import units
from truant.logs.read import read


def clustered(assumption, seed, units=100, rows=10, correlation=0.5):
    """Rows of two arms, ten of each unit, in which all is correlated within a unit."""
    unit, arm, mediator, outcome, _ = draw(assumption, seed, units, rows, correlation)
    return pd.DataFrame({"unit": unit, "arm": np.where(arm, "b", "a"), "m": mediator, "y": outcome})


def analyzed(table, kind="mcar", **options):
    return truant.analyze(table, arm="arm", outcome="y", mediator="m", unit="unit", assume=kind, **options)


def half_width(estimate):
    return (estimate.high - estimate.low) / 2


def test_mcar_has_the_cluster_robust_error_of_a_regression_on_a_constant():
    """G/(G-1) sum over units of their summed residuals squared, over n^2 (Liang and Zeger's CR1)."""
    table = clustered("mcar", 1, units=40, correlation=0.2)
    for arm in analyzed(table, levels=()).arms:
        rows = table[(table["arm"] == arm.arm) & table["y"].notna()]
        assert rows["unit"].nunique() == 40
        residuals = (rows["y"] - rows["y"].mean()).groupby(rows["unit"]).sum()
        error = np.sqrt(40 / 39 * (residuals**2).sum()) / len(rows)
        estimate = arm.estimates["mcar"]
        assert estimate.mean == pytest.approx(rows["y"].mean(), rel=1e-12)
        # skewness of the sample moves both ends, and widens by little
        assert half_width(estimate) == pytest.approx(error * t.ppf(0.975, 39), rel=0.02)


@pytest.mark.parametrize("kind", ["mcar", "mar"])
def test_errors_are_those_of_a_cluster_bootstrap(kind):
    """Whole units drawn with replacement; 600 draws know an error to 3%, and so four of these are allowed."""
    table = clustered("mar", 2)
    result = analyzed(table, kind)
    rng = np.random.default_rng(3)
    for arm in result.arms:
        rows = table[table["arm"] == arm.arm]
        codes = pd.factorize(rows["unit"])[0]
        sums = np.zeros((3, 2, codes.max() + 1))  # rows, observed, sum by mediator and unit
        for k, values in enumerate((np.ones(len(rows)), rows["y"].notna(), rows["y"].fillna(0))):
            np.add.at(sums[k], (rows["m"].to_numpy(), codes), values)
        drawn = sums[:, :, rng.integers(0, sums.shape[2], (600, sums.shape[2]))].sum(axis=3)
        if kind == "mcar":
            means = drawn[2].sum(axis=0) / drawn[1].sum(axis=0)
        else:
            means = (drawn[0] / drawn[0].sum(axis=0) * drawn[2] / drawn[1]).sum(axis=0)
        wide = half_width(arm.estimates[kind]) / t.ppf(0.975, 99)
        assert wide == pytest.approx(means.std(), rel=4 / np.sqrt(2 * 600))


@pytest.mark.parametrize("kind", SETTINGS)
def test_coverage_where_rows_are_alike(kind):
    """Of 200 intervals .95 cover, up to 3.5 standard errors of .0155; with rows independent far fewer do."""
    plain, by_unit = np.mean(
        unit_samples(kind, units=100, rows=10, correlation=0.5, replications=100, first=0), axis=0
    )
    assert abs(by_unit - 0.95) < 3.5 * 0.0155
    assert plain < 0.87


@pytest.mark.parametrize("kind", SETTINGS)
def test_one_row_for_each_unit_changes_nothing_but_the_quantile(kind):
    table = clustered(kind, 4, units=240, rows=1)
    plain = truant.analyze(table, arm="arm", outcome="y", mediator="m", assume=kind)
    found = analyzed(table, kind)
    wider = t.ppf(0.975, 239) / norm.ppf(0.975)
    for mine, other in zip(found.arms, plain.arms, strict=True):
        assert mine.estimates[kind].mean == pytest.approx(other.estimates[kind].mean, rel=1e-12)
        assert half_width(mine.naive) == pytest.approx(wider * half_width(other.naive), rel=1e-3)
        assert half_width(mine.estimates[kind]) == pytest.approx(
            wider * half_width(other.estimates[kind]), rel=0.01
        )
        if other.bounds:
            assert mine.bounds.low_limit == pytest.approx(other.bounds.low_limit, rel=1e-2)
    assert found.tests[0].statistic == pytest.approx(plain.tests[0].statistic)


def test_copies_of_rows_bring_no_certainty():
    """Each row five times, as rows of one unit: the interval and the tests of the rows alone."""
    table = clustered("mar", 5, units=200, rows=1)
    once = analyzed(table, ["mcar", "mar"])
    copied = analyzed(pd.concat([table] * 5), ["mcar", "mar"])
    for mine, other in zip(copied.arms, once.arms, strict=True):
        for kind in ("mcar", "mar"):
            assert half_width(mine.estimates[kind]) == pytest.approx(
                half_width(other.estimates[kind]), rel=1e-2
            )
    assert copied.tests[0].p_value == pytest.approx(once.tests[0].p_value)


def test_many_units_share_clusters(monkeypatch):
    table = clustered("mar", 6, units=300, rows=3)
    each = analyzed(table, "mar")
    monkeypatch.setattr(units, "MOST_CLUSTERS", 60)
    shared = analyzed(table, "mar")
    assert shared.counts.table == pytest.approx(each.counts.table, rel=1e-12)
    assert shared.provenance.units == each.provenance.units == 600
    for mine, other in zip(shared.arms, each.arms, strict=True):  # a variance of 60 clusters is known to 18%
        assert half_width(mine.estimates["mar"]) == pytest.approx(
            half_width(other.estimates["mar"]), rel=0.35
        )


# Every place


def with_units(table):
    """About three rows for each unit, some of them in several arms."""
    return table.assign(unit=np.arange(len(table)) * 7 % 131)


def check_place(place, table):
    log = read(place, arm="arm", outcome="y", mediator="site", unit="unit")
    kept = table[table["arm"].notna()]
    rows = kept.groupby("unit").size()
    assert log.units == kept["unit"].nunique()
    assert log.clusters.in_several_arms == (kept.groupby("unit")["arm"].nunique() > 1).sum()
    assert log.clusters.alike == pytest.approx((rows**2).sum() / rows.sum())
    for code, arm in enumerate(log.arms):
        own = log.clusters.arms[code]
        assert own.units == kept.loc[kept["arm"] == arm, "unit"].nunique() == own.groups
        table_of_sums = np.bincount(own.entry, own.amount, log.counts.table[code].size)
        found = table_of_sums.reshape(log.counts.table[code].shape)[:, :3]
        assert found == pytest.approx(log.counts.table[code][:, :3], abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_place(kind, put):
    table = with_units(frame())
    check_place(put(kind, table), table)


@pytest.mark.parametrize("kind", [as_csv, *ENGINES])
def test_by_unit_filter_and_cuts_together(kind, put):
    """A group's errors are those of its rows alone."""
    table = with_units(frame(3000)).assign(country=np.where(np.arange(3000) % 3, "DE", "FR"))
    options = {"arm": "arm", "outcome": "y", "unit": "unit", "assume": "mcar", "range": (-9.0, 9.0)}
    result = truant.analyze(put(kind, table), by="country", mediator="dose:3", where="site < 3", **options)
    for label, group in result.groups.items():
        rows = table[(table["country"] == label) & (table["site"] < 3)]
        alone = truant.analyze(rows, **options)
        assert group.provenance.units == alone.provenance.units
        for mine, other in zip(group.arms, alone.arms, strict=True):
            if group.provenance.units <= units.MOST_CLUSTERS_BY:
                assert half_width(mine.estimates["mcar"]) == pytest.approx(
                    half_width(other.estimates["mcar"])
                )
            else:  # two units in some clusters
                assert half_width(mine.estimates["mcar"]) == pytest.approx(
                    half_width(other.estimates["mcar"]), rel=0.3
                )


# What it says


def test_the_command(tmp_path):
    table = clustered("mnar", 7, units=20)
    options = [
        "analyze",
        str(as_csv(table, tmp_path)),
        "--arm=arm",
        "--outcome=y",
        "--mediator=m",
        "--unit=unit",
    ]
    shown = CliRunner().invoke(cli, options)
    assert "clustered by unit: 40 units; tests of assumptions take all rows of a unit as one" in shown.output
    document = json.loads(CliRunner().invoke(cli, [*options, "--json"]).stdout)
    assert (document["unit"], document["units"]) == ("unit", 40)
    few = [warning for warning in document["warnings"] if warning["code"] == "few-units"]
    assert [(warning["arm"], warning["value"]) for warning in few] == [("a", 20.0), ("b", 20.0)]


def test_units_in_several_arms_get_a_warning():
    table = clustered("mcar", 8)
    assert "units-in-several-arms" not in [w.code for w in analyzed(table).warnings]
    table.loc[table["unit"] < 10, "arm"] = np.where(np.arange(100) % 2, "a", "b")
    warning = next(w for w in analyzed(table).warnings if w.code == "units-in-several-arms")
    assert "10 of 200 units of 'unit' (5.0%) have rows in several arms" in warning.message
    assert warning.value == 0.05


def test_the_split_is_that_of_units():
    """Twice the rows in one arm, but as many units."""
    table = clustered("mcar", 9)
    table = pd.concat([table, table[table["arm"] == "a"]])
    options = {"arm": "arm", "outcome": "y", "expected_split": [1, 1]}
    assert "uneven-split" in [w.code for w in truant.analyze(table, **options).warnings]
    assert "uneven-split" not in [w.code for w in truant.analyze(table, unit="unit", **options).warnings]


def test_refusals():
    table = clustered("mcar", 10, units=5)
    with pytest.raises(
        InvalidValue, match="3 of 100 rows have no unit, column 'unit' is missing there; leave them out "
    ):
        analyzed(table.assign(unit=table["unit"].where(np.arange(100) > 2)))
    with pytest.raises(InvalidValue, match='with where: "the unit" is not null'):
        truant.analyze(
            table.assign(**{"the unit": table["unit"].where(np.arange(100) > 2)}),
            arm="arm",
            outcome="y",
            unit="the unit",
        )
    with pytest.raises(
        InvalidValue, match="Arm 'a' has rows of one unit only; errors by 'unit' need at least two"
    ):
        analyzed(table, where="unit = 0 or arm = 'b'")
    with pytest.raises(TruantError, match="unit must be another column than arm and outcome, got 'arm'"):
        truant.analyze(table, arm="arm", outcome="y", unit="arm")
    left_out = analyzed(table, where="unit = 0 or unit = 2 or arm = 'b'", by="m").left_out
    assert all("has rows of one unit only" in group.reason for group in left_out)
