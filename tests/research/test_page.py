"""Pages: sections in their order, each with what made it; sections of other code are named at the head."""

import pytest
from research.cache import Cache, NotKept
from research.markdown import table, verdict, yes
from research.page import Written, read_sections, whole_page, write_section
from research.sections import GROUPS, Group, Section
from research.sources import Sources, policy_modules, world_modules
from research.workbench import Workbench

from research import ROOT, __main__
from truant.fingerprint import source_file


def group(**sections):
    return Group(
        "page.md", {name: Section(module) for name, module in sections.items()}, "research.validation.opening"
    )


TWO = group(one="research.no.one", two="research.no.two")


def written(text, *modules, files=()):
    return Written.now([text], Sources(set(modules), set(files)))


def test_a_section_that_is_made_again_takes_the_place_of_its_old_self(tmp_path):
    page = tmp_path / "page.md"
    write_section(page, TWO, "two", written("## Two\n\nold", "truant.counts"))
    write_section(page, TWO, "one", written("## One\n\nsome <b>text</b>", "truant.counts"))
    write_section(page, TWO, "two", written("## Two\n\nnew", "truant.counts", "truant.setting"))
    found = read_sections(page)
    assert [section.text for section in found.values()] == ["## One\n\nsome <b>text</b>", "## Two\n\nnew"]
    assert found["two"].sources == Sources({"truant.counts", "truant.setting"})
    assert all(section.current for section in found.values())
    assert "code has changed" not in page.read_text()


def test_a_section_of_other_code_is_named_at_the_head():
    one, two = written("## One", "truant.counts"), written("## Two", "truant.counts")
    page = whole_page(TWO, {"one": one, "two": Written(two.text, two.date, "0123456789ab", two.sources)})
    assert "The code has changed since these sections were made: two." in page
    assert page.index("<!-- section one") < page.index("<!-- section two")
    unknown = Written("## Two", "2020-01-01", one.code)  # written before sources were noted
    page = whole_page(TWO, {"two": unknown})
    assert "The code has changed since these sections were made: two." in page
    assert "Not made yet: one." in page


def test_data_are_part_of_what_makes_a_section(tmp_path, monkeypatch):
    monkeypatch.setattr("research.sources.ROOT", tmp_path)
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "some.toml"
    file.write_text("a = 1")
    sources = Sources({"truant.counts"})
    assert sources.add_file(file) == file
    assert sources.files == {"data/some.toml"}
    section = Written.now(["## One"], sources)
    assert section.current
    file.write_text("a = 2")
    assert not section.current
    assert Sources.parse(str(sources)) == sources


def test_the_parts_of_names_are_found_in_their_modules():
    assert world_modules("mar:gamma=0.5,1", "rates") == {"truant.worlds.mar", "truant.worlds.revenue"}
    assert policy_modules("mar-ucb:level=2") == {"truant.assumptions.mar", "truant.indices.ucb"}
    assert policy_modules("paper-mnar") == {"truant.policies.paper_mnar"}
    with pytest.raises(ValueError, match="no policy 'no-such'"):
        policy_modules("no-such")


@pytest.mark.parametrize("name", GROUPS)
def test_every_section_has_a_module_and_its_page_a_head(name):
    sections = GROUPS[name].sections
    assert sections
    for section in sections.values():
        assert source_file(section.module), section.module
        assert "def section(bench: Workbench" in source_file(section.module).read_text()
    assert GROUPS[name].head()[0].startswith("# ")
    assert all(section in __main__.listing() for section in sections)


@pytest.mark.parametrize("name", GROUPS)
def test_the_written_pages_have_sections_of_the_registry_only(name):
    found = read_sections(ROOT / "docs" / GROUPS[name].page)
    assert found
    assert set(found) <= set(GROUPS[name].sections)
    for section in found.values():
        assert section.text.startswith("## ")


def test_the_runner_leaves_what_it_cannot_make(tmp_path, monkeypatch, capsys):
    made = {"one": ["## One"], "two": [], "three": NotKept("it is not kept"), "four": ValueError("wrong")}

    def make(section, bench):
        found = made[section.module]
        if isinstance(found, Exception):
            raise found
        bench.sources.modules.add("truant.counts")
        return found

    monkeypatch.setattr(Section, "make", make)
    monkeypatch.setattr(__main__, "ROOT", tmp_path)
    bench = Workbench(tmp_path, Cache(tmp_path / "kept"))
    assert __main__.make(group(**{name: name for name in made}), list(made), bench) == ["four"]
    printed = capsys.readouterr()
    assert "two: left as it was" in printed.out
    assert "three: left as it was, since it is not kept" in printed.out
    assert "ValueError: wrong" in printed.err
    assert list(read_sections(tmp_path / "page.md")) == ["one"]
    assert bench.sources == Sources()  # each section has sources of its own


def test_tables_escape_and_verdicts_count():
    assert table(["a"], [["b | c"]]).splitlines()[-1] == "| b \\| c |"
    assert verdict(["yes", "better"], "rows") == "All 2 rows meet the criterion."
    assert "1 of 3 rows" in verdict(["yes", yes(False), "yes"], "rows")
