"""How often the verdicts of `truant demo` hold: its table again with other seeds (python examples/demo.py 100)."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from truant.demo.table import CALLS, SEED, analyse_table
from truant.demo.words import named_by


def main(tables: int) -> None:
    """Make so many tables; print how often each way to treat missing outcomes names each mail."""
    found: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        for seed in range(SEED, SEED + tables):
            result = analyse_table(Path(folder), seed)
            found[f"rows dropped: {result.dropping_names}"] += 1
            found[f"missing set to 0: {result.zeros_name}"] += 1
            found[f"truant, mar with 'opened': {named_by(result.by_mediator)}"] += 1
            found[f"truant, mails without harm: {named_by(result.harmless)}"] += 1
            found[f"truant, without 'opened': {named_by(result.no_mediator)}"] += 1
            found[f"truant, {CALLS} follow-ups: {named_by(result.followed)}"] += 1
    print(f"Best mail: {result.best}. Named in {tables} tables:")
    for line, count in sorted(found.items()):
        print(f"{line:45} {count:5}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
