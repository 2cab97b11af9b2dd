"""The page of the demo has all its parts, stands alone, and a browser draws it; the picture is there."""

import html
import re

from research.demo_picture import save_picture

from tests.browser import faults, looked_at, needs_axe
from truant.demo.document import headline, learning_sentences, live_sentences

CHARTS = ("rows_dropped", "set_to_zero", "mar", "no_mediator", "follow_up", "lost", "allocations", "arrivals")


def words_of(page):
    """The text of the page, in one line."""
    text = page[page.index("<main>") :]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_page_has_all_parts(ran):
    demo = ran.demo
    page = demo.page.read_text(encoding="utf-8")
    said = words_of(page)
    for sentence in [headline(demo.table), *learning_sentences(*demo.policies), *live_sentences(demo.status)]:
        assert " ".join(sentence.split()) in said
    assert [name for name in CHARTS if f'id="{name}"' in page] == list(CHARTS)
    assert re.findall(r"<h2>(\d)\.", page) == ["1", "2", "3"]
    for purpose, command in demo.commands:
        assert f"{purpose} {command}" in said
    assert said.count("wrong") >= 2
    for mean in demo.table.true_means.values():
        assert f">{mean:.1f}</dd>" in page


def test_the_page_stands_alone(ran):
    page = ran.demo.page.read_text(encoding="utf-8")
    assert not re.findall(r'(?:href|src)\s*=\s*"', page)


@needs_axe
def test_a_browser_draws_it_and_everyone_can_read_it(tmp_path, ran):
    assert faults({"demo": ran.demo.page}, tmp_path) == []
    assert looked_at({"demo": ran.demo.page}, tmp_path)["demo"]["charts"] == len(CHARTS)


def test_the_picture_of_the_readme_is_a_wide_png(tmp_path, ran):
    save_picture(ran.demo, tmp_path / "picture.png")
    content = (tmp_path / "picture.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    assert width > 2 * height > 1000
