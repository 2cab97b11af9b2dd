"""Growth with log T on fixed instances, beside the yardstick of theory: 2 V/gap for each worse arm."""

from __future__ import annotations

import numpy as np
from study.keep import SEED, Study
from study.page import standard_error, table, verdict, yes
from study.slopes import fitted_slope

from truant import registry, theory
from truant.lab.simulate import simulate
from truant.worlds import make

HORIZONS = (10_000, 31_623, 100_000, 316_228, 1_000_000)
# z^2 = level log T makes a policy pull a worse arm level V log T/gap^2 times; a draw z ~ N(0, 1) does so at level 2
LEVELS = {"ucb": 1.0, "ucb:level=cautious": 2.0, "thompson": 2.0}
# world, its seed, the assumption, runs
INSTANCES = (
    ("mar:K=1,gamma=1", 1, "mcar", 100),
    ("mar", 1, "mar", 100),
    ("mediator-mar", 1, "mediator-mar", 100),
    ("mnar-clear", 3, "mnar", 40),
)
TOLERANCE = 0.25  # of the constant: terms of a lower order fade only as 1/sqrt(log T)


def section(study: Study) -> list[str]:
    rows = [row(study, *instance, index) for instance in INSTANCES for index in LEVELS]
    return [
        "## Growth with log T",
        f"Slope of the mean regret over log T (T from {HORIZONS[0]:,} to {HORIZONS[-1]:,}) on one fixed instance of "
        "each world (the first has nothing missing), beside what `truant.theory.instance_regret` says: sum of 2 "
        "V/gap over the worse arms. Thompson sampling and `cautious` should meet it. The plain `ucb` looks only "
        "sqrt(log T) up and so should need half; a normal tail then leaves it a chance of order 1/sqrt(T) to "
        "desert the best arm for ever, which is not measured here. A row agrees if the slope is within "
        f"{TOLERANCE:.0%} of what is promised, or two standard errors. {verdict([r[-1] for r in rows], 'rows')}",
        table(("instance", "policy", "promised", "measured", "ratio", "agrees"), rows),
    ]


def row(study: Study, world: str, seed: int, assumption: str, runs: int, index: str) -> list[str]:
    horizons = study.size(HORIZONS, (1000, 3000))
    plain = (
        "plain-" if assumption in ("mar", "mediator-mar") and index.startswith("ucb") else ""
    )  # the sharp one promises less
    policy, runs = f"{assumption}-{plain}{index}", study.size(runs, 4)
    kind, parameters = registry.parse(world)
    instance = make(kind, seed=seed, **parameters)

    def compute() -> list[tuple[float, float]]:
        finals = [simulate(instance, policy, horizon=T, runs=runs, seed=SEED).final[0] for T in horizons]
        return [(float(final.mean()), standard_error(final)) for final in finals]

    what = {"runs": runs, "horizons": horizons, "seed": seed}
    means, errors = np.array(study.piece(f"growth-{world}-{policy}", what, compute)).T
    slope, error = fitted_slope(np.log(horizons), means, errors)
    yardstick = theory.instance_regret(instance, 1000, assumption) / np.log(1000)
    promised = LEVELS[index] / 2 * yardstick
    agrees = abs(slope - promised) <= max(TOLERANCE * promised, 2 * error)
    name = f"{world}, seed {seed}"
    figures = [f"{promised:.1f}", f"{slope:.1f} ± {error:.1f}", f"{slope / promised:.2f}"]
    return [name, f"`{policy}`", *figures, yes(agrees)]
