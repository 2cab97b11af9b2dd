"""Scores of a Decider against the paper's pseudo-code, transcribed line by line with its own counters.

Written from the paper's text alone: it shares nothing with `paper_formulas` or the package but numpy.
"""

import math

import numpy as np
import pytest

import truant
from truant.worlds import DiscreteWorld

HORIZON = 50_000
ALPHA = 1.7
SMALL = 1e-8  # an alpha at which the score is hardly more than the estimate
WORLDS = {  # one whose every cell is observed; condition numbers are those of the world
    "paper-mcar": "mar",
    "paper-mar-known": "mar",
    "paper-mar": "mar",
    "paper-mediator-mar": "mediator-mar",
    "paper-mnar": "mnar-clear",
    "paper-mnar-literal": "mnar-clear",
    "paper-mediator-mnar": "mediator-mnar-clear",
}
PULLS = 10_000  # of each arm


def algorithm_1(world, arm, pulls):
    """MCAR: mu_a and T_{a,o} are updated if the reward is observed."""
    mean, seen = 0.0, 0
    for _, reward in pulls:
        if not math.isnan(reward):
            seen += 1
            mean += (reward - mean) / seen
    return mean, [math.sqrt(ALPHA * math.log(HORIZON) / (2 * seen))]


def by_level(pulls):
    """s_{m,a}, T_{m,a,o} and mu_{m,a}."""
    s, seen, mean = {}, {}, {}
    for m, reward in pulls:
        s[m] = s.get(m, 0) + 1
        if not math.isnan(reward):
            seen[m] = seen.get(m, 0) + 1
            mean[m] = mean.get(m, 0.0) + (reward - mean.get(m, 0.0)) / seen[m]
    return s, seen, mean


def algorithm_2(world, arm, pulls):
    """MAR, p known."""
    _, seen, mean = by_level(pulls)
    p = world.mediator_probabilities[arm]
    estimate = sum(p[m] * mean[m] for m in mean)
    return estimate, [math.sqrt(ALPHA * math.log(HORIZON) / 2 * sum(p[m] ** 2 / seen[m] for m in seen))]


def algorithm_3(world, arm, pulls):
    """MAR, p estimated: the sum over t of mu_{M_t} over T_a, and 8 times the width."""
    s, seen, mean = by_level(pulls)
    estimate = sum(mean[m] for m, _ in pulls) / len(pulls)
    squares = sum((s[m] / len(pulls)) ** 2 / seen[m] for m in seen)
    return estimate, [8 * math.sqrt(ALPHA * math.log(HORIZON) / 2 * squares)]


def missing_mediators(world, arm, pulls):
    """Algorithm 3; nothing is updated where the mediator is missing."""
    return algorithm_3(world, arm, [(m, reward) for m, reward in pulls if m >= 0])


def algorithm_4(world, arm, pulls, literal=False):
    """MNAR; with q the joint frequencies (erratum 1), or as printed those given O = 1."""
    levels, K, L = list(world.levels), world.setting.mediators, len(world.levels)
    theta, b, q = np.zeros((K, L)), np.zeros(K), np.zeros((K, L))
    T_a, T_ao = len(pulls), 0
    for m, reward in pulls:
        if math.isnan(reward):
            b[m] += 1 / T_a
        else:
            theta[m, levels.index(reward)] += 1 / T_a
            q[m, levels.index(reward)] += 1
            T_ao += 1
    q /= T_ao if literal else T_a
    x = np.linalg.pinv(theta) @ b + 1
    estimate = sum(levels[y] * x[y] * q[m, y] for m in range(K) for y in range(L))
    gamma, C = 1 / max(x), condition_number(world.joint[arm] * world.observation[arm])
    size = sum(abs(y) for y in levels)  # the text scales outcomes to sum |y| = 1
    log = math.log(HORIZON)
    first = 8 * L * C / (max(theta.sum(axis=1)) * gamma) * math.sqrt(ALPHA * log / T_a)
    return estimate, [size * first, size * K / gamma * math.sqrt(ALPHA * log / T_ao)]


def missing_mediators_mnar(world, arm, pulls):
    """The appendix on missing mediators: Theta^T x = b, and K/lambda in the bonus (erratum 3)."""
    levels, K, L = list(world.levels), world.setting.mediators, len(world.levels)
    theta, b = np.zeros((K, L)), np.zeros(L)
    with_mediator, both, mean, T_a = np.zeros(K), np.zeros(K), np.zeros(K), len(pulls)
    for m, reward in pulls:
        if m >= 0:
            with_mediator[m] += 1
        if m >= 0 and not math.isnan(reward):
            theta[m, levels.index(reward)] += 1 / T_a
            both[m] += 1
            mean[m] += (reward - mean[m]) / both[m]
        elif m < 0 and not math.isnan(reward):
            b[levels.index(reward)] += 1 / T_a
    odds = np.linalg.pinv(theta.T) @ b
    p, lam = (1 + odds) * with_mediator / T_a, 1 / (1 + max(odds))
    seen_chance = world.observation[arm] * world.mediator_observation[arm][:, None]
    C = condition_number((world.joint[arm] * seen_chance).T)
    norm = max(theta.T.sum(axis=1))
    log, size = math.log(HORIZON), max(1, *(abs(y) for y in levels))
    outer = 2 * math.sqrt(ALPHA * log / (2 * T_a))
    terms = [outer * 8 * C / norm * K / lam, outer * K / lam]
    terms.append(math.sqrt(ALPHA * log / 2 * sum(4 * p**2 / both)))
    return float(p @ mean), [size * term for term in terms]


def condition_number(matrix):
    return np.linalg.norm(matrix, np.inf) * np.linalg.norm(np.linalg.pinv(matrix), np.inf)


TRANSCRIBED = {
    "paper-mcar": algorithm_1,
    "paper-mar-known": algorithm_2,
    "paper-mar": algorithm_3,
    "paper-mediator-mar": missing_mediators,
    "paper-mnar": algorithm_4,
    "paper-mnar-literal": lambda world, arm, pulls: algorithm_4(world, arm, pulls, literal=True),
    "paper-mediator-mnar": missing_mediators_mnar,
}


def scores_and_terms(name, seed, alpha):
    """The Decider's score of each arm; and each arm's estimate and terms of the bonus by the transcription."""
    world = truant.world(WORLDS[name], seed=seed, arms=4)
    if "mnar" in name and seed % 2:  # outcomes beyond 1 in size
        arrays = world.joint, world.observation, world.mediator_observation
        world = DiscreteWorld(*arrays, levels=np.linspace(-1, 3, len(world.levels)))
    arms = np.repeat(np.arange(4), PULLS)
    mediators, outcomes = world.pulls(arms, seed=seed)
    counts = truant.Counts.fold(world.setting, arms, mediators, outcomes)
    decider = truant.Decider(f"{name}:alpha={alpha}", world.setting, HORIZON)
    pulls = list(zip(mediators.tolist(), outcomes.tolist(), strict=True))
    transcribed = [TRANSCRIBED[name](world, arm, pulls[arm * PULLS : (arm + 1) * PULLS]) for arm in range(4)]
    ratio = math.sqrt(alpha / ALPHA)
    scaled = [(mean, [ratio * term for term in terms]) for mean, terms in transcribed]
    return decider.scores(counts).values[:, -1], scaled


def assert_equal(scores, transcribed):
    np.testing.assert_allclose(scores, [mean + sum(terms) for mean, terms in transcribed], rtol=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", TRANSCRIBED)
def test_scores_are_those_of_the_printed_algorithm(name, seed):
    for alpha in (ALPHA, SMALL):
        assert_equal(*scores_and_terms(name, seed, alpha))


@pytest.mark.parametrize("name", TRANSCRIBED)
def test_a_planted_factor_is_found(name):
    """One per cent more in the estimate or in any single term of the bonus is seen."""
    for planted in range(1 + (2 if "-mnar" in name else 1) + (name == "paper-mediator-mnar")):
        scores, transcribed = scores_and_terms(name, 2, ALPHA if planted else SMALL)
        changed = []
        for mean, terms in transcribed:
            parts = [mean, *terms]
            parts[planted] *= 1.01
            changed.append((parts[0], parts[1:]))
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            assert_equal(scores, changed)
