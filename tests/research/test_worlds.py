"""Worlds of the research plugin are found by entry points, as those of any other package, and pass its checks."""

from importlib.metadata import distribution

import pytest

import research  # noqa: F401 - finds its worlds
from truant import registry
from truant.checks import check_world
from truant.worlds import make

OFFERED = [point.name for point in distribution("research-worlds").entry_points]


def test_they_are_not_built_in():
    assert len(OFFERED) == 7
    assert not set(OFFERED) & set(registry.built_in_names("world"))
    assert set(OFFERED) <= set(registry.names("world"))


@pytest.mark.parametrize("name", OFFERED)
def test_each_is_a_world_that_says_what_it_is(name):
    part = registry.find("world", name)
    assert part.package == "research-worlds"
    assert part.summary.endswith(".")
    check_world(make(name, seed=1))
