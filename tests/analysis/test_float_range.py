"""Outcomes near the ends of the floats: a right answer, or one sentence; never a warning or a silent NaN."""

import json
import math

import numpy as np
import pytest

import truant
from truant.errors import InvalidValue

N = 60
NOISE = np.random.default_rng(1).normal(size=N)


def analysis(outcomes, **options):
    observed = [None if i % 5 == 0 else float(y) for i, y in enumerate(outcomes)]
    table = {"g": ["a", "b", "c"] * (N // 3), "m": ["x", "x", "y", "z"] * (N // 4), "y": observed}
    return truant.analyze(table, arm="g", outcome="y", mediator="m", control="a", **options)


def check_all_finite(result, tmp_path):
    json.dumps(result.summary(), allow_nan=False)
    for arm in result.arms:
        for estimate in arm.estimates.values():
            assert all(
                map(math.isfinite, (estimate.mean, estimate.low, estimate.high, estimate.standard_error))
            )
    assert str(result)
    result.report(tmp_path / "page.html")


@pytest.mark.parametrize("scale", [1e-99, 1e99])
def test_estimates_scale_with_the_outcomes(scale, tmp_path):
    plain, scaled = analysis(NOISE), analysis(NOISE * scale)
    check_all_finite(scaled, tmp_path)
    assert scaled.winner == plain.winner
    for one, other in zip(plain.arms, scaled.arms, strict=True):
        for name in ("mcar", "mar"):
            assert other.estimates[name].mean == pytest.approx(one.estimates[name].mean * scale)
            assert other.estimates[name].standard_error == pytest.approx(
                one.estimates[name].standard_error * scale
            )


@pytest.mark.parametrize(
    ("outcomes", "options"),
    [
        (np.where(NOISE > 0, 1e100, -1e100), {}),
        (np.where(NOISE > 0, 1e100, -1e100), {"levels": ()}),
        (np.where(NOISE > 1, 1e100, NOISE), {}),
        (1e15 + NOISE, {}),
        (np.full(N, 5.0), {"range": (0, 10)}),
    ],
    ids=["both ends", "both ends, real", "one large", "far from zero", "constant"],
)
def test_extremes_are_analysed_without_a_warning(outcomes, options, tmp_path):
    check_all_finite(analysis(outcomes, **options), tmp_path)


@pytest.mark.parametrize(
    ("outcomes", "options"),
    [
        (NOISE * 1e-320, {}),
        (NOISE * 1e-200, {}),
        (np.where(NOISE > 0, 0.0, 5e-324), {}),
        (np.where(NOISE > 0, 1.0, 1.0 + 2.3e-16), {}),
        (np.full(N, 1e-320), {"range": (0, 1e-300)}),
        (NOISE * 1e307, {}),
    ],
    ids=["denormal", "squares are 0", "smallest", "one rounding", "tiny range", "cubes are infinite"],
)
def test_what_cannot_be_computed_is_refused(outcomes, options):
    with pytest.raises(
        InvalidValue, match=r"^(The range must be within ±1e\+100, at least 1e-100 wide|Outcomes must)"
    ):
        analysis(outcomes, **options)
