"""Nanoseconds per round of other packages on 10 normal arms with nothing missing; runs in their own environment."""

import json
import sys
import time

import numpy as np

MEANS = [float(mean) for mean in sys.argv[1:]]
NOISE = np.random.default_rng(1).normal(size=20_000)


def cost(rounds, choose, learn):
    start = time.process_time_ns()
    for i in range(rounds):
        arm = choose()
        learn(arm, MEANS[arm] + NOISE[i])
    return (time.process_time_ns() - start) / rounds


def river():
    from river import bandit, stats

    policy = bandit.UCB(delta=1.0, reward_obj=stats.Mean(), seed=1)
    arms = range(len(MEANS))
    return cost(20_000, lambda: policy.pull(arms), policy.update)


def mabwiser():
    from mabwiser.mab import MAB, LearningPolicy

    policy = MAB(list(range(len(MEANS))), LearningPolicy.UCB1(alpha=1.0))
    policy.fit(list(range(len(MEANS))), MEANS)
    return cost(2_000, policy.predict, lambda arm, outcome: policy.partial_fit([arm], [outcome]))


print(json.dumps({"river": river(), "mabwiser": mabwiser()}))
