"""Simulations, sweeps and reproductions in the terminal, from plain data."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from truant.terminal.reproduction import ReproductionDisplay
from truant.terminal.simulation import SimulationDisplay, best_policy, number
from truant.terminal.sweep import SweepDisplay


def printed(display, width=200, **options):
    out = io.StringIO()
    Console(file=out, width=width, **options).print(display)
    return out.getvalue()


def row(policy, mean, **changes):
    figures = {"regret_sd": 1.0, "regret_median": mean, "regret_p90": mean, "best_arm_share": 0.5}
    figures |= {"difference_mean": -12.5, "difference_se": 0.25, "nanoseconds_per_round": 1234.0}
    return {"policy": policy, "regret_mean": mean, "share_above_10x_median": 0.0, **figures, **changes}


def test_the_best_of_a_simulation_is_never_an_oracle():
    rows = [row("naive-ucb", 30.0), row("mar-ucb", 20.0), row("oracle-ucb", 1.0)]
    assert best_policy(rows) == "mar-ucb"
    assert best_policy([rows[1], rows[2]]) is None  # nothing to compare with
    text = printed(SimulationDisplay(rows, "World mar", "10 rounds"))
    assert next(line for line in text.splitlines() if "★" in line).startswith("mar-ucb ★")
    assert "difference: regret minus that of naive-ucb" in text
    lines = {line.split()[0]: line for line in text.splitlines() if "-ucb" in line}
    assert "-12.5" not in lines["naive-ucb"]  # the first is not compared with itself
    assert "-12.5" in lines["mar-ucb"]


def test_one_policy_has_no_differences():
    text = printed(SimulationDisplay([row("mar-ucb", 20.0)], "World mar", "10 rounds"))
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
    wide, narrow = (printed(SimulationDisplay(rows, "W", "s"), width) for width in (200, 45))
    assert "ns/round" in wide
    assert "ns/round" not in narrow
    assert "…" not in narrow
    assert narrow.count("123,456") >= 2


def test_a_sweep_says_its_size_its_verdict_and_its_files():
    display = SweepDisplay("A [b]study[/b]", 1_200, 1, "a wins.", Path("out/x.parquet"), Path("out/i.html"))
    lines = printed(display).splitlines()
    assert lines[0] == "A [b]study[/b]  1,200 points, 1 run of each policy"
    assert lines[1] == "a wins."
    assert lines[3:] == ["Every run: out/x.parquet", "Page: out/i.html"]


def test_a_reproduction_shows_verdicts_or_findings_and_what_is_left_out():
    claim = {"claim": "Less is more.", "verdict": "depends", "figures": "a lost 1 and b lost 2."}
    figures = [
        {"name": "one", "title": "First", "claims": [claim], "findings": ["Not shown."]},
        {"name": "two", "title": "Second", "claims": [], "findings": ["Shown."]},
    ]
    summary = {"figures": figures, "left_out": {"pbc": "It needs truant[data]."}}
    text = printed(ReproductionDisplay(summary, "A. Author, “A Title”"))
    assert text.startswith("The paper: A. Author, “A Title”.\n")
    assert "survives: the runs confirm the claim" in text
    assert "  depends: Less is more.\n    a lost 1 and b lost 2." in text
    assert "Not shown." not in text
    assert "  Shown." in text
    assert text.rstrip().endswith("pbc is left out: It needs truant[data].")
    assert "\x1b[1;33mdepends" in printed(
        ReproductionDisplay(summary, "A. Author, “A Title”"), force_terminal=True, color_system="standard"
    )
