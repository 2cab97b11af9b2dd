"""Random tables, names, options and study files: right, refused in one sentence, or a bug."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from research.fuzz.commands import CHECKS

EXAMPLES = {"analyze_plain": 60, "analyze_options": 40, "analyze_anything": 60, "simulate": 30, "study": 30}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_right_refused_or_a_bug(check):
    ends = {True: 0, False: 0}

    @settings(
        max_examples=EXAMPLES.get(check.__name__, 40),
        phases=[Phase.generate],  # a smaller example is not worth the minutes it takes to find
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def run(data):
        ends[check(data).right] += 1

    run()
    assert ends[True] > 0, "nothing was right: the draws are too wild to test the answers"
    assert ends[False] > 0, "nothing was refused: the draws are too tame"
