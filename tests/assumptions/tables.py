"""Random tables with holes, and the likelihood written out from the model's words: every cell of (m, y, q, o)."""

from __future__ import annotations

import numpy as np
from scipy import optimize


def cells(pi, g, lam, by_outcome):
    """Probability of each cell of the counts: P(m, y) P(q|m) P(o|y or m), summed over what is not seen."""
    seen = g[None, :] if by_outcome else g[:, None]
    full = np.empty((2, 2, *pi.shape))  # (q, o, m, y)
    for q, chance_q in ((1, lam[:, None]), (0, 1 - lam[:, None])):
        for o, chance_o in ((1, seen), (0, 1 - seen)):
            full[q, o] = pi * chance_q * chance_o
    return np.block([[full[1, 1], full[1, 0].sum(1)[:, None]], [full[0, 1].sum(0), full[0, 0].sum()]])


def log_likelihood(table, probabilities):
    used = table > 0
    return float(np.sum(table[used] * np.log(np.maximum(probabilities[used], 1e-300))))


def floor_cost(chances, care):
    """What the soft floor takes off the log likelihood: care.doubt log(g/care.floor) for each g below it."""
    if care is None or care.doubt == 0:
        return 0.0
    return -care.doubt * float(np.sum(np.log(np.minimum(chances / care.floor, 1))))


def random_table(rng, K, L, n, by_outcome, mediator_missing=True):
    """Counts of n pulls of a random arm, and its parameters."""
    pi = rng.dirichlet(np.ones(K * L)).reshape(K, L)
    g = rng.uniform(0.15, 1, L if by_outcome else K)
    lam = rng.uniform(0.3, 1, K) if mediator_missing else np.ones(K)
    table = rng.multinomial(n, cells(pi, g, lam, by_outcome).ravel()).reshape(K + 1, L + 1)
    return table.astype(float), (pi, g, lam)


def unpack(x, K, L, G, mediator_missing):
    pi = np.exp(x[: K * L] - x[: K * L].max())
    g = 1 / (1 + np.exp(-x[K * L : K * L + G]))
    lam = 1 / (1 + np.exp(-x[K * L + G :])) if mediator_missing else np.ones(K)
    return (pi / pi.sum()).reshape(K, L), g, lam


def best_by_optimiser(table, levels, by_outcome, rng, u=None, starts=8):
    """The highest log likelihood that a general-purpose optimiser finds from many starts (with mean outcome u)."""
    K, L = table.shape[0] - 1, table.shape[1] - 1
    G = L if by_outcome else K
    missing = table[K].sum() > 0
    size = K * L + G + (K if missing else 0)

    def loss(x):
        return -log_likelihood(table, cells(*unpack(x, K, L, G, missing), by_outcome))

    def excess(x):
        return float(unpack(x, K, L, G, missing)[0].sum(axis=0) @ levels) - u

    best = -np.inf
    for _ in range(starts):
        x0 = rng.normal(0, 1.5, size)
        if u is None:
            found = optimize.minimize(loss, x0, method="L-BFGS-B", bounds=[(-30, 30)] * size)
        else:
            found = optimize.minimize(
                loss,
                x0,
                method="SLSQP",
                bounds=[(-30, 30)] * size,
                constraints={"type": "eq", "fun": excess},
                options={"maxiter": 500},
            )
            if abs(excess(found.x)) > 1e-6:
                continue
        best = max(best, -float(found.fun))
    return best
