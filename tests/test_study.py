"""The parts of the validation study that compute: slopes, classes, verdicts. The whole is too slow for a test."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the study is no part of the package

from research.validation import (
    changes,
    condition,
    coverage,
    delay,
    errors,
    estimators,
    growth,
    kills,
    measures,
    mutants,
    page,
    published,
    regret,
    run,
    slopes,
    sweeps,
    which,
    wrong,
)
from research.validation.keep import ROOT, Study, plain

from truant.indices.ucb import squared_z
from truant.lab.result import Simulation
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
    ("share", "near"), [(0.95, True), (0.91, True), (0.90, False), (0.99, True), (0.9951, False)]
)
def test_coverage_is_judged_by_the_nominal_level_and_three_standard_errors(share, near):
    assert coverage.nominal(share, 0.005) == near


def test_the_likelihood_is_judged_by_the_bound_the_inverse_and_the_complete_cases():
    def figures(likelihood, linear=1.0, complete=1.0, least=1.0):
        return [
            {
                "likelihood": {"rmse": likelihood, "least": least},
                "linear": {"rmse": linear},
                "complete case": {"rmse": complete},
            }
        ]

    assert condition.as_good_as_possible("below 20", figures(0.9))
    assert not condition.as_good_as_possible("below 20", figures(0.9, linear=0.8))
    assert not condition.as_good_as_possible("below 20", figures(0.9, complete=0.8))
    assert condition.as_good_as_possible("above 1000", figures(0.9, complete=0.8))
    assert not condition.as_good_as_possible("above 1000", figures(0.9, least=0.8))


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
    assert "Not yet done: wrong, zoo, astray, delay" in page_text


def simulation(first, second, share):
    """Runs of the policies `ours` and `naive-ucb` with this regret in each half, and this share of the best arm."""
    first, second = np.asarray(first, float), np.asarray(second, float)
    share = np.asarray(share, float)
    return Simulation(
        world="made up",
        parameters={},
        horizon=1000,
        seed=0,
        policies=["ours", "naive-ucb"],
        rounds=[500, 1000],
        regret=np.stack([first, first + second], axis=2),
        pulls=np.stack([1000 * share, 1000 * (1 - share)], axis=2),
        estimates=np.zeros((*share.shape, 2)),
        means=np.tile([1.0, 0.0], (share.shape[1], 1)),
        nanoseconds=np.zeros(share.shape),
    )


def test_a_straight_run_goes_on_losing_far_from_the_best_arm():
    first = [[10, 10, 100, 100, 100, 11, 9, 10], [50] * 8]
    second = [[1, 9, 90, 70, 90, 1, 1, 1], [40] * 8]
    share = [[0.9, 0.1, 0.1, 0.1, 0.6, 0.9, 0.9, 0.9], [0.1] * 8]
    result = simulation(first, second, share)
    # the second run is not above three times the median, the fourth slows down, the fifth found the best arm
    assert measures.straight(result, "ours").tolist() == [
        False,
        False,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert not measures.straight(result, "naive-ucb").any()
    assert measures.grows(result, "naive-ucb")
    assert not measures.grows(simulation([[1], [10]], [[1], [7]], [[1], [1]]), "naive-ucb")


def test_regret_is_judged_beside_naive():
    rng = np.random.default_rng(2)
    noise = 1 + 0.01 * rng.normal(size=(2, 200))
    share = np.ones((2, 200))

    def within(ours, naive_late, **limit):
        first, second = np.array([[ours], [50.0]]) * noise, np.array([[0.0], [naive_late]]) * noise
        return measures.beside_naive(simulation(first, second, share), "ours", **limit)

    assert within(24.0, 50.0)  # naive does not learn, and loses 100
    assert not within(26.0, 50.0)
    assert within(109.0, 5.0)  # naive learns, and loses 55
    assert not within(112.0, 5.0)
    assert not within(57.0, 5.0, price=1.0)


def test_the_ratio_of_means_has_the_error_of_repeated_samples():
    rng = np.random.default_rng(3)
    y = rng.gamma(4.0, 1.0, (4000, 100))
    x = 0.5 * y + rng.normal(1.0, 1.0, y.shape)
    found = np.array([measures.ratio(a, b) for a, b in zip(x, y, strict=True)])
    assert found[:, 0].mean() == pytest.approx(0.75, abs=0.005)
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.05)


def test_every_case_of_regret_has_a_yardstick():
    for case in {case.assumption: case for case in regret.CASES}.values():
        sticks = measures.yardsticks(case.world, case.assumption, 1000, 2, 1)
        assert len(sticks) == 2
        assert min(sticks) > 0


def test_a_worse_arm_is_pulled_until_its_width_is_the_gap():
    pulls = growth.pulls_of_worse(2.0, 0.1, 1.0, 100_000, None)
    assert pulls == pytest.approx(np.log(100_000) * 2.0 / 0.1**2)
    pulls = growth.pulls_of_worse(2.0, 0.1, 2.0, 100_000, 1.0)
    assert pulls == pytest.approx(2 * squared_z(pulls / 2.0, np.log(100_000)) * 2.0 / 0.1**2)


def test_a_delay_may_cost_as_much_as_its_bound():
    case = delay.Case("made up", "mar", 1000)
    at_once, late, later = (simulation([[x] * 3] * 2, [[1] * 3] * 2, [[1] * 3] * 2) for x in (10, 100, 1000))
    for result in (at_once, late, later):
        result.policies[0] = "mar-ucb"
    row = delay.row(case, "mar-ucb", [at_once, late, later])  # the gaps are 0 and 1
    assert row[-3:] == ["500", "1,000", "yes"]
    later.regret[0, :, -1] += 20
    assert delay.row(case, "mar-ucb", [at_once, late, later])[-1] == "**no**"


def test_the_table_of_policies_takes_the_place_of_its_old_self():
    clear, even = (
        simulation([ours, [12.0, 13.0, 11.0]], [[0.0] * 3] * 2, [[1.0] * 3] * 2)
        for ours in ([2.0, 3.0, 1.5], [14.0, 11.0, 11.5])
    )
    for result in (clear, even):
        result.policies[:] = ["mar-ucb", "mar-thompson"]
    text = which.block({world: [clear, even, even] for world in which.KINDS.values()})
    assert "| `mar-ucb` | 2 / 12 | either; `mar-ucb` is repeatable | 12 / 12 |" in text
    page = f"before\n{which.BEGIN}\nold\n{which.END}\nafter\n"
    assert which.replaced(page, text) == f"before\n{text}\nafter\n"
    with pytest.raises(ValueError, match="marks"):
        which.replaced("no marks", text)


def test_the_page_of_the_lab_has_a_place_for_the_table_of_policies():
    page = (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")
    assert which.replaced(page, f"{which.BEGIN}{which.END}") != page
    for world in which.KINDS.values():
        assert world in {case.world for case in delay.CASES}


def test_a_half_written_file_is_not_readable(tmp_path):
    import pandas as pd

    path = tmp_path / "part.parquet"
    pd.DataFrame({"regret": range(100)}).to_parquet(path)
    assert kills.readable(path)
    path.write_bytes(path.read_bytes()[:-10])
    assert not kills.readable(path)
