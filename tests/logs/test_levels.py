"""Which levels mediators and outcomes have, and what they are called."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs.places import as_csv
from truant.logs.read import read

steady = settings(max_examples=10)
TWO = {"arm": ["a", "b", "a", "b", "a", "b"], "m": [1, 2, 1, 2, 1, 2]}


# Cut points


def cut(values: list[Any], word: str, **more: Any) -> tuple[tuple[str, ...], list[float]]:
    table = {
        "arm": [i % 2 for i in range(len(values))],
        "x": values,
        "y": [0.0, 1.0] * (len(values) // 2) + [0.0],
    }
    table["y"] = table["y"][: len(values)]
    log = read(table, arm="arm", mediator=word, outcome="y", **more)
    return log.mediators, log.counts.table.sum(axis=(0, 2)).tolist()


@pytest.mark.parametrize(
    ("values", "word", "labels", "pulls"),
    [
        ([1, 2, 3, 4, 5, 6], "x:3", ("x <= 2", "2 < x <= 4", "x > 4"), [2, 2, 2, 0]),
        ([1, 2, 2, 2, 5, 6], "x:3", ("x <= 2", "x > 2"), [4, 2, 0]),  # both cut points are 2: merged
        ([1, 2, 2, 3, 3, 3], "x:2", ("x <= 2", "x > 2"), [3, 3, 0]),  # ties to the lower
        ([1, 2, 3, 3, 3, 9], "x:2", ("x <= 3", "x > 3"), [5, 1, 0]),
        ([4, 4, 4, 4], "x:3", ("x <= 4",), [4, 0]),
        ([0.1, 0.1, 0.1, 0.1, 0.1, 0.3], "x:4", ("x <= 0.1", "x > 0.1"), [5, 1, 0]),
        ([1.5, None, math.nan, 2.5, 3.5, 4.5], "x:2", ("x <= 2.5", "x > 2.5"), [2, 2, 2]),
        ([5, 4, 3, 2, 1], "x:2", ("x <= 3", "x > 3"), [3, 2, 0]),
        (
            [1e7 + 0.25, 1e7 + 0.5, 1e7 + 0.75],
            "x:3",
            ("x <= 10000000.25", "10000000.25 < x <= 10000000.5", "x > 10000000.5"),
            [1, 1, 1, 0],
        ),
        (["1", "2", "10", "20", "", "x"], "x:2", ("x <= 2", "x > 2"), [2, 2, 2]),
    ],
)
def test_cut_points_are_quantiles_with_ties_below(values, word, labels, pulls):
    assert cut(values, word, missing_values=["x"]) == (labels, pulls)


@steady
@given(st.lists(st.integers(0, 12), min_size=4, max_size=40), st.integers(2, 9))
def test_cut_points_of_any_numbers(values, classes):
    """Class j of k holds all values up to the smallest x with F(x) >= j/k."""
    _, pulls = cut(values, f"x:{classes}")
    ordered = sorted(values)
    points = sorted({ordered[-(-len(values) * j // classes) - 1] for j in range(1, classes)})
    expected = [sum(sum(v > p for p in points) == c for v in values) for c in range(len(points) + 1)]
    assert pulls == [*(n for n in expected if n), 0]


def test_rows_without_an_arm_have_no_say_in_cut_points():
    table = {"arm": ["a", "b", None, None, None], "x": [1, 2, 8, 9, 10], "y": [0, 1, 0, 0, 0]}
    assert read(table, arm="arm", mediator="x:2", outcome="y").mediators == ("x <= 1", "x > 1")


# Labels


def test_a_column_with_a_colon_in_its_name_comes_first():
    table = TWO | {"m:2": ["u", "v"] * 3, "y": [0, 1] * 3}
    assert read(table, arm="arm", mediator="m:2", outcome="y").mediators == ("u", "v")
    del table["m:2"]
    assert read(table, arm="arm", mediator="m:2", outcome="y").mediators == ("m <= 1", "m > 1")


def test_only_combinations_that_occur_are_levels():
    table = {"arm": ["a", "b", "a", "b"], "m": [1, 1, 2, None], "n": ["x", "y", None, "z"], "y": [0, 1, 0, 1]}
    log = read(table, arm="arm", mediator=["m", "n"], outcome="y")
    assert log.mediators == ("m=1, n=x", "m=1, n=y")
    assert log.counts.table.sum(axis=2).tolist() == [[1, 0, 1], [0, 1, 1]]
    assert read(table, arm="arm", mediator=["n"], outcome="y").mediators == ("x", "y", "z")


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        (["10", "9", "-1"], (-1, 9, 10)),
        (["1.5", "10.5", "1e1"], (1.5, 10, 10.5)),
        (["10", "9", "x"], ("10", "9", "x")),
        (["01", "1", "2"], ("01", "1", "2")),
        (["1", "1.0", "2"], ("1", "1.0", "2")),
        (["true", "false", "b"], ("b", "false", "true")),
        (["2024-05-01", "2024-01-05", "2023-12-31"], ("2023-12-31", "2024-01-05", "2024-05-01")),
    ],
)
def test_arms_of_a_csv_are_numbers_if_all_are(written, labels, tmp_path):
    log = read(as_csv(pd.DataFrame({"arm": written, "y": [0, 1, 0]}), tmp_path), arm="arm", outcome="y")
    assert log.arms == labels
    assert [type(arm) for arm in log.arms] == [type(label) for label in labels]
    assert read({"arm": written, "y": [0, 1, 0]}, arm="arm", outcome="y").arms == tuple(sorted(written))


@pytest.mark.parametrize(
    "arms",
    [
        (False, True),
        (pd.Timestamp("2024-01-05"), pd.Timestamp("2024-02-01")),
        (-1.5, 2),
        ("B", "a"),
        (0, math.inf),
    ],
)
def test_arms_are_any_values(arms):
    assert read({"arm": [*arms[::-1], *arms], "y": [0, 1, 1, 1]}, arm="arm", outcome="y").arms == arms


# What outcomes can be


def test_range_and_levels():
    base = {"arm": ["a", "b"] * 4, "y": [0, 1, 0, 1, 1, 0, 1, None]}

    def setting(**given: Any) -> tuple[Any, float, float, bool]:
        log = read(base, arm="arm", outcome="y", **given)
        return log.setting.levels, log.setting.low, log.setting.high, log.setting.range_known

    assert setting() == ((0, 1), 0, 1, True)
    assert setting(levels=(1, 0, 2)) == ((0, 1, 2), 0, 2, True)
    assert setting(levels=()) == (None, 0, 1, False)
    assert setting(range=(0, 1)) == ((0, 1), 0, 1, True)
    assert setting(range=(-1, 4)) == (None, -1, 4, True)
    assert setting(range=(0, 1), levels=()) == (None, 0, 1, True)

    base["y"] = [True] * 8
    assert setting() == ((0, 1), 0, 1, True)
    base["y"] = [3] * 8
    assert setting(range=(1, 5)) == (None, 1, 5, True)
    assert read(base, arm="arm", outcome="y", range=(1, 5)).setting.scale == 2


@pytest.mark.parametrize(
    ("values", "known"),
    [((1, 2, 3, 4, 5), True), ((0, 0.25, 0.5, 0.75, 1), True), ((0, 12.5, 37.2), False), ((0, 1, 5), False)],
)
def test_levels_that_were_found_are_all_there_are_only_if_they_look_like_a_scale(values, known):
    log = read({"arm": ["a", "b"] * len(values), "y": [*values, *values]}, arm="arm", outcome="y")
    assert log.setting.levels == values
    assert log.setting.range_known is known


def test_scale_is_the_spread_within_arms():
    y = [1.0, 2.0, 3.0, 4.0, 105.0, 106.5]
    log = read({"arm": list("aaaabb"), "y": y}, arm="arm", outcome="y", levels=())
    within = sum((v - 2.5) ** 2 for v in y[:4]) + 2 * 0.75**2
    assert log.setting.scale == pytest.approx(math.sqrt(within / 6), rel=1e-9)


def test_eleven_values_are_real_and_ten_are_levels():
    for values, discrete in ((10, True), (11, False)):
        table = {"arm": [0, 1] * values, "y": [i / 4 for i in range(values) for _ in range(2)]}
        assert (read(table, arm="arm", outcome="y").counts.levels is not None) == discrete
