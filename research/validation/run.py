"""Full-size validation, written to docs/validation.md. Goes on where it was stopped.

`--only SECTION` does one section and leaves the others as they were last written by this code; `--quick` does
everything in tiny sizes into out/study-quick, to see whether it runs.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(
    0, str(Path(__file__).parents[2])
)  # so that `python research/validation/run.py` finds the others

from research.validation import (
    astray,
    condition,
    coverage,
    delay,
    errors,
    growth,
    kills,
    mutants,
    published,
    regret,
    reproduction,
    slopes,
    wrong,
    zoo,
)
from research.validation.keep import ROOT, SEED, Study

from truant.files import written_whole

SECTIONS: dict[str, Callable[[Study], list[str]]] = {
    "regret": regret.section,
    "wrong": wrong.section,
    "zoo": zoo.section,
    "astray": astray.section,
    "delay": delay.section,
    "coverage": coverage.fixed,
    "adaptive": coverage.adaptive,
    "errors": errors.section,
    "condition": condition.section,
    "slopes": slopes.section,
    "growth": growth.section,
    "published": published.section,
    "reproduction": reproduction.section,
    "kills": kills.section,
    "mutants": mutants.section,
}
MARK = "<!-- section {name}: {date}, code {code} -->"


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
    """All sections: as this code has written them, else as the page has them from before."""
    before = sections_of(study.page.read_text(encoding="utf-8")) if study.page.exists() else {}
    today, code = datetime.date.today(), study.kept.name
    parts, older, missing = [], [], []
    for name in SECTIONS:
        path = _section_file(study, name)
        if path.exists():
            mark = MARK.format(name=name, date=today, code=code)
            parts.append(f"{mark}\n\n{path.read_text(encoding='utf-8')}")
        elif name in before:
            parts.append(before[name])
            older.append(name)
        else:
            missing.append(name)
    head = ["# Validation", f"Written by `make study`, seed {SEED}; a comment before each section says when."]
    if older:
        head.append(f"Made with earlier code, and not again with this: {', '.join(older)}.")
    if missing:
        head.append(f"Not yet done: {', '.join(missing)}.")
    return "\n\n".join([*head, *parts]) + "\n"


def sections_of(page: str) -> dict[str, str]:
    """The sections of a page, each with its mark."""
    marks = list(re.finditer(r"<!-- section (\S+): .*? -->", page))
    ends = [*(mark.start() for mark in marks[1:]), len(page)]
    return {mark[1]: page[mark.start() : end].strip() for mark, end in zip(marks, ends, strict=True)}


def _section_file(study: Study, name: str) -> Path:
    return study.kept / f"section-{name}.md"


def _write(path: Path, text: str) -> None:
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
