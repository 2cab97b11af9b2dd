"""The same pulls through lab, logs and live: the same counts, estimates and allocation."""

import numpy as np
import pytest

import truant
from tests.live.campaign import ARMS, MAIL, run
from truant.live import counting
from truant.live.experiment import Experiment
from truant.live.store import statements
from truant.live.times import ManualClock
from truant.policies import named
from truant.worlds import make


def lived(world, assume, store, decisions=1200, **settings):
    """A world's pulls through a live experiment, and the same pulls as columns."""
    setting = world.setting
    # real outcomes are told in a range that holds all of them
    outcome = {"levels": list(setting.levels)} if setting.levels else {"range": (-10.0, 3000.0)}
    levels = [f"m{number}" for number in range(setting.mediators)] if setting.mediators > 1 else []
    clock = ManualClock("2026-03-02 09:00")
    experiment = Experiment.create(
        "same",
        [f"arm{number}" for number in range(setting.arms)],
        mediator_levels=levels,
        **outcome,
        assume=assume,
        window="1d",
        horizon=5000,
        store=store,
        clock=clock,
        seed=3,
        minimize=setting.minimize,
        **settings,
    )
    columns = []
    for day in range(4):
        asked = experiment.ask(decisions // 4)
        arms = np.array([int(one.arm.removeprefix("arm")) for one in asked])
        mediators, outcomes = world.pulls(arms, seed=day)
        for one, m, y in zip(asked, mediators, outcomes, strict=True):
            if levels and m >= 0:
                experiment.tell(one.id, mediator=levels[m])
            if not np.isnan(y):
                experiment.tell(one.id, outcome=y)
        columns.append((arms, mediators, outcomes))
        clock.advance("1d")
        experiment.close_windows()
    return experiment, tuple(np.concatenate(column) for column in zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("world", "assume"),
    [
        ("mar", "mar"),
        ("conversion", "mar"),
        ("mnar", "mnar"),
        ("mediator-mar", "mediator-mar"),
        ("mcar", "mcar"),
    ],
)
def test_lab_logs_and_live_agree(world, assume, tmp_path):
    store = f"sqlite:///{tmp_path / 's.db'}?durability=process"
    experiment, (arms, mediators, outcomes) = lived(make(world, seed=5, arms=3), assume, store)
    setting = experiment.configuration.setting()
    lab = truant.Counts.fold(setting, arms, mediators, outcomes)
    cells = experiment.store.read(lambda transaction: statements.day_cells(transaction, experiment.number))
    live = counting.total_counts(cells, experiment.configuration)
    whole = (..., slice(None)) if setting.levels else (..., slice(0, 2))
    assert np.array_equal(live.table[whole], lab.table[whole])
    assert np.allclose(live.table, lab.table, rtol=1e-12, atol=1e-9)

    path = experiment.export(tmp_path / "rows.parquet")
    logs = truant.analyze(
        path,
        arm="arm",
        outcome="outcome",
        mediator="mediator" if setting.mediators > 1 else (),
        **({"levels": setting.levels} if setting.levels else {"range": (setting.low, setting.high)}),
        minimize=setting.minimize,
        assume=assume,
        collected="adaptive",
    )
    assert np.array_equal(logs.counts.pulls, lab.pulls)
    status = experiment.status(calibrate=False)
    policy = named(experiment.configuration.policy)
    for number, arm in enumerate(status.arms):
        expected = policy.assumption.estimate(lab, number, setting).mean
        assert arm.mean == pytest.approx(expected, rel=1e-9)
        assert logs.arms[number].estimates[assume].mean == pytest.approx(expected, rel=1e-9)
        near = 1e-4 * (arm.high - arm.low)  # limits are searched for
        assert logs.arms[number].estimates[assume].low == pytest.approx(arm.low, abs=near)

    decider = truant.Decider(policy, setting, 5000)
    shares = experiment.state.allocation.probabilities
    assert shares == pytest.approx(decider.allocation(lab), abs=1e-9)


def test_shares_of_ucb_count_what_is_pending(tmp_path):
    """Without it the arm that looks best would have every share."""
    world = make("conversion", seed=2, arms=3)
    experiment, (arms, mediators, outcomes) = lived(world, "mar", "sqlite://", policy="mar-ucb")
    experiment.ask(300)
    experiment.close_windows()
    row = experiment.state.allocation
    assert row.pending is not None
    assert sum(row.pending) == 300
    setting = experiment.configuration.setting()
    decider = truant.Decider("mar-ucb", setting, 5000)
    lab = truant.Counts.fold(setting, arms, mediators, outcomes)
    expected = decider.allocation(lab, pending=row.pending, ahead=row.ahead)
    assert row.probabilities == pytest.approx(expected, abs=1e-9)
    assert not np.allclose(expected, decider.allocation(lab, ahead=row.ahead))


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("holdout", [0.0, 0.2])
def test_the_export_of_an_experiment_with_an_added_arm_analyses_as_its_status(tmp_path, name, holdout):
    """Before the arm has decisions, while none of them has an outcome, and afterwards."""
    clock = ManualClock("2026-03-02 09:00")
    settings = {one: value for one, value in MAIL.items() if value is not None}
    experiment = Experiment.create(
        "mails", list(ARMS), store="sqlite://", clock=clock, seed=1, holdout=holdout, **settings
    )
    run(experiment, clock, days=6, a_day=40)
    experiment.add_arm("bold")
    analysed = [_analysed_alike(experiment, tmp_path / name)]
    for one in experiment.ask(60):
        if one.arm != "bold":
            experiment.tell(one.id, mediator="closed", outcome=1.0)
    clock.advance("4d")
    assert experiment.status(calibrate=False).arms[2].settled > 0
    analysed.append(_analysed_alike(experiment, tmp_path / name))
    run(experiment, clock, days=6, a_day=40, seed=5)
    analysed.append(_analysed_alike(experiment, tmp_path / name))
    assert analysed == [{"old", "new"}, {"old", "new"}, {"old", "new", "bold"}]


def _analysed_alike(experiment, path):
    """The arms that both analyse; of the table those decisions that the policy made, as in status."""
    status = experiment.status(calibrate=False)
    table = truant.analyze(
        experiment.export(path),
        arm="arm",
        mediator="mediator",
        outcome="outcome",
        range=(0, 200),
        where="holdout = false",
        collected="adaptive",
        assume="mar",
    )
    arms = {arm.arm: arm for arm in table.arms}
    known = {arm.arm: arm for arm in status.arms if arm.mean is not None}
    for name, arm in known.items():
        estimate, near = arms[name].estimates["mar"], 1e-4 * (arm.high - arm.low)
        assert estimate.mean == pytest.approx(arm.mean, rel=1e-9)
        assert (estimate.low, estimate.high) == pytest.approx((arm.low, arm.high), abs=near)
        assert estimate.probability_best == pytest.approx(arm.probability_best, abs=1e-9)
    assert set(arms) == set(known)
    assert table.verdict.kind == status.analysis.verdict.kind
    return set(known)
