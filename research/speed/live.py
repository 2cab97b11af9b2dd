"""Ask and tell on SQLite: beside the same statements by hand, from many threads, in bulk, and in a large store."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from research.figures import Note, speed_ratio, table
from research.speed.in_turns import in_turns, ratio_row, ratios, short
from research.speed.live_filled import filled
from research.speed.live_store import asked_and_told, experiment, folder, sqlite_by_hand, sqlite_url
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.live.experiment import Experiment

CONFIRMED_SHARE = 0.7  # of the repeats, to confirm the ratios: those of single turns vary with the disk
LEAST = 0.5  # of the rate of the same statements by hand
THREADS, THREADS_TARGET = 32, 3.0
BULK_ASK, BULK_ASK_TARGET = 100, 10.0
BULK_TELL, BULK_TELL_TARGET = 1000, 20.0
GROWTH = 1.2  # times the time of an ask in a store of a thousand decisions
STORES = {  # what must be reached besides what is imported
    "truant.live.store.sqlite",
    "truant.assumptions.mar",
    "truant.indices.thompson",
}


def section(bench: Workbench) -> list[str]:
    repeats = bench.runs(9, 2)
    by_hand = [
        (name, bench.measured(beside_by_hand, STORES, durability=name, number=number, repeats=repeats))
        for name, number in (("process", bench.size(1000, 20)), ("full", bench.size(200, 5)))
    ]
    growth = bench.measured(
        after_many,
        STORES,
        few=1000,
        decisions=bench.size(1_000_000, 5000),
        number=bench.size(300, 20),
        repeats=repeats,
    )
    rates = ("per second", "ratio", "quartiles", "target")
    return [
        "## Live experiments: ask and tell on SQLite",
        f"One process, one thread unless stated otherwise. The two alternatives are measured in {repeats} "
        "turns; the ratio is the median over the turns, followed by its quartiles. *By hand*: the same "
        "statements through `sqlite3`, with one transaction for an ask and one for a tell.",
        table(
            ("ask and tell", "per second", "by hand", *rates[1:]),
            [
                ratio_row(f"durability={name}", found["ours"], found["by hand"], LEAST)
                for name, found in by_hand
            ],
        ),
        # how much many at once save is the wait for the disk: nothing to confirm
        *(together_paragraphs(bench, repeats, rates) if bench.share == 1 else []),
        "An ask in a store that already holds many decisions, most of them settled (durability=process):",
        table(
            (
                "ask",
                f"microseconds after {growth['few']:,}",
                f"after {growth['decisions']:,}",
                *rates[1:],
            ),
            [growth_row(name, growth["times"]) for name in ("without a key", "with a key")],
        ),
    ]


def together_paragraphs(bench: Workbench, repeats: int, rates: Sequence[str]) -> list[str]:
    """Many decisions at once."""
    many = bench.measured(together, STORES, number=bench.size(200, 5), repeats=repeats)
    return [
        "Many decisions at once, at full durability, compared with one at a time:",
        table(("decisions", rates[0], "one at a time", *rates[1:]), together_rows(many)),
    ]


def beside_by_hand(durability: str, number: int, repeats: int) -> dict[str, list[float]]:
    """Seconds for an ask and a tell: ours, and the same statements by hand on the same tables."""
    with folder() as place:
        path = place / "live.db"
        live = experiment(sqlite_url(path, durability))
        by_hand = sqlite_by_hand(live, path, durability)
        works = {"by hand": lambda: by_hand(number), "ours": lambda: asked_and_told(live, number)}
        found = in_turns(works, repeats)
        live.store.close()
    return {name: [time / number for time in times] for name, times in found.items()}


def together(number: int, repeats: int) -> dict[str, list[float]]:
    """Seconds for a decision, at full durability: alone, from many threads, and in bulk."""
    with folder() as place, ThreadPoolExecutor(THREADS) as pool:
        live = experiment(sqlite_url(place / "live.db", "full"))
        ids: list[str] = []

        def told_in_bulk() -> list[Any]:
            return live.tell_many([{"id": ids.pop(), "outcome": 1.0} for _ in range(BULK_TELL)])

        works = {
            "ask": lambda: asked(live, number),
            "threads": lambda: list(pool.map(lambda _: asked(live, number), range(THREADS))),
            "ask in bulk": lambda: ids.extend(one.id for _ in range(20) for one in live.ask(BULK_ASK)),
            "tell": lambda: [live.tell(ids.pop(), outcome=1.0) for _ in range(number)],
            "tell in bulk": told_in_bulk,
        }
        found = in_turns(works, repeats)
        live.store.close()
    sizes = [number, number * THREADS, 20 * BULK_ASK, number, BULK_TELL]
    return {name: [time / size for time in found[name]] for name, size in zip(works, sizes, strict=True)}


def together_rows(found: dict[str, list[float]]) -> list[list[str]]:
    works = (
        (f"ask, {THREADS} threads", "threads", "ask", THREADS_TARGET),
        (f"`ask({BULK_ASK})`", "ask in bulk", "ask", BULK_ASK_TARGET),
        (f"`tell_many` of {BULK_TELL:,}", "tell in bulk", "tell", BULK_TELL_TARGET),
    )
    return [
        ratio_row(name, found[many], found[one], target, compared=False) for name, many, one, target in works
    ]


def asked(live: Experiment, number: int) -> None:
    for _ in range(number):
        live.ask()


def asked_with_keys(live: Experiment, number: int) -> None:
    for _ in range(number):
        live.ask(key=live.rng.randbytes(8).hex())


def after_many(few: int, decisions: int, number: int, repeats: int) -> dict[str, Any]:
    """Seconds for an ask in a small and in a large store, in turns."""
    with folder() as place:
        small, large = (filled_store(place / f"{size}.db", size) for size in (few, decisions))
        times = {
            name: in_turns({"few": lambda: work(small, number), "many": lambda: work(large, number)}, repeats)  # noqa: B023
            for name, work in (("without a key", asked), ("with a key", asked_with_keys))
        }
        for live in (small, large):
            live.store.close()
    per_ask = {
        name: {size: [time / number for time in own] for size, own in found.items()}
        for name, found in times.items()
    }
    return {"few": few, "decisions": decisions, "times": per_ask}


def filled_store(path: Path, decisions: int) -> Experiment:
    live = experiment(sqlite_url(path, "process"))
    filled(live, decisions)
    return live


def growth_row(name: str, times: dict[str, dict[str, list[float]]]) -> list[str]:
    """Microseconds of an ask in the small and in the large store, and their ratio."""
    own = times[name]
    middle, low, high = ratios(own["many"], own["few"])
    cells = [Note(f"{1e6 * float(np.median(own[size])):.0f}") for size in ("few", "many")]
    ratio = speed_ratio(middle).with_text(short(middle))
    return [name, *cells, ratio, f"{short(low)} to {short(high)}", judged(middle, GROWTH)]
