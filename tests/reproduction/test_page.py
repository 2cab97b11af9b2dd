"""The page of a reproduction: it stands alone, and a browser draws it."""

import re

import pytest

from tests.browser import drawn_page, needs_browser
from truant.charts import DARK


def test_the_page_stands_alone(small):
    page = small.page.read_text(encoding="utf-8")
    before_scripts = page[: page.index('<script type="application/json"')]
    links = re.findall(r'(?:href|src)="([^"]*)"', before_scripts)
    assert links
    assert all(link.startswith("#") or (small.folder / link).is_file() for link in links)
    assert not re.findall(r"<(?:script|link|iframe|img)[^>]*(?:src|href)\s*=", before_scripts)
    assert "default-src 'none'" in page
    for claim in small.summary["figures"][0]["claims"]:
        assert claim["figures"] in page
    assert f">{small.summary['settings']['seed']}</dd>" in page
    assert f"numba {small.summary['versions']['numba']}" in page


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_it_without_network_and_within_a_narrow_window(tmp_path, small, scheme):
    text = small.page.read_text(encoding="utf-8")
    end = text.rindex("</body>")
    probe = (
        "<script>setInterval(() => { const d = document.documentElement;"
        "d.dataset.wide = d.scrollWidth > d.clientWidth; }, 200)</script>"
    )
    (tmp_path / "page.html").write_text(text[:end] + probe + text[end:], encoding="utf-8")
    dom = drawn_page(tmp_path / "page.html", tmp_path, scheme, width=420)
    assert 'data-wide="false"' in dom
    drawings = re.findall(r"<svg[^>]*class=\"marks\".*?</svg>", dom, flags=re.DOTALL)
    assert len(drawings) == 2
    blue = "#0072B2"  # mar-ucb
    assert ((DARK[blue] if scheme == "dark" else blue).lower()) in drawings[1].lower()
