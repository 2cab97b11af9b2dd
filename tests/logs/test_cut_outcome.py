"""A real outcome that is cut into levels: the counts, values and costs that the raw rows give."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from tests.logs.places import KINDS, frame
from truant.assumptions.mcar import Mcar
from truant.cli import cli
from truant.errors import InvalidValue
from truant.logs.read import read


def log_of(rows=900, seed=3, offset=0.0):
    """Rows whose mediator tells the outcome's thirds apart; outcomes with ties, high ones missing more often."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=rows)
    spent = np.round(np.exp(latent + rng.normal(0, 0.5, rows)), 1) + offset
    table = pd.DataFrame(
        {
            "arm": rng.choice(["A", "B"], rows),
            "seen": np.digitize(latent, [-0.5, 0.5]).astype(float),
            "y": np.where(rng.random(rows) < 0.2 + 0.3 * (spent > 1 + offset), np.nan, spent),
            "land": rng.choice(["DE", "FR"], rows),
            "customer": rng.integers(0, 150, rows),
            "day": rng.integers(0, 100, rows),
        }
    )
    table.loc[rng.random(rows) < 0.05, "seen"] = np.nan
    table.loc[rng.random(rows) < 0.03, "arm"] = None
    return table


def by_hand(table, points):
    """Level values, and counts by arm, mediator (last: missing) and level (last: missing), from the raw rows."""
    kept = table[table["arm"].notna()]
    code = np.where(kept["y"].isna(), len(points) + 1, np.searchsorted(points, kept["y"], side="left"))
    values = [kept["y"][code == c].mean() for c in range(len(points) + 1)]
    arm = (kept["arm"] == "B").to_numpy(int)
    mediator = kept["seen"].fillna(3).to_numpy(int)
    counts = np.zeros((2, 4, len(points) + 2))
    np.add.at(counts, (arm, mediator, code), 1)
    return values, counts


def quantiles(table, classes):
    seen = np.sort(table["y"][table["arm"].notna()].dropna())
    return [seen[math.ceil(len(seen) * j / classes) - 1] for j in range(1, classes)]


@pytest.mark.parametrize("cut", [2, 3, [1.0], (0.5, 2.0)], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_counts_are_those_of_the_raw_rows(cut, offset):
    table = log_of(offset=offset)
    points = quantiles(table, cut) if isinstance(cut, int) else [point + offset for point in cut]
    given = cut if isinstance(cut, int) else points
    log = read(table, arm="arm", outcome="y", mediator="seen", cut_outcome=given)
    values, counts = by_hand(table, points)
    assert (table["y"].to_numpy()[:, None] == points).any()  # values equal to a point belong below it
    assert log.counts.levels == pytest.approx(values, rel=1e-12)
    assert np.array_equal(log.counts.table, counts)
    assert log.setting.levels == log.counts.levels
    assert list(log.cut_outcome.points) == points


def test_labels_values_rows_and_costs():
    table = log_of()
    result = truant.analyze(table, arm="arm", outcome="y", mediator="seen", cut_outcome=[0.5, 2])
    found = result.summary()["cut_outcome"]
    values, counts = by_hand(table, [0.5, 2])
    assert [level["label"] for level in found["levels"]] == ["y <= 0.5", "0.5 < y <= 2", "y > 2"]
    assert [level["value"] for level in found["levels"]] == pytest.approx(values)
    assert [level["rows"] for level in found["levels"]] == counts[..., :-1].sum(axis=(0, 1)).tolist()
    for arm, cost in enumerate(found["costs"]):
        seen = table["y"][table["arm"] == cost["arm"]].dropna()
        shares = counts[arm, :, :-1].sum(axis=0) / len(seen)
        error = seen.std() / math.sqrt(len(seen))
        assert cost["before"] == pytest.approx(seen.mean())
        assert cost["after"] == pytest.approx(shares @ values)
        assert cost["standard_errors"] == pytest.approx((shares @ values - seen.mean()) / error)
        assert result.arms[arm].estimates["mcar"].mean == pytest.approx(cost["after"])
        assert result.arms[arm].naive.mean == pytest.approx(cost["before"])
    most = max(found["costs"], key=lambda cost: abs(cost["after"] - cost["before"]))
    assert f"at most {abs(most['after'] - most['before']):.4f} (arm '{most['arm']}'" in found["sentence"]
    assert "mnar" in result.assumptions
    assert found["sentence"] in result.about
    assert found["sentence"].split("; this")[1] in " ".join(str(result).split())


@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_the_standard_error_under_mcar_is_that_of_the_outcome(shift):
    """The variance between the classes, that within them, and what moves the mean beyond chance."""
    table = log_of(rows=2000)
    table.loc[(table["arm"] == "B") & (table["y"] > 2), "y"] *= shift
    result = truant.analyze(table, arm="arm", outcome="y", mediator="seen", cut_outcome=3)
    kept = table[table["arm"].notna() & table["y"].notna()]
    codes = np.searchsorted(result.provenance.cut_outcome.points, kept["y"], side="left")
    within = kept["y"].groupby(codes).var().to_numpy()
    values = np.array(result.setting.levels)
    for arm in result.arms:
        own = codes[kept["arm"] == arm.arm]
        between = values[own].var(ddof=1)
        chance = within[own] * (1 - np.bincount(own) / np.bincount(codes))[own]
        moved = kept["y"][kept["arm"] == arm.arm].mean() - values[own].mean()
        beyond = max(moved**2 - chance.mean() / len(own), 0)
        added = math.sqrt(within[own].mean() / len(own) + beyond)
        number = result.labels.arms.index(arm.arm)
        alone = (
            Mcar().read(result.counts, number, result.setting).estimate
        )  # what the levels alone would claim
        sides = [math.hypot(alone.at(z) - alone.mean, added) for z in (-1.0, 1.0)]
        assert arm.estimates["mcar"].standard_error == pytest.approx(sum(sides) / 2, rel=1e-6)
        assert (beyond > 0) == (shift > 1)
        assert alone.standard_error == pytest.approx(math.sqrt(between / len(own)), rel=0.02)
        assert alone.standard_error < 0.85 * arm.estimates["mcar"].standard_error
        assert arm.estimates["mnar"].low < arm.estimates["mnar"].mean < arm.estimates["mnar"].high


@pytest.mark.parametrize("minimize", [False, True])
def test_bounds_are_those_of_the_outcome_before_the_cut(minimize):
    table = log_of()
    options = {"arm": "arm", "outcome": "y", "mediator": "seen", "minimize": minimize}
    plain = truant.analyze(table, **options, range=(0, 50), unit="customer")
    cut = truant.analyze(table, **options, range=(0, 50), unit="customer", cut_outcome=3)
    for after, before in zip(cut.arms, plain.arms, strict=True):
        assert vars(after.bounds) == pytest.approx(vars(before.bounds))
        assert vars(after.naive) == pytest.approx(vars(before.naive))
    assert all(arm.bounds is None for arm in truant.analyze(table, **options, cut_outcome=3).arms)
    with pytest.raises(InvalidValue, match="Outcomes must be within the range 0 to 5"):
        truant.analyze(table, **options, range=(0, 5), cut_outcome=3)


def test_groups_share_points_and_values():
    table = log_of()
    options = {"arm": "arm", "outcome": "y", "mediator": "seen", "cut_outcome": 3}
    result = truant.analyze(table, **options, by="land", unit="customer", time="day")
    whole = read(table, **options)
    for land, group in result.groups.items():
        part = table[table["land"] == land]
        kept = part[part["arm"].notna() & part["y"].notna()]
        codes = np.searchsorted(whole.cut_outcome.points, kept["y"], side="left")
        assert group.setting.levels == whole.counts.levels
        assert [level.rows for level in group.provenance.cut_outcome.levels] == np.bincount(codes).tolist()
        for cost in group.provenance.cut_outcome.costs:
            assert cost.before == pytest.approx(kept["y"][kept["arm"] == cost.arm].mean())
            after = np.array(whole.counts.levels)[codes[kept["arm"] == cost.arm]].mean()
            assert cost.after == pytest.approx(after)
        alone = truant.analyze(part, **options | {"cut_outcome": whole.cut_outcome.points})
        assert np.array_equal(alone.counts.table, group.counts.table)
        means = [arm.naive.mean for arm in group.arms]
        assert means == pytest.approx([arm.naive.mean for arm in alone.arms])
    assert result.summary()["cut_outcome"]["points"] == list(whole.cut_outcome.points)
    assert whole.cut_outcome.sentence in result.about


def test_filters_and_observed_come_before_the_quantiles():
    table = log_of()
    kept = table[table["land"] == "DE"].copy()
    full = kept.assign(answered=kept["y"].notna().astype(int), y=kept["y"].fillna(1e4))
    expected = read(kept, arm="arm", outcome="y", mediator="seen", cut_outcome=3)
    filtered = read(table, arm="arm", outcome="y", mediator="seen", cut_outcome=3, where="land = 'DE'")
    observed = read(full, arm="arm", outcome="y", mediator="seen", cut_outcome=3, observed="answered")
    for log in (filtered, observed):
        assert log.cut_outcome.points == expected.cut_outcome.points
        assert np.array_equal(log.counts.table, expected.counts.table)


def check_place(place, table):
    log = read(place, arm="arm", outcome="y", mediator=["site"], cut_outcome=3)
    kept = table[table["arm"].notna()]
    points = quantiles(table, 3)
    codes = np.where(kept["y"].isna(), 3, np.searchsorted(points, kept["y"], side="left"))
    counts = np.zeros((3, 4, 4))
    np.add.at(
        counts, (kept["arm"].map("ABC".index).to_numpy(), kept["site"].fillna(4).to_numpy(int) - 1, codes), 1
    )
    assert list(log.cut_outcome.points) == points
    assert log.counts.levels == pytest.approx([kept["y"][codes == c].mean() for c in range(3)], rel=1e-12)
    assert np.array_equal(log.counts.table, counts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_is_cut_alike(kind, put):
    table = frame()
    check_place(put(kind, table), table)


def test_few_values_are_merged():
    """An outcome with more values than the mediator has levels."""
    rng = np.random.default_rng(1)
    table = {
        "arm": rng.choice(["a", "b"], 400),
        "m": rng.choice(["low", "high"], 400),
        "stars": rng.integers(1, 6, 400),
    }
    log = read(table, arm="arm", outcome="stars", mediator="m", cut_outcome=[3])
    stars = table["stars"]
    assert log.counts.levels == pytest.approx((stars[stars <= 3].mean(), stars[stars > 3].mean()))
    with pytest.raises(InvalidValue, match="'yes' has only 0 and 1 and is discrete already; leave out"):
        read(table | {"yes": stars > 3}, arm="arm", outcome="yes", mediator="m", cut_outcome=2)


@pytest.mark.parametrize("classes", [2, 3])
def test_ties_that_leave_too_few_classes_are_refused(classes):
    rng = np.random.default_rng(2)
    spent = np.where(rng.random(400) < 0.8, 0.0, np.round(rng.exponential(20, 400), 1) + 1)
    table = {"arm": rng.choice(["a", "b"], 400), "m": rng.integers(0, 3, 400), "spent": spent}
    options = {"arm": "arm", "outcome": "spent", "mediator": "m"}
    if classes == 2:  # the median is 0: zeros below, all others above
        assert read(table, **options, cut_outcome=2).cut_outcome.points == (0.0,)
        return
    with pytest.raises(
        InvalidValue, match=r"'spent' is the same in too many rows \(its quantiles are 0\); cut it"
    ):
        read(table, **options, cut_outcome=3)
    top = dict(table, spent=-spent)  # here the upper classes are empty
    with pytest.raises(InvalidValue, match="'spent' is the same in too many rows"):
        read(top, **options, cut_outcome=3)


def test_the_command_cuts_at_a_single_point(tmp_path):
    log_of().to_csv(tmp_path / "log.csv", index=False)
    command = ["analyze", str(tmp_path / "log.csv"), "--arm", "arm", "--outcome", "y", "--mediator", "seen"]
    found = {}
    for cut in ("2", "2,", "0.5,2"):
        result = CliRunner().invoke(cli, [*command, "--cut-outcome", cut, "--json"])
        found[cut] = json.loads(result.stdout)["cut_outcome"]["points"]
    assert found == {"2": quantiles(log_of(), 2), "2,": [2.0], "0.5,2": [0.5, 2.0]}
    plain = json.loads(CliRunner().invoke(cli, [*command, "--json"]).stdout)
    assert plain["cut_outcome"] is None
    reason = next(one["reason"] for one in plain["infeasible"] if one["assumption"] == "mnar")
    assert reason.endswith("or cut it into classes: cut_outcome=3 (--cut-outcome 3).")
