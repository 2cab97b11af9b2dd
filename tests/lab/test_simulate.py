import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import truant
from truant.compile import jit
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified, UnknownName
from truant.lab import simulate as module
from truant.lab.simulate import simulate
from truant.play.run import checkpoints
from truant.policies import named, policy_names
from truant.spec import Spec
from truant.worlds import DiscreteWorld, RealWorld, make

QUICK = {"progress": False}


def run(world, policies, horizon=300, runs=2, seed=1, **options):
    return simulate(world, policies, horizon=horizon, runs=runs, seed=seed, **QUICK, **options)


@pytest.mark.parametrize("horizon", [1, 2, 7, 150, 200, 1000, 12_345, 10**6])
def test_checkpoints(horizon):
    rounds = checkpoints(horizon)
    assert rounds[-1] == horizon
    assert max(1, horizon // 2) in rounds
    assert np.all(np.diff(rounds) > 0)
    assert rounds[0] >= 1
    assert len(rounds) <= 205


def test_one_seed_one_result_whatever_the_threads_and_the_company():
    alone = run("mar", ["mar-thompson"], horizon=2000, runs=4, threads=1)
    company = run("mar", ["naive-ucb", "mar-thompson"], horizon=2000, runs=4, threads=3)
    assert np.array_equal(alone.regret[0], company.regret[1])
    assert np.array_equal(alone.estimates[0], company.estimates[1], equal_nan=True)
    assert np.array_equal(alone.means, company.means)
    assert not np.array_equal(alone.regret, run("mar", "mar-thompson", 2000, 4, seed=2).regret)


def test_more_runs_begin_with_the_same_runs():
    assert np.array_equal(
        run("mnar", "mcar-ucb", runs=2).regret, run("mnar", "mcar-ucb", runs=3).regret[:, :2]
    )


def test_a_named_world_is_new_in_each_run_and_an_object_is_not():
    assert len(np.unique(run("mar", "mar-ucb", runs=3).means[:, 0])) == 3
    assert len(np.unique(run(make("mar", seed=4), "mar-ucb", runs=3).means[:, 0])) == 1


def test_regret_is_pulls_times_gaps():
    result = run("mar", ["mar-ucb", "mar-uniform"], horizon=5000)
    gaps = result.means.max(axis=1, keepdims=True) - result.means
    assert result.final == pytest.approx((result.pulls * gaps).sum(axis=2))
    assert np.all(result.pulls.sum(axis=2) == 5000)
    assert np.all(np.diff(result.regret, axis=2) >= 0)


def test_uniform_pulls_every_arm_alike():
    """A multinomial share of 1/10 over 20,000 rounds has standard error .0021."""
    shares = run("mar", "mar-uniform", horizon=20_000, runs=1).pulls[0, 0] / 20_000
    assert shares == pytest.approx(np.full(10, 0.1), abs=4 * 0.0021)


@pytest.mark.parametrize("world", ["mar", "mediator-mar", "mnar", "mediator-mnar"])
def test_final_estimates_are_those_of_the_same_pulls_folded(world):
    """Replay the loop's own stream: one arm, so that every round draws one pull and nothing else."""
    instance = make(world, seed=3)
    if isinstance(instance, RealWorld):
        only = RealWorld(
            instance.mediator_probabilities[:1],
            instance.outcome_means[:1],
            instance.observation[:1],
            mediator_observation=instance.mediator_observation[:1],
        )
    else:
        only = DiscreteWorld(instance.joint[:1], instance.observation[:1], instance.mediator_observation[:1])
    name = {"mar": "mar", "mediator-mar": "mediator-mar"}.get(world, world)
    policy = named(f"{name}-greedy")
    result = run(only, policy, horizon=3000, runs=1)
    seeds = np.random.SeedSequence(1, spawn_key=(0,)).spawn(2)
    rng = np.random.Generator(np.random.SFC64(seeds[1]))
    arms = np.zeros(3000, np.int64)
    mediators, outcomes = only.pulls(arms, rng)
    counts = Counts.fold(only.setting, arms, mediators, outcomes)
    assert result.estimates[0, 0, 0] == policy.estimate(counts, 0, only.setting).mean


def test_estimates_only_where_they_are_wanted(monkeypatch):
    """Without them nothing else changes, and no policy is asked for one."""
    policies = ["mar-ucb", "paper-mcar"]
    usual = run("mar", policies)
    assert np.isfinite(usual.estimates[0]).any()
    monkeypatch.setattr(truant.Policy, "estimate", lambda *_: pytest.fail("asked for an estimate"))
    without = run("mar", policies, estimates=False)
    assert without.estimates.shape == usual.estimates.shape
    assert np.isnan(without.estimates).all()
    assert np.array_equal(without.regret, usual.regret)
    assert np.array_equal(without.pulls, usual.pulls)
    with pytest.raises(InvalidValue, match="estimates must be true or false, got 'no'"):
        run("mar", policies, estimates="no")


def test_counts_are_not_kept(monkeypatch):
    """Those of many runs would fill the memory."""
    results = []
    original = module._finished
    monkeypatch.setattr(module, "_finished", lambda row: results.append(original(row)) or results[-1])
    for estimates in (True, False):
        run("mar", ["mar-ucb", "naive-ucb"], runs=3, estimates=estimates)
    assert [result.counts for row in results for result in row] == [None] * 12


def test_specs_are_as_good_as_texts():
    by_text = run("mar:K=3", ["mar-ucb:level=2"], parameters={"sd": 2.0})
    by_spec = run(Spec("mar", {"K": 3, "sd": 2.0}), [Spec("mar-ucb", {"level": 2.0})])
    assert np.array_equal(by_text.regret, by_spec.regret)
    assert by_text.policies == by_spec.policies == ["mar-ucb:level=2"]
    assert by_text.parameters == by_spec.parameters == {"K": 3, "sd": 2.0}
    assert run("mar", " mar-ucb: level=2.0").policies == [" mar-ucb: level=2.0"]  # as it was written


def test_policies_of_a_run_are_paired():
    result = run("mar", ["mar-ucb", "mar-ucb:level=plain"], horizon=1000, runs=3)
    assert np.array_equal(result.regret[0], result.regret[1])


def test_ucb_with_an_unknown_horizon_learns():
    result = run("mar", ["mar-ucb:horizon=unknown", "mnar-ucb:horizon=unknown"][:1], horizon=20_000, runs=6)
    assert result.best_arm_share.mean() > 0.9
    discrete = run("mnar-clear", "mnar-ucb:horizon=unknown", horizon=20_000, runs=3)
    assert discrete.best_arm_share.mean() > 0.8


ODD = {
    "one arm": RealWorld([[0.5, 0.5]], [[0.0, 1.0]], [[0.5, 0.5]]),
    "K = 1": RealWorld([[1.0], [1.0]], [[0.0], [1.0]], 0.5),
    "a mediator value never seen": RealWorld([[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0]] * 2, 0.9),
    "gamma near 0": RealWorld([[0.5, 0.5]] * 2, [[0.0, 1.0]] * 2, 1e-9),
    "mediator always missing": RealWorld([[0.5, 0.5]] * 2, [[0.0, 1.0]] * 2, 0.5, mediator_observation=0.0),
    "outcomes without noise": RealWorld([[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2, 0.5, outcome_sd=0.0),
}
ODD_DISCRETE = {
    "an outcome level never seen": DiscreteWorld(
        np.array([[[0.5, 0, 0], [0.5, 0, 0], [0, 0, 0]]] * 2), 0.8, 0.9
    ),
    "all outcomes missing": DiscreteWorld(np.full((2, 3, 3), 1 / 9), 0.0, 0.9),
    "everything missing": DiscreteWorld(np.full((2, 3, 3), 1 / 9), 0.0, 0.0),
    "one arm": DiscreteWorld(np.full((1, 3, 3), 1 / 9), 0.5, 0.5),
    "nothing missing": DiscreteWorld(np.full((2, 3, 3), 1 / 9)),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("horizon", [1, 3, 400])
def test_nothing_breaks_on_odd_real_worlds(name, horizon):
    policies = ["mcar-ucb", "mar-ucb", "mar-known-thompson", "mediator-mar-ucb", "paper-mcar", "paper-mar"]
    policies += [
        "paper-mar-known",
        "paper-mediator-mar",
        "zero-ucb",
        "oracle-thompson",
        "mar-ucb:horizon=unknown",
    ]
    result = run(ODD[name], policies, horizon=horizon, runs=1)
    assert np.all(np.isfinite(result.regret))
    assert np.all(result.pulls.sum(axis=2) == horizon)


@pytest.mark.parametrize("name", ODD_DISCRETE)
@pytest.mark.parametrize("horizon", [1, 25, 400])
def test_nothing_breaks_on_odd_discrete_worlds(name, horizon):
    policies = ["mnar-ucb", "mediator-mnar-ucb", "both-mnar-ucb", "mnar-thompson", "paper-mnar"]
    policies += ["paper-mnar-literal", "paper-mediator-mnar", "mar-ucb", "zero-ucb", "oracle-ucb"]
    result = run(ODD_DISCRETE[name], policies, horizon=horizon, runs=1)
    assert np.all(np.isfinite(result.regret))
    assert np.all(result.pulls.sum(axis=2) == horizon)


def test_every_policy_runs_where_its_assumption_can_be_met():
    refused = []
    for name in policy_names():
        try:
            assert run("both-mnar", name, horizon=150, runs=1, follow_up_cost=0.1).pulls.sum() == 150
        except NotIdentified:
            refused.append(name)
    assert refused == []


def test_what_cannot_be_identified_is_refused_before_anything_runs():
    with pytest.raises(NotIdentified, match="K=3 < L=5"):
        run("mnar", "mnar-ucb", parameters={"K": 3})
    with pytest.raises(NotIdentified, match="mnar needs a discrete outcome"):
        run("mar", "mnar-ucb")
    with pytest.raises(NotIdentified, match="L=2 < K=4"):
        run("mnar", "mediator-mnar-ucb", parameters={"K": 4, "L": 2})
    with pytest.raises(NotIdentified, match="K=4 and L=2"):
        run("mnar", "both-mnar-ucb", parameters={"K": 4, "L": 2})
    assert run("mnar", "mnar-ucb:allow_unidentified=true", parameters={"K": 3}).runs == 2


def test_bad_values_are_refused():
    for options, match in [
        ({"horizon": 0}, "horizon must be"),
        ({"horizon": float("nan")}, "horizon must be"),
        ({"runs": 0}, "runs must be"),
        ({"runs": 1.5}, "runs must be"),
        ({"seed": -1}, "seed must be"),
        ({"threads": 0}, "threads must be"),
    ]:
        with pytest.raises(InvalidValue, match=match):
            run("mar", "mar-ucb", **options)
    with pytest.raises(InvalidValue, match="at least one policy"):
        run("mar", [])
    with pytest.raises(InvalidValue, match="different names"):
        run("mar", ["mar-ucb", "mar-ucb"])
    with pytest.raises(UnknownName, match="did you mean 'mar-ucb'"):
        run("mar", "mar-ubc")
    with pytest.raises(UnknownName, match="did you mean 'mnar'"):
        run("mnr", "mar-ucb")
    with pytest.raises(InvalidValue, match="built already"):
        run(make("mar"), "mar-ucb", parameters={"K": 3})


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell has it ignored
from truant.lab import simulate as module
from truant.lab.simulate import simulate
simulate("mar", "mar-ucb", horizon=10, runs=1, progress=False)  # compiled beforehand
print("ready", flush=True)
result = simulate("mar", "mar-ucb", horizon=int(sys.argv[1]), runs=int(sys.argv[2]), seed=1, threads=2, progress=False)
print(result.runs, result.final[0, 0])
"""


def interrupted(horizon, runs, after):
    """A process of its own, interrupted as by Ctrl-C; its exit code and what it printed."""
    command = [sys.executable, "-c", INTERRUPTED, str(horizon), str(runs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        try:
            output, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    return process.returncode, output.split()


def test_an_interrupt_keeps_the_finished_runs():
    """Ctrl-C while later runs are still going: what was complete comes back, whole."""
    code, (runs, final) = interrupted(500_000, 2000, after=3.0)
    assert code == 0
    assert 0 < int(runs) < 2000
    assert float(final) == run("mar", "mar-ucb", horizon=500_000, runs=1).final[0, 0]


def test_an_interrupt_before_the_first_run_ends():
    """Whatever the horizon: this one would take hours."""
    code, output = interrupted(10**12, 1, after=1.0)
    assert code != 0
    assert output == []


@jit
def score_with_arrays(row, memory, shared, parameters, z_grid, values):
    totals = np.zeros(row.shape[1])
    for m in range(row.shape[0]):
        totals += row[m]
    values[:] = parameters[0] + totals[2] / max(totals[1], 1.0) + z_grid / np.sqrt(max(totals[1], 1.0))


def test_a_part_that_makes_arrays_still_runs():
    from truant.assumptions import Curve
    from truant.assumptions.assumption import per_arm
    from truant.indices.ucb import Ucb

    policy = truant.Policy(
        "mine", Ucb(), lambda s, T: Curve(score_arm=score_with_arrays, parameters=per_arm(s, s.centre))
    )
    result = run("mar", policy, horizon=5000, runs=3)
    assert result.best_arm_share.mean() > 0.8
