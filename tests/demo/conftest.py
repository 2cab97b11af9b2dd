"""One demo, made once for all tests of it."""

from typing import NamedTuple

import pytest

from truant.demo.run import Demo, run_demo


class Ran(NamedTuple):
    """A demo and the lines that it said."""

    demo: Demo
    lines: list[str]


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    lines = []
    demo = run_demo(tmp_path_factory.mktemp("demos") / "first look", say=lines.append)
    return Ran(demo, lines)
