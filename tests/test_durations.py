"""Durations as texts, timedeltas and microseconds."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truant.durations import LONGEST, duration, duration_text
from truant.errors import InvalidValue


@pytest.mark.parametrize(
    ("value", "microseconds"),
    [
        ("45s", 45_000_000),
        ("30m", 1_800_000_000),
        ("12h", 43_200_000_000),
        ("7d", 604_800_000_000),
        ("2w", 1_209_600_000_000),
        ("1d 12h", 129_600_000_000),
        ("1d12h", 129_600_000_000),
        (" 1 d 12 h ", 129_600_000_000),
        ("1.5h", 5_400_000_000),
        ("0.000001s", 1),
        ("0s", 0),
        ("90s", 90_000_000),
        (timedelta(days=7), 604_800_000_000),
        (timedelta(days=1, microseconds=3), 86_400_000_003),
    ],
)
def test_a_duration_is_read_to_the_microsecond(value, microseconds):
    assert duration("window", value) == microseconds


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            "  ",
            "7",
            "d",
            "7 days",
            "-1d",
            "1h 1d",
            "1d 1d",
            "1.d",
            "1e3s",
            "0.0000001s",
            "٧d",
            "7D",
            "nan",
        ),
        *(7, 7.0, True, None, b"7d", timedelta(days=-1), timedelta.max, "365001d", "9" * 5000 + "d"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(value):
    with pytest.raises(InvalidValue, match=r"^window must be a duration such as '45s'.*, got .*\.$"):
        duration("window", value)


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (604_800_000_000, "7d"),
        (129_600_000_000, "1d 12h"),
        (0, "0s"),
        (1, "0.000001s"),
        (1_500_000, "1.5s"),
        (86_401_000_000, "1d 1s"),
        (61_000_000, "1m 1s"),
        (3_660_000_000, "1h 1m"),
    ],
)
def test_a_duration_is_written_in_days_and_less(microseconds, text):
    assert duration_text(microseconds) == text


@given(st.integers(0, LONGEST))
def test_what_is_written_is_read_again(microseconds):
    assert duration("window", duration_text(microseconds)) == microseconds


def test_a_negative_duration_cannot_be_written():
    with pytest.raises(InvalidValue, match="at least 0"):
        duration_text(-1)
