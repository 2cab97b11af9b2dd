"""`python -m research reproduce`: reproduces the paper's figures and checks its claims."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from research.reproduction.catalogue import FIGURES
from research.reproduction.figure import READINGS
from research.reproduction.run import OUT, reproduce
from research.reproduction.words import PAPER, READING_WORDS, duration, stored_line
from truant.errors import TruantError, unknown
from truant.spec import parse_parameters


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m research reproduce",
        description=f"Reproduce the paper's figures and check its claims. The paper is {PAPER}. Each figure is made "
        "with the paper's policies and with those of truant beside naive and oracle policies, in the world that the "
        "text "
        "describes; and with the instance and the rules of the authors' public notebook, as published.",
    )
    parser.add_argument(
        "figures", nargs="*", metavar="FIGURE", help=f"all unless given: {', '.join(FIGURES)}"
    )
    parser.add_argument(
        "--as",
        dest="reading",
        choices=READINGS,
        help="as the paper's text describes it, or as the authors' notebooks ran it; both unless given",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the rounds, half the runs, no picture files"
    )
    parser.add_argument(
        "--runs", type=int, help="number of runs of every figure; as in the paper unless given"
    )
    parser.add_argument(
        "--horizon", type=int, help="number of rounds of every figure; as in the paper unless given"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="alpha=NUMBER",
        help="the exploration constant of the paper's policies and of UCB; their own unless given",
    )
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same result")
    parser.add_argument("--threads", type=int, help="number of threads; one per core unless given")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the page, charts, data and summary")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    options = vars(parser.parse_args(arguments))
    as_json, settings = options.pop("json"), options.pop("set")
    try:
        made = reproduce(
            **options,
            **constants(settings),
            say=lambda sentence: print(sentence, file=sys.stderr, flush=True),
        )
    except TruantError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print(
            "Stopped before the page was written; charts of finished figures, if any, are in "
            f"{options['out']}.",
            file=sys.stderr,
        )
        sys.exit(130)
    count = len(made.summary["figures"])
    if made.stopped:
        wanted = len(made.summary["settings"]["figures"])
        print(f"Stopped after {count} of {wanted} figures; what follows is about these.", file=sys.stderr)
    if as_json:
        print(json.dumps(made.summary, indent=2))
    else:
        print("\n".join(lines(made.summary)))
    took = duration(made.summary["seconds"])
    print(f"{count} {'figure' if count == 1 else 'figures'} in {took}: {made.page}", file=sys.stderr)
    if made.stopped:
        sys.exit(130)


def constants(texts: Sequence[str]) -> dict[str, Any]:
    """What `--set` says: alpha is the one constant that all of the paper's policies have."""
    found = parse_parameters(texts)
    for name in found:
        if name != "alpha":
            raise unknown("setting", name, ["alpha"])
    return found


def lines(summary: Mapping[str, Any]) -> list[str]:
    """The paper, and for each figure its verdicts, or what it shows where there is no claim."""
    found = [f"The paper: {PAPER}.", ""]
    for figure in summary["figures"]:
        found.append(f"{figure['name']}  {figure['title']}")
        for claim in figure["claims"]:
            found += [
                f"  {claim['verdict']} {READING_WORDS[claim['as']]}: {claim['claim']}",
                f"    {claim['figures']}",
            ]
        for plot in figure["stored_plots"]:
            found.append(f"  {stored_line(plot)}")
        if not figure["claims"]:
            found += [f"  {finding}" for finding in figure["findings"]]
        found.append("")
    if any(figure["claims"] for figure in summary["figures"]):
        found.append(
            "survives: the runs confirm the claim; does not survive: they show the opposite; depends: neither, or "
            "the cases of the claim disagree."
        )
    return found + [f"{name} is left out: {why}" for name, why in summary["left_out"].items()]
