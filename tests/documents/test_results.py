"""Simulations in the terminal, from plain data."""

import io

import pytest
from rich.console import Console

from truant.documents.simulation import best_policy, simulation_document
from truant.documents.terminal import Printed
from truant.documents.words import number


def printed(display, width=200, **options):
    out = io.StringIO()
    Console(file=out, width=width, **options).print(display)
    return out.getvalue()


def shown(*parts):
    return Printed(simulation_document(*parts))


def row(policy, mean, **changes):
    figures = {"regret_sd": 1.0, "regret_median": mean, "regret_p90": mean, "best_arm_share": 0.5}
    figures |= {"difference_mean": -12.5, "difference_se": 0.25, "nanoseconds_per_round": 1234.0}
    return {"policy": policy, "regret_mean": mean, "share_above_10x_median": 0.0, **figures, **changes}


def test_the_best_of_a_simulation_is_never_an_oracle():
    rows = [row("naive-ucb", 30.0), row("mar-ucb", 20.0), row("oracle-ucb", 1.0)]
    assert best_policy(rows) == "mar-ucb"
    assert best_policy([rows[1], rows[2]]) is None  # nothing to compare with
    text = printed(shown(rows, "World mar", "10 rounds"))
    assert next(line for line in text.splitlines() if "★" in line).startswith("mar-ucb ★")
    assert "difference: regret minus that of naive-ucb" in text
    lines = {line.split()[0]: line for line in text.splitlines() if "-ucb" in line}
    assert "-12.5" not in lines["naive-ucb"]  # the first is not compared with itself
    assert "-12.5" in lines["mar-ucb"]


def test_one_policy_has_no_differences():
    text = printed(shown([row("mar-ucb", 20.0)], "World mar", "10 rounds"))
    assert "difference" not in text
    assert "★" not in text


@pytest.mark.parametrize(
    ("value", "sign", "text"),
    [
        (None, False, "–"),
        (float("nan"), True, "–"),
        (12345.6, True, "+12,346"),
        (-0.01234, False, "-0.0123"),
        (0.5, True, "+0.5"),
    ],
)
def test_numbers(value, sign, text):
    assert number(value, sign) == text


def test_columns_go_before_digits_are_cut():
    rows = [row("naive-ucb", 123_456.0), row("mar-ucb", 123_456.0)]
    wide, narrow = (printed(shown(rows, "W", "s"), width) for width in (200, 45))
    assert "ns/round" in wide
    assert "ns/round" not in narrow
    assert "…" not in narrow
    assert narrow.count("123,456") >= 2
