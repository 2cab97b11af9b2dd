"""One small reproduction for all tests that only look at it."""

import pytest

from research.reproduction import reproduce


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return reproduce(["mar-known-p"], quick=True, runs=3, seed=5, out=tmp_path_factory.mktemp("small"))
