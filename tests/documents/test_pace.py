"""Slow fits say how long they take, once; quick ones say nothing."""

from __future__ import annotations

import pytest

import truant
from truant.documents import progress
from truant.documents.progress import Pace


def test_slow_fits_are_told_once(capsys):
    with Pace(5, 60, 40, None) as told:
        told("mar", 0.01)
        for _ in range(5):
            told("mnar", 25.0)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.strip().splitlines() == [
        "mnar takes at least 3 minutes for 5 arms x 60 mediator levels x 40 outcome levels; coarser levels are faster: "
        "cut the mediator, as in NAME:5, or the outcome (--cut-outcome 5)."
    ]


@pytest.mark.parametrize(("seconds", "wanted"), [(0.01, None), (25.0, False), (25.0, lambda share: None)])
def test_quick_fits_and_those_that_nobody_wants_to_hear_of_say_nothing(seconds, wanted, capsys):
    with Pace(2, 60, 40, wanted) as told:
        told("mnar", seconds)
    with Pace(2, 3, 4, None) as told:
        told("mnar", 25.0)  # code was compiled
    assert capsys.readouterr() == ("", "")


def test_an_analysis_tells_it(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SOON", 0.0)
    monkeypatch.setattr(progress, "MANY", 0)
    rows = {"arm": ["a", "b"] * 60, "m": [0, 0, 1, 1] * 30, "y": [0, 1, 1, None, 1, 0] * 20}
    truant.analyze(rows, arm="arm", outcome="y", mediator="m")
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "for 2 arms x 2 mediator levels x 2 outcome levels; coarser levels are faster" in line
    truant.analyze(rows, arm="arm", outcome="y", mediator="m", progress=False)
    assert capsys.readouterr().err == ""
