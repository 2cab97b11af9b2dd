"""Three ways through the rooms: a pull, a row of a log and a study go down once."""

import os
import sys
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import truant

ROOT, PACKAGE = Path(__file__).parents[1], os.path.dirname(truant.__file__)


GIVEN = {"<lambda>", "number"}  # charts are told how to write numbers


def layers() -> dict[str, int]:
    """The height of each room, as import-linter is told; the lowest is the highest number."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = table["tool"]["importlinter"]["contracts"][0]["layers"]
    return {
        room.strip("() "): depth
        for depth, row in enumerate(rows)
        for room in row.replace(":", "|").split("|")
    }


def room(file: str) -> str:
    return os.path.relpath(file, PACKAGE).split(os.sep)[0].removesuffix(".py")


def calls_upwards(journey: Callable[[], object]) -> tuple[set[str], set[tuple[str, str]]]:
    """The rooms that were entered, and the calls from a room to one above it."""
    heights, entered, upwards = layers(), set(), set()

    def watch(frame, event, argument):
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(PACKAGE) or frame.f_code.co_name == "<module>":
            return
        entered.add(room(file))
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(PACKAGE):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_name != "<module>":
            lower, upper = room(caller.f_code.co_filename), room(file)
            if heights.get(upper, 99) < heights.get(lower, 0):
                given = frame.f_code.co_name in GIVEN
                upwards.add((lower, "a function it was given" if given else upper))

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        journey()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return entered, upwards


def one_pull(folder):
    truant.simulate("mar", "mar-ucb", horizon=20, runs=1, seed=1, threads=1, progress=False)


def one_row(folder):
    visits = ROOT / "examples" / "visits.csv"
    found = truant.analyze(visits, arm="mail", mediator="opened", outcome="spent", control="old")
    found.report(folder / "page.html")
    str(found)


def one_study(folder):
    world = {"name": "mar", "vary": {"gamma": [0.5, 0.9]}}
    study = {"worlds": [world], "policies": ["mar-ucb", "naive-ucb"], "runs": 2, "horizon": 50}
    truant.sweep(study, out=folder / "sweep", workers=1, progress=False)


@pytest.mark.parametrize(
    ("journey", "through"),
    [
        (one_pull, {"lab", "play", "policies", "worlds", "assumptions", "indices", "counts"}),
        (one_row, {"logs", "analysis", "assumptions", "charts", "documents", "counts"}),
        (one_study, {"lab", "play", "worlds", "charts", "documents"}),
    ],
    ids=["a pull", "a row", "a study"],
)
def test_no_way_turns_back(journey, through, tmp_path):
    """The registry builds parts above it, a question calls what is asked, results ask to be drawn; nothing else."""
    entered, upwards = calls_upwards(lambda: journey(tmp_path))
    assert through <= entered
    assert {
        call
        for call in upwards
        if call[0] not in ("registry", "shown", "questions") and call[1] != "a function it was given"
    } == set()
