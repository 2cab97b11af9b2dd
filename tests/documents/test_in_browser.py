"""Pages of every verdict and of extreme tables in a real browser: light, dark, and as wide as a phone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.analyses import analyzed
from tests.browser import faults, looked_at, needs_axe, needs_browser
from tests.documents.pages import save_page
from truant import Counts, Setting
from truant.analysis import Labels
from truant.analysis.verdict import KINDS

# per arm: rows (opened no, yes, missing), columns (converted 0, 1, missing)
BETTER = np.array(
    [[[300, 600, 40], [500, 200, 12], [0, 0, 0]], [[250, 900, 50], [300, 422, 15], [0, 0, 0]]], float
)
ALIKE = np.array([BETTER[0], BETTER[0] + [[3, 5, 0], [2, 1, 0], [0, 0, 0]]])
HIDDEN = np.array(
    [[[570, 100, 330], [190, 200, 610], [0, 0, 0]], [[540, 270, 90], [360, 630, 110], [0, 0, 0]]], float
)
UNSEEN = np.array([BETTER[0], [[0, 0, 900], [0, 0, 600], [0, 0, 0]]])
NO_MEDIATOR = np.array([[0, 0, 0], [0, 0, 0], [40, 60, 30]])
PLAIN = np.array([[[300, 600, 400], [0, 0, 0]], [[250, 900, 500], [0, 0, 0]]], float)


def trial(table, minimize=False, **options):
    """Conversions by mail, with opening it as the mediator."""
    levels = ["no", "yes"] if table.shape[1] == 3 else ["all"]
    setting = Setting(arms=len(table), mediators=len(levels), levels=(0, 1), minimize=minimize)
    labels = Labels.of(["old", "new"][: len(table)], levels, "converted", "opened")
    options = {"assume": ["mcar", "mar", "mnar"], "control": "old"} | options
    return analyzed(Counts(table, setting.levels, setting.centre), setting, labels, **options)


def mails(arms=50, n=6000, **options):
    """Many arms with long names that do not differ, and a real outcome."""
    rng = np.random.default_rng(1)
    a, m = rng.integers(0, arms, n), rng.integers(0, 3, n)
    y = 330 + 20.0 * m + rng.normal(0, 100, n)
    y[rng.random(n) < 0.1 + 0.15 * m] = np.nan
    setting = Setting(arms=arms, mediators=3, low=-670, high=1330, range_known=False)
    labels = Labels.of(
        [f"variant {i:02d} of the mail that everybody got" for i in range(arms)],
        ["none", "some", "much"],
        "revenue per user",
        "visits",
    )
    return analyzed(Counts.fold(setting, a, m, y), setting, labels, **options)


@pytest.fixture(scope="module")
def analyses():
    found = {
        "clear": trial(BETTER),
        "equal": trial(ALIKE, tolerance=0.05),
        "unsettled": trial(ALIKE),
        "depends": trial(HIDDEN),
        "no-mediator": trial(PLAIN, assume=["mcar", "mar"]),
        "not-identified": trial(UNSEEN),
        "one-arm": trial(BETTER[:1]),
    }
    assert [one.verdict.kind for one in found.values()] == list(found) == list(KINDS)
    found["fifty arms"] = mails(assume=["mcar", "mar"], control="variant 07 of the mail that everybody got")
    found["nothing missing"] = trial(BETTER * [1, 1, 0], assume=["mcar", "mar"])
    found["minimize"] = trial(BETTER, minimize=True)
    found["all assumptions"] = trial(BETTER + NO_MEDIATOR, assume=())
    found["unknown intervals"] = without_intervals(trial(HIDDEN))
    return found


def without_intervals(analysis):
    """The same where an arm has too few outcomes for an interval under mar."""
    nan = math.nan
    first = analysis.arms[0]
    unknown = replace(first.estimates["mar"], low=nan, high=nan, standard_error=nan, probability_best=nan)
    second = analysis.arms[1]
    change = replace(second.estimates["mar"].difference, low=nan, high=nan, p_value=nan, lift=None)
    other = replace(second.estimates["mar"], probability_best=nan, difference=change)
    answers = tuple(
        replace(answer, probability=nan, expected_loss=nan) if answer.assumption == "mar" else answer
        for answer in analysis.verdict.answers
    )
    return replace(
        analysis,
        arms=(
            replace(first, estimates=first.estimates | {"mar": unknown}),
            replace(second, estimates=second.estimates | {"mar": other}),
        ),
        verdict=replace(analysis.verdict, answers=answers),
    )


@pytest.fixture(scope="module")
def pages(analyses, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {
        name: save_page(one, folder / f"{i}.html", title=name)
        for i, (name, one) in enumerate(analyses.items())
    }


# two starts of the browser for all pages
@needs_browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1200)])
def test_every_page_is_drawn_fits_and_is_green_only_where_clear(analyses, pages, tmp_path, scheme, width):
    found = looked_at(pages, tmp_path, scheme, width)
    for name, page in found.items():
        analysis = analyses[name]
        curves = [curve for curve in analysis.tipping_curves.values() if curve and len(analysis.arms) > 1]
        assert page["charts"] == 2 + len(curves), name
        assert page["empty"] == 0, name
        assert page["graphs"] == len(analysis.assumptions), name
        assert page["overflow"] <= 0, name
        assert page["clipped"] == 0, name
        clear = analysis.verdict.kind == "clear"
        assert page["verdict"] == clear, name
        assert bool(page["green"]) == clear, (name, page["green"])
        assert "nan" not in page["text"].lower().split(), name
    assert found["minimize"]["text"].splitlines()[2].endswith("ower 'converted' is better")
    assert len({page["ground"] for page in found.values()}) == 1
    assert found["clear"]["ground"] == {"light": "rgb(245, 246, 248)", "dark": "rgb(18, 21, 26)"}[scheme]


@needs_axe
def test_pages_can_be_read_by_everyone(pages, tmp_path):
    some = ("depends", "fifty arms", "all assumptions", "unknown intervals")
    assert faults({name: pages[name] for name in some}, tmp_path) == []
