"""What the paper's estimators tend to, on tables of populations."""

import numpy as np
import numpy.typing as npt
import pytest
from tests.scoring import guess_and_scores

from truant.policies import named
from truant.setting import Setting

FloatArray = npt.NDArray[np.float64]


MANY = 1e8  # pulls: the table is exact up to rounding


def mnar_table(joint: FloatArray, gamma: FloatArray) -> FloatArray:
    """Exact P(m, y or missing) of an arm with O ⟂ M given Y, and an empty row of missing mediators."""
    K, L = joint.shape
    table = np.zeros((K + 1, L + 1))
    table[:K, :L] = joint * gamma
    table[:K, L] = (joint * (1 - gamma)).sum(axis=1)
    return table


def test_the_printed_algorithm_4_turns_the_order_of_two_arms_round():
    """y = (.2, .8), mu = (.62, .5), P(O=1) = (.95, .5) become (.653, 1.0); with joint frequencies they stay."""
    levels = np.array([0.2, 0.8])
    top = np.array([0.7, 0.5])  # P(Y = .8)
    gamma = np.array([[0.9, 0.68 / 0.7], [0.8, 0.2]])
    shadow = np.array([[0.8, 0.3], [0.2, 0.7]])  # P(m|y)
    joint = shadow * np.stack([1 - top, top], axis=1)[:, None]
    assert levels @ joint[0].sum(axis=0) == pytest.approx(0.62)
    assert levels @ joint[1].sum(axis=0) == pytest.approx(0.5)
    tables = np.stack([mnar_table(joint[a], gamma[a]) for a in (0, 1)])
    assert tables[:, :, :2].sum(axis=(1, 2)) == pytest.approx([0.95, 0.5])
    setting = Setting(arms=2, mediators=2, levels=tuple(levels), condition_numbers=[5.0, 5.0])
    joint_form = guess_and_scores(named("paper-mnar"), MANY * tables, setting, 10**5)[:, 0]
    as_printed = guess_and_scores(named("paper-mnar-literal"), MANY * tables, setting, 10**5)[:, 0]
    np.testing.assert_allclose(joint_form, [0.62, 0.5], rtol=1e-9)
    np.testing.assert_allclose(as_printed, [0.62 / 0.95, 1.0], rtol=1e-9)
    assert np.round(as_printed, 3).tolist() == [0.653, 1.0]


@pytest.mark.parametrize("K", [3, 5])
def test_mnar_tends_to_mu_and_the_printed_form_to_mu_over_the_share_seen(K):
    rng = np.random.default_rng(6)
    levels = np.array([-1.0, 0.5, 3.0])
    arms = 20
    joint = rng.dirichlet(np.ones(K * 3), arms).reshape(arms, K, 3)
    gamma = rng.uniform(0.3, 1, (arms, 3))
    tables = np.stack([mnar_table(joint[a], gamma[a]) for a in range(arms)])
    mu = joint.sum(axis=1) @ levels
    seen = (joint.sum(axis=1) * gamma).sum(axis=1)
    setting = Setting(arms=arms, mediators=K, levels=tuple(levels), condition_numbers=np.ones(arms))
    near = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(
        guess_and_scores(named("paper-mnar"), MANY * tables, setting, 100)[:, 0], mu, **near
    )
    literal = guess_and_scores(named("paper-mnar-literal"), MANY * tables, setting, 100)[:, 0]
    np.testing.assert_allclose(literal, mu / seen, **near)
    assert np.all(np.abs(mu / seen - mu) > 1e-3)


def test_mediator_mnar_tends_to_mu():
    """Y, O and Q independent given M; the observed mean does not tend to mu."""
    rng = np.random.default_rng(7)
    K, levels, arms = 3, np.array([0.0, 0.2, 0.7, 1.0]), 20
    p, law = rng.dirichlet(np.ones(K), arms), rng.dirichlet(np.ones(4), (arms, K))
    gamma, lam = rng.uniform(0.2, 1, (arms, K)), rng.uniform(0.2, 1, (arms, K))
    joint = p[..., None] * law
    tables = np.zeros((arms, K + 1, 5))
    tables[:, :K, :4] = joint * (gamma * lam)[..., None]
    tables[:, :K, 4] = p * lam * (1 - gamma)
    tables[:, K, :4] = (joint * (gamma * (1 - lam))[..., None]).sum(axis=1)
    tables[:, K, 4] = (p * (1 - lam) * (1 - gamma)).sum(axis=1)
    setting = Setting(arms=arms, mediators=K, levels=tuple(levels), condition_numbers=np.ones(arms))
    found = guess_and_scores(named("paper-mediator-mnar"), MANY * tables, setting, 100)[:, 0]
    np.testing.assert_allclose(found, joint.sum(axis=1) @ levels, rtol=1e-5, atol=1e-5)


def test_mediator_mar_divides_by_the_pulls_with_the_mediator_seen():
    """Dividing by all pulls would shrink mu by P(Q=1)."""
    p, gamma, mu, q = np.array([0.2, 0.8]), np.array([0.9, 0.3]), np.array([0.75, 0.35]), 0.6
    table = np.zeros((1, 3, 4))
    table[0, :2] = MANY * q * np.stack([p, p * gamma, p * gamma * (mu - 0.5), p * gamma], axis=1)
    table[0, 2] = MANY * (1 - q) * np.array([1, p @ gamma, p @ (gamma * (mu - 0.5)), p @ gamma])
    setting = Setting(arms=1, mediators=2)
    assert guess_and_scores(named("paper-mediator-mar"), table, setting, 100)[0, 0] == pytest.approx(
        p @ mu, rel=1e-12
    )
    assert guess_and_scores(named("paper-mcar"), table, setting, 100)[0, 0] == pytest.approx(
        p * gamma @ mu / (p @ gamma)
    )
