"""Pages: what was confirmed, sections in their order, and the table of what holds."""

from dataclasses import replace

import pytest
from research.cache import Cache, NotKept
from research.figures import exact, mean, table
from research.markdown import verdict, yes
from research.page import Written, confirmed_line, read_sections, summary_page, write_pages, write_section
from research.record import (
    Confirmation,
    Record,
    read_record,
    sources_hash,
    write_confirmations,
    write_record,
)
from research.sections import GROUPS, SECTIONS, Group, Page, Section
from research.sources import policy_modules, world_modules
from research.summary import read_claims
from research.workbench import Workbench

from research import ROOT, __main__
from truant.fingerprint import source_file


def page_of(tmp_path, **sections):
    introduction = tmp_path / "introduction.md"
    introduction.write_text("# A page\n\nWhat it is about.\n")
    return Page("page.md", introduction, {name: Section(module) for name, module in sections.items()})


def test_a_section_that_is_made_again_takes_the_place_of_its_old_self(tmp_path):
    page = page_of(tmp_path, one="research.no.one", two="research.no.two")
    for name, text in (
        ("two", "## Two\n\nold"),
        ("one", "## One\n\nsome <b>text</b>"),
        ("two", "## Two\n\nnew"),
    ):
        write_section(tmp_path, page, name, Written.now([text]), tmp_path / "records")
    sections = read_sections(tmp_path / "page.md")
    assert [section.text for section in sections.values()] == ["## One\n\nsome <b>text</b>", "## Two\n\nnew"]
    text = (tmp_path / "page.md").read_text()
    assert text.startswith(
        "The figures of this page were not confirmed yet.\n\n# A page\n\nWhat it is about.\n"
    )
    assert "Not made yet" not in text


def confirm_section(records, name, figures, moved=(), at="2026-11-20T10:00", commit="1a2b3c4", sources=None):
    """Record so many figures of a section, and that they were confirmed."""
    rows = [[f"row {row}", exact(row)] for row in range(figures)]
    record = Record.now([table(["row", "x"], rows)])
    write_record(name, record, records)
    sources = sources or sources_hash()
    confirmation = Confirmation(at, commit, sources, record.fingerprint, 1, figures, list(moved))
    write_confirmations({name: confirmation}, records)


def test_the_first_line_says_what_was_confirmed(tmp_path):
    confirm_section(tmp_path, "one", 400)
    confirm_section(tmp_path, "two", 12, ["two: a: x"])
    assert confirmed_line(["one", "two"], tmp_path) == (
        "Confirmed on 2026-11-20 with code 1a2b3c4 (412 figures, 1 moved)."
    )


def test_the_first_line_is_honest_about_an_earlier_state_of_the_code(tmp_path):
    confirm_section(tmp_path, "one", 3, sources="0123456789ab")
    line = confirmed_line(["one"], tmp_path)
    assert line.endswith("(3 figures, 0 moved), an earlier state of the code: src has changed since.")


def test_the_first_line_is_honest_about_sections_that_were_not_compared(tmp_path):
    confirm_section(tmp_path, "two", 5, at="2026-11-20T11:00", commit="9f9f9f9")
    confirm_section(tmp_path, "one", 3)
    write_record("four", Record.now([table(["row", "x"], [["a", exact(0)]])]), tmp_path)
    assert confirmed_line(["two", "one", "three", "four"], tmp_path) == (
        "Confirmed on 2026-11-20 with code 1a2b3c4 or later (8 figures, 0 moved); "
        "not confirmed: four; without figures that can be compared: three."
    )


def test_a_record_is_read_as_it_was_written(tmp_path):
    rows = [["a", mean([1.0, 2.0]), "yes"], ["b | c", exact(0), "**no**"]]
    record = Record.now(["## One", table(["world", "x", "agrees"], rows)])
    write_record("one", record, tmp_path)
    again = read_record("one", tmp_path)
    assert (again.judged, again.failing, again.date, again.commit) == (
        2,
        ("b | c",),
        record.date,
        record.commit,
    )
    assert {name: figure.record for name, figure in again.figures.items()} == {
        name: figure.record for name, figure in record.figures.items()
    }
    assert read_record("two", tmp_path) is None


def test_the_summary_says_what_holds_and_what_does_not(tmp_path):
    rows = [
        ["a", "x", exact(1), "yes"],
        ["b", "x", exact(0.5, "{:.1f}"), "**no**"],
        ["b", "y", exact(0.25), "**no**"],
    ]
    made = table(["world", "policy", "straight", "within limits"], rows)
    write_record("regret", Record.now([made]), tmp_path / "records")
    group = GROUPS["validation"]
    write_section(
        tmp_path, group.page_of("regret"), "regret", Written.now(["## Regret", made]), tmp_path / "records"
    )
    text = summary_page(tmp_path, group, tmp_path / "records")
    row = next(line for line in text.splitlines() if "](validation-regret.md#regret)" in line)
    assert "| 1 of 3 rows | b: share of runs that keep a bad arm 0.25 to 0.5 |" in row
    assert text.count("not made yet") == len(read_claims()) - 1


def test_every_section_of_the_validation_has_a_claim():
    assert list(read_claims()) == list(GROUPS["validation"].sections)


def test_no_name_of_a_section_is_in_two_groups():
    assert sum(len(group.sections) for group in GROUPS.values()) == len(SECTIONS)


def test_the_parts_of_names_are_found_in_their_modules():
    assert world_modules("mar:gamma=0.5,1", "rates") == {"truant.worlds.mar", "truant.worlds.revenue"}
    assert policy_modules("mar-ucb:level=2") == {"truant.assumptions.mar", "truant.indices.ucb"}
    assert policy_modules("paper-mnar") == {"truant.policies.paper"}
    with pytest.raises(ValueError, match="no policy 'no-such'"):
        policy_modules("no-such")


@pytest.mark.parametrize("name", GROUPS)
def test_every_section_has_a_module_and_its_page_a_head(name):
    sections = GROUPS[name].sections
    assert sections
    for section in sections.values():
        assert source_file(section.module), section.module
        assert "def section(bench: Workbench" in source_file(section.module).read_text()
    assert all(page.head.startswith("# ") for page in GROUPS[name].pages)
    assert all(section in __main__.listing() for section in sections)


@pytest.mark.parametrize("name", GROUPS)
def test_the_written_pages_are_what_sections_and_records_make_of_them(name, tmp_path):
    """A page whose first line is of another state of the code is written anew by `python -m research pages`."""
    group, docs = GROUPS[name], ROOT / "docs"
    pages = [*group.pages, *filter(None, [group.summary])]
    for page in pages:
        (tmp_path / page.path).write_text((docs / page.path).read_text())
    write_pages(tmp_path, group)
    for page in pages:
        assert (tmp_path / page.path).read_text() == (docs / page.path).read_text(), (
            "python -m research pages"
        )


@pytest.mark.parametrize("name", GROUPS)
def test_the_recorded_figures_are_those_of_the_pages(name):
    """Whoever edits a page by hand, or a record, is noticed."""
    for page in GROUPS[name].pages:
        for section, written in read_sections(ROOT / "docs" / page.path).items():
            record = read_record(section)
            assert record is not None, section
            cells = {cell.strip() for line in written.text.splitlines() for cell in line.split("|")}
            assert {str(figure) for figure in record.figures.values()} <= cells, section


def test_the_runner_leaves_what_it_cannot_make(tmp_path, monkeypatch, capsys):
    made = {"one": ["## One"], "two": [], "three": NotKept("it is not kept"), "four": ValueError("wrong")}

    def make(section, bench):
        result = made[section.module]
        if isinstance(result, Exception):
            raise result
        bench.measured_on.add("today")
        return result

    monkeypatch.setattr(Section, "make", make)
    bench = Workbench(tmp_path, Cache(tmp_path / "kept"))
    group = Group((page_of(tmp_path, **{name: name for name in made}),))
    assert __main__.make(group, list(made), bench) == ["four"]
    printed = capsys.readouterr()
    assert "two: left as it was" in printed.out
    assert "three: left as it was, since it is not kept" in printed.out
    assert "ValueError: wrong" in printed.err
    assert list(read_sections(tmp_path / "page.md")) == ["one"]
    assert read_record("one", tmp_path / "recorded").figures == {}
    assert bench.measured_on == set()  # each section has measurements of its own
    assert replace(bench, share=0.1).runs(1000, 4) == 100


def test_tables_escape_and_verdicts_count():
    assert table(["a"], [["b | c"]]).splitlines()[-1] == "| b \\| c |"
    assert verdict(["yes", "better"], "rows") == "All 2 rows meet the criterion."
    assert "1 of 3 rows" in verdict(["yes", yes(False), "yes"], "rows")
