"""What every assumption shares: an estimate that is nearly normal, and a curve that asks for nothing more."""

import numpy as np
import pytest

from truant.assumptions import Curve, Estimate
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.errors import InvalidValue
from truant.setting import Setting


def test_a_normal_estimate_by_hand():
    estimate = Estimate.normal(0.5, 0.04)
    assert [estimate.at(z) for z in (-2.0, 0.0, 1.0)] == pytest.approx([0.1, 0.5, 0.7])
    assert estimate.standard_error == pytest.approx(0.2)
    assert estimate.interval(0.9) == pytest.approx((0.5 - 0.2 * 1.6448536, 0.5 + 0.2 * 1.6448536))
    assert estimate.interval() == pytest.approx((0.5 - 0.2 * 1.959964, 0.5 + 0.2 * 1.959964))
    assert repr(estimate) == "Estimate(mean=0.5)"
    for level in (0, 1, -0.1, 1.1):
        with pytest.raises(InvalidValue, match="level must be between 0 and 1"):
            estimate.interval(level)


def test_the_best_guess_stands_though_nothing_is_known_of_its_error():
    estimate = Estimate.normal(0.5, np.inf)
    assert estimate.at(0.0) == 0.5
    assert estimate.interval() == (-np.inf, np.inf)


def test_the_standard_error_is_half_the_distance_of_one_deviation_each_way():
    assert Estimate(0.0, lambda z: z**3 + 2 * z**2).standard_error == 1.0


def test_a_curve_asks_for_nothing_that_it_was_not_told_of():
    curve = Curve(score_arm=print, parameters=np.zeros((2, 1)))
    assert (curve.discrete, curve.linear, curve.first_pulls, curve.growth) == (False, True, 1, 0.0)
    assert (curve.memory(9), curve.pooled, curve.scratch) == (0, 0, 0)


def test_parameters_are_those_of_every_arm():
    found = per_arm(Setting(arms=3), 1, [2.0, 3.0], np.array([[4, 5], [6, 7]]))
    assert found.tolist() == [[1, 2, 3, 4, 5, 6, 7]] * 3


@pytest.mark.parametrize("assumption", [Mcar(kappa=0.5), Mar(kappa=0.5), MediatorMar(kappa=0.5)])
def test_parameters_of_a_shrunk_estimate(assumption):
    """Centre, kappa, the squares of scale and half the range of means, the range; kappa is 1 unless told."""
    setting = Setting(arms=2, mediators=3, low=-1, high=9, mean_range=(-1, 5), scale=0.25)
    curve = assumption.curve(setting)
    assert curve.parameters[:, :5].tolist() == [[2.0, 0.5, 0.0625, 9.0, 10.0]] * 2
    assert type(assumption)().curve(setting).parameters[0, 1] == 1.0
    assert curve.memory(1) == 0  # the score is a function of the counts
    assert curve.pooled >= 10
