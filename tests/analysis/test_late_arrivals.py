"""The late-arrival test: against all permutations, sizes in kind and unkind worlds, powers."""

import itertools
import math

import numpy as np
import pytest
from research.validation.late_arrivals import drawn, rejects
from scipy.stats import chi2, chi2_contingency

from truant import registry
from truant.assumptions.cells import normal_scores
from truant.assumptions.evidence import LATE_AT_LEVEL, LATE_IN_ARM, LATE_MEDIATORS
from truant.counts import Counts
from truant.errors import InvalidValue
from truant.evidence.live_tests import late_tests
from truant.setting import Setting

LEVEL = 0.05
REAL = Setting(arms=2, mediators=2, low=-10, high=10)
THREE = Setting(arms=2, mediators=3, levels=(0.0, 1.0, 2.0))
# arm, mediator, outcome, late
PULLS = [
    *((0, 0, 1.0, 0), (0, 0, 2.0, 0), (0, 0, 7.0, 0), (0, 0, 4.0, 1), (0, 0, 3.5, 1)),
    *((0, 1, 0.0, 0), (0, 1, -1.0, 0), (0, 1, 5.0, 1)),
    *((1, 1, 2.0, 1), (1, 1, 9.0, 0), (1, 1, 4.0, 0), (1, 0, 8.0, 0)),
    (0, -1, 3.0, 0),
    (0, -1, 6.0, 1),
]


def split(setting, pulls):
    """In time, late."""
    a, m, y, late = (np.array(column) for column in zip(*pulls, strict=True))
    late = late.astype(bool)
    return (
        Counts.fold(setting, a, m, np.where(late, np.nan, y)),
        Counts.fold(setting, a[late], m[late], y[late]),
    )


def all_sums(cells):
    """Sums of the late outcomes of an arm, for all ways to choose them within its cells."""
    ways = [itertools.combinations(own, number) for own, number in cells]
    return np.array([sum(map(sum, chosen)) for chosen in itertools.product(*ways)])


def permutation_score(pulls, key):
    """An arm's sum of late outcomes as a normal score, its moments from all permutations."""
    groups = {}
    for pull in pulls:
        groups.setdefault(key(pull), []).append(pull)
    cells = [([p[2] for p in own], sum(p[3] for p in own)) for own in groups.values()]
    sums = all_sums(cells)
    away = sums - sums.mean()
    late = sum(p[2] for p in pulls if p[3])
    variance, third = np.mean(away**2), np.mean(away**3)
    z = (late - sums.mean()) / math.sqrt(variance)
    return normal_scores(np.array([z]), third / variance**1.5)[0]


@pytest.mark.parametrize(
    ("assumption", "key", "used", "late"),
    [
        ("mcar", lambda pull: pull[0], lambda pull: True, 5),
        ("mar", lambda pull: pull[1], lambda pull: True, 5),
        ("mediator-mar", lambda pull: pull[1], lambda pull: pull[1] >= 0, 4),
        ("mediator-mnar", lambda pull: pull[1], lambda pull: pull[1] >= 0, 4),
    ],
)
def test_means_have_the_moments_of_all_permutations_within_cells(assumption, key, used, late):
    scores = [
        permutation_score([pull for pull in PULLS if pull[0] == arm and used(pull)], key) for arm in (0, 1)
    ]
    (test,) = late_tests(*split(REAL, PULLS), REAL, assumption)
    assert test.statistic == pytest.approx(np.sum(np.square(scores)))
    assert test.freedom == 2
    assert test.p_value == pytest.approx(chi2.sf(test.statistic, 2))
    assert test.late == late
    assert test.question == (LATE_IN_ARM if assumption == "mcar" else LATE_AT_LEVEL).question


def exact_p_value(pulls, setting, assumption):
    """The share of all permutations within the arm's mediator levels whose statistic is as high."""
    groups = {}
    for place, pull in enumerate(pulls):
        groups.setdefault(pull[1], []).append(place)
    ways = [itertools.combinations(own, sum(pulls[place][3] for place in own)) for own in groups.values()]
    found = []
    for chosen in itertools.product(*ways):
        late = set(itertools.chain(*chosen))
        moved = [(*pull[:3], int(place in late)) for place, pull in enumerate(pulls)]
        found.append(late_tests(*split(setting, moved), setting, assumption)[0].statistic)
    (test,) = late_tests(*split(setting, pulls), setting, assumption)
    return np.mean(np.array(found) >= test.statistic - 1e-9), test


def test_few_late_levels_have_the_p_value_of_all_permutations():
    setting = Setting(arms=1, mediators=1, levels=(0.0, 1.0))
    pulls = [(0, 0, 1.0, 1), (0, 0, 1.0, 1)] + [(0, 0, float(k < 1), 0) for k in range(6)]
    exact, test = exact_p_value(pulls, setting, "mar")
    assert exact == pytest.approx(3 / 28)  # both late ones among the three ones of eight
    assert test.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 999))


def brute_mediators(pulls, mediators):
    """Late outcomes by mediator of one arm: what was found less the mean of all permutations, and their covariance."""
    groups = {}
    for pull in pulls:
        groups.setdefault(pull[2], []).append(pull)
    ways = [itertools.combinations([p[1] for p in own], sum(p[3] for p in own)) for own in groups.values()]
    tallies = np.array(
        [
            np.bincount(list(itertools.chain(*chosen)), minlength=mediators)
            for chosen in itertools.product(*ways)
        ]
    )
    found = np.bincount([p[1] for p in pulls if p[3]], minlength=mediators)
    return found - tallies.mean(axis=0), np.cov(tallies.T, bias=True), tallies - tallies.mean(axis=0)


LEVELS = [
    *((0, 0, 0.0, 0), (0, 1, 0.0, 0), (0, 2, 0.0, 1), (0, 2, 0.0, 0), (0, 0, 0.0, 0), (0, 1, 0.0, 1)),
    *((0, 1, 2.0, 1), (0, 1, 2.0, 0), (0, 0, 2.0, 0), (0, 2, 2.0, 1)),
    *((0, 0, 1.0, 0), (0, 2, 1.0, 0)),  # no late one: no information
]


@pytest.mark.parametrize("assumption", ["mnar", "both-mnar"])
def test_mediators_have_the_moments_of_all_permutations_within_outcome_levels(assumption):
    away, covariance, tallies = brute_mediators(LEVELS, 3)
    inverse = np.linalg.pinv(covariance, rcond=1e-9, hermitian=True)
    (test,) = late_tests(*split(THREE, LEVELS), THREE, assumption)
    assert test.question == LATE_MEDIATORS.question
    assert test.statistic == pytest.approx(away @ inverse @ away)
    assert (test.freedom, test.late) == (2, 4)
    drawn_statistics = np.einsum("di,ij,dj->d", tallies, inverse, tallies)
    exact = np.mean(drawn_statistics >= test.statistic - 1e-9)
    assert test.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 999))


def test_with_many_at_one_outcome_level_it_is_pearsons_chi_square():
    setting = Setting(arms=1, mediators=3, levels=(0.0, 1.0))
    table = np.array([[50, 20], [40, 30], [60, 15]])
    pulls = [
        (0, m, 1.0, late) for m, late in itertools.product(range(3), range(2)) for _ in range(table[m, late])
    ]
    (test,) = late_tests(*split(setting, pulls), setting, "mnar")
    n = table.sum()
    assert test.statistic == pytest.approx(chi2_contingency(table, correction=False).statistic * (n - 1) / n)
    assert test.p_value == pytest.approx(chi2.sf(test.statistic, 2))


def test_a_missing_mediator_is_one_more_level_of_it():
    pulls = [(0, m, 1.0, late) for m in (0, -1) for late in (0, 0, 1)]
    (test,) = late_tests(*split(THREE, pulls), THREE, "both-mnar")
    assert test.freedom == 1
    assert test.statistic == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("assumption", [*registry.built_in_names("assumption"), "worst-case"])
def test_without_information_there_is_no_test(assumption):
    alone = [(0, 0, 1.0, 1), (0, 1, 0.0, 0), (1, 0, 2.0, 0), (1, 0, 1.0, 0)]
    none_late = [(0, 0, 1.0, 0), (0, 0, 2.0, 0)]
    alike = [(0, 0, 1.0, 1), (0, 0, 1.0, 0)]
    for pulls in (alone[1:], none_late[:1], alike) + ((alone,) if assumption != "mcar" else ()):
        counts, late = split(THREE, [*pulls, (1, 2, 2.0, 0)])
        assert late_tests(counts, late, THREE, assumption) == []


def test_real_outcomes_have_no_levels_to_test_mnar_within():
    assert late_tests(*split(REAL, PULLS), REAL, "mnar") == []
    assert late_tests(*split(REAL, PULLS), REAL, "mar:anything=1")[0].assumption == "mar"


@pytest.mark.parametrize(("assumption", "late"), [("mcar", 3), ("mar", 2), ("mnar", 2)])
def test_late_outcomes_with_nothing_to_compare_them_with_are_not_counted(assumption, late):
    pulls = [(0, m, y, 0) for m in (0, 1) for y in (0.0, 1.0)] + [
        (0, 0, 1.0, 1),
        (0, 1, 0.0, 1),
        (0, 2, 2.0, 1),
    ]
    (test,) = late_tests(*split(THREE, pulls), THREE, assumption)
    assert test.late == late
    assert f"({late})" in test.sentence


def test_late_counts_about_another_centre_are_the_same():
    counts, late = split(REAL, PULLS)
    assert late_tests(counts, late.about(3.7), REAL, "mar")[0].statistic == pytest.approx(
        late_tests(counts, late, REAL, "mar")[0].statistic
    )


def test_what_does_not_fit_is_refused():
    counts, late = split(REAL, PULLS)
    for given in (
        (counts, Counts.empty(THREE), REAL, "mar"),
        (counts, None, REAL, "mar"),
        (counts, late, REAL, 3),
    ):
        with pytest.raises(InvalidValue):
            late_tests(*given)
    levels = Setting(arms=2, mediators=2, levels=(0.0, 1.0))
    with pytest.raises(InvalidValue, match="the same levels"):
        late_tests(Counts.empty(levels).real(), Counts.empty(levels), levels, "mar")


def test_sentences_say_what_the_answer_means():
    counts, late, setting = drawn("normal", "outcome", 2000, 1)
    (test,) = late_tests(counts, late, setting, "mar")
    assert (
        "higher on average than outcomes in time of the same arm and mediator level (p < 0.001)"
        in test.sentence
    )
    assert "so mar is in doubt" in test.sentence
    assert "nothing about outcomes that never came" in test.sentence
    counts, late, setting = drawn("three levels", "mediator", 2000, 1)
    (test,) = late_tests(counts, late, setting, "mnar")
    assert "even among equal outcomes, so mnar is in doubt" in test.sentence
    counts, late, setting = drawn("three levels", "outcome", 2000, 1)
    (test,) = late_tests(counts, late, setting, "mnar")
    assert test.p_value > LEVEL
    assert "does not prove mnar" in test.sentence


def test_lower_late_outcomes_are_called_lower():
    pulls = [(0, 0, float(k), k < 6) for k in range(40)] + [(1, 0, 1.0, 0)]
    (test,) = late_tests(*split(REAL, pulls), REAL, "mcar")
    assert "Late outcomes (6) are 20 lower on average" in test.sentence  # 2.5 against 22.5


SIZES = [
    ("mcar", "normal", "chance", 200),
    ("mcar", "97% zeros", "chance", 200),
    ("mar", "normal", "mediator", 200),
    ("mar", "two levels", "mediator", 200),
    ("mar", "3% ones", "chance", 50),  # about two late ones in all
    ("mar", "lognormal", "mediator", 50),
    ("mar", "lognormal", "mediator", 2000),
    ("mar", "97% zeros", "chance", 2000),
    ("mnar", "three levels", "outcome", 200),
    ("mnar", "3% ones", "outcome", 2000),
]


@pytest.mark.parametrize(("assumption", "outcome", "reason", "rows"), SIZES)
def test_the_test_keeps_its_size(assumption, outcome, reason, rows):
    replications = 300
    rejected = [rejects(*drawn(outcome, reason, rows, seed), assumption) for seed in range(replications)]
    assert np.mean(rejected) <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / replications)


@pytest.mark.parametrize(
    ("assumption", "outcome", "reason", "power"),
    [
        ("mcar", "normal", "outcome", 0.9),
        ("mcar", "normal", "mediator", 0.9),
        ("mar", "two levels", "outcome", 0.9),
        ("mar", "lognormal", "outcome", 0.5),
        ("mnar", "three levels", "mediator", 0.9),
    ],
)
def test_the_test_finds_what_is_late_for_a_reason(assumption, outcome, reason, power):
    rejected = [rejects(*drawn(outcome, reason, 2000, seed), assumption) for seed in range(60)]
    assert np.mean(rejected) >= power
