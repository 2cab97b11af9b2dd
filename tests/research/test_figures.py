"""Cells of tables that know their numbers, and how they are named."""

import pytest
from research.figures import Figure, Note, exact, figures_of, mean, plus_minus, share, table


def test_figures_are_named_after_the_texts_before_them_and_their_column():
    made = table(
        ["world", "policy", "runs", "regret", "share"],
        [
            ["`mar`", "`mar-ucb`", Note("40"), mean([1.0, 3.0]), share([True, False], "{:.0%}")],
            ["", "`naive-ucb`", Note("40"), mean([2.0, 4.0]), "-"],
        ],
    )
    figures = figures_of(["text", made])
    assert list(figures) == ["mar, mar-ucb: regret", "mar, mar-ucb: share", "mar, naive-ucb: regret"]
    assert figures["mar, mar-ucb: regret"].value == 2
    assert figures["mar, mar-ucb: regret"].error == 1
    assert figures["mar, mar-ucb: share"] == "50%"
    assert made.splitlines()[2] == "| `mar` | `mar-ucb` | 40 | 2.00 ± 1.00 | 50% |"


def test_two_figures_of_one_name_need_titles():
    one = table(["world", "regret"], [["mar", exact(1)]])
    with pytest.raises(AssertionError, match="give them titles"):
        figures_of([one, one])
    with pytest.raises(AssertionError, match="two figures are named 'mar: x'"):
        table(["world", "x", "x"], [["mar", exact(1), exact(2)]])
    other = table(["world", "regret"], [["mar", exact(2)]], title="unkind")
    assert list(figures_of([one, other])) == ["mar: regret", "unkind / mar: regret"]


def test_rows_that_fail_their_criterion_are_named():
    made = table(
        ["world", "x", "agrees"], [["a", exact(1), "yes"], ["b", exact(1), "**no**"], ["c", "-", "-"]]
    )
    assert (made.judged, made.failing) == (2, ["b"])


def test_a_share_of_units_that_are_not_independent_has_fewer_of_them():
    assert share([True] * 90 + [False] * 10).size == 100
    assert share([True] * 90 + [False] * 10, error=0.06).size == pytest.approx(25)
    assert share([True] * 10, error=0.1).size == 10


def test_a_figure_is_read_as_it_was_kept():
    figure = plus_minus(1.25, 0.5, 1, 40)
    again = Figure.of_record(figure.record)
    assert again == figure == "1.2 ± 0.5"
    assert (again.kind, again.value, again.error, again.size) == ("mean", 1.25, 0.5, 40)
