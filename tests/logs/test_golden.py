"""The text of the statement for each dialect, as it was read and kept."""

from __future__ import annotations

import re

import pytest

from tests.logs.statements import GOLDEN, TRIED, UNTRIED, statement


@pytest.mark.parametrize("dialect", [*TRIED, *UNTRIED])
def test_the_statement_is_as_it_was(dialect):
    kept = (GOLDEN / f"{dialect}.sql").read_bytes().decode()
    assert statement(dialect) == kept, "if this is meant: python -m tests.logs.statements"


@pytest.mark.parametrize("dialect", UNTRIED)
def test_traps_of_untried_dialects(dialect):
    text = statement(dialect)
    assert "TRY_CAST" not in text
    if dialect == "mysql":  # TRIM takes one text, patterns ignore case and end before a line break, NaN is 0
        assert "TRIM(" not in text
        assert "NaN" not in text
        assert len(re.findall(r"\\\\z',\s*'c'\s*\)", text)) == text.count("REGEXP_LIKE(")
    if dialect == "bigquery":  # NaN is not equal to NaN
        assert "IS_NAN(`where_1`" in text.replace("CAST(`where_1` AS FLOAT64)", "`where_1`")
