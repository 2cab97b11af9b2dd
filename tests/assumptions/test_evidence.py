"""How data can contradict each assumption: statistics and degrees of freedom, and what it cannot be told apart from."""

import numpy as np
import pytest
from scipy import stats

from truant import registry
from truant.assumptions import ChiSquare, NoTest
from truant.assumptions.evidence import independence
from truant.counts import Counts, cell_probabilities
from truant.setting import Setting

SETTING = Setting(arms=2, mediators=2, levels=(0.0, 1.0))
TABLE = np.array([[[30, 50, 10], [20, 60, 20], [9, 5, 7]], [[10, 30, 40], [20, 20, 20], [3, 8, 20]]], float)
COUNTS = Counts(TABLE, (0.0, 1.0), 0.5)
FITTING = Counts(np.tile([[300.0, 100, 80], [100, 300, 120], [0, 0, 0]], (2, 1, 1)), (0.0, 1.0), 0.5)
ALL_SEEN = Counts(TABLE * [[[1], [1], [0]]], (0.0, 1.0), 0.5)


def assumption(name, **parameters):
    return registry.find("assumption", name).build(**parameters)


def test_independence_is_the_g_test():
    table = np.random.default_rng(4).integers(1, 30, (4, 3)).astype(float)
    reference = stats.chi2_contingency(table, lambda_="log-likelihood", correction=False)
    assert independence(table) == (pytest.approx(reference.statistic), reference.dof)
    padded = np.vstack([table, np.zeros(3)])
    assert independence(padded) == (pytest.approx(reference.statistic), reference.dof)
    assert independence(np.array([[3.0, 4.0]])) == (0.0, 0)


def g_test(table):
    found = stats.chi2_contingency(table, lambda_="log-likelihood", correction=False)
    return pytest.approx(found.statistic), found.dof


def test_tests_of_mcar_and_mediator_mar():
    seen = np.stack([TABLE[..., :2].sum(axis=2), TABLE[..., 2]], axis=2)
    overall, within = assumption("mcar").tests(COUNTS, SETTING)
    assert (overall.statistic, overall.freedom, overall.arm) == (*g_test(seen.sum(axis=1)), None)
    assert (overall.contradicts, within.contradicts) == (False, True)
    first, second = (stats.chi2_contingency(arm, lambda_="log-likelihood", correction=False) for arm in seen)
    assert (within.statistic, within.freedom) == (pytest.approx(first.statistic + second.statistic), 4)
    for arm, test in enumerate(assumption("mediator-mar").tests(COUNTS, SETTING)):
        pooled = np.stack([seen[arm, :2].sum(axis=0), seen[arm, 2]])
        assert (test.statistic, test.freedom, test.arm) == (*g_test(pooled), arm)
    assert [test.freedom for test in assumption("mediator-mar").tests(ALL_SEEN, SETTING)] == [0, 0]


def test_mar_says_why_it_cannot_be_contradicted():
    assert assumption("mar").tests(COUNTS, SETTING) == [
        NoTest("within a mediator level, missing outcomes cannot be compared with the observed ones")
    ]


@pytest.mark.parametrize(
    ("name", "K", "L", "freedom"),
    [
        ("mnar", 4, 2, 2),
        ("mnar", 3, 3, 0),
        ("mediator-mnar", 2, 4, 3),
        ("mediator-mnar", 3, 3, 1),
        ("both-mnar", 3, 3, 1),
    ],
)
def test_degrees_of_freedom_are_the_directions_that_the_model_leaves(name, K, L, freedom):
    """Cells less one, less the rank of the derivatives of the cell probabilities by the parameters, by differences."""
    model, rng = assumption(name), np.random.default_rng(6)
    assert model.freedom(K, L) == freedom
    chances = L if model.by_outcome else K

    def cells(theta):
        weights = np.exp(theta[: K * L]).reshape(1, K, L)
        o = 1 / (1 + np.exp(-theta[K * L : K * L + chances]))
        o = np.broadcast_to(o[None, None, :] if model.by_outcome else o[None, :, None], (1, K, L))
        q = np.ones((1, K)) if model.missing_is_level else 1 / (1 + np.exp(-theta[None, -K:]))
        return cell_probabilities(weights / weights.sum(), o, q).ravel()

    theta = rng.normal(size=K * L + chances + K)
    steps = 1e-5 * np.eye(len(theta))
    derivatives = np.array([(cells(theta + step) - cells(theta - step)) / 2e-5 for step in steps])
    possible = np.count_nonzero(cells(theta) > 1e-12)
    assert possible - 1 - np.linalg.matrix_rank(derivatives, tol=1e-6) == freedom


def test_the_test_of_a_fit_needs_the_fit_and_shares_it():
    model = assumption("both-mnar")
    assert model.tests(COUNTS, SETTING) == ()
    reading = model.read(COUNTS, 1, SETTING)
    (test,) = reading.tests
    table = TABLE[1]
    saturated = np.sum(table * np.log(table / table.sum()))
    assert isinstance(test, ChiSquare)
    assert test.statistic == pytest.approx(2 * (saturated - model.fit(COUNTS, 1).log_likelihood))
    assert (test.freedom, test.arm) == (1, 1)
    assert reading.estimate.mean == model.estimate(COUNTS, 1, SETTING).mean
    assert list(reading.concerns()) == list(model.concerns(COUNTS, 1, SETTING))
    saturated_model = assumption("mnar")
    (nothing,) = saturated_model.read(FITTING, 0, SETTING).tests
    assert nothing == NoTest("it has as many free parameters as the table has cells, and this one fits it")
    (boundary,) = saturated_model.read(ALL_SEEN, 0, SETTING).tests  # a negative chance would be needed
    assert not saturated_model.linear(ALL_SEEN, 0).feasible
    assert boundary.statistic == pytest.approx(saturated_model.fit(ALL_SEEN, 0).misfit())
    assert boundary.freedom == 2


@pytest.mark.parametrize(
    ("name", "simpler"),
    [
        ("mcar", None),
        ("mar", None),
        ("mnar", None),
        ("mediator-mar", "mar"),
        ("mediator-mnar", "mar"),
        ("both-mnar", "mnar"),
    ],
)
def test_what_cannot_be_told_apart_without_missing_mediators(name, simpler):
    assert assumption(name).same_as(COUNTS) is None
    same = assumption(name).same_as(ALL_SEEN)
    assert (same and same.assumption) == simpler


def test_places_in_listings_and_needs():
    names = [name for name in registry.names("assumption") if name != "mar-known"]
    ordered = sorted(names, key=lambda name: assumption(name).listing_order)
    assert ordered == ["mcar", "mar", "mediator-mar", "mnar", "mediator-mnar", "both-mnar", "follow-up"]
    assert [name for name in registry.names("assumption") if assumption(name).needs_more_than_counts] == [
        "mar-known"
    ]
