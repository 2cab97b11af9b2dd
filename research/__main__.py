"""The one runner: makes sections of validation, ablations and speed, writes their pages, and confirms their figures."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

from research import ROOT
from research.cache import NotKept
from research.page import Written, write_pages, write_section
from research.record import RECORDS, Record, write_record
from research.sections import GROUPS, SECTIONS, Group
from research.workbench import PEERS, Workbench
from truant.errors import unknown


def main() -> None:
    if sys.argv[1:2] == ["reproduce"]:
        from research.reproduction.command import main as reproduce

        reproduce(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        prog="python -m research",
        description="Make sections of validation, ablations or speed, and write their pages; or confirm recorded "
        "figures by a smaller run with other random numbers (exit status 1 if one has moved). What was computed with "
        "the present code is kept in out/ and not computed again; speed is measured whenever it is asked for.",
    )
    parser.add_argument(
        "task",
        nargs="?",
        choices=[*GROUPS, "confirm", "pages"],
        metavar="TASK",
        help=f"{', '.join(GROUPS)}, confirm, pages (writes what was confirmed anew), or reproduce, which has options "
        "of its own (reproduce --help)",
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="all unless given")
    parser.add_argument("--list", action="store_true", help="say what sections there are")
    parser.add_argument("--json", action="store_true", help="print JSON (confirm)")
    parser.add_argument("--draw", type=int, default=1, help="which other random numbers, from 1 on (confirm)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, into out/research-quick")
    parser.add_argument("--kept", action="store_true", help="compute and measure nothing: write what is kept")
    parser.add_argument("--peers", type=Path, default=PEERS, help="environment of the other packages (peers)")
    parser.add_argument(
        "--against", type=Path, help="another checkout of truant, to compare speed with (beside)"
    )
    options = parser.parse_args()
    if options.list or options.task is None:
        print(listing())
        return
    known = GROUPS[options.task].sections if options.task in GROUPS else SECTIONS
    for name in options.sections:
        if name not in known:
            parser.error(str(unknown("section", name, known)))
    if options.draw < 1:
        parser.error(
            f"--draw must be at least 1, got {options.draw}: 0 are the numbers of the recorded figures."
        )
    if options.task == "confirm":
        from research.confirm import confirm

        sys.exit(0 if confirm(options.sections or list(SECTIONS), options.draw, options.json) else 1)
    if options.task == "pages":
        for group in GROUPS.values():
            write_pages(ROOT / "docs", group)
        return
    bench = Workbench.open(options.quick, options.kept, peers=options.peers, against=options.against)
    if failed := make(GROUPS[options.task], options.sections or list(known), bench):
        sys.exit(f"These sections failed and are left as they were: {', '.join(failed)}.")


def listing() -> str:
    """The sections of every group."""
    return "\n".join(f"{name}: {', '.join(group.sections)}" for name, group in GROUPS.items())


def make(group: Group, names: list[str], bench: Workbench) -> list[str]:
    """Make sections one after the other, each on its page as soon as it is made; gives the names of those that fail."""
    records = RECORDS if bench.docs == ROOT / "docs" else bench.docs / "recorded"
    failed = []
    for name in names:
        start = time.monotonic()
        own = replace(bench, measured_on=set())
        try:
            paragraphs = group.sections[name].make(own)
        except NotKept as error:
            print(f"{name}: left as it was, since {error}", flush=True)
            continue
        except Exception:  # the others may take hours, and do not need this one
            traceback.print_exc()
            failed.append(name)
            continue
        if not paragraphs:
            print(f"{name}: left as it was, since what it needs is not here", flush=True)
            continue
        write_record(name, Record.now(paragraphs), records)
        write_section(bench.docs, group.page_of(name), name, Written.now(paragraphs), records)
        print(f"{name}: made in {time.monotonic() - start:.0f} s", flush=True)
    write_pages(bench.docs, group, records)
    return failed


if __name__ == "__main__":
    main()
