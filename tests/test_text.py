"""Texts of others as a terminal may show them."""

import pytest

from truant.errors import MOST_SHOWN, InvalidValue, NotIdentified, counted, label, unknown, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcode 漢字 👍 ★", "plain, ünïcode 漢字 👍 ★"),
        ("1\u202f234\u00a0€", "1\u202f234\u00a0€"),  # spaces of other kinds are only spaces
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b2J", "\\x9b2J"),
        ("bell\x07, back\b, line\r\nnext\ttab\0", "bell\\x07, back\\x08, line\\r\\nnext\\ttab\\x00"),
        ("abc\u202edcba\u2066x\u200f", "abc\\u202edcba\\u2066x\\u200f"),
        ("zero\u200bwidth\ufeff\u00ad", "zero\\u200bwidth\\ufeff\\xad"),
        ("line\u2028paragraph\u2029", "line\\u2028paragraph\\u2029"),
        ("half \udc80", "half \\udc80"),
        ("tag\U000e0041", "tag\\U000e0041"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_written_as_escapes(text, shown):
    assert visible(text) == shown
    assert label(text) == shown


def test_a_long_label_keeps_both_ends():
    text = "beginning" + "x" * 500 + "end"
    shown = label(text)
    assert len(shown) == MOST_SHOWN
    assert shown.startswith("beginning")
    assert shown.endswith("end")
    assert "…" in shown
    assert label("x" * MOST_SHOWN) == "x" * MOST_SHOWN
    assert len(label("\x1b" * 500)) == MOST_SHOWN


def test_errors_quote_nothing_that_a_terminal_obeys():
    evil = "a\x1b]0;x\x07\u202e\n"
    for error in (
        InvalidValue(f"{evil}: no."),
        InvalidValue("No.").at(evil).advising(evil),
        NotIdentified("{arm} is not there.", arm=1, assumption=evil),
        unknown("world", evil, [evil]),
    ):
        assert str(error).isprintable()


def test_a_number_has_the_right_noun():
    assert [counted(number, "decision") for number in (0, 1, 12_000)] == [
        "0 decisions",
        "1 decision",
        "12,000 decisions",
    ]
    assert [counted(number, "policy", "policies") for number in (1, 2)] == ["1 policy", "2 policies"]
