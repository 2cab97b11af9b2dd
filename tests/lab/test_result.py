"""Results from made-up arrays: every figure is checked against numpy, every file against what was saved."""

import csv
import io
import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from truant.errors import InvalidValue
from truant.lab.result import Simulation

ARRAYS = ("rounds", "regret", "pulls", "estimates", "means", "nanoseconds")


def made_up(policies=("naive-ucb", "mar-ucb", "oracle-ucb"), runs=7, horizon=1000, arms=3, **changes):
    rng = np.random.default_rng(5)
    rounds = np.unique([*np.linspace(1, horizon, 20).astype(int), max(1, horizon // 2), horizon])
    shape = (len(policies), runs)
    means = rng.random((runs, arms))
    estimates = means + rng.normal(size=(*shape, arms))
    estimates[:1, :1, :1] = np.nan
    fields = {
        "world": "mar",
        "parameters": {"K": np.int64(3), "gamma": (0.5, 1.0)},
        "horizon": horizon,
        "seed": 4,
        "policies": list(policies),
        "rounds": rounds,
        "regret": rng.exponential(size=(*shape, len(rounds))).cumsum(axis=2),
        "pulls": rng.multinomial(horizon, np.ones(arms) / arms, size=shape),
        "estimates": estimates,
        "means": means,
        "nanoseconds": rng.random(shape) * 1e6,
    }
    return Simulation(**(fields | changes))


def by_policy(simulation):
    return {row["policy"]: row for row in simulation.table().to_pylist()}


def test_summary_has_the_promised_keys_and_figures():
    simulation = made_up()
    summary = json.loads(json.dumps(simulation.summary()))  # plain values only
    assert {key: summary[key] for key in ("world", "horizon", "runs", "seed")} == {
        "world": "mar",
        "horizon": 1000,
        "runs": 7,
        "seed": 4,
    }
    assert summary["parameters"] == {"K": 3, "gamma": [0.5, 1.0]}
    assert [policy["name"] for policy in summary["policies"]] == simulation.policies
    half = simulation.rounds.tolist().index(500)
    best = simulation.means.argmax(axis=1)
    for p, policy in enumerate(summary["policies"]):
        final = simulation.regret[p, :, -1]
        assert policy["regret"] == pytest.approx(
            {
                "mean": np.mean(final),
                "sd": np.std(final, ddof=1),
                "median": np.median(final),
                "p90": np.percentile(final, 90),
            }
        )
        assert policy["regret_first_half"] == pytest.approx({"mean": simulation.regret[p, :, half].mean()})
        share = np.mean([simulation.pulls[p, run, best[run]] / 1000 for run in range(7)])
        assert policy["best_arm_share"] == pytest.approx(share)
        assert policy["nanoseconds_per_round"] == pytest.approx(simulation.nanoseconds[p].mean() / 1000)


def test_table_pairs_runs_with_the_first_policy():
    simulation = made_up()
    assert simulation.table().column_names[:2] == ["policy", "regret_mean"]
    table = by_policy(simulation)
    assert list(table) == simulation.policies
    difference = simulation.regret[1, :, -1] - simulation.regret[0, :, -1]
    assert table["mar-ucb"]["difference_mean"] == pytest.approx(difference.mean())
    assert table["mar-ucb"]["difference_se"] == pytest.approx(difference.std(ddof=1) / np.sqrt(7))
    assert table["naive-ucb"]["difference_mean"] == 0
    assert table["naive-ucb"]["difference_se"] == 0


def test_share_of_runs_far_above_the_median():
    regret = np.ones((1, 10, 2))
    regret[0, 0, 1] = 10.5
    regret[0, 1, 1] = 9.5
    simulation = made_up(["mar-ucb"], runs=10, rounds=[500, 1000], regret=regret)
    assert by_policy(simulation)["mar-ucb"]["share_above_10x_median"] == pytest.approx(0.1)


def test_one_run_has_no_spread():
    table = made_up(runs=1).table()
    assert table["regret_sd"].to_pylist() == [0, 0, 0]
    assert table["difference_se"].to_pylist() == [None] * 3
    assert table.schema.field("difference_se").type == pa.float64()
    assert made_up(runs=1).summary()["policies"][0]["regret"]["sd"] == 0.0
    assert set(made_up(runs=1).curves()["sd"].to_pylist()) == {0}


def test_arms_that_share_the_best_mean_all_count_as_best():
    means = np.tile([0.3, 0.1 + 0.2, 0.1], (7, 1))  # 0.1 + 0.2 is above 0.3 in the last digit
    simulation = made_up(means=means)
    expected = simulation.pulls[:, :, :2].sum(axis=2) / 1000
    np.testing.assert_allclose(simulation.best_arm_share, expected)


def test_curves_and_long_are_tidy():
    simulation = made_up()
    curves, long = simulation.curves(), simulation.long()
    assert curves.column_names == ["policy", "round", "mean", "sd", "low", "high"]
    assert long.column_names == ["policy", "run", "round", "regret"]
    assert curves.num_rows == 3 * len(simulation.rounds)
    grouped = long.group_by(["policy", "round"]).aggregate([("regret", "mean")]).to_pylist()
    means = {(row["policy"], row["round"]): row["regret_mean"] for row in grouped}
    assert {(row["policy"], row["round"]): row["mean"] for row in curves.to_pylist()} == pytest.approx(means)
    np.testing.assert_array_equal(curves["sd"], simulation.regret.std(axis=1, ddof=1).ravel())
    np.testing.assert_allclose(np.subtract(curves["high"], curves["low"]), 2 * curves["sd"].to_numpy())
    place = simulation.rounds.tolist().index(500)
    row = {"policy": "mar-ucb", "run": 2, "round": 500, "regret": simulation.regret[1, 2, place]}
    assert row in long.to_pylist()


def test_arms_has_a_row_per_policy_run_and_arm():
    simulation = made_up()
    arms = simulation.arms().to_pylist()
    assert len(arms) == 3 * 7 * 3
    assert arms[-1] == {
        "policy": "oracle-ucb",
        "run": 6,
        "arm": 2,
        "pulls": simulation.pulls[2, 6, 2],
        "mean": simulation.means[6, 2],
        "estimate": simulation.estimates[2, 6, 2],
    }
    assert arms[0]["estimate"] is None  # NaN: there is none


def test_tables_go_to_other_libraries():
    table = made_up().table()
    assert pl.from_arrow(table)["regret_mean"].to_list() == table["regret_mean"].to_pylist()
    frame = table.to_pandas().set_index("policy")
    assert frame.loc["mar-ucb", "regret_mean"] == by_policy(made_up())["mar-ucb"]["regret_mean"]


@pytest.mark.parametrize(("runs", "horizon", "arms"), [(7, 1000, 3), (1, 1, 1), (2, 3, 4)])
def test_a_saved_file_gives_everything_back(tmp_path, runs, horizon, arms):
    simulation = made_up(runs=runs, horizon=horizon, arms=arms)
    path = simulation.save(tmp_path / "runs.parquet")
    loaded = Simulation.load(path)
    for name in ARRAYS:
        kept, found = getattr(simulation, name), getattr(loaded, name)
        assert found.dtype == kept.dtype
        np.testing.assert_array_equal(found, kept)
    for name in ("world", "parameters", "horizon", "seed", "policies", "runs"):
        assert getattr(loaded, name) == getattr(simulation, name)
    assert loaded.table().equals(simulation.table())


def test_others_can_read_the_file(tmp_path):
    simulation = made_up()
    frame = pq.read_table(simulation.save(tmp_path / "runs.parquet")).to_pandas()
    assert len(frame) == 21
    row = frame[(frame["policy"] == "mar-ucb") & (frame["run"] == 3)].iloc[0]
    np.testing.assert_array_equal(row["regret"], simulation.regret[1, 3])
    np.testing.assert_array_equal(row["means"], simulation.means[3])


def test_a_failed_save_leaves_the_old_file_and_no_rubbish(tmp_path, monkeypatch):
    path = made_up().save(tmp_path / "runs.parquet")
    before = path.read_bytes()

    def full_disk(table, where, **options):
        where.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full_disk)
    with pytest.raises(InvalidValue, match="No space left on device"):
        made_up(runs=2).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["runs.parquet"]


def test_what_is_no_saved_simulation_is_refused(tmp_path):
    with pytest.raises(InvalidValue, match="There is no file"):
        Simulation.load(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("policy,regret\n")
    with pytest.raises(InvalidValue, match=r"Cannot read .* as a Parquet file"):
        Simulation.load(tmp_path / "text.parquet")
    whole = made_up().save(tmp_path / "runs.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidValue, match="Cannot read"):
        Simulation.load(tmp_path / "cut.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(InvalidValue, match="not one that a simulation was saved to"):
        Simulation.load(tmp_path / "other.parquet")


@pytest.mark.parametrize(
    "changed",
    [
        {"parameters": [1]},
        {"world": None},
        {"seed": [1]},
        {"seed": -1},
        {"minimize": "no"},
        {"delay": float("nan")},
        {"policies": 3},
        {"rounds": None},
    ],
)
def test_damaged_metadata_are_refused(tmp_path, changed):
    path = made_up().save(tmp_path / "runs.parquet")
    table = pq.read_table(path)
    said = json.loads(table.schema.metadata[b"truant"])
    pq.write_table(table.replace_schema_metadata({b"truant": json.dumps(said | changed)}), path)
    with pytest.raises(
        InvalidValue, match=r"runs\.parquet' is damaged: it is not as a simulation was saved\.$"
    ):
        Simulation.load(path)
    pq.write_table(table.replace_schema_metadata({b"truant": b"[" * 100_000}), path)
    with pytest.raises(InvalidValue, match="is damaged"):
        Simulation.load(path)


def test_a_csv_file_has_the_final_figures_and_is_not_loaded(tmp_path):
    simulation = made_up()
    path = simulation.save(tmp_path / "runs.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["policy"], int(row["run"])) for row in rows] == [
        (policy, run) for policy in simulation.policies for run in range(simulation.runs)
    ]
    assert [float(row["regret"]) for row in rows] == simulation.final.ravel().tolist()
    for arm in range(simulation.means.shape[1]):
        assert [int(row[f"pulls_{arm}"]) for row in rows] == simulation.pulls[:, :, arm].ravel().tolist()
    with pytest.raises(InvalidValue, match=r"a \.csv file has the final figures only; save .* as \.parquet"):
        Simulation.load(path)


def test_a_path_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(InvalidValue, match=r"must end in \.csv or \.parquet, got"):
        made_up().save(tmp_path / "runs.txt")
    with pytest.raises(InvalidValue, match="does not exist"):
        made_up().save(tmp_path / "none" / "runs.parquet")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": 0}, "one finished run, got none"),
        ({"means": np.empty((7, 0))}, "one arm"),
        ({"policies": []}, "at least one policy"),
        ({"policies": ["mar-ucb", "mar-ucb", "x"]}, "different names, got mar-ucb, mar-ucb, x"),
        ({"regret": np.zeros((3, 7, 4))}, "regret must have shape"),
        ({"pulls": np.zeros((3, 7, 2))}, "pulls must have shape"),
        ({"nanoseconds": np.zeros(3)}, "nanoseconds must have shape"),
        ({"rounds": [500, 999]}, "to the horizon 1000"),
        ({"rounds": []}, "to the horizon 1000"),
        ({"rounds": [500, 500, 1000]}, "must increase"),
        ({"rounds": [0, 500, 1000]}, "must increase"),
        ({"rounds": [1, 1000]}, "half of the horizon, 500"),
        ({"parameters": {"f": print}}, "World parameters must be"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        made_up(**changes)


def test_representations_show_the_table():
    simulation = made_up()
    for text in (repr(simulation), simulation._repr_html_()):
        assert "gamma = 0.5–1.0" in text
        assert "1,000 rounds, 7 runs" in text
        assert all(name in text for name in (*simulation.policies, "regret_mean", "difference_se"))
    mean = by_policy(simulation)["mar-ucb"]["regret_mean"]
    assert f"{mean:.4g}" in repr(simulation)
    hostile = made_up(["<b>bold</b>"])
    assert "<b>" not in hostile._repr_html_()
    assert "&lt;b&gt;bold" in hostile._repr_html_()


def printed(simulation, width):
    page = io.StringIO()
    Console(width=width, file=page).print(simulation)
    return page.getvalue()


def test_terminal_table_marks_the_best_but_never_an_oracle():
    regret = np.ones((3, 7, 2)) * np.array([50_000, 1234, 5])[:, None, None]
    regret[1, 0, 1] = 123_456
    text = printed(made_up(rounds=[500, 1000], regret=regret), 200)
    starred = [line for line in text.splitlines() if "★" in line and "lowest" not in line]
    assert len(starred) == 1
    assert starred[0].startswith("mar-ucb ★")
    assert f"{regret[1, :, 1].mean():,.0f}" in starred[0]
    assert "50,000" in text
    assert "mar-ucb: 14.3% of the runs had a regret of more than 10 times the median." in text


def test_terminal_table_drops_columns_rather_than_digits():
    regret = np.full((3, 7, 2), 123_456.0)
    text = printed(made_up(rounds=[500, 1000], regret=regret), 60)
    assert "ns/round" not in text
    assert "…" not in text
    assert text.count("123,456") >= 3


def test_chart_says_what_it_shows():
    spec = made_up().chart().to_dict()
    assert spec["title"]["text"] == "World mar"
    assert spec["title"]["subtitle"] == "K = 3, gamma = 0.5–1.0, 1,000 rounds, 7 runs; mean ± 1 sd"
