"""The page of the demo has all its parts, stands alone, and a browser draws it; the picture is there."""

import html
import re

import pytest

from tests.browser import drawn_page, needs_browser
from truant.demo.words import headline, learning_sentences, live_sentences

CHARTS = ("dropped", "zeros", "mar", "without", "followed", "lost", "shares", "arrivals")


def words_of(page):
    """The text of the page before its scripts, in one line."""
    text = page[page.index("<main>") : page.index('<script type="application/json"')]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_page_has_all_parts(ran):
    demo = ran.demo
    page = demo.page.read_text(encoding="utf-8")
    said = words_of(page)
    for sentence in [headline(demo.table), *learning_sentences(demo.learning), *live_sentences(demo.live)]:
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
    before_scripts = page[: page.index('<script type="application/json"')]
    assert not re.findall(r'(?:href|src)\s*=\s*"', before_scripts)
    assert "default-src 'none'" in page


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_it_within_a_narrow_window(tmp_path, ran, scheme):
    text = ran.demo.page.read_text(encoding="utf-8")
    end = text.rindex("</body>")
    probe = (
        "<script>setInterval(() => { const d = document.documentElement;"
        "d.dataset.wide = d.scrollWidth > d.clientWidth; }, 200)</script>"
    )
    (tmp_path / "page.html").write_text(text[:end] + probe + text[end:], encoding="utf-8")
    dom = drawn_page(tmp_path / "page.html", tmp_path, scheme, width=420)
    assert 'data-wide="false"' in dom
    assert len(re.findall(r"<svg[^>]*class=\"marks\"", dom)) == len(CHARTS)


def test_the_picture_is_a_wide_png(ran):
    content = (ran.demo.folder / "picture.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    assert width > 2 * height > 1000
