"""Verdicts on claims, which can go either way."""

import numpy as np
import pytest
from research.reproduction.claims import judge, order, shape
from research.reproduction.figure import Claim, Growth, Line, Rising, Scene
from research.reproduction.results import Results
from research.reproduction.words import overall

from tests.research.reproduction.made import simulation


def test_an_order_is_clear_one_way_the_other_way_or_not_at_all():
    low, high = np.array([10.0, 12, 11, 9]), np.array([20.0, 23, 22, 18])
    assert order(low, high) == "survives"
    assert order(high, low) == "does not survive"
    assert order(low, low + np.array([5, -5, 6, -5.5])) == "depends"
    assert order(low[:1], high[:1]) == "depends"  # one run shows nothing
    # Student: of two runs, a difference of 2 ± 1 is not clear
    assert order(np.zeros(2), np.array([1.0, 3.0])) == "depends"


@pytest.mark.parametrize(
    ("ratio", "linear", "word"),
    [
        (1.0, True, "survives"),
        (0.71, True, "survives"),
        (0.1, True, "does not survive"),
        (0.1, False, "survives"),
        (1.02, False, "does not survive"),
        (0.65, True, "depends"),
        (0.65, False, "depends"),
        (float("nan"), True, "depends"),
    ],
)
def test_a_line_is_told_from_a_bend(ratio, linear, word):
    assert shape(ratio, linear) == word


def test_verdicts_have_the_figures_and_mixed_cases_depend():
    one, two = Scene("mar"), Scene("confounded")
    results = Results(
        {
            one: simulation("mar", paper=[90.0, 110.0, 100.0], naive=[10.0, 12.0, 11.0]),
            two: simulation("confounded", paper=[9.0, 11.0, 10.0], naive=[1000.0, 1200.0, 1100.0]),
        }
    )
    cases = [Rising((Line(scene, "paper"), Line(scene, "naive"))) for scene in (one, two)]
    fails, holds = (judge(Claim("Naive loses more.", (case,)), results) for case in cases)
    assert (fails.word, holds.word) == ("does not survive", "survives")
    assert fails.sentence == (
        "In mar, mean regret was 100 for paper and 11 for naive; naive had more than paper in 0 of 3 runs."
    )
    assert "mean regret was 10 for paper and 1,100 for naive" in holds.sentence
    assert "in 3 of 3 runs" in holds.sentence
    mixed = judge(Claim("Both.", tuple(cases)), results)
    assert mixed.word == "depends"
    assert fails.sentence in mixed.sentence
    assert holds.sentence in mixed.sentence
    line = judge(Claim("A line.", (Growth(Line(two, "naive"), linear=True),)), results)
    assert line.word == "survives"
    assert "1.00 times as much as in the first" in line.sentence
    assert overall([fails, holds, mixed], quick=False).startswith(
        "In the world of the text, of 3 claims of the paper, 1 survives, 1 does not, and 1 depends"
    )
    assert "quick run" in overall([fails], quick=True)
