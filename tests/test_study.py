"""The parts of the validation study that compute: slopes, classes, verdicts. The whole is too slow for a test."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the study is no part of the package

from study import (
    changes,
    condition,
    coverage,
    errors,
    estimators,
    kills,
    mutants,
    page,
    published,
    reproduction,
    run,
    slopes,
    sweeps,
    wrong,
)
from study.keep import Study, plain

from truant.worlds import make


def test_the_fitted_slope_is_that_of_least_squares():
    x, y, error = (
        np.array([0.0, 1.0, 2.0, 4.0]),
        np.array([1.0, 2.9, 5.2, 8.8]),
        np.array([0.1, 0.2, 0.1, 0.3]),
    )
    design = np.stack([np.ones(4), x], axis=1) / error[:, None]
    solution, rest, *_ = np.linalg.lstsq(design, y / error, rcond=None)
    covariance = np.linalg.inv(design.T @ design)
    slope, deviation = slopes.fitted_slope(x, y, error)
    assert slope == pytest.approx(solution[1])
    assert rest[0] / 2 > 1  # the scatter counts here
    assert deviation == pytest.approx(np.sqrt(covariance[1, 1] * rest[0] / 2))


def test_points_on_a_line_keep_their_own_errors():
    slope, deviation = slopes.fitted_slope([0, 1, 2], [1, 3, 5], [0.5, 0.5, 0.5])
    assert slope == pytest.approx(2)
    assert deviation == pytest.approx(0.5 / np.sqrt(2))


@pytest.mark.parametrize("sweep", sweeps.SWEEPS, ids=lambda sweep: f"{sweep.name} {sweep.label}")
def test_a_sweep_sets_its_gap_and_changes_its_bounds(sweep):
    first, last = (sweep.point(value, 3.0) for value in (sweep.values[0], sweep.values[-1]))
    assert np.sum(first.world.gaps > 1e-12) == first.world.setting.arms - 1
    assert first.lower < first.upper
    # the worst arms lose about three times the lower bound, whatever the sweep
    for point in (first, last):
        assert point.world.gaps.max() * point.horizon == pytest.approx(3 * point.lower, rel=1e-6)


def test_the_mar_sweep_keeps_the_share_of_seen_outcomes():
    for cost in (2.0, 8.0, 32.0):
        world = sweeps.mar_point(cost, 0.0, cost=cost).world
        seen = (world.mediator_probabilities * world.observation[:, 1]).sum(axis=1)
        assert seen == pytest.approx(0.5)
        assert (world.mediator_probabilities / world.observation[:, 1]).sum(axis=1) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("number", "label"),
    [(3, "below 20"), (20, "20 to 150"), (149, "20 to 150"), (999, "150 to 1000"), (1000, "above 1000")],
)
def test_condition_numbers_have_their_class(number, label):
    assert condition.bin_of(number) == label
    assert condition.bin_of(np.inf) == "above 1000"


def test_arms_are_sorted_into_classes_by_their_own_condition_number():
    found = condition.classed_arms("mediator-mnar", 1)
    for label, [(name, seed, arm)] in found.items():
        assert condition.bin_of(make(name, seed=seed).setting.condition_numbers[arm, 1]) == label


def test_bias_is_what_is_left_when_chance_is_taken_off():
    rng = np.random.default_rng(1)
    biases = rng.choice([-0.3, 0.3], 400)  # cancel in the mean, and must not cancel here
    sample = biases[:, None] + rng.normal(size=(400, 50))
    arms = [{"count": 50, "mean": e.mean(), "square": (e**2).mean(), "least": 1 / 50} for e in sample]
    summed = errors.summed(arms)
    assert summed["bias"] == pytest.approx(0.3, abs=0.03)  # standard error about .008
    assert summed["rmse"] == pytest.approx(np.sqrt(1.09), rel=0.02)
    assert errors.summed([arms[0], {**arms[1], "least": None}])["least"] is None


def test_asymptotic_errors_are_met_by_large_samples():
    item = ("mar-low", 3, 3, 20_000, 150)
    found = errors.of_arm(item)
    assert set(found) == set(estimators.estimators_of(make("mar-low")))
    for name, figures in found.items():
        if name != "complete case":  # the relative error of a variance from 150 samples is .115
            assert figures["square"] / figures["least"] == pytest.approx(1, abs=0.4), name


@pytest.mark.parametrize(
    ("share", "answer"),
    [(0.90, "yes"), (0.865, "yes"), (0.86, "**no**"), (0.945, "better"), (0.96, "**no**")],
)
def test_coverage_is_judged_by_three_standard_errors(share, answer):
    assert coverage.judged(share, 0.005, (0.88, 0.92)) == answer


def test_known_bounds_by_hand():
    least, bound = published.bounds(np.array([0.9, 0.8]), 10_000, binary=True)
    information = 0.8 * np.log(0.8 / 0.9) + 0.2 * np.log(0.2 / 0.1)
    assert least == pytest.approx(0.1 / information * np.log(10_000))
    assert bound == pytest.approx(80 * np.log(10_000) + (1 + np.pi**2 / 3) * 0.1)
    assert published.bounds(np.array([0.5, 0.0]), 100, binary=False)[0] == pytest.approx(4 * np.log(100))


def test_the_index_by_hand_is_the_compiled_one():
    assert all(published.hand_row(*pulls)[-1] == "yes" for pulls in published.HAND)


def test_policies_for_discrete_outcomes_refuse_real_worlds():
    assert wrong.possible("mar-ucb", "mnar")
    assert not wrong.possible("mnar-ucb", "mar-low")


def test_a_piece_is_kept_and_done_anew_when_its_size_changes(tmp_path, capsys):
    study = Study(tmp_path / "page.md", tmp_path, tmp_path, quick=True)
    done = []

    def compute():
        done.append(1)
        return {"figures": (1.0, 2.0)}

    for runs in (3, 3, 4):
        assert study.piece("name: of it", {"runs": runs}, compute) == {"figures": [1.0, 2.0]}
    assert len(done) == 2
    assert (tmp_path / f"{plain('name: of it')}.json").exists()


def test_mutation_rows_add_up(tmp_path):
    assert mutants.mutation_rows(tmp_path / "none.toml") == []
    path = tmp_path / "mutants.toml"
    path.write_text(
        '[[file]]\nname = "a.py"\npossible = 40\nmutants = 10\nkilled = 9\nexplained = 1\nnot_run = 1\n'
        '[[file]]\nname = "b.py"\npossible = 5\nmutants = 5\nkilled = 3\nexplained = 1\nnot_run = 0\n'
    )
    assert mutants.mutation_rows(path) == [
        ["a.py", "40", "10", "9", "1", "0", "yes"],
        ["b.py", "5", "5", "3", "1", "1", "**no**"],
        ["all", "45", "15", "12", "2", "1", "**no**"],
    ]
    assert mutants.how_many(path).startswith("15 of the 45 possible ones are counted")
    assert "; 1 of them were not run" in mutants.how_many(path)


def test_mutants_are_changes_that_still_are_code():
    """Every kind of change, on lines that are computed; none of a message or an annotation."""
    found = {(mutant.before, mutant.after) for mutant in changes.mutants("counts.py")}
    for change in [
        ("row[mediator, PULLS] += 1.0", "row[mediator, PULLS] -= 1.0"),
        ("row[mediator, PULLS] += 1.0", "row[mediator, OBSERVED] += 1.0"),
        ("row[mediator, PULLS] += 1.0", "row[PULLS, mediator] += 1.0"),
        ("row[mediator, PULLS] += 1.0", "row[mediator, PULLS] += 0.0"),
        ("row[mediator, PULLS] += 1.0", "pass"),
        ("if not np.isnan(outcome):", "if np.isnan(outcome):"),
        ("if self.levels is None:", "if self.levels is not None:"),
    ]:
        assert change in found
    assert not any("raise" in before or before.startswith(('f"', "@", '"')) for before, _ in found)
    for file in ("counts.py", "assumptions/likelihood.py"):
        source = (changes.PACKAGE / file).read_bytes()
        for mutant in changes.mutants(file):
            changed = source[: mutant.start] + mutant.text.encode() + source[mutant.end :]
            assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


def test_the_verdict_counts_what_does_not_agree():
    assert page.verdict(["yes", "better"], "rows") == "All 2 rows agree with what was promised."
    assert "1 of 3 rows" in page.verdict(["yes", page.yes(False), "yes"], "rows")


def test_a_section_done_again_takes_the_place_of_its_old_self(tmp_path):
    study = Study(tmp_path / "validation.md", tmp_path / "images", tmp_path / "code2", quick=True)
    study.kept.mkdir()
    old = "# Validation\n\n" + "\n\n".join(
        f"<!-- section {name}: 2020-01-01, code code1 -->\n\n## {name}\n\nold {name}"
        for name in ("regret", "kills")
    )
    study.page.write_text(old)
    (study.kept / "section-kills.md").write_text("## kills\n\nnew kills")
    page_text = run.whole_page(study)
    found = run.sections_of(page_text)
    assert list(found) == ["regret", "kills"]
    assert found["regret"].endswith("old regret")
    assert "2020-01-01, code code1" in found["regret"]
    assert found["kills"].endswith("new kills")
    assert "code code2" in found["kills"]
    assert "Made with earlier code, and not again with this: regret." in page_text
    assert "Not yet done: wrong, astray" in page_text


def test_the_reproduction_is_compared_where_there_is_something_to_compare_with():
    curve = {
        "world": "mcar",
        "parameters": {"gamma": 0.5},
        "policy": "naive-ucb",
        "horizon": 10_000,
        "runs": 100,
    }
    row = reproduction.compared(curve | {"regret_mean": 357.0, "regret_sd": 100.0})
    assert row == ["mcar:gamma=0.5", "`naive-ucb`", "357 ± 100", "357", "+0.0", "yes"]
    error = 100 * np.sqrt(1 / 100 + 1 / 1000)
    far = reproduction.compared(curve | {"regret_mean": 357.0 + 3.1 * error, "regret_sd": 100.0})
    assert far[-2:] == ["+3.1", "**no**"]
    assert reproduction.compared(curve | {"policy": "zero-ucb", "regret_mean": 1.0, "regret_sd": 1.0}) is None
    assert reproduction.compared(curve | {"horizon": 5, "regret_mean": 1.0, "regret_sd": 1.0}) is None


def test_a_half_written_file_is_not_readable(tmp_path):
    import pandas as pd

    path = tmp_path / "part.parquet"
    pd.DataFrame({"regret": range(100)}).to_parquet(path)
    assert kills.readable(path)
    path.write_bytes(path.read_bytes()[:-10])
    assert not kills.readable(path)
