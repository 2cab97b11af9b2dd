"""The page of errata has all twelve items, each with a check and what it prints (test_docs runs them)."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "errata.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^## (.*)$", PAGE, flags=re.MULTILINE)


def test_items_are_numbered_from_1_to_12():
    assert [heading.split(".")[0] for heading in HEADINGS] == [str(number) for number in range(1, 13)]


def test_the_table_leads_to_every_item():
    anchors = [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in HEADINGS]
    rows = re.findall(r"^\| \[(\d+)\]\(#([^)]*)\) \|", PAGE, flags=re.MULTILINE)
    assert rows == [(str(number), anchor) for number, anchor in enumerate(anchors, start=1)]


@pytest.mark.parametrize("heading", HEADINGS)
def test_an_item_says_what_is_printed_what_is_right_and_checks_it(heading):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    assert section.index("**The paper**") < section.index("**Correction.**") < section.index("```python")
    checks = re.findall(r"```python\n(.*?)```\n+```text\n(.+?)```", section, flags=re.DOTALL)
    assert len(checks) == section.count("```python") >= 1
    assert all("print(" in code for code, _ in checks)
