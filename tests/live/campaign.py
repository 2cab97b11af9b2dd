"""A short campaign with late and missing outcomes, for the tests that look at a running experiment."""

from __future__ import annotations

import random

ARMS = ("old", "new")
OPENS = {"old": 0.3, "new": 0.6, "bold": 0.5}
SPENDS = {"closed": 10.0, "opened": 30.0}


def run(experiment, clock, days=20, a_day=60, late=0.1, late_shift=0.0, seed=1):
    """Ask, tell and close for some days; a part of the outcomes comes after the window."""
    chance = random.Random(seed)
    waiting = []
    window = experiment.configuration.window
    for _ in range(days):
        for decision in experiment.ask(a_day):
            opened = "opened" if chance.random() < OPENS[decision.arm] else "closed"
            experiment.tell(decision.id, mediator=opened)
            draw = chance.random()
            outcome = min(200.0, chance.gammavariate(4, SPENDS[opened] / 4))
            if draw < 0.6:
                experiment.tell(decision.id, outcome=outcome)
            elif draw < 0.6 + late:
                waiting.append((clock() + window + 1, decision.id, min(200.0, outcome + late_shift)))
        clock.advance("1d")
        for due, id, outcome in waiting:
            if due <= clock():
                assert experiment.tell(id, outcome=outcome).verdict == "late"
        waiting = [one for one in waiting if one[0] > clock()]
        experiment.close_windows()


MAIL = {
    "mediator_levels": ["closed", "opened"],
    "range": (0, 200),
    "levels": None,
    "assume": "mar",
    "window": "3d",
    "horizon": 5000,
}
