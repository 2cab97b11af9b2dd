"""An analysis in the terminal: every figure at width 200, as much as fits below."""

import dataclasses
import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.analyses import HOSTILE, binary, real
from truant.analysis.verdict import KINDS
from truant.documents.analysis import analysis_document
from truant.documents.analysis_words import tipping_sentence
from truant.documents.terminal import Printed
from truant.documents.verdict import verdict_sentence
from truant.documents.words import Figures


def printed(analysis, width, **options):
    out = io.StringIO()
    Console(file=out, width=width, **options).print(
        Printed(analysis_document(analysis, "A trial", ["trial.csv"]))
    )
    return out.getvalue()


@pytest.fixture(scope="module")
def analysis():
    return binary(control="none")


def flat(text):
    return " ".join(text.replace("•", " ").split())


def test_everything_is_there_at_width_200(analysis):
    text, figures = printed(analysis, 200), Figures.of(analysis)
    lines = text.splitlines()
    for arm in analysis.arms:
        line = next(line for line in lines if line.startswith(f"{arm.arm} "))
        assert f"{arm.pulls:,}" in line
        assert f"{arm.missing_share:.1%}" in line
        for name, value in (("naive", arm.naive), *arm.estimates.items()):
            star = " ★" if analysis.winner[name] == arm.arm else ""
            assert f"{figures.with_limits(value)}{star}" in line
        for estimate in arm.estimates.values():
            if estimate.difference:
                assert figures.with_limits(estimate.difference, sign=True) in text
    assert verdict_sentence(analysis) in text
    said = flat(text)
    for tip in analysis.sensitivity:
        assert tipping_sentence(tip, figures) in said
    for warning in analysis.warnings[:2]:
        assert f"{warning.message} [{warning.code}]" in said


@pytest.mark.parametrize("width", [200, 140, 110, 80, 60, 50])
def test_nothing_is_cut_off_on_narrow_terminals(analysis, width):
    text, figures = printed(analysis, width), Figures.of(analysis)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    for arm in analysis.arms:
        for estimate in (arm.naive, *arm.estimates.values()):
            assert figures.number(estimate.mean) in text
            assert width < 60 or figures.limits(estimate) in text
    assert verdict_sentence(analysis) in flat(text)


def test_many_warnings_of_one_kind_are_counted():
    text = flat(printed(real(arms=6, mediators=8, n=90), 120))
    assert "more like this, in" in text
    assert "[thin-cell]" in text or "[empty-cell]" in text


def test_what_could_not_be_used_is_said_with_its_reason():
    analysis = real(assume=["mcar", "mnar"])
    assert flat(f"mnar: {analysis.infeasible[0].reason}") in flat(printed(analysis, 100))


def test_names_are_not_markup():
    text = printed(binary(arms=HOSTILE, control=HOSTILE[2]), 200)
    assert HOSTILE[2] in text
    assert "[empty-cell]" in text or "[contradicted]" in text


def test_green_means_clear_and_nothing_else(analysis):
    def coloured(some):
        return printed(some, 200, force_terminal=True, color_system="standard")

    green = re.compile(r"\x1b\[[0-9;]*32m")
    assert analysis.verdict.kind == "unsettled"
    assert not green.search(coloured(analysis))
    for kind in KINDS:
        some = dataclasses.replace(
            analysis, verdict=dataclasses.replace(analysis.verdict, kind=kind, tolerance=0.1)
        )
        assert bool(green.search(coloured(some))) == (kind == "clear")


def test_fifty_arms_stay_readable():
    analysis = real(arms=50, n=5000, control="arm 7")
    text = printed(analysis, 120)
    assert len(text.splitlines()) < 120
    assert "38 more arms are not shown" in text
    best = analysis.sorted_arms[0].arm
    assert re.search(rf"^{best} ", text, re.MULTILINE)
    assert re.search(r"^arm 7 ", text, re.MULTILINE)
