"""Times the kernels of whatever truant is on the path, many times each, and prints them as JSON.

    python research/speed/kernels.py REPEATS SCALE [KERNEL ...]

Uses only what every version of truant has, so that it measures an older checkout, too.
"""

import json
import sys
import time

import numpy as np

import truant

# name: world, policy, rounds
SIMULATIONS = {
    "mar-ucb": ("mar", "mar-ucb", 300_000),
    "mar-thompson": ("mar", "mar-thompson", 150_000),
    "mcar-ucb": ("mcar", "mcar-ucb", 300_000),
    "mnar-ucb": ("mnar", "mnar-ucb", 50_000),
    "mediator-mnar-ucb": ("mediator-mnar", "mediator-mnar-ucb", 30_000),
    "paper-mcar": ("mar", "paper-mcar", 400_000),
    "paper-mar": ("mar", "paper-mar", 300_000),
    "paper-mnar": ("mnar", "paper-mnar", 150_000),
    "mar-thompson, 1,000 arms": ("mar:arms=1000", "mar-thompson", 20_000),
}
DECISIONS = {f"Decider.probabilities, {policy}": policy for policy in ("mar-ucb", "mar-thompson")}


def simulation_times(world, policy, horizon, repeats):
    """CPU nanoseconds per round of the same run, again and again; the first one compiles."""
    options = {"horizon": horizon, "runs": 1, "seed": 1, "threads": 1, "progress": False}
    times = [
        truant.simulate(world, policy, **options).nanoseconds[0, 0] / horizon for _ in range(repeats + 1)
    ]
    return times[1:]


def decision_times(policy, repeats, arms=10, calls=20):
    """CPU nanoseconds per decision."""
    world = truant.world("mar", seed=1, arms=arms)
    pulled = np.random.default_rng(1).integers(arms, size=200 * arms)
    counts = truant.Counts.fold(world.setting, pulled, *world.pulls(pulled, seed=1))
    decider = truant.Decider(policy, world.setting, 100_000)
    times = []
    for _ in range(repeats + 1):
        start = time.process_time_ns()
        for _ in range(calls):
            decider.probabilities(counts)
        times.append((time.process_time_ns() - start) / calls)
    return times[1:]


def main():
    repeats, scale, wanted = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:] or [*SIMULATIONS, *DECISIONS]
    found = {}
    for name in wanted:
        if name in DECISIONS:
            found[name] = decision_times(DECISIONS[name], repeats)
        else:
            world, policy, rounds = SIMULATIONS[name]
            found[name] = simulation_times(world, policy, max(1000, int(scale * rounds)), repeats)
    print(json.dumps({"from": truant.__file__, "times": found}))


if __name__ == "__main__":
    main()
