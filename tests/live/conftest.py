"""Stores for the tests of live experiments: a new SQLite file or PostgreSQL database for each test."""

from __future__ import annotations

import pytest

from tests.postgres import new_database, own_server, postgres_folder  # noqa: F401
from truant.live.experiment import Experiment
from truant.live.times import ManualClock

START = "2026-03-02 09:00"


@pytest.fixture
def postgres_url(postgres_folder):  # noqa: F811
    with new_database(postgres_folder) as url:
        yield url


@pytest.fixture
def other_postgres_url(postgres_folder):  # noqa: F811
    with new_database(postgres_folder) as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path / 'store.db'}?durability=process"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request):
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


@pytest.fixture
def clock():
    return ManualClock(START)


@pytest.fixture
def create(store_url, clock):
    """Makes an experiment of two arms in the store of the test, and closes it afterwards."""
    made = []

    def create(name="mail", arms=("a", "b"), store=store_url, **settings):
        usual = {"levels": [0, 1], "assume": "mcar", "window": "7d", "clock": clock, "seed": 1}
        experiment = Experiment.create(name, list(arms), store=store, **(usual | settings))
        made.append(experiment)
        return experiment

    yield create
    for experiment in made:
        experiment.store.close()


@pytest.fixture
def reopened(store_url, clock):
    """Opens the experiment again, with connections of its own."""
    found = []

    def reopened(name="mail", **settings):
        experiment = Experiment.open(name, store=store_url, **({"clock": clock} | settings))
        found.append(experiment)
        return experiment

    yield reopened
    for experiment in found:
        experiment.store.close()
