"""The one runner: makes sections of validation, ablations and speed, and writes their pages."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

from research import ROOT
from research.cache import NotKept
from research.page import Written, write_section
from research.sections import GROUPS, Group
from research.sources import Sources
from research.workbench import PEERS, Workbench


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m research",
        description="Make sections of validation, ablations or speed, and write their page. What was computed with the "
        "present code is kept in out/research and not computed again; speed is measured whenever it is asked for.",
    )
    parser.add_argument("group", nargs="?", choices=GROUPS)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="all of the group unless given")
    parser.add_argument("--list", action="store_true", help="say what sections there are")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, into out/research-quick")
    parser.add_argument("--kept", action="store_true", help="compute and measure nothing: write what is kept")
    parser.add_argument("--peers", type=Path, default=PEERS, help="environment of the other packages (peers)")
    parser.add_argument(
        "--against", type=Path, help="another checkout of truant, to compare speed with (beside)"
    )
    options = parser.parse_args()
    if options.list or options.group is None:
        print(listing())
        return
    group = GROUPS[options.group]
    for name in options.sections:
        if name not in group.sections:
            parser.error(f"unknown section {name!r} of {options.group}; known: {', '.join(group.sections)}")
    bench = Workbench.open(options.quick, options.kept, peers=options.peers, against=options.against)
    if failed := make(group, options.sections or list(group.sections), bench):
        sys.exit(f"These sections failed and are left as they were: {', '.join(failed)}.")


def listing() -> str:
    """The sections of every group."""
    return "\n".join(f"{name}: {', '.join(group.sections)}" for name, group in GROUPS.items())


def make(group: Group, names: list[str], bench: Workbench) -> list[str]:
    """Make sections one after the other, each on the page as soon as it is made; gives the names of those that fail."""
    page = bench.docs / group.page
    failed = []
    for name in names:
        start = time.monotonic()
        own = replace(bench, sources=Sources(), measured_on=set())
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
        write_section(page, group, name, Written.now(paragraphs, own.sources))
        print(f"{name}: made in {time.monotonic() - start:.0f} s", flush=True)
    if page.exists():
        print(f"{page.relative_to(ROOT)} is written.")
    return failed


if __name__ == "__main__":
    main()
