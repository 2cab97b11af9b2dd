"""Servers: sessions that only read, no part of a password in a message, advice that fits."""

from __future__ import annotations

import traceback

import psycopg
import pytest

from truant.errors import InvalidValue
from truant.logs.analyze import source_name
from truant.logs.read import read

WRITING = """
DROP VIEW IF EXISTS visits_view; DROP TABLE IF EXISTS written; CREATE TABLE written (i int);
CREATE OR REPLACE FUNCTION writes(i int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM set_config('default_transaction_read_only', 'off', false);
  PERFORM set_config('transaction_read_only', 'off', false);
  BEGIN INSERT INTO written VALUES (i); EXCEPTION WHEN OTHERS THEN NULL; END;
  RETURN i % 2;
END $$;
CREATE VIEW visits_view AS SELECT CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS arm, writes(i) AS y
FROM generate_series(1, 40) AS i
"""


@pytest.mark.parametrize("hard", [False, True])
def test_a_view_that_writes_changes_nothing(postgres, hard):
    script = WRITING
    if not hard:
        script = "\n".join(line for line in WRITING.splitlines() if "set_config" not in line)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(script)
    try:
        read(f"{postgres}::visits_view", arm="arm", outcome="y", where="y >= 0")
    except InvalidValue as refusal:
        assert "read-only" in str(refusal) or "read-write" in str(refusal)  # noqa: PT017
    with psycopg.connect(postgres) as connection:
        assert connection.execute("SELECT count(*) FROM written").fetchone() == (0,)


@pytest.mark.parametrize(
    "user",
    ["bob:ge#he?im", "bob:ge/heim", "bob:17/ge#heim", "bob:ge:heim", "bob#ge", "bob:12ge", "bob:ge%23heim"],
)
def test_no_part_of_a_password_is_shown(user):
    with pytest.raises(InvalidValue) as refusal:
        read(f"postgresql://{user}@127.0.0.1:1/shop::visits", arm="arm", outcome="y")
    said = "".join(traceback.format_exception(refusal.value.__class__, refusal.value, None))
    assert "'ge" not in said
    assert "heim" not in said
    assert "bob" not in said
    assert "percent-encoded" in said or "check the host and the port" in said


def test_a_server_that_does_not_answer():
    with pytest.raises(InvalidValue) as refusal:
        read("postgresql://bob:geheim@127.0.0.1:1/shop::visits", arm="arm", outcome="y")
    said = str(refusal.value)
    assert said.startswith("Cannot connect to postgresql://127.0.0.1:1/shop: ")
    assert said.endswith("; check the host and the port, and that the server runs and can be reached.")


def test_the_report_names_no_user():
    assert source_name("postgresql://bob:geheim@host::visits") == "host::visits"
    assert source_name("data/log-?.csv") == "log-?.csv"
