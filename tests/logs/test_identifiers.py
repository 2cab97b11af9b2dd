"""A column with its own value in nearly every row is neither an arm nor a mediator."""

from __future__ import annotations

import pytest

from truant.errors import InvalidValue
from truant.logs.read import read


@pytest.mark.parametrize("rows", [12, 30, 900, 5000])
@pytest.mark.parametrize("spelled", [int, str, "user-{}".format])
def test_an_identifier_is_refused(rows, spelled):
    table = {
        "id": [spelled(i) for i in range(rows)],
        "arm": [0, 1] * (rows // 2),
        "y": [0, 1, 1] * (rows // 3 + 1),
    }
    table["y"] = table["y"][:rows]
    with pytest.raises(InvalidValue) as refusal:
        read(table, arm="id", outcome="y")
    assert str(refusal.value) == (
        f"An arm must have several rows, column 'id' holds {rows:,} different values in {rows:,} rows and looks like "
        "an identifier; name the column that says which treatment a row had."
    )
    with pytest.raises(InvalidValue) as refusal:
        read(table, arm="arm", outcome="y", mediator="id")
    assert str(refusal.value) == (
        f"A mediator's level must have several rows, column 'id' holds {rows:,} different values in {rows:,} rows, "
        "as identifiers and measurements have; cut numbers into classes, as in 'id:3', or name another column."
    )


def test_small_tables_and_many_arms_pass():
    assert len(read({"arm": list(range(10)), "y": [0, 1] * 5}, arm="arm", outcome="y").arms) == 10
    rows = {"arm": [i % 300 for i in range(900)], "m": [i % 45 for i in range(900)], "y": [0, 1, 1] * 300}
    assert len(read(rows, arm="arm", outcome="y", mediator="m").arms) == 300


def test_few_observed_outcomes_make_no_identifier():
    """Rows count, whether their outcome was observed or not."""
    y = [0, 1] * 6 + [None] * 500
    rows = {"arm": [i % 12 for i in range(512)], "y": y}
    assert len(read(rows, arm="arm", outcome="y").arms) == 12
