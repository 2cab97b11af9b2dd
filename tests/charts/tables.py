"""Small tables that charts are drawn from."""

import pandas as pd

ESTIMATES = pd.DataFrame(
    [
        ("a", "naive", 0.30, 0.25, 0.35),
        ("a", "mar", 0.40, 0.30, 0.50),
        ('b"]', "naive", 0.35, 0.30, 0.40),
        ('b"]', "mar", 0.20, 0.10, float("nan")),
    ],
    columns=["arm", "assumption", "mean", "low", "high"],
)
CELLS = pd.DataFrame(
    [
        ("a", "low", 10, 0.5),
        ("a", "missing", 4, 0.25),
        ("b", "low", 0, None),
        ("b", "missing", 1200, 0.1),
        ("b", "missing", 7, 1.0),
    ],
    columns=["arm", "mediator", "pulls", "missing_share"],
)
CURVE = pd.DataFrame(
    {
        "shift": [0.0, 1.0, 2.0],
        "value": [0.6, 0.4, 0.2],
        "low": [0.5, 0.3, 0.1],
        "high": [0.7, 0.5, 0.3],
        "runner_up": [0.5, 0.5, 0.5],
    }
)
LINES = pd.DataFrame(
    [
        (p, x, m, m * 0.9, m * 1.1)
        for p, m0 in (("a", 10.0), ("b", 90.0))
        for x, m in ((1, m0), (2, m0 + 5), (4, m0 + 9))
    ],
    columns=["policy", "x", "mean", "low", "high"],
)


def curves(finals, rounds=(100, 200, 400), sd=0.3):
    """Lines from 0 to these final means, with bands."""
    rows = []
    for policy, final in finals.items():
        for r in rounds:
            mean = final * r / rounds[-1]
            rows.append((policy, r, mean, mean * (1 - sd), mean * (1 + sd)))
    return pd.DataFrame(rows, columns=["policy", "round", "mean", "low", "high"])


CURVES = curves({"naive-ucb": 40_000, "mar-ucb:level=cautious": 55.5})
