"""The figures of the mutation run, and the reasons why some mutants may survive."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from research import ROOT
from research.validation.changes import Mutant, mutants, source_hash

HERE = Path(__file__).parent
TOTALS, EXPLAINED = HERE / "mutants.toml", HERE / "mutants_explained.toml"


def explained() -> list[dict[str, Any]]:
    """The reasons that were given."""
    entries: list[dict[str, Any]] = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["explained"]
    return entries


def stale_reasons() -> list[str]:
    """The changes with a reason that can no longer be made, since the line is another now."""
    stale = []
    for entry in explained():
        possible = mutants(entry["file"]) if source_hash(entry["file"]) else []
        if (entry["line"], entry["change"]) not in {(mutant.before, mutant.after) for mutant in possible}:
            stale.append(f"{entry['file']}: {entry['change']}")
    return stale


def reason(mutant: Mutant) -> str:
    """Why a mutant may survive, by its file, line and change (and the line's number, where that is not enough)."""
    for entry in explained():
        what = (entry["file"], entry["line"], entry["change"], entry.get("number", mutant.line))
        if what == (mutant.file, mutant.before, mutant.after, mutant.line):
            return str(entry["reason"])
    return ""


def report(files: list[str]) -> None:
    """Figures and survivors of all that was tried."""
    totals, survivors = ["# Written by research/validation/mutate.py."], []
    for file in files:
        possible = mutants(file)
        known = [mutant for mutant in possible if reason(mutant)]
        tried = [mutant for mutant in possible if mutant in known or mutant.result()]
        left = [mutant for mutant in tried if mutant in known or not (mutant.result() or {})["killed"]]
        figures = {"possible": len(possible), "mutants": len(tried), "killed": len(tried) - len(left)}
        figures |= {"explained": len(known), "not_run": sum(not mutant.result() for mutant in known)}
        if possible:
            totals.append(f'\n[[file]]\nname = "{file}"\nsource = "{source_hash(file)}"')
            totals += [f"{key} = {value}" for key, value in figures.items()]
        for mutant in left:
            strings = {"line": mutant.before, "change": mutant.after, "reason": reason(mutant)}
            survivors += [f'\n[[survivor]]\nfile = "{file}"\nnumber = {mutant.line}']
            survivors += [
                f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in strings.items()
            ]
    TOTALS.write_text("\n".join(totals + survivors) + "\n", encoding="utf-8")
    print(f"Wrote {TOTALS.relative_to(ROOT)}")
    for change in stale_reasons():
        print(f"A reason in {EXPLAINED.name} is for a line that is no longer there: {change}")
