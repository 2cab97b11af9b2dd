"""Analyses by the values of a column: each is that of its rows alone, with the labels and cut points of all."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from tests.browser import faults, needs_axe
from tests.logs.places import KINDS, as_csv, frame
from truant.cli import cli
from truant.errors import InvalidValue, TruantError
from truant.logs.read import read
from truant.provenance import Provenance


def check_place(place, table):
    """The counts of a group are those of its rows, with mediators cut where all rows are cut."""
    log = read(place, arm="arm", outcome="y", mediator="dose:3", by="site")
    assert [group.label for group in log.groups] == ["1", "2", "3", "(missing)"]
    dose = table.loc[table["arm"].notna(), "dose"].dropna()
    low, high = np.quantile(dose, [1 / 3, 2 / 3], method="inverted_cdf")
    third = np.where(table["dose"].isna(), 3, (table["dose"] > low) * 1 + (table["dose"] > high))
    for group in log.groups:
        own = table["site"].isna() if group.label == "(missing)" else table["site"] == float(group.label)
        rows = table.assign(third=third)[own]
        cells = rows.groupby(["arm", "third"])["y"].agg(["size", "count", "sum"])
        cells = cells.reindex(pd.MultiIndex.from_product([log.arms, range(4)]), fill_value=0)
        assert group.log.mediators == log.mediators
        assert repr(group.log.setting) == repr(log.setting)
        assert (group.rows, group.log.skipped) == (len(rows), rows["arm"].isna().sum())
        found = group.log.counts.about(0.0).table[..., :3]
        assert found == pytest.approx(cells.to_numpy(float).reshape(found.shape), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_place(kind, put):
    table = frame()
    check_place(put(kind, table), table)


@pytest.fixture(scope="module")
def uneven():
    """AT has every arm, DE lacks arm c, FR has one arm only, IT no outcome; one row has no country."""
    rng = np.random.default_rng(5)
    parts = []
    for country, arms in (("AT", "abc"), ("DE", "ab"), ("FR", "a"), ("IT", "ab"), (None, "ab")):
        n = 120
        y = rng.integers(0, 2, n).astype(float)
        y[rng.random(n) < (1.0 if country == "IT" else 0.3)] = np.nan
        parts.append(pd.DataFrame({"arm": rng.choice(list(arms), n), "m": rng.integers(0, 2, n), "y": y}))
        parts[-1]["country"] = country
    return pd.concat(parts, ignore_index=True)


def test_a_group_is_the_analysis_of_its_rows(uneven):
    """Levels are those of all rows, also where a group has only some of them."""
    uneven = uneven.assign(y=uneven["y"] + (uneven["country"] == "AT"))
    result = by_country(uneven, control="a", minimize=True)
    alone = truant.analyze(
        uneven[uneven["country"] == "DE"],
        arm="arm",
        outcome="y",
        mediator="m",
        levels=(0, 1, 2),
        control="a",
        minimize=True,
    )
    assert repr(result.groups["DE"].setting) == repr(alone.setting)
    of_counts = [replace(one, provenance=Provenance()).summary() for one in (result.groups["DE"], alone)]
    assert of_counts[0] == of_counts[1]


def by_country(table, **options):
    return truant.analyze(table, arm="arm", outcome="y", mediator="m", by="country", **options)


def test_groups_that_cannot_be_analysed_are_listed_and_the_others_go_on(uneven):
    result = by_country(uneven, expected_split=[1, 1, 2])
    assert list(result.groups) == ["AT", "DE", "(missing)"]
    assert [arm.arm for arm in result.groups["DE"].arms] == ["a", "b"]
    assert {group.value: group.reason for group in result.left_out} == {
        "FR": "At least two arms are needed to compare, column 'arm' holds only 'a'.",
        "IT": "All 120 outcomes in column 'y' are missing; at least one must be observed.",
    }
    assert "uneven-split" in [w.code for w in result.groups["AT"].warnings]
    assert "uneven-split" not in [
        w.code for w in result.groups["DE"].warnings
    ]  # of a and b, which are as expected
    with_control = by_country(uneven, control="c")
    assert list(with_control.groups) == ["AT"]
    assert with_control.left_out[0].reason == "The control 'c' has no rows here."


def test_what_it_prints_and_writes(uneven, tmp_path):
    result = by_country(uneven)
    shown = str(result)
    for text in (
        "Mean of 'y' by 'arm', for each 'country'",
        "country: AT",
        "country: (missing)",
        "with 3 groups a false winner is more likely",
    ):
        assert text in shown
    assert "FR (120 rows): At least two arms" in shown
    table = result.table().to_pandas()
    assert list(table["by"].unique()) == ["AT", "DE", "(missing)"]
    de = result.groups["DE"].table().to_pandas()
    assert table[table["by"] == "DE"]["mean"].tolist() == de["mean"].tolist()
    assert pd.read_csv(result.save(tmp_path / "by.csv"))["by"].tolist() == table["by"].tolist()
    summary = result.summary()
    assert summary["schema"] == "truant/analysis-by/2"
    assert [group["value"] for group in summary["groups"]] == list(result.groups)
    assert summary["groups"][0]["analysis"] == json.loads(json.dumps(result.groups["AT"].summary()))
    notebook = result._repr_html_()
    assert "FR" in notebook
    assert "<script" not in notebook


@needs_axe
def test_the_page_of_all_groups_can_be_read_by_everyone(uneven, tmp_path):
    page = by_country(uneven).report(tmp_path / "by.html")
    text = page.read_text(encoding="utf-8")
    groups = text.split('<section class="group"')[1:]
    assert ["<svg viewBox" in group for group in groups] == [True, True, True]
    unfolded = tmp_path / "unfolded.html"
    unfolded.write_text(text.replace("<details>", "<details open>"), encoding="utf-8")
    assert faults({"by": page, "unfolded": unfolded}, tmp_path) == []


def test_the_command(uneven, tmp_path):
    place = as_csv(uneven, tmp_path)
    options = ["analyze", str(place), "--arm=arm", "--outcome=y", "--mediator=m", "--by=country"]
    shown = CliRunner().invoke(cli, options)
    assert shown.exit_code == 0, shown.output
    assert "Groups that could not be analysed" in shown.output
    found = CliRunner().invoke(cli, [*options, "--where", "country != 'AT' or country is null", "--json"])
    document = json.loads(found.stdout)
    assert [group["value"] for group in document["groups"]] == ["DE", "(missing)"]
    assert document["filtered_out"] == 120


REFUSED = {
    "id": "At most 50 groups can be analysed side by side, column 'id' of by holds more",
    "arm": "by must be another column than arm and outcome, got 'arm'",
    "y": "by must be another column than arm and outcome, got 'y'",
    "cuntry": "Unknown column 'cuntry'; did you mean 'country'",
    7: "A column name is needed, got 7",
}


@pytest.mark.parametrize("by", REFUSED)
def test_refusals(by):
    table = frame(300).assign(id=range(300), country="DE")
    with pytest.raises(TruantError, match=REFUSED[by]):
        truant.analyze(table, arm="arm", outcome="y", by=by)


def test_groups_of_which_none_can_be_analysed_are_refused(uneven):
    with pytest.raises(
        InvalidValue, match="None of the groups of 'country' can be analysed: At least two arms"
    ):
        by_country(
            uneven, where="country = 'FR' or country = 'IT' and arm = 'a' or country = 'AT' and arm = 'b'"
        )
    with pytest.raises(InvalidValue, match="level must be between 0 and 1"):
        by_country(uneven, level=2)


def test_a_text_may_look_like_the_missing_group():
    table = frame(200).assign(g=["(missing)", None] * 100)
    result = truant.analyze(table, arm="arm", outcome="y", by="g")
    assert len(result.groups) == 2
