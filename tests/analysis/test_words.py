"""An analysis in words: the verdict, tipping points and figures."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import truant
from tests.analyses import TABLE, binary, real
from truant.documents.analysis_words import missing_sentence, tipping_sentence
from truant.documents.cautions import cut_advice
from truant.documents.verdict import settling_sentences
from truant.documents.words import Figures, leading_arms, percent


def test_figures_have_two_digits_of_the_standard_error():
    share, count = Figures.of(binary()), Figures.of(real())
    assert share.number(0.59412) == "0.594"
    assert count.number(335.12) == "335.1"
    assert Figures(0).number(1234567.8) == "1,234,568"
    assert Figures(2).number(-0.001) == "0.00"
    assert Figures(2).number(0.5, sign=True) == "+0.50"
    assert Figures(9).number(1.23456e-9) == "1.23e-09"
    assert Figures(2).number(float("nan")) == Figures(2).number(None) == "–"


@pytest.mark.parametrize(
    ("share", "text"), [(0.3881, "38.8%"), (0, "0.0%"), (1, "100.0%"), (1e-5, "<0.1%"), (0.99999, ">99.9%")]
)
def test_percentages_do_not_claim_certainty(share, text):
    assert percent(share) == text


def test_tipping_sentences_cover_every_case():
    analysis = binary()
    figures, tip = Figures.of(analysis), analysis.sensitivity[-1]
    tip = dataclasses.replace(
        tip, shift=0.26, shift_in_sd=0.57, possible=True, runner_up_shift=0.3, runner_up_shift_in_sd=0.6
    )

    def said(**changes):
        return tipping_sentence(dataclasses.replace(tip, **changes), figures)

    winner, runner_up = f"'{tip.winner}'", f"'{tip.runner_up}'"
    start = f"{winner} stays ahead"
    worse = "0.260 worse than mnar says (0.57 sd)"
    assert said(runner_up_possible=True) == (
        f"{start} unless its missing outcomes were on average {worse}, or those of the runner-up "
        f"{runner_up} 0.300 better (0.60 sd)."
    )
    assert f"on average {worse} is impossible." in said(possible=False, runner_up_possible=False)
    assert "It stays ahead unless the missing outcomes of the runner-up" in said(
        possible=False, runner_up_possible=True
    )
    assert said(shift=None, possible=None, runner_up_possible=True).startswith(
        f"No outcome of {winner} is missing."
    )
    assert said(shift=None, runner_up_shift=None).endswith("is missing, so this cannot change the winner.")
    assert said(runner_up_shift=None).endswith(f"No outcome of the runner-up {runner_up} is missing.")
    assert "equal" in said(gap=0.0)


def test_missing_sentence_names_the_extremes():
    assert missing_sentence(binary(assume=["mcar"])).startswith(
        "24.1% of all outcomes are missing: most in arm"
    )
    seen = binary(assume=["mcar"], table=TABLE * [1, 1, 0])
    assert missing_sentence(seen) == "No outcome is missing."


def test_of_many_arms_the_leading_ones_come_first_and_the_control_is_kept():
    analysis = real(arms=6, control="arm 0")
    kept = [arm.arm for arm in leading_arms(analysis, 3)]
    assert kept == [analysis.sorted_arms[0].arm, analysis.sorted_arms[1].arm, "arm 0"]
    assert leading_arms(analysis, 10) == analysis.sorted_arms


def test_a_numeric_mediator_with_many_values_is_to_be_cut():
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, 400)
    arm, y = rng.integers(0, 2, 400), rng.normal(size=400)
    y = np.where(rng.random(400) < 0.5, np.nan, y + 2 * arm)
    table = pd.DataFrame({"arm": arm, "Age": age, "y": y})
    found = truant.analyze(table, arm="arm", mediator="Age", outcome="y", range=(-9, 9))
    advice = "cut 'Age', which has 40 values, into thirds: --mediator Age:3 (mediator='Age:3')"
    empty = [one.message for one in found.warnings if one.code == "empty-cell"]
    assert empty
    assert all(advice in message and "merge this level" not in message for message in empty)
    assert found.verdict.kind == "no-mediator"
    told = settling_sentences(found)
    assert told[0] == f"C{advice[1:]}."
    assert told[1].startswith("Or name another mediator")
    cut = truant.analyze(table, arm="arm", mediator="Age:3", outcome="y", range=(-9, 9))
    assert not any("into thirds" in one.message for one in cut.warnings)
    assert cut_advice(cut.labels) is None
