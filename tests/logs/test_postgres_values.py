"""Types that PostgreSQL has of its own: decimals that are NaN, booleans that are no small numbers, money."""

from __future__ import annotations

import psycopg
import pytest

from truant.logs.read import read


@pytest.fixture(scope="module")
def where(postgres):
    with psycopg.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute(
            "DROP TABLE IF EXISTS own_types;"
            "CREATE TABLE own_types (arm text, n numeric, b boolean, m money, z int);"
            "INSERT INTO own_types SELECT CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END, "
            "CASE WHEN i < 4 THEN 'NaN' ELSE i / 2.0 END, i % 3 = 0, i, i % 4 FROM generate_series(0, 11) AS i"
        )
    return f"{postgres}::own_types"


def test_a_decimal_that_is_nan_is_missing(where):
    log = read(where, arm="arm", outcome="n")
    assert log.counts.observed.sum() == 8
    assert log.missing_markers == {"n": {"empty": 4}}
    assert read(where, arm="arm", outcome="z", mediator="n:2").counts.table[:, -1].sum() == 4
    assert read(where, arm="arm", outcome="z", where="n > 2.5").rows == 6
    assert read(where, arm="arm", outcome="z", where="n is null").rows == 4
    assert [group.label for group in read(where, arm="arm", outcome="z", by="n").groups][-1] == "(missing)"


def test_true_and_false_are_one_and_zero(where):
    log = read(where, arm="arm", outcome="b")
    assert log.counts.levels == (0, 1)
    assert log.counts.table.sum(axis=(0, 1)).tolist() == [8, 4, 0]
    assert read(where, arm="arm", outcome="z", where="b = false").rows == 8
    assert read(where, arm="arm", outcome="z", observed="b").counts.observed.sum() == 4


def test_money_is_read_as_amounts_are(where):
    log = read(where, arm="arm", outcome="m")
    assert log.counts.observed.sum() == 12
    assert (log.setting.low, log.setting.high) == (0, 11)
    assert log.notes[0].startswith("'m': left out the sign '$'")
