"""The verdict: each kind where it belongs, on made answers and on whole tables."""

import dataclasses

import numpy as np
import pytest

from tests.analyses import TABLE, analyzed, binary, real
from truant.analysis import Labels
from truant.analysis.verdict import Answer, Evidence, decide
from truant.counts import Counts
from truant.documents.analysis_words import missing_sentence, tipping_sentence
from truant.documents.verdict import answer_sentences, settling_sentences, verdict_sentence
from truant.documents.words import Figures
from truant.estimates.differences import Bounds, best_by_bounds
from truant.estimates.ranking import MoreRows
from truant.setting import Setting


def answer(assumption, arm, probability, contradicted=False, loss=0.01):
    return Answer(assumption, arm, probability, loss, contradicted)


def judged(answers, **options):
    losses = {one.assumption: {"a": one.expected_loss, "b": one.expected_loss} for one in answers}
    given = {
        "arms": ["a", "b"],
        "not_tried": [],
        "has_mediator": True,
        "missing_share": 0.3,
        "best_by_bounds": None,
        "more_rows": {},
        "losses": losses,
        "level": 0.95,
        "tolerance": None,
    }
    return decide(Evidence(answers=answers, **(given | options)))


SURE, UNSURE = answer("mar", "a", 0.95), answer("mar", "a", 0.9499)
CASES = [
    ([SURE], {}, "clear", "a"),
    ([UNSURE], {}, "unsettled", "a"),
    ([UNSURE], {"level": 0.9}, "clear", "a"),
    ([SURE], {"unused_follow_ups": "why"}, "unsettled", "a"),
    ([SURE], {"unused_follow_ups": "why", "best_by_bounds": "a"}, "clear", "a"),
    ([UNSURE], {"unused_follow_ups": "why", "tolerance": 1.0}, "unsettled", "a"),
    ([answer("mcar", "a", 0.99), SURE], {}, "clear", "a"),
    ([answer("mcar", "a", 0.5), SURE], {}, "unsettled", "a"),
    ([answer("mcar", "b", 0.99), SURE], {}, "depends", None),
    ([answer("mcar", "b", 0.6), SURE], {}, "unsettled", None),  # mcar hardly names an arm
    ([answer("mcar", "b", 0.8), SURE], {}, "depends", None),
    ([answer("mcar", "b", 0.6), UNSURE], {}, "unsettled", None),  # different leaders by chance
    ([answer("mcar", "b", 1.0, contradicted=True), SURE], {}, "clear", "a"),
    ([answer("mcar", "b", 1.0, contradicted=True)], {}, "not-identified", None),
    ([], {}, "not-identified", None),
    ([SURE], {"arms": ["a"]}, "one-arm", None),
    ([answer("mar", "a", float("nan"), loss=float("nan"))], {"tolerance": 1.0}, "unsettled", "a"),
    ([UNSURE], {"tolerance": 0.01}, "equal", "a"),
    ([UNSURE], {"tolerance": 0.0099}, "unsettled", "a"),
    ([answer("mcar", "b", 0.6), UNSURE], {"tolerance": 0.02}, "equal", "b"),
    ([SURE], {"tolerance": 0.02}, "clear", "a"),
    ([SURE], {"has_mediator": False}, "no-mediator", "a"),
    ([UNSURE], {"has_mediator": False, "tolerance": 1.0}, "no-mediator", "a"),
    ([SURE], {"has_mediator": False, "missing_share": 0.01}, "clear", "a"),
    ([SURE], {"has_mediator": False, "missing_share": 0.0101}, "no-mediator", "a"),
    ([SURE], {"has_mediator": False, "best_by_bounds": "a"}, "clear", "a"),
    ([SURE], {"has_mediator": False, "best_by_bounds": "b"}, "no-mediator", "a"),
    ([SURE], {"mediator_informs": False}, "no-mediator", "a"),
    ([UNSURE], {"mediator_informs": False}, "unsettled", "a"),
    ([SURE], {"mediator_informs": False, "missing_share": 0.0}, "clear", "a"),
    ([SURE], {"doubtful_arms": ["b"]}, "unsettled", "a"),
]


@pytest.mark.parametrize(("answers", "options", "kind", "arm"), CASES)
def test_kinds(answers, options, kind, arm):
    found = judged(answers, **options)
    assert (found.kind, found.arm) == (kind, arm)


def test_bounds_decide_only_beyond_sampling_error():
    def bounds(low, high, low_limit, high_limit):
        return Bounds(low, high, low_limit, high_limit)

    two = [bounds(0.5, 0.6, 0.4, 0.7), bounds(0.2, 0.3, 0.1, 0.39)]
    assert best_by_bounds(["a", "b"], two, minimize=False) == "a"
    assert best_by_bounds(["a", "b"], two, minimize=True) == "b"
    assert best_by_bounds(["a", "b"], [two[0], bounds(0.2, 0.3, 0.1, 0.41)], minimize=False) is None
    assert best_by_bounds(["a", "b"], [two[0], None], minimize=False) is None
    assert best_by_bounds(["a"], two[:1], minimize=False) is None


def made(table, levels=(0.0, 1.0), **options):
    """An analysis of a table of (arm, mediator, outcome) counts without missing mediators."""
    full = np.zeros((table.shape[0], table.shape[1] + 1, table.shape[2]))
    full[:, :-1] = table
    setting = Setting(
        arms=table.shape[0],
        mediators=table.shape[1],
        levels=levels,
        minimize=options.pop("minimize", False),
    )
    labels = Labels.of([f"arm {a}" for a in range(len(table))], range(table.shape[1]))
    return analyzed(Counts(full, levels, setting.centre), setting, labels, **options)


def test_without_a_mediator_nobody_is_named_however_sure_the_means_are():
    table = np.array([[[100.0, 900, 1000]], [[900, 100, 1000]]])
    found = made(table)
    assert found.verdict.kind == "no-mediator"
    assert min(one.probability for one in found.verdict.answers) > 0.999
    assert "No arm can be named the best: 50.0% of the outcomes are missing" in verdict_sentence(found)
    assert any("mediator" in sentence for sentence in settling_sentences(found))
    seen = made(table * [1, 1, 0.001])
    assert (seen.verdict.kind, seen.verdict.arm) == ("clear", "arm 0")
    few = made(table * [1, 1, 0.2])  # 17% missing, and the worst case cannot turn it
    assert (few.verdict.kind, few.verdict.by_bounds) == ("clear", True)
    assert "whatever the missing outcomes were" in verdict_sentence(few)


def test_minimize_turns_the_verdict():
    table = np.array([[[100.0, 900, 1]], [[900, 100, 1]]])
    assert made(table).verdict.arm == "arm 0"
    assert made(table, minimize=True).verdict.arm == "arm 1"


def test_fifty_equal_arms_have_no_winner():
    """In 40 null tables the leader's probability is never near the level; se of a share of 0 in 40 is below .05."""
    rng = np.random.default_rng(1)
    kinds = []
    for _ in range(40):
        ones = rng.binomial(100, 0.3, size=(50, 2))
        found = made(np.stack([100 - ones, ones, np.zeros_like(ones)], axis=-1).astype(float), assume="mcar")
        kinds.append(found.verdict.kind)
    assert kinds.count("clear") <= 2
    assert kinds.count("unsettled") >= 38


def test_arms_near_the_noise_get_a_warning_and_arms_apart_do_not():
    rng = np.random.default_rng(2)

    def codes(rates):
        ones = rng.binomial(200, rates)[:, None]
        table = np.stack([200 - ones, ones, np.zeros_like(ones)], axis=-1).astype(float)
        return [warning.code for warning in made(table, assume="mcar").warnings]

    assert "flat-prior" in codes(np.full(30, 0.3))
    assert "flat-prior" not in codes(np.linspace(0.1, 0.9, 30))


def test_rows_needed_by_simulation():
    """With as many more rows as it says, and the present means true, the leader's mean probability is about the level.

    400 tables: standard error about .005; the probability at the mean is not the mean probability, which is lower.
    """
    table = np.array([[[120.0, 80, 0]], [[130, 70, 0]]])
    found = made(table, assume="mcar", level=0.9)
    needed = found.verdict.more_rows[0]
    assert found.verdict.kind == "unsettled"
    total = 400 + needed.rows
    rng = np.random.default_rng(3)
    chances = []
    for _ in range(400):
        ones = rng.binomial(total // 2, [0.4, 0.35])
        again = made(np.array([[[total // 2 - k, k, 0]] for k in ones], float), assume="mcar", level=0.9)
        chances.append(again.arms[0].estimates["mcar"].probability_best)
    assert np.median(chances) == pytest.approx(0.9, abs=0.02)


def test_more_rows_do_not_help_equal_arms():
    found = made(np.array([[[120.0, 80, 0]], [[120, 80, 0]]]), assume="mcar")
    assert found.verdict.more_rows == (MoreRows("mcar", "arm 0", None),)
    assert "no realistic number of rows" in settling_sentences(found)[0]


def test_what_depends_is_side_by_side():
    """Outcomes hide by mediator: dropping them turns the order, and with it the winner."""
    table = np.zeros((2, 2, 3))
    table[0] = [[540, 60, 0], [50, 350, 1500]]  # high outcomes at level 1, which is hardly ever seen
    table[1] = [[1000, 1000, 0], [250, 250, 0]]
    found = made(table, assume=["mcar", "mar"])
    answers = {one.assumption: (one.arm, one.contradicted) for one in found.verdict.answers}
    assert answers == {"mcar": ("arm 1", True), "mar": ("arm 0", False)}
    assert found.verdict.kind == "clear"
    assert "Dropping the rows with a missing outcome would name 'arm 1' instead." in verdict_sentence(found)
    both = dataclasses.replace(
        found,
        verdict=dataclasses.replace(
            found.verdict,
            kind="depends",
            answers=tuple(dataclasses.replace(one, contradicted=False) for one in found.verdict.answers),
        ),
    )
    assert verdict_sentence(both) == (
        "The best arm depends on why outcomes are missing: 'arm 1' leads under mcar (probability of being the best: "
        ">99.9%); 'arm 0' leads under mar (>99.9%)."
    )


ODD = ("no", 'it\'s "x"', "Zoë 日本", "a\x1b[31m\u202e")


@pytest.mark.parametrize("name", ODD)
def test_sentences_survive_odd_names(name):
    found = binary(arms=("other", name), table=TABLE[:2], mediators=("low", name), control=name)
    sentences = [verdict_sentence(found), *settling_sentences(found), missing_sentence(found)]
    sentences += answer_sentences(found, Figures.of(found))
    sentences += [tipping_sentence(tip, Figures.of(found)) for tip in found.sensitivity]
    sentences += [warning.message for warning in found.warnings]
    assert len(sentences) > 6
    for sentence in sentences:
        assert sentence.isprintable()
        assert "{" not in sentence
    quote = '"' if "'" in name and '"' not in name else "'"
    shown = name.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert f"{quote}{shown}{quote}" in verdict_sentence(found)


def test_real_outcomes_and_many_arms_are_sorted_best_first():
    found = real(arms=6)
    values = [arm.estimates["mar"].mean for arm in found.sorted_arms]
    assert values == sorted(values, reverse=True)
    assert found.sorted_by == "mar"


def test_a_mediator_that_is_related_to_nothing_is_none():
    rng = np.random.default_rng(5)
    arm, coin = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    outcome = (rng.random(2000) < np.where(arm == 1, 0.6, 0.4)).astype(float)
    seen = rng.random(2000) < np.where(arm == 1, 0.9, 0.4)

    def found(mediator):
        table = np.zeros((2, 2, 3))
        np.add.at(table, (arm, mediator, np.where(seen, outcome, 2).astype(int)), 1)
        return made(table, assume=["mcar", "mar"])

    idle = found(coin)
    assert idle.verdict.kind == "no-mediator"
    assert "shows no relation" in verdict_sentence(idle)
    related = found(np.where(rng.random(2000) < 0.7, outcome, coin).astype(int))
    assert (related.verdict.kind, related.verdict.arm) == ("clear", "arm 1")


def test_few_outcomes_decide_nothing():
    found = made(np.array([[[9.0, 0, 0], [0, 0, 0]], [[0, 9, 0], [0, 0, 0]]]), assume="mcar")
    assert found.verdict.answers[0].probability > 0.95
    assert (found.verdict.kind, set(found.verdict.doubtful_arms)) == ("unsettled", {"arm 0", "arm 1"})
    assert "too few" in verdict_sentence(found)
    enough = made(np.array([[[20.0, 0, 0], [0, 0, 0]], [[0, 20, 0], [0, 0, 0]]]), assume="mcar")
    assert enough.verdict.kind == "clear"


def test_a_level_that_is_never_observed_is_not_cured_by_rows():
    table = np.array([[[40.0, 60, 20], [0, 0, 60]], [[50, 50, 20], [0, 0, 60]]])
    found = made(table, assume="mar")
    assert [one.rows for one in found.verdict.more_rows] == [None]


def test_mnar_is_contradicted_where_no_probabilities_fit():
    """Two by two levels, outcomes missing by mediator: the equations have no solution, far beyond chance."""
    table = np.array([[[360.0, 240, 12], [10, 6, 384]], [[240, 360, 12], [6, 10, 384]]])
    found = made(table)
    answers = {one.assumption: one.contradicted for one in found.verdict.answers}
    assert answers["mnar"]
    assert not answers["mar"]
    fits = made(np.array([[[300.0, 100, 80], [100, 300, 120]], [[300, 100, 80], [100, 300, 120]]]))
    assert not {one.assumption: one.contradicted for one in fits.verdict.answers}["mnar"]


def test_where_nothing_is_missing_mnar_has_the_plain_interval():
    found = made(np.array([[[8.0, 0, 0], [12, 0, 0]], [[10, 5, 0], [3, 9, 0]]]))
    for arm in found.arms:
        plain, mnar = arm.estimates["mcar"], arm.estimates["mnar"]
        assert (mnar.mean, mnar.low, mnar.high) == (plain.mean, plain.low, plain.high)


def test_without_observed_outcomes_the_verdict_says_so():
    setting, labels = Setting(arms=2), Labels(("a", "b"), ("all",))
    nothing = analyzed(Counts.fold(setting, [0, 1], [0, 0], [np.nan, np.nan]), setting, labels)
    assert verdict_sentence(nothing) == "No arm can be named the best: no outcome is observed yet."
    of_one = analyzed(Counts.fold(setting, [0, 0, 1], [0, 0, 0], [1, 0, np.nan]), setting, labels)
    assert "no assumption can be used on these data: no outcome of 'b' is observed." in verdict_sentence(
        of_one
    )
