"""How often the verdicts of `truant demo` hold: its table again with other seeds (python examples/demo.py 100)."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from truant.demo.parts import CALLS, SEED, analyse_table, named_by


def main(tables: int) -> None:
    """Make so many tables; print how often each way to treat missing outcomes names each mail."""
    found: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        for seed in range(SEED, SEED + tables):
            result = analyse_table(Path(folder), seed)
            names = {name: way.named for name, way in result.ways.items()}
            found[f"rows dropped: {names['rows_dropped']}"] += 1
            found[f"missing set to 0: {names['set_to_zero']}"] += 1
            found[f"truant, mar with 'opened': {names['mar']}"] += 1
            found[f"truant, mails without harm: {named_by(result.harmless)}"] += 1
            found[f"truant, without 'opened': {names['no_mediator']}"] += 1
            found[f"truant, {CALLS} follow-ups: {names['follow_up']}"] += 1
    print(f"Best mail: {result.best}. Named in {tables} tables:")
    for line, count in sorted(found.items()):
        print(f"{line:45} {count:5}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
