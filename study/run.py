"""Full-size validation, written to docs/validation.md. Goes on where it was stopped.

`--only SECTION` does one section and leaves the others as they were last written by this code; `--quick` does
everything in tiny sizes into out/study-quick, to see whether it runs.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that `python study/run.py` finds the others

from study import astray, condition, coverage, errors, growth, mutants, published, regret, slopes, wrong
from study.keep import ROOT, SEED, Study

from truant.files import written_whole

SECTIONS: dict[str, Callable[[Study], list[str]]] = {
    "regret": regret.section,
    "wrong": wrong.section,
    "astray": astray.section,
    "coverage": coverage.fixed,
    "adaptive": coverage.adaptive,
    "errors": errors.section,
    "condition": condition.section,
    "slopes": slopes.section,
    "growth": growth.section,
    "published": published.section,
    "mutants": mutants.section,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Full-size validation into docs/validation.md.")
    parser.add_argument("--only", choices=SECTIONS, help="one section; the others stay as they are")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, into out/study-quick")
    options = parser.parse_args()
    study = Study.open(options.quick)
    for name in [options.only] if options.only else SECTIONS:
        start = time.monotonic()
        text = "\n\n".join(SECTIONS[name](study))
        _write(_section_file(study, name), text)
        print(f"{name} done, {time.monotonic() - start:.0f} s", flush=True)
    _write(study.page, whole_page(study))
    print(f"Wrote {study.page.relative_to(ROOT)}")


def whole_page(study: Study) -> str:
    """All sections that this code has written."""
    files = {name: _section_file(study, name) for name in SECTIONS}
    missing = [name for name, path in files.items() if not path.exists()]
    parts = ["# Validation", f"Written by `make study` on {datetime.date.today()}, seed {SEED}."]
    if missing:
        parts.append(f"Not yet done with this code: {', '.join(missing)}.")
    parts += [path.read_text(encoding="utf-8") for name, path in files.items() if name not in missing]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section_file(study: Study, name: str) -> Path:
    return study.kept / f"section-{name}.md"


def _write(path: Path, text: str) -> None:
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
