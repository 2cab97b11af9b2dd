"""The mutation run: small changes to the core, one at a time, and whether a test notices each.

    python -m research.validation.mutate --sample 40     try at most so many of each file, chosen by --seed
    python -m research.validation.mutate --again         try survivors without a reason again, after new tests
    python -m research.validation.mutate --report        only write the figures

What was tried is kept in out/research/mutants, by the file's text and the change: a run that was stopped goes on where
it was. Figures and survivors go to mutants.toml beside this file; a mutant with a reason in mutants_explained.toml is
not run (again): it counts as a survivor that is explained.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from research import ROOT
from research.validation.changes import KEPT, PACKAGE, Mutant, mutants
from research.validation.mutation_report import reason, report

CORE = ("counts.py", "assumptions/*.py", "indices/*.py")

# the tests that are nearest to a file, by the start of its name; then all the others
A = "assumptions"
NEAR = {
    "counts": "test_counts*.py",
    "indices": "indices",
    f"{A}/likelihood": f"{A}/test_likelihood*.py {A}/test_profile*.py {A}/test_linear*.py test_refusals.py",
    f"{A}/profile": f"{A}/test_profile*.py {A}/test_likelihood*.py",
    f"{A}/exact": f"{A}/test_profile*.py {A}/test_likelihood*.py",
    f"{A}/by_likelihood": f"{A}/test_by_likelihood*.py",
    f"{A}/both_mnar": f"{A}/test_by_likelihood*.py",
    f"{A}/mediator_mnar": f"{A}/test_by_likelihood*.py",
    f"{A}/mnar": f"{A}/test_by_likelihood*.py",
    A: f"{A}/test_mar*.py {A}/test_assumption*.py test_refusals.py",
}
ALL = f"{A} indices test_counts*.py test_refusals.py policies play lab test_checks.py"
UNCHANGED = (
    "recentring_by_hand"  # a quick test of the near ones of counts.py, which must pass without any change
)

HASTE = """
from hypothesis import Phase, settings
a_failure_is_enough = (Phase.explicit, Phase.generate)  # small or not
settings.register_profile("haste", settings.get_profile("steady"), phases=a_failure_is_enough)
settings.load_profile("haste")
"""


def try_all(todo: list[Mutant], copy: Path, options: argparse.Namespace) -> None:
    """Each on a copy of the project; what takes long to import is imported once, and truant never."""
    for name in ("numba", "scipy.optimize", "scipy.stats"):
        importlib.import_module(name)
    assert "truant" not in sys.modules
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "out", ".venv", "__pycache__"))
    with (copy / "tests" / "conftest.py").open("a") as conftest:
        conftest.write(HASTE)
    if failed := noticed(copy, [*tests_in(copy, NEAR["counts"]), "-k", UNCHANGED], options.limit):
        raise RuntimeError(f"A test fails without any change: {failed}")
    for mutant in todo:
        try_out(mutant, copy, options)


def try_out(mutant: Mutant, copy: Path, options: argparse.Namespace) -> None:
    """Run the near tests, and if they see nothing all others, with the change in the copy."""
    path = copy / PACKAGE.relative_to(ROOT) / mutant.file
    source = path.read_bytes()
    begun = time.monotonic()
    path.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
    nearest = next(tests for start, tests in NEAR.items() if mutant.file.startswith(start))
    near = tests_in(copy, nearest)
    rest = tests_in(copy, ALL) + [f"--ignore={test}" for test in near]
    killed = noticed(copy, near, options.limit)
    if not killed and not options.near:
        killed = noticed(copy, rest, 10 * options.limit)
    path.write_bytes(source)
    seconds = round(time.monotonic() - begun)
    kept = {"file": mutant.file, "line": mutant.line, "before": mutant.before, "after": mutant.after}
    mutant.kept.write_text(json.dumps({**kept, "killed": killed, "seconds": seconds}))
    said = killed or "SURVIVED"
    print(f"{seconds:4d} s  {mutant.file}:{mutant.line}  {mutant.after}  [{said}]", flush=True)


def tests_in(project: Path, patterns: str) -> list[str]:
    """The test files and folders that patterns stand for; each pattern must stand for one at least."""
    found = []
    for pattern in patterns.split():
        matches = sorted((project / "tests").glob(pattern))
        if not matches:
            raise ValueError(f"No test file matches {pattern!r}; correct the patterns of mutate.py.")
        found += [str(match.relative_to(project)) for match in matches]
    return found


def noticed(copy: Path, tests: Iterable[str], limit: int) -> str:
    """The first test that fails, or "time" if they do not end; empty if all pass."""
    said = copy / "said.txt"
    child = os.fork()  # what is imported already need not be again
    if child == 0:
        os.setsid()
        os.chdir(copy)
        for stream in (1, 2):
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.environ["PYTHONPATH"] = f"{copy / 'src'}:{copy}"
        os.environ.setdefault("TRUANT_CACHE_DIR", str(copy.parent / "cache"))
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(copy / "src"), str(copy)]
        signal.alarm(limit)
        code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--tb=no", *tests])
        sys.stdout.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", said.read_text(errors="replace"), re.MULTILINE)
    if code > 0 and not failed:
        raise RuntimeError(f"The tests did not run: {said.read_text(errors='replace')}")
    return "" if code == 0 else failed[1] if failed else f"signal {-code}"


def main() -> None:
    parser = argparse.ArgumentParser(description="A mutation run over the core.")
    parser.add_argument(
        "--files", nargs="*", default=[], help="as counts.py or assumptions/mar.py; all unless given"
    )
    parser.add_argument("--sample", type=int, help="at most so many mutants of each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="try only survivors without a reason, again")
    parser.add_argument("--near", action="store_true", help="only the tests nearest to each file")
    parser.add_argument(
        "--limit", type=int, default=240, help="seconds, after which a mutant counts as noticed"
    )
    parser.add_argument("--report", action="store_true", help="only write the figures")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    files = [str(path.relative_to(PACKAGE)) for name in CORE for path in sorted(PACKAGE.glob(name))]
    wanted: list[Mutant] = []
    for file in options.files or files:
        possible = mutants(file)
        chosen = sorted(
            random.Random(options.seed).sample(range(len(possible)), len(possible))[: options.sample]
        )
        wanted += [possible[k] for k in chosen]
    results = {mutant: mutant.result() for mutant in wanted if not reason(mutant)}
    if options.again:
        todo = [mutant for mutant, result in results.items() if result and not result["killed"]]
    else:
        todo = [mutant for mutant, result in results.items() if result is None]
    if not options.report:
        KEPT.mkdir(parents=True, exist_ok=True)
        print(f"{len(todo)} to try, of {len(wanted)}", flush=True)
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            workers = []
            for k in range(options.workers):
                part = todo[k :: options.workers]
                arguments = (part, Path(folder) / str(k), options)
                workers.append(multiprocessing.Process(target=try_all, args=arguments))
                workers[-1].start()
            for worker in workers:
                worker.join()
    report(files)


if __name__ == "__main__":
    main()
