"""What other processes do in the tests; a module of its own, so that they can import it."""

from __future__ import annotations

import random

from truant.errors import UnknownName
from truant.live.experiment import Experiment


def ask_and_tell(url, plan, seed):
    """Ask for and tell of keys in another order; a key that nobody asked for yet is told of later."""
    experiment = Experiment.open("mail", store=url, settles=False)
    return work(experiment, plan, seed)


def work(experiment, plan, seed):
    """What each step of a plan gave: the decision of an ask, the verdict of a tell."""
    plan, found = list(plan), []
    random.Random(seed).shuffle(plan)
    while plan:
        step = plan.pop(0)
        key, outcome = step
        try:
            if outcome is None:
                found.append((key, experiment.ask(key=key).id))
            else:
                found.append((key, experiment.tell(key=key, outcome=outcome).verdict))
        except UnknownName:
            plan.append(step)
    return found
