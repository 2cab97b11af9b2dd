"""Regret of every policy beside that of another implementation: the same worlds, sizes and constants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from study.keep import EXPECTED, Study
from study.page import table, verdict, yes

COLUMNS = (
    "world",
    "policy",
    "regret",
    "expected",
    "distance, se",
    "median",
    "above 10x median",
    "best arm",
    "agrees",
)
FAR = 3.0  # standard errors


def section(study: Study) -> list[str]:
    rows = [row for world in EXPECTED["world"] for row in world_rows(study, world)]
    return [
        "## Regret",
        "Mean ± sd of the final regret (100,000 rounds; `mcar` 10,000), beside that of another implementation, and "
        f"their distance in standard errors of the difference: a row agrees if it is not above {FAR:.0f}, and lower "
        "regret is welcome. Standard deviations are large in the weakly identified worlds, so the median and the "
        f"share of runs above ten times it stand beside. {verdict([row[-1] for row in rows], 'rows')}",
        table(COLUMNS, rows),
    ]


def world_rows(study: Study, world: dict) -> Iterator[list[str]]:
    name, runs = world["name"], study.size(world["runs"], 4)
    horizon = study.size(world.get("horizon", 100_000), 2000)
    result = study.simulated(f"regret-{name}-{runs}", name, list(world["policies"]), horizon, runs)
    for policy, final, share in zip(result.policies, result.final, result.best_arm_share, strict=True):
        expected, *known = world["policies"][policy]
        mean, sd = final.mean(), final.std(ddof=1)
        distance = (mean - expected) / np.sqrt((sd**2 + (known[0] if known else sd) ** 2) / runs)
        median = np.median(final)
        yield [
            name,
            f"`{policy}`",
            f"{mean:,.0f} ± {sd:,.0f}",
            f"{expected:,}",
            f"{distance:+.1f}",
            f"{median:,.0f}",
            f"{np.mean(final > 10 * median):.1%}",
            f"{share.mean():.1%}",
            yes(distance <= FAR),
        ]
