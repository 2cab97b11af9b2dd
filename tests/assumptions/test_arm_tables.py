"""Plain tables of one arm: moments by hand, what they refuse, and the variances that assumptions state on them."""

import numpy as np
import pytest

from truant import registry
from truant.assumptions import ArmTables
from truant.errors import NotSatisfied

JOINT = np.array([[0.1, 0.3], [0.4, 0.2]])
LEVELS = np.array([1.0, 3.0])


def discrete(observation=1.0, mediator_observation=1.0, joint=JOINT):
    o, q = np.broadcast_to(observation, (2, 2)), np.broadcast_to(mediator_observation, 2)
    return ArmTables.of_discrete(joint, LEVELS, o * 1.0, q * 1.0)


def real(observation=1.0, mediator_observation=1.0):
    return ArmTables(
        mediator_probabilities=np.array([0.5, 0.5]),
        outcome_means=np.array([0.0, 2.0]),
        outcome_variances=np.array([1.0, 3.0]),
        mediator_observation=np.broadcast_to(mediator_observation, 2) * 1.0,
        observation=np.broadcast_to(observation, (2, 2)) * 1.0,
    )


def test_moments_by_hand():
    tables = discrete()
    assert tables.mediator_probabilities == pytest.approx([0.4, 0.6])
    assert tables.outcome_means == pytest.approx([2.5, 5 / 3])
    assert tables.outcome_variances == pytest.approx([4 * 3 / 16, 4 * 2 / 9])
    assert tables.mean == pytest.approx(2.0)
    assert tables.variance == pytest.approx(1.0)
    within = tables.variance_within(np.ones(2))
    assert within + tables.variance_between == pytest.approx(tables.variance)
    assert (real().mean, real().variance_between, real().variance) == (1.0, 1.0, 3.0)
    assert real().variance_within(np.array([0.5, 0.25])) == pytest.approx(0.5 / 0.5 + 1.5 / 0.25)


def test_a_level_that_never_occurs_has_no_say():
    tables = discrete(observation=[[0.0, 0.0], [0.5, 0.5]], joint=np.array([[0.0, 0.0], [0.5, 0.5]]))
    assert tables.gamma() == 0.5
    assert tables.gamma_by_mediator().tolist() == [1.0, 0.5]
    assert tables.mean == 2.0


@pytest.mark.parametrize(
    ("tables", "ask", "why"),
    [
        (real(), "discrete", "its outcomes are not discrete."),
        (real(), "gamma_by_outcome", "its outcomes are not discrete."),
        (real(mediator_observation=[1.0, 0.9]), "need_mediators", "its mediators are not always seen."),
        (real(mediator_observation=[1.0, 0.9]), "mediator_seen", "whether a mediator is seen depends on"),
        (
            real(observation=[[0.5], [0.4]], mediator_observation=0.5),
            "gamma",
            "an arm's outcomes are not all",
        ),
        (discrete([[0.5, 0.4]]), "gamma_by_mediator", "depends on the outcome itself, given the mediator."),
        (discrete([[0.5], [0.4]]), "gamma_by_outcome", "depends on the mediator, given the outcome."),
        (discrete([[0.0, 0.5]]), "gamma_by_outcome", "something that happens is never seen."),
    ],
)
def test_what_they_are_not_is_refused(tables, ask, why):
    with pytest.raises(NotSatisfied) as refusal:
        getattr(tables, ask)()
    assert why in str(refusal.value)


def test_what_they_are_is_read():
    assert real(observation=0.4, mediator_observation=0.5).gamma() == 0.4
    # an outcome without its mediator is of no concern where no mediator is missing
    assert real(observation=[[0.1], [0.4]]).gamma() == 0.4
    assert real(observation=[[0.1, 0.1], [0.4, 0.7]]).gamma_by_mediator().tolist() == [0.4, 0.7]
    assert discrete([[0.5, 0.4]]).gamma_by_outcome().tolist() == [0.5, 0.4]
    assert discrete([[0.5], [0.4]]).gamma_by_mediator().tolist() == [0.5, 0.4]
    assert discrete(mediator_observation=0.3).mediator_seen() == 0.3
    discrete().need_mediators()


def variance(name, tables, **parameters):
    return registry.find("assumption", name).build(**parameters).efficient_variance(tables)


def test_stated_variances_by_hand():
    seen = np.array([[0.5, 0.5], [0.5, 0.25]])  # without and with the mediator
    within = 0.5 * 1 / 0.5 + 0.5 * 3 / 0.25
    assert variance("mar", real(seen)) == pytest.approx(within + 1.0)
    assert variance("mar-known", real(seen)) == pytest.approx(within)
    assert variance("mediator-mar", real(seen, 0.8)) == pytest.approx((within + 1.0) / 0.8)
    assert variance("mcar", real(0.25)) == pytest.approx(3.0 / 0.25)


def test_a_variance_with_known_mediators_is_reached_by_weighting_with_them():
    """2000 samples of 1000 pulls, sum_m p_m mean_m: the variance of a variance is 2/2000, so 5 errors are 16%."""
    rng, pulls, gamma = np.random.default_rng(5), 1000, np.array([0.5, 0.25])
    m = rng.integers(0, 2, (2000, pulls))
    y = rng.normal(np.array([0.0, 2.0])[m], np.sqrt([1.0, 3.0])[m])
    o = rng.random(m.shape) < gamma[m]
    means = [(y * o * (m == k)).sum(axis=1) / (o & (m == k)).sum(axis=1) for k in (0, 1)]
    found = pulls * np.var(0.5 * means[0] + 0.5 * means[1])
    assert found == pytest.approx(variance("mar-known", real(np.stack([gamma, gamma]))), rel=0.16)


@pytest.mark.parametrize("name", ["mnar", "mediator-mnar", "both-mnar"])
def test_nothing_missing_leaves_the_variance_of_an_outcome(name):
    assert variance(name, discrete()) == pytest.approx(1.0)
    with pytest.raises(NotSatisfied, match="its outcomes are not discrete"):
        variance(name, real())


def test_a_mean_that_does_not_follow_is_refused():
    flat = discrete([[0.5, 0.4]], joint=np.array([[0.2, 0.2], [0.3, 0.3]]))
    with pytest.raises(NotSatisfied) as refusal:
        variance("mnar", flat)
    assert str(refusal.value) == "the mean of the arm does not follow from what is seen."
