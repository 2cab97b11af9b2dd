"""Rehearsals: a world drives the real experiment; what it shows of windows, delays and faults."""

from __future__ import annotations

import csv
import inspect
import io
import itertools
import json
import math
import threading

import numpy as np
import pytest
from click.testing import CliRunner
from research.validation.faults import with_faults

import truant
from truant.cli import cli
from truant.documents.rehearsal import RehearsalRow, nothing_wrong, verdict_sentences
from truant.durations import DAY
from truant.errors import InvalidValue, NotIdentified, UnknownName
from truant.live.store import decision_statements
from truant.questions import options
from truant.rehearsal.plan import RehearsalPlan, RehearsalQuestion, plan_of
from truant.rehearsal.result import Rehearsal, row_of
from truant.rehearsal.run import RunFigures, draws_of, drive, figures_of, run_figures
from truant.worlds.delays import Delay
from truant.worlds.discrete import DiscreteWorld


def planned(world: object = "mar:arms=2,K=2", **changes: object) -> RehearsalPlan:
    usual = {"windows": "1d", "delay": "exponential:12h", "rate": "50/d", "days": 6, "seed": 1}
    return plan_of(RehearsalQuestion(world, **{**usual, **changes}))  # type: ignore[arg-type]


def coins(*means: float, observation: float = 1.0) -> DiscreteWorld:
    """Outcomes 0 and 1 without a mediator."""
    return DiscreteWorld([[[1 - mean, mean]] for mean in means], observation, name="coins")


def driven(plan: RehearsalPlan, run: int = 0, null: bool = False, **faults):  # type: ignore[no-untyped-def]
    world = plan.instance(run)
    draws = draws_of(plan, world, run, null)
    faulty = with_faults(draws, plan, run, null, **faults) if faults else draws
    return drive(plan, plan.variants[0], world.setting, faulty)


def rows_of(experiment: truant.Experiment) -> list:  # type: ignore[type-arg]
    return experiment.store.read(lambda t: list(decision_statements.all_rows(t, experiment.number)))


def test_decisions_come_at_the_rate_and_are_all_kept() -> None:
    plan = planned(rate="48/d", days=2, windows="12h")
    found = driven(plan)
    rows = rows_of(found.experiment)
    assert len(rows) == 96
    assert {b.asked - a.asked for a, b in itertools.pairwise(rows)} == {DAY // 48}
    assert [row.arm for row in rows] == found.chosen.tolist()


def test_an_outcome_counts_if_it_arrives_in_the_window_and_only_then() -> None:
    plan = planned(coins(0.3, 0.6), windows="1d", delay="exponential:1d", assume="mcar")
    found = driven(plan)
    rows = rows_of(found.experiment)
    for i, row in enumerate(rows):
        delay = int(found.draws.delays[i, row.arm])
        if row.state == "observed":
            assert delay < DAY
            assert row.outcome == found.draws.outcomes[i, row.arm]
            assert row.outcome_at == row.asked + delay
        if row.state == "missing":
            assert delay >= DAY
        if row.late_outcome is not None:
            assert delay >= DAY
    assert {row.state for row in rows} == {"observed", "missing", "pending"}
    assert any(row.late_outcome is not None for row in rows)


def test_duplicates_and_reordering_change_nothing_if_all_arrives_in_time() -> None:
    plan = planned(delay="constant:2h", windows="5d", days=8, step="12h")
    one, two = driven(plan), driven(plan, duplicates=0.9, reorder=True)
    assert (two.draws.again >= 0).mean() > 0.8
    first, second = (
        [
            (row.arm, row.probability, row.mediator, row.outcome, row.state)
            for row in rows_of(found.experiment)
            if row.state != "pending"
        ]
        for found in (one, two)
    )
    assert len(first) > 100
    assert first == second


def test_reordered_mediators_come_after_their_outcome() -> None:
    found = driven(planned(windows="3d"), reorder=True)
    both = [row for row in rows_of(found.experiment) if row.mediator_at and row.outcome_at]
    late = np.mean([row.mediator_at > row.outcome_at for row in both])
    assert abs(late - 0.5) < 3 * math.sqrt(0.25 / len(both)) + 0.05  # a few of them never come in the window


def test_lost_messages_are_never_told() -> None:
    plan = planned(windows="3d", delay="constant:1h", parameters={"gamma": 1.0})
    found = driven(plan, lose=0.3)
    rows = [row for row in rows_of(found.experiment) if row.state != "pending"]
    share = np.mean([row.state == "missing" for row in rows])
    assert abs(share - 0.3) < 3 * math.sqrt(0.21 / len(rows))
    assert [row.state == "missing" for row in rows] == found.draws.lost[: len(rows), 1].tolist()


def test_the_null_world_has_equal_arms_and_no_regret() -> None:
    plan = planned(coins(0.1, 0.9), assume="mcar")
    draws = draws_of(plan, plan.instance(0), 0, null=True)
    assert draws.means[0] == draws.means[1] in (0.1, 0.9)
    assert abs(draws.outcomes.mean() - draws.means[0]) < 3 * math.sqrt(0.09 / draws.outcomes.size)
    assert run_figures(plan, plan.variants[0], 0, null=True).regret == 0.0


def test_delays_depend_on_the_arm_in_the_null_world_too() -> None:
    plan = planned(coins(0.1, 0.9), assume="mcar", late_depends_on="arm", delay="constant:4h")
    draws = draws_of(plan, plan.instance(0), 0, null=True)
    assert set((draws.delays // (DAY // 24))[0].tolist()) == {2, 8}


def test_all_variants_of_a_run_meet_the_same_outcomes() -> None:
    plan = planned(windows="1d,2d")
    world = plan.instance(3)
    first, second = (draws_of(plan, world, 3, null=False) for _ in range(2))
    other = draws_of(plan, world, 4, null=False)
    np.testing.assert_array_equal(first.outcomes, second.outcomes)
    assert not np.array_equal(first.outcomes, other.outcomes)


def test_regret_is_the_sum_of_gaps() -> None:
    plan = planned(coins(0.2, 0.7), assume="mcar")
    found = run_figures(plan, plan.variants[0], 0, null=False)
    assert found.regret == pytest.approx(0.5 * found.decisions[0])
    assert sum(found.decisions) == plan.decisions


def test_nothing_is_learned_before_the_first_window_is_over() -> None:
    plan = planned(coins(0.1, 0.9), assume="mcar", windows="2d", delay="constant:1h", step="6h")
    found = run_figures(plan, plan.variants[0], 0, null=False)
    assert 2 <= found.first_learning <= 2.25
    never = planned(coins(0.1, 0.9), assume="mcar", windows="7d")
    assert math.isnan(run_figures(never, never.variants[0], 0, null=False).first_learning)


def test_real_outcomes_outside_of_the_range_widen_it() -> None:
    plan = planned("mcar:arms=2,sd=3")
    found = driven(plan)
    configuration = found.experiment.configuration
    assert configuration.low == found.draws.outcomes[~np.isnan(found.draws.outcomes)].min() < 0
    assert configuration.high > 1


def test_share_of_outcomes_that_arrive_in_the_window() -> None:
    plan = planned(coins(0.5, 0.5), assume="mcar", windows="1d", delay="exponential:1d", days=20)
    found = run_figures(plan, plan.variants[0], 0, null=False)
    expected = 1 - math.exp(-1)
    assert abs(found.arrived / found.shown - expected) < 3 * math.sqrt(
        expected * (1 - expected) / found.shown
    )
    assert found.shown == sum(found.settled)


def test_at_close_is_unbiased_and_on_arrival_is_not() -> None:
    """A success takes four times as long as a failure; every outcome arrives in its window."""
    changes = {
        "assume": "mcar",
        "policy": "uniform",
        "delay": Delay("constant", DAY, "outcome", 9.0),
        "windows": "4d",
        "days": 5,
        "rate": "300/d",
        "step": "1d",
    }
    found = {}
    for settle in ("at_close", "on_arrival"):
        plan = planned(coins(0.5, 0.5), settle=settle, settings={"assume": "mcar"}, **changes)
        run = run_figures(plan, plan.variants[0], 0, null=False)
        settled = np.array(run.settled)
        found[settle] = np.average(np.array(run.estimate) - 0.5, weights=settled) / (
            0.5 / math.sqrt(settled.sum())
        )
    assert abs(found["at_close"]) < 3
    assert found["on_arrival"] < -6  # failures are told first


def test_stored_probabilities_recover_the_means() -> None:
    plan = planned(
        coins(0.3, 0.5, 0.6),
        assume="mcar",
        windows="6h",
        step="6h",
        delay="constant:1h",
        rate="300/d",
        days=8,
        settings={"minimum_share": 0.05},
    )
    found = driven(plan)
    rows = [row for row in rows_of(found.experiment) if row.state == "observed"]
    probabilities = np.array([row.probability for row in rows])
    assert probabilities.max() > 0.6  # it has learned
    for arm, mean in enumerate((0.3, 0.5, 0.6)):
        terms = np.array([row.outcome * (row.arm == arm) for row in rows]) / probabilities
        assert abs(terms.mean() - mean) < 3 * terms.std() / math.sqrt(len(terms))


def test_regret_at_a_delay_is_that_of_the_lab() -> None:
    """One decision a minute, a window of D + 1 minutes: what the lab calls a delay of D rounds."""
    world, horizon, delay = coins(0.2, 0.8), 150, 19
    lab = truant.simulate(world, "mcar-thompson", horizon=horizon, runs=2000, delay=delay, threads=1).final[0]
    plan = planned(
        world,
        assume="mcar",
        policy="thompson",
        windows=f"{delay + 1}m",
        delay="constant:1m",
        rate="60/h",
        decisions=horizon,
        step="1m",
    )
    live = np.array([run_figures(plan, plan.variants[0], run, null=False).regret for run in range(24)])
    error = math.hypot(lab.std() / math.sqrt(len(lab)), live.std(ddof=1) / math.sqrt(len(live)))
    assert abs(live.mean() - lab.mean()) < 3 * error
    assert lab.mean() > 0.3 * delay + 3 * error  # the delay matters


def small(**changes: object) -> Rehearsal:
    options = {"windows": "1d,2d", "rate": "20/d", "days": 5, "runs": 3, "seed": 4, "workers": 1}
    return truant.rehearse("mar:arms=2,K=2", **{**options, **changes})  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_numbers_whatever_the_number_of_workers() -> None:
    alone = small()
    assert small(workers=2).summary() == alone.summary()
    assert small(seed=5).summary() != alone.summary()


def test_progress_reaches_one() -> None:
    shares: list[float] = []
    small(progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_summary_table_runs_and_arms() -> None:
    found = small(assume="mar,mcar", late_depends_on="outcome")
    summary = json.loads(json.dumps(found.summary()))
    assert summary["schema"] == "truant/rehearsal/2"
    assert [(row["window"], row["assume"]) for row in summary["rows"]] == [
        ("1d", "mar"),
        ("2d", "mar"),
        ("1d", "mcar"),
        ("2d", "mcar"),
    ]
    assert found.table().num_rows == 4
    assert found.runs().num_rows == 4 * 2 * 3
    assert found.arms().num_rows == 4 * 2 * 3 * 2
    assert min(row["excess"] for row in summary["rows"]) == 0
    assert found.best.excess == 0
    assert found.verdict in str(found)


def test_files_and_page(tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = small(null=False)
    rows = list(csv.DictReader(io.StringIO(found.save(tmp_path / "runs.csv").read_text())))
    assert [float(row["regret"]) for row in rows] == found.runs()["regret"].to_pylist()
    assert found.save(tmp_path / "runs.parquet").stat().st_size > 0
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert found.sentences[0] in page
    assert "null world" not in page
    assert found.sentences[0] in found._repr_html_()


def test_command(tmp_path) -> None:  # type: ignore[no-untyped-def]
    arguments = [
        "rehearse",
        "--world",
        "mar",
        "--set",
        "arms=2",
        "--set",
        "K=2",
        "--window",
        "1d,2d",
        "--window",
        "12h",
    ]
    arguments += ["--rate", "20/d", "--days", "5", "--runs", "2", "--workers", "1", "--step", "12h"]
    page = tmp_path / "page.html"
    shown = CliRunner().invoke(cli, [*arguments, "--html", str(page)], catch_exceptions=False)
    assert shown.exit_code == 0
    assert "Least regret with a window of" in shown.output
    assert page.exists()
    plain = CliRunner().invoke(cli, [*arguments, "--json", "--no-null"], catch_exceptions=False)
    found = json.loads(plain.stdout)
    assert [row["window"] for row in found["rows"]] == ["1d", "2d", "12h"]
    assert found["rows"][0]["null_runs"] == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rate": "many"}, "rate must be a number of decisions"),
        ({"rate": "0/d"}, "between a decision a year and one a microsecond"),
        ({"days": -1}, "days must be"),
        ({"days": 1e9}, "at most 1,000,000 decisions"),
        ({"windows": "soon"}, "window must be a duration"),
        ({"windows": []}, "windows must be a text or a list of texts"),
        ({"delay": "weekly"}, "A delay is none"),
        ({"delay": Delay(), "late_depends_on": "arm"}, "late_depends_on is for a delay given as a text"),
        ({"runs": 0}, "runs must be"),
        ({"settle": "sometimes"}, "settle"),
        ({"settings": {"colour": 1}}, "colour"),
    ],
)
def test_refusals(changes: dict[str, object], words: str) -> None:
    with pytest.raises((InvalidValue, UnknownName, TypeError), match=words):
        small(**changes)


@pytest.mark.parametrize("option", [["--reorder"], ["--lose", ".1"], ["--duplicates", ".1"]])
def test_faults_are_no_options_any_more(option: list[str]) -> None:
    said = CliRunner().invoke(cli, ["rehearse", "--world", "mar", *option])
    assert said.exit_code == 2
    assert f"{option[0]} was removed: a rehearsal compares windows and assumptions" in said.output


def test_the_command_asks_what_the_function_asks() -> None:
    python = inspect.signature(truant.rehearse).parameters
    assert list(python) == list(options(RehearsalQuestion))
    command = {option.name for option in cli.commands["rehearse"].params if not option.hidden}
    assert set(python) - command == {"settings", "progress"}
    assert command - set(python) == {"html", "out", "as_json"}


def test_a_variant_that_cannot_learn_is_refused_before_any_run() -> None:
    before = threading.active_count()
    with pytest.raises(NotIdentified, match="could never learn"):
        truant.rehearse("mnar:arms=2,K=2,L=3", assume="mar,mnar", windows="1d", workers=1)
    assert threading.active_count() == before


def figures(**changes: object) -> RunFigures:
    usual = {
        "regret": 10.0,
        "decisions": [5, 5],
        "settled": [5, 5],
        "truth": [0.2, 0.5],
        "estimate": [0.3, 0.4],
        "low": [0.1, 0.3],
        "high": [0.4, 0.45],
        "winner": None,
        "right": False,
        "first_learning": 2.0,
        "arrived": 4,
        "shown": 8,
    }
    return RunFigures(**{**usual, **changes})  # type: ignore[arg-type]


def row(**changes: object) -> RehearsalRow:
    plan = planned()
    runs = [
        figures(regret=10.0),
        figures(regret=14.0, winner=1, right=True),
        figures(winner=0, estimate=[math.nan, 0.5]),
    ]
    found = row_of(plan.variants[0], runs, [figures(), figures(winner=1)], np.array([0.0, 1.0, 2.0]))
    return RehearsalRow(**{**vars(found), **changes})  # type: ignore[arg-type]


def test_figures_of_a_variant() -> None:
    found = row()
    assert found.regret == pytest.approx(34 / 3)
    assert found.regret_se == pytest.approx(np.std([10, 14, 10], ddof=1) / math.sqrt(3))
    assert (found.right_winners, found.wrong_winners, found.false_winners, found.null_runs) == (1, 1, 1, 2)
    assert (found.coverage, found.intervals) == (0.5, 6)
    assert found.bias == pytest.approx(0.0)
    assert found.first_learning_days == 2.0
    assert found.arrived == 0.5


def test_what_is_wrong_is_said() -> None:
    good = row(bias=0.01, bias_se=0.01, coverage=0.95, intervals=100, false_winners=1, null_runs=20)
    assert nothing_wrong([good], 0.95)
    text = " ".join(verdict_sentences([good], 0.95))
    assert "a winner was named in 1 of 20 runs (nominal: at most 5%)" in text
    assert "biased" not in text
    bad = row(
        window="3d",
        bias=-0.2,
        bias_se=0.01,
        coverage=0.8,
        intervals=100,
        false_winners=6,
        null_runs=20,
        excess=5.0,
    )
    assert not nothing_wrong([good, bad], 0.95)
    said = " ".join(verdict_sentences([good, bad], 0.95))
    assert "named too often with a window of 3d in 6 of 20 runs" in said
    assert "Estimates are biased with a window of 3d by -0.2 ± 0.01." in said
    assert "less often than 95% with a window of 3d, 80%" in said


def test_a_few_runs_prove_little() -> None:
    assert not row(bias=0.2, bias_se=0.05, runs=3).is_biased
    assert row(bias=0.2, bias_se=0.05, runs=30).is_biased
    assert not row(excess=3.0, excess_se=1.0, runs=3).costs_more
    assert row(excess=3.0, excess_se=1.0, runs=30).costs_more
    assert not row(bias=0.2, bias_se=math.nan, runs=1).is_biased


def test_variants_are_named_by_what_differs() -> None:
    rows = [row(), row(settle="on_arrival", assume="mnar", regret=99.0, excess=9.0, excess_se=1.0)]
    first = verdict_sentences(rows, 0.95)[0]
    assert "a window of 1d (mar, at the close)" in first
    assert "most with a window of 1d (mnar, on arrival), 9 ± 1 more" in first


def test_the_null_world_calls_few_winners() -> None:
    """Rehearsed 40 times; the promise of 5% would be broken visibly by 8 or more (probability below .1%)."""
    plan = planned(coins(0.4, 0.6), assume="mcar", windows="6h", step="12h", delay="constant:1h", days=4)
    called = [run_figures(plan, plan.variants[0], run, null=True).winner is not None for run in range(40)]
    assert sum(called) < 8


def test_estimates_are_those_of_the_counted_decisions() -> None:
    plan = planned(coins(0.4, 0.6), assume="mcar", windows="1d", delay="constant:1h")
    found = driven(plan)
    rows = [row for row in rows_of(found.experiment) if row.state == "observed"]
    summed = figures_of(plan, plan.variants[0], found)
    assert [sum(row.arm == arm for row in rows) for arm in range(2)] == summed.settled
    for arm in range(2):
        own = [row.outcome for row in rows if row.arm == arm]
        assert summed.estimate[arm] == pytest.approx(np.mean(own), abs=0.05)
        assert summed.low[arm] < summed.estimate[arm] < summed.high[arm]
