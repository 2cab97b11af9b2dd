"""The page of a reproduction: it stands alone, and a browser draws it."""

import re

from tests.browser import faults, needs_axe


def test_the_page_stands_alone(small):
    page = small.page.read_text(encoding="utf-8")
    links = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert links
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert all(link.startswith("#") or (small.folder / link).is_file() for link in links)
    assert not re.findall(r"<(?:script|link|iframe|img)[^>]*(?:src|href)\s*=", page)
    for claim in small.summary["figures"][0]["claims"]:
        assert claim["figures"] in page
    assert f">{small.summary['settings']['seed']}</dd>" in page
    assert f"numba {small.summary['versions']['numba']}" in page


@needs_axe
def test_a_browser_draws_it_and_everyone_can_read_it(tmp_path, small):
    assert faults({"reproduction": small.page}, tmp_path) == []
    drawings = re.findall(r"<svg viewBox.*?</svg>", small.page.read_text(encoding="utf-8"))
    assert len(drawings) == 3
    assert "var(--chart-0072b2,#0072B2)" in drawings[1]  # mar-ucb
    assert "Dotted: the rate of the lower bound" in drawings[1]
