"""What tests of several folders share."""

import os

import pytest
from hypothesis import settings

from tests.forks import Forks

# Spark Connect speaks gRPC, whose handlers of a fork end about 1 of 150 children that tests fork afterwards
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

# the same examples in every run, however busy the machine is
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

# a first compilation makes tables that all later ones use
IMPORTS = """
import joblib, numba, pandas, rich.progress, truant.cli, truant.lab.sweep
numba.njit(lambda x: x + 1)(1.0)
"""


@pytest.fixture(scope="session")
def forks():
    """Starts processes that can compile, simulate and sweep at once."""
    forks = Forks(IMPORTS)
    yield forks
    forks.close()
