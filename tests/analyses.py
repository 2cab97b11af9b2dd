"""Small analyses for those who show them."""

import numpy as np

from truant import Counts, Setting
from truant.analysis import AnalysisOptions, CountedRows, Labels, analyze_counts

# per arm: rows (mediator 0, mediator 1, missing), columns (outcome 0, outcome 1, missing)
TABLE = np.array(
    [
        [[30, 60, 40], [50, 20, 12], [4, 6, 3]],
        [[25, 80, 50], [40, 22, 15], [3, 5, 2]],
        [[45, 50, 30], [55, 15, 9], [6, 4, 4]],
    ],
    dtype=float,
)
OF_ROWS = {"cautions", "clusters", "over_time", "uncut", "collected"}
HOSTILE = ["<script>alert('a')</script>", 'b" onload="x</script>', "c & {{ 7 * 7 }} [bold]c[/bold]"]


def analyzed(counts, setting, labels, **options):
    """The analysis of counts; options of both records by their names."""
    of_rows = {name: options.pop(name) for name in OF_ROWS & set(options)}
    return analyze_counts(CountedRows(counts, setting, labels, **of_rows), AnalysisOptions(**options))


def binary(arms=("old", "new", "none"), mediators=("low", "high"), table=TABLE, **options):
    minimize = options.pop("minimize", False)
    setting = Setting(arms=len(arms), mediators=table.shape[1] - 1, levels=(0, 1), minimize=minimize)
    options = {"assume": ["mcar", "mar", "mnar"]} | options
    counts = Counts(table.copy(), setting.levels, setting.centre)
    return analyzed(counts, setting, Labels.of(arms, mediators), **options)


def real(arms=4, mediators=3, n=2000, centre=330.0, spread=100.0, seed=1, **options):
    """Outcomes in the hundreds, whose range is not known."""
    rng = np.random.default_rng(seed)
    a, m = rng.integers(0, arms, n), rng.integers(0, mediators, n)
    y = centre + spread * (0.2 * m + 0.1 * a) + rng.normal(0, spread, n)
    y[rng.random(n) < 0.1 + 0.15 * m] = np.nan
    setting = Setting(
        arms=arms,
        mediators=mediators,
        low=centre - 10 * spread,
        high=centre + 10 * spread,
        range_known=options.pop("range_known", False),
    )
    labels = Labels.of([f"arm {i}" for i in range(arms)], [f"m{i}" for i in range(mediators)])
    options = {"assume": ["mcar", "mar"]} | options
    return analyzed(Counts.fold(setting, a, m, y), setting, labels, **options)
