"""Servers for the tests that need one, and tables put where they are read from."""

from __future__ import annotations

import pytest

from tests.logs.places import SERVED
from tests.postgres import new_database, postgres_folder  # noqa: F401
from tests.spark import classic_spark, sail  # noqa: F401


@pytest.fixture(scope="session")
def postgres(postgres_folder):  # noqa: F811
    with new_database(postgres_folder) as url:
        yield url


@pytest.fixture
def put(request, tmp_path):
    """Puts a table into a place of some kind, and says where it is."""

    def put(kind, table):
        served = [request.getfixturevalue(SERVED[kind])] if kind in SERVED else []
        return kind(table, tmp_path, *served)

    return put
