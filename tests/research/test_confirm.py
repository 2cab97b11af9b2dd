"""`python -m research confirm`: what has moved is named, and the pages say when their figures were confirmed."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from research.cache import Cache
from research.figures import Note, mean, share, table
from research.page import Written, write_pages, write_section
from research.record import Record, read_confirmations, read_record, write_record
from research.sections import GROUPS, Group, Page, Section
from research.workbench import Workbench

from research import __main__, confirm

MISTAKE = {"wider": 1.0, "fails": True}  # what multiplies a standard error; whether one of the sections fails
CONFIRMED_SHARE = 0.2
ROWS = 10


def section(bench, fails=False):
    """Coverage of the 95% interval of a normal mean with known variance, and the mean itself."""
    if fails and bench.draw and MISTAKE["fails"]:
        raise ZeroDivisionError("no such luck")
    runs = bench.runs(2000, 10)
    rows = []
    for row in range(ROWS):
        z = np.random.default_rng([bench.seed, row]).normal(size=runs)
        covered = np.abs(z) < 1.96 * MISTAKE["wider"]
        rows.append([f"world {row}", Note(f"{runs}"), share(covered), mean(10 + z)])
    return ["## A section", table(["world", "runs", "coverage", "estimate"], rows)]


@pytest.fixture
def confirmed(tmp_path, monkeypatch):
    """Runs the command in a project whose only sections are two of this module; gives its exit status."""
    introduction = tmp_path / "introduction.md"
    introduction.write_text("# A page\n")
    sections = {name: Section(__name__, {"fails": name == "fails"}) for name in ("steady", "fails")}
    page = Page("page.md", introduction, sections)
    records = tmp_path / "research" / "recorded"
    for name, value in (
        ("research.confirm.ROOT", tmp_path),
        ("research.confirm.KEPT", tmp_path / "out"),
        ("research.confirm.RECORDS", records),
        ("research.confirm.SECTIONS", sections),
        ("research.confirm.group_of", lambda section: "validation"),
        ("research.__main__.SECTIONS", sections),
    ):
        monkeypatch.setattr(name, value)
    monkeypatch.setitem(GROUPS, "validation", Group((page,)))
    monkeypatch.setattr(sys.modules[__name__], "MISTAKE", {"wider": 1.0, "fails": True})
    bench = Workbench(tmp_path / "docs", Cache(tmp_path / "kept"))
    for name, one in sections.items():
        paragraphs = one.make(bench)
        write_record(name, Record.now(paragraphs), records)
        write_section(tmp_path / "docs", page, name, Written.now(paragraphs), records)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["research", "confirm", *arguments])
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        return ended.value.code

    run.page = tmp_path / "docs" / "page.md"
    run.records = records
    return run


def test_figures_that_hold_are_confirmed_on_their_page(confirmed, capsys):
    assert confirmed("steady", "--json") == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["figures"] == 2 * ROWS
    assert document["moved"] == []
    assert document["level"] == 0.01
    assert 0.01 < document["found_if_moved"]["mean"] < 0.03  # of 10 ± 1, from 400 runs
    assert 0.02 < document["found_if_moved"]["share"] < 0.1
    assert document["found_if_column_moved"]["share"] < document["found_if_moved"]["share"]
    assert "[1/1] steady: 20 figures" in printed.err
    assert confirmed.page.read_text().startswith("Confirmed on 20")
    assert "(20 figures, 0 moved)" in confirmed.page.read_text().splitlines()[0]


def first_line(confirmed):
    return confirmed.page.read_text().splitlines()[0]


def test_a_mistake_is_named_and_ends_the_command_with_1(confirmed, capsys):
    MISTAKE["wider"] = 1.3
    assert confirmed("steady") == 1
    printed = capsys.readouterr().out
    assert "steady: coverage: all 10 figures of the column, higher now" in printed
    assert "estimate" not in printed
    assert "Make anew: python -m research validation steady" in printed
    confirmation = read_confirmations(confirmed.records)["steady"]
    moved = len(confirmation.moved)
    assert 0 < moved <= ROWS
    assert confirmation.moved_columns == ["steady: coverage"]
    said = f"(20 figures, {moved} moved; and as a whole 1 column); not confirmed: fails."
    assert first_line(confirmed).endswith(said)


def test_a_section_that_fails_is_named_and_the_others_are_compared(confirmed, capsys):
    MISTAKE["fails"] = False
    assert confirmed() == 0
    assert first_line(confirmed).endswith("(40 figures, 0 moved).")
    capsys.readouterr()
    MISTAKE["fails"] = True
    assert confirmed("--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["moved"] == ["fails: failed"]
    assert document["values"] == {"fails: failed": "ZeroDivisionError: no such luck"}
    assert document["figures"] == 2 * ROWS
    assert len(document["sections"]["fails"]["missing"]) == 2 * ROWS
    assert first_line(confirmed).endswith("(20 figures, 0 moved, 20 not compared); failed: fails.")


def test_figures_that_were_made_anew_are_not_confirmed(confirmed):
    assert confirmed("steady") == 0
    record = read_record("steady", confirmed.records)
    figures = {name: figure.with_text("99") for name, figure in record.figures.items()}
    write_record("steady", replace(record, figures=figures), confirmed.records)
    write_pages(confirmed.page.parent, GROUPS["validation"], confirmed.records)
    assert first_line(confirmed) == "The figures of this page were not confirmed yet."


def test_figures_that_the_new_run_does_not_have_are_counted_and_named(confirmed, capsys):
    record = read_record("steady", confirmed.records)
    more = {**record.figures, "world 99: coverage": share([True])}
    write_record("steady", replace(record, figures=more), confirmed.records)
    assert confirmed("steady", "--json") == 0
    assert json.loads(capsys.readouterr().out)["sections"]["steady"]["missing"] == ["world 99: coverage"]
    assert "(20 figures, 0 moved, 1 not compared)" in first_line(confirmed)


def test_an_interrupt_keeps_what_was_compared(confirmed, monkeypatch):
    def stopped(name, draw):
        if name == "fails":
            raise KeyboardInterrupt
        return original(name, draw)

    original = confirm.rerun
    monkeypatch.setattr(confirm, "rerun", stopped)
    assert "Stopped" in confirmed()
    assert first_line(confirmed).endswith("(20 figures, 0 moved); not confirmed: fails.")


def test_an_unknown_section_is_refused_with_a_guess(confirmed, capsys):
    assert confirmed("stedy") == 2
    assert "did you mean 'steady'?" in capsys.readouterr().err


def test_what_is_not_recorded_is_not_compared(confirmed, capsys):
    (confirmed.records / "steady.json").unlink()
    assert confirmed("steady") == 1
    assert "Nothing was compared" in capsys.readouterr().out


def test_the_same_draw_gives_the_recorded_figures(confirmed, capsys, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "CONFIRMED_SHARE", 1.0)
    changes = confirm.rerun("steady", 0).changes
    assert len(changes) == 2 * ROWS
    assert all(change.now.record == change.recorded.record for change in changes)
    assert confirmed("steady", "--draw", "0") == 2  # they would be compared with themselves
    assert "--draw must be at least 1, got 0" in capsys.readouterr().err
