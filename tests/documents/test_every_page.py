"""Every kind of page can be read by everyone; those of sweeps, demo and reproduction have their own tests."""

import pytest

import truant
from tests.browser import faults, needs_axe
from tests.live.campaign import ARMS, MAIL, run
from tests.live.conftest import START
from truant.live.experiment import Experiment
from truant.live.times import ManualClock


@pytest.fixture
def visits():
    """Three mails by day and country; some outcomes are missing."""
    table = {"mail": [], "opened": [], "day": [], "country": [], "spent": []}
    for i in range(1800):
        mail, opened = i % 3, (i * i // 7) % 2
        table["mail"].append(("plain", "green", "blue")[mail])
        table["opened"].append(("no", "yes")[opened])
        table["day"].append(f"2026-03-{1 + i // 60:02d}")
        table["country"].append(("AT", "DE")[i // 3 % 2])
        table["spent"].append(
            10 + 2 * mail + 4 * opened + (i * 37 % 11) if (i * 7919) % 10 > 3 - opened else None
        )
    return table


@pytest.fixture
def status():
    clock = ManualClock(START)
    mails = Experiment.create("mails", list(ARMS), store="sqlite://", clock=clock, seed=1, **MAIL)
    run(mails, clock, days=12)
    yield mails.status(calibrate=False)
    mails.store.close()


@needs_axe
def test_every_kind_of_page_can_be_read_by_everyone(visits, status, tmp_path):
    question = {"arm": "mail", "outcome": "spent", "mediator": "opened"}
    variants = {
        "windows": "1d,2d",
        "settle": "at_close,on_arrival",
        "rate": "20/d",
        "days": 5,
        "runs": 2,
        "workers": 1,
    }
    results = {
        "analysis": truant.analyze(visits, time="day", control="plain", **question),
        "groups": truant.analyze(visits, by="country", **question),
        "plan": truant.plan(visits, range=(0, 40), budget=100, **question),
        "status": status,
        "rehearsal": truant.rehearse("mar:arms=2,K=2", **variants),
    }
    pages = {name: result.report(tmp_path / f"{name}.html") for name, result in results.items()}
    for name, path in pages.items():
        assert "<svg viewBox" in path.read_text(encoding="utf-8"), name
    assert faults(pages, tmp_path) == []
