"""The three MNAR assumptions: what they refuse, what they hand to the loop, and which table they fit."""

import numpy as np
import pytest

from tests.assumptions.tables import random_table
from truant.assumptions import both_mnar, mediator_mnar, mnar, profile
from truant.assumptions.by_likelihood import ByLikelihood
from truant.assumptions.exact import LikelihoodFit
from truant.assumptions.likelihood import solve_both_mnar, solve_mediator_mnar, solve_mnar
from truant.compile import link
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified
from truant.setting import Setting

LEVELS = (-1.0, 0.5, 2.0)
MODELS = {"mnar": mnar.mnar, "mediator-mnar": mediator_mnar.mediator_mnar, "both-mnar": both_mnar.both_mnar}
LEVELS_OF_M = {"mnar": 4, "mediator-mnar": 2, "both-mnar": 3}
SOLVERS = {"mnar": solve_mnar, "mediator-mnar": solve_mediator_mnar, "both-mnar": solve_both_mnar}


def setting(K, L=3, arms=2):
    return Setting(arms=arms, mediators=K, levels=LEVELS[:L])


def counts(name, missing="many"):
    """Of two arms; the second with many mediators missing, with one, or with none."""
    K, by_outcome = LEVELS_OF_M[name], name != "mediator-mnar"
    tables = [random_table(np.random.default_rng(seed), K, 3, 400, by_outcome)[0] for seed in (0, 3)]
    if missing != "many":
        tables[1][K] = [float(missing == "one"), 0.0, 0.0, 0.0]
    return Counts(np.stack(tables), LEVELS)


@pytest.mark.parametrize(
    ("name", "fine", "refused", "match"),
    [
        ("mnar", [(3, 3), (4, 3)], [(2, 3)], "mnar needs at least as many mediator levels .* got K=2 < L=3"),
        ("mediator-mnar", [(3, 3), (2, 3)], [(4, 3)], "at least as many outcome levels .* got L=3 < K=4"),
        (
            "both-mnar",
            [(3, 3)],
            [(2, 3), (4, 3)],
            "as many mediator levels as outcome levels, got K=. and L=3",
        ),
    ],
)
def test_numbers_of_levels(name, fine, refused, match):
    for K, L in fine:
        MODELS[name]().check(setting(K, L))
    for K, L in refused:
        with pytest.raises(NotIdentified, match=match):
            MODELS[name]().check(setting(K, L))
        MODELS[name](allow_unidentified=True).check(setting(K, L))
    with pytest.raises(NotIdentified, match="needs a discrete outcome"):
        MODELS[name](allow_unidentified=True).check(Setting(arms=2, mediators=3))


@pytest.mark.parametrize("name", MODELS)
def test_parameters_that_cannot_be_are_refused(name):
    assert MODELS[name](growth=0).growth == 0
    for growth in (-0.1, np.nan, "much"):
        with pytest.raises(InvalidValue, match="growth must be a number of at least 0"):
            MODELS[name](growth=growth)
    with pytest.raises(InvalidValue, match="allow_unidentified must be true or false"):
        MODELS[name](allow_unidentified=1)


def test_an_assumption_of_ones_own_is_strict_unless_told():
    shown = "ByLikelihood(name='mine', needs='much', by_outcome=True, missing_is_level=False, "
    own = ByLikelihood(
        name="mine",
        needs="much",
        misfit=mnar.misfit,
        score_arm=mnar.score_arm,
        solve=solve_mnar,
        by_outcome=True,
    )
    assert repr(own) == shown + "allow_unidentified=False, growth=0.1)"
    with pytest.raises(NotIdentified, match="mine needs at least"):
        own.check(setting(2))


@pytest.mark.parametrize("name", MODELS)
def test_what_the_loop_is_given(name):
    """Memory: a number of levels, the maximum, and at each z a value and its state; mnar may need a row more."""
    curve = MODELS[name](growth=0.25).curve(setting(4) if name == "mnar" else setting(3))
    K, g = (5, 3) if name == "mnar" else (3, 3)
    P = K * 3 + g + K
    assert (curve.discrete, curve.linear, curve.first_pulls, curve.growth) == (True, False, 10, 0.25)
    assert MODELS[name]().curve(setting(3)).growth == 0.1
    assert curve.memory(4) == 1 + P + 4 * (1 + P)
    assert curve.pooled == 0
    assert curve.scratch >= 5 * P + 3 + (K + 1) * 4  # five vectors and the levels, beside a table
    assert curve.parameters.tolist() == [list(LEVELS)] * 2
    with pytest.raises(NotIdentified):
        MODELS[name]().curve(Setting(arms=2, mediators=3))


@pytest.mark.parametrize("name", MODELS)
def test_the_estimate_is_of_the_arms_own_table(name):
    data, assumption = counts(name), MODELS[name]()
    table = data.table[1]
    if name == "mnar":  # missing mediators are a level: nothing is then missing
        table = np.vstack([table, np.zeros(4)])
    fit = LikelihoodFit(table, np.array(LEVELS), name != "mediator-mnar")
    found = assumption.fit(data, 1)
    assert found.table.tolist() == table.tolist()
    assert found.by_outcome == (name != "mediator-mnar")
    assert assumption.estimate(data, 1, setting(LEVELS_OF_M[name])).mean == fit.mean == found.mean
    assert assumption.estimate(data, 1, setting(LEVELS_OF_M[name])).at(1.0) == pytest.approx(
        fit.at(1.0), abs=1e-12
    )
    assert assumption.linear(data, 1).mean == SOLVERS[name](table, np.array(LEVELS)).mean
    with pytest.raises(NotIdentified):
        assumption.estimate(data, 1, Setting(arms=2, mediators=3))


def test_without_missing_mediators_mnar_has_no_more_levels():
    assert mnar.mnar().fit(counts("mnar", "one"), 1).table[4:].tolist() == [[1, 0, 0, 0], [0] * 4]
    data = counts("mnar", "none")
    assert mnar.mnar().fit(data, 1).table.tolist() == data.table[1].tolist()


@pytest.mark.parametrize("name", MODELS)
def test_counts_that_tell_nothing_are_refused(name):
    with pytest.raises(NotIdentified, match=f"{name} needs counts of a discrete outcome"):
        MODELS[name]().fit(Counts.empty(Setting(arms=2, mediators=3)), 0)
    empty = Counts.empty(setting(3))
    empty.update(1, 0, None)
    empty.update(0, None, 2.0)
    with pytest.raises(NotIdentified, match=f"^{name}: none of the outcomes of arm 1 was observed"):
        MODELS[name]().fit(empty, 1)
    assert MODELS[name]().fit(empty, 0).table.sum() == 1


@pytest.mark.parametrize("missing", ["many", "one", "none"])
@pytest.mark.parametrize("name", MODELS)
def test_the_loop_fits_the_same_table(name, missing):
    data = counts(name, missing)
    curve = MODELS[name]().curve(setting(LEVELS_OF_M[name]))
    z_grid, values, expected = np.array([0.0, 1.5]), np.zeros(2), np.zeros(2)
    score_arm = link(curve.score_arm.py_func)
    state = np.zeros(curve.memory(2)), np.full(curve.scratch, np.nan)
    score_arm(data.table[1], *state, curve.parameters[1], z_grid, values)
    table = np.vstack([data.table[1], np.zeros(4)]) if name == "mnar" and missing != "none" else data.table[1]
    memory, work = np.zeros(curve.memory(2)), np.zeros(curve.scratch)
    link(profile.score_by_likelihood.py_func)(
        table, name != "mediator-mnar", memory, np.array(LEVELS), z_grid, expected, work
    )
    assert values.tolist() == expected.tolist()
    assert np.all(np.isfinite(values))
